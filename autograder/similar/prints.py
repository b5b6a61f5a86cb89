"""Fingerprints: a number for every run of K words, the same however variables are called."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from autograder.similar.words import Words, number_of

# Words in a run: shorter ones are everybody's.
K = 12


def _numbers(name: str, count: int) -> NDArray[np.uint64]:
    return np.array([number_of(f"{name} {i}") | 1 for i in range(count)], dtype=np.uint64)


def prints_of(words: Words, k: int = K) -> NDArray[np.uint64]:
    """Return the fingerprint of every run of `k` words: (max(0, n - k + 1),) uint64.

    Of a variable a run knows how many words before it stood last, if that is in the run.
    """
    if len(words.values) < k:
        return np.zeros(0, dtype=np.uint64)
    variables = _numbers("variable", k)
    places = _numbers("place", k)
    values = sliding_window_view(words.values, k)
    back = sliding_window_view(words.back, k)
    inside = np.where(back <= np.arange(k), back, 0)
    said = np.where(values == 0, variables[inside], values)
    # Not linear: what is moved about must give another sum.
    mixed = (said ^ places) * places
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    found: NDArray[np.uint64] = mixed.sum(axis=1, dtype=np.uint64)
    return found
