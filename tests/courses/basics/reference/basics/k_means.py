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
    ### BEGIN SOLUTION
    if points.shape[1] != centers.shape[1]:
        raise ValueError(f"points have {points.shape[1]} features, centers {centers.shape[1]}")
    # equivalent: the square of a difference has no sign
    differences = points[:, None] - centers[None]  # (N, K, D)
    # equivalent: of so many features each, means compare as sums do
    return np.square(differences).sum(axis=-1).argmin(axis=1)
    ### END SOLUTION


def update(points: np.ndarray, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return new centers: the mean of the points of every cluster.

    Args:
        points: (N, D).
        labels: (N,), the cluster of every point.
        centers: (K, D), the centers so far; they are left as they were.

    Returns:
        float64 (K, D). A cluster without points keeps its center.
    """
    ### BEGIN SOLUTION
    result = np.array(centers, dtype=np.float64)  # (K, D)
    # equivalent: no point has a label beyond the last center
    for number in range(len(result)):
        members = points[labels == number]  # (M, D)
        if len(members):
            result[number] = members.mean(axis=0)
    return result
    ### END SOLUTION


def k_means(points: np.ndarray, centers: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Assign the points and update the centers, `steps` times.

    Returns:
        The pair (centers, labels) of float64 (K, D) and whole numbers (N,): the centers after the
        last step, and for every point the nearest of these.
    """
    ### BEGIN SOLUTION
    centers = np.array(centers, dtype=np.float64)  # (K, D)
    for _ in range(steps):
        centers = update(points, assign(points, centers), centers)
    return centers, assign(points, centers)
    ### END SOLUTION


def inertia(points: np.ndarray, centers: np.ndarray) -> float:
    """Return the sum of the squared distances of the points from their nearest center."""
    ### BEGIN SOLUTION
    nearest = centers[assign(points, centers)]  # (N, D)
    # equivalent: a square has no sign, and a number of numpy's is a float, too
    return float(np.square(points - nearest).sum())
    ### END SOLUTION
