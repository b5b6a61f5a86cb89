"""k-means with matrices: distances by the square of a difference, means by one product."""

import numpy as np


def _squares(points, centers):
    if points.shape[-1] != centers.shape[-1]:
        raise ValueError(f"{points.shape} and {centers.shape} do not go together")
    p, c = np.asarray(points, float), np.asarray(centers, float)
    return np.einsum("nkd,nkd->nk", p[:, None] - c, p[:, None] - c)


def assign(points, centers):
    """Sort the distances; a stable sort keeps the first of a tie."""
    return np.argsort(_squares(points, centers), axis=1, kind="stable")[:, 0]


def update(points, labels, centers):
    """Multiply by the matrix of memberships."""
    member = (labels[None] == np.arange(len(centers))[:, None]).astype(float)  # (K, N)
    sizes = member.sum(axis=1, keepdims=True)  # (K, 1)
    return np.where(sizes > 0, member @ points / np.maximum(sizes, 1), centers)


def k_means(points, centers, steps):
    """Go on from a step's result."""
    if steps == 0:
        return centers.astype(np.float64), assign(points, centers)
    return k_means(points, update(points, assign(points, centers), centers), steps - 1)


def inertia(points, centers):
    """Add up the smallest squares."""
    return _squares(points, centers).min(axis=1).sum().item()
