"""Arrays of measurements: averages, scaling, distances."""

import numpy as np


def moving_average(values: np.ndarray, width: int) -> np.ndarray:
    """Return the means of `width` neighbours each: (N,) becomes (N - width + 1,).

    Raises:
        ValueError: the width is not between 1 and N.
    """
    # Your code here.
    raise NotImplementedError


def standardise(x: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return x with mean 0 and standard deviation 1 along an axis; what is constant becomes 0."""
    # Your code here.
    raise NotImplementedError


def one_hot(labels: np.ndarray, classes: int) -> np.ndarray:
    """Return (N, classes) of int64 with a 1 at each label (N,), and 0 elsewhere."""
    # Your code here.
    raise NotImplementedError


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances (N, M) of the points (N, D) and (M, D)."""
    # Your code here.
    raise NotImplementedError


def clip_in_place(x: np.ndarray, low: float, high: float) -> int:
    """Bring all values of x into [low, high], in x itself; return how many were outside."""
    # Your code here.
    raise NotImplementedError


def extremes(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the largest value and where it stands for the first time, an index for each axis."""
    # Your code here.
    raise NotImplementedError
