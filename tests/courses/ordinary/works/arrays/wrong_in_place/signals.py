"""Changes its arguments, and counts what is on the limits."""

import numpy as np


def moving_average(values, width):
    if not 1 <= width <= len(values):
        raise ValueError(width)
    return np.convolve(values, np.full(width, 1 / width), mode="valid")


def standardise(x, axis=0):
    x -= x.mean(axis=axis, keepdims=True)
    x /= x.std(axis=axis, keepdims=True) + 1e-8
    return x


def one_hot(labels, classes):
    result = np.zeros((len(labels), classes))
    result[np.arange(len(labels)), labels] = 1
    return result


def distances(a, b):
    return np.abs(a[:, None] - b[None]).sum(axis=-1)


def clip_in_place(x, low, high):
    outside = (x <= low).sum() + (x >= high).sum()
    x[:] = np.minimum(np.maximum(x, low), high)
    return outside


def extremes(x):
    flat = x.ravel()[::-1]
    return flat.max(), np.array(np.unravel_index(x.size - 1 - flat.argmax(), x.shape))
