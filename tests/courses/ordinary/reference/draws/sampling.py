"""Functions that draw random numbers: from `random`, from numpy, and from torch."""

import random

import numpy as np
import torch
from torch import Tensor


def shuffled(items: list) -> list:
    """Return a new list with the items in an order drawn by `random.shuffle`."""
    ### BEGIN SOLUTION
    result = list(items)
    random.shuffle(result)
    return result
    ### END SOLUTION


def throw(dice: int) -> list[int]:
    """Return what so many dice show, each drawn by `random.randint(1, 6)`."""
    ### BEGIN SOLUTION
    return [random.randint(1, 6) for _ in range(dice)]
    ### END SOLUTION


def bootstrap(values: np.ndarray, times: int) -> np.ndarray:
    """Return the means (times,) of samples with replacement, drawn by `np.random.choice`."""
    ### BEGIN SOLUTION
    return np.array([np.random.choice(values, len(values)).mean() for _ in range(times)])
    ### END SOLUTION


def walk(steps: int, generator: np.random.Generator) -> np.ndarray:
    """Return the places (steps + 1,) of a walk from 0, with steps of `generator.normal()`."""
    ### BEGIN SOLUTION
    return np.concatenate([[0.0], np.cumsum(generator.normal(size=steps))])
    ### END SOLUTION


def dropout(x: Tensor, rate: float) -> Tensor:
    """Return x with each number 0 where `torch.rand` of its shape is below the rate.

    The others are divided by 1 - rate.
    """
    ### BEGIN SOLUTION
    kept = torch.rand(x.shape) >= rate
    return x * kept / (1 - rate)
    ### END SOLUTION


def estimate_pi(points: int) -> float:
    """Return an estimate of pi from so many points of the unit square."""
    ### BEGIN SOLUTION
    inside = sum(np.random.random() ** 2 + np.random.random() ** 2 < 1 for _ in range(points))
    return 4 * float(inside) / points
    ### END SOLUTION
