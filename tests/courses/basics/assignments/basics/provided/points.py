"""Points in the plane for k-means."""

import numpy as np


def clouds(seed: int, count: int) -> np.ndarray:
    """Return `count` points (count, 2) around each of three places, (3 * count, 2) in all."""
    places = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])  # (3, 2)
    noise = np.random.default_rng(seed).normal(size=(3, count, 2))  # (3, count, 2)
    return (places[:, None] + noise).reshape(-1, 2)


def starts() -> np.ndarray:
    """Return three centers (3, 2) to start from."""
    return np.array([[1.0, 1.0], [3.0, 0.0], [0.0, 3.0]])
