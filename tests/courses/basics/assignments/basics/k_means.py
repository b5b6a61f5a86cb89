"""k-means: points are grouped around centers, and the centers move to the middle of their group.

Source: handout, section 2.
"""

import numpy as np


def assign(points: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return the number of the nearest center for every point.

    Args:
        points: (N, D).
        centers: (K, D).

    Returns:
        Whole numbers (N,) from 0 to K - 1. Of centers that are equally near, by the Euclidean
        distance, the one with the smallest number counts.

    Raises:
        ValueError: points and centers do not have the same D.
    """
    # Your code here.
    raise NotImplementedError


def update(points: np.ndarray, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return new centers: the mean of the points of every cluster.

    Args:
        points: (N, D).
        labels: (N,), the cluster of every point.
        centers: (K, D), the centers so far; they are left as they were.

    Returns:
        float64 (K, D). A cluster without points keeps its center.
    """
    # Your code here.
    raise NotImplementedError


def k_means(points: np.ndarray, centers: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Assign the points and update the centers, `steps` times.

    Returns:
        The pair (centers, labels) of float64 (K, D) and whole numbers (N,): the centers after the
        last step, and for every point the nearest of these.
    """
    # Your code here.
    raise NotImplementedError


def inertia(points: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of the squared distances of the points from their nearest center."""
    # Your code here.
    raise NotImplementedError
