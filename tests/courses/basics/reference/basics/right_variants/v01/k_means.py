"""k-means with plain loops over points and centers."""

import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Mean:
    """A mean that grows point by point."""

    total: np.ndarray
    count: int = 0

    def add(self, point):
        """Take up one point."""
        self.total = self.total + point
        self.count += 1


def nearest(point, centers):
    """Return the number of the nearest center and its squared distance."""
    best, least = 0, math.inf
    for number, center in enumerate(centers):
        distance = 0.0
        for a, b in zip(point, center, strict=True):
            distance += (float(a) - float(b)) ** 2
        if distance < least:
            best, least = number, distance
    return best, least


def assign(points, centers):
    """Loop over the points."""
    if points.shape[1] != centers.shape[1]:
        raise ValueError("sizes")
    return np.array([nearest(point, centers)[0] for point in points], dtype=int)


def update(points, labels, centers):
    """Gather a mean for every cluster."""
    means = [Mean(np.zeros(points.shape[1])) for _ in centers]
    for point, label in zip(points, labels, strict=True):
        means[label].add(point)
    rows = [
        mean.total / mean.count if mean.count else np.array(center, dtype=float)
        for mean, center in zip(means, centers, strict=True)
    ]
    return np.stack(rows)


def k_means(points, centers, steps):
    """Count the steps down."""
    now = centers.astype(float)
    while steps > 0:
        now = update(points, assign(points, now), now)
        steps -= 1
    return now, assign(points, now)


def inertia(points, centers):
    """Add up, point by point."""
    return sum(nearest(point, centers)[1] for point in points)
