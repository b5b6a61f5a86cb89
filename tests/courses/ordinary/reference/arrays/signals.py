"""Arrays of measurements: averages, scaling, distances."""

import numpy as np


def moving_average(values: np.ndarray, width: int) -> np.ndarray:
    """Return the means of `width` neighbours each: (N,) becomes (N - width + 1,).

    Raises:
        ValueError: the width is not between 1 and N.
    """
    ### BEGIN SOLUTION
    if not 1 <= width <= len(values):
        raise ValueError(f"a width of {width} for {len(values)} values")
    return np.convolve(values, np.full(width, 1 / width), mode="valid")
    ### END SOLUTION


def standardise(x: np.ndarray, axis: int = 0) -> np.ndarray:
    """Return x with mean 0 and standard deviation 1 along an axis; what is constant becomes 0."""
    ### BEGIN SOLUTION
    centred = x - x.mean(axis=axis, keepdims=True)
    deviation = x.std(axis=axis, keepdims=True)
    return centred / np.where(deviation == 0, 1, deviation)
    ### END SOLUTION


def one_hot(labels: np.ndarray, classes: int) -> np.ndarray:
    """Return (N, classes) of int64 with a 1 at each label (N,), and 0 elsewhere."""
    ### BEGIN SOLUTION
    result = np.zeros((len(labels), classes), dtype=np.int64)
    result[np.arange(len(labels)), labels] = 1
    return result
    ### END SOLUTION


def distances(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the Euclidean distances (N, M) of the points (N, D) and (M, D)."""
    ### BEGIN SOLUTION
    return np.sqrt(np.square(a[:, None] - b[None]).sum(axis=-1))
    ### END SOLUTION


def clip_in_place(x: np.ndarray, low: float, high: float) -> int:
    """Bring all values of x into [low, high], in x itself; return how many were outside."""
    ### BEGIN SOLUTION
    outside = int(((x < low) | (x > high)).sum())
    np.clip(x, low, high, out=x)
    return outside
    ### END SOLUTION


def extremes(x: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the largest value and where it stands for the first time, an index for each axis."""
    ### BEGIN SOLUTION
    return x.max(), np.array(np.unravel_index(x.argmax(), x.shape))
    ### END SOLUTION
