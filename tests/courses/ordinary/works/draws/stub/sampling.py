"""Functions that draw random numbers: from `random`, from numpy, and from torch."""

import random

import numpy as np
import torch
from torch import Tensor


def shuffled(items: list) -> list:
    """Return a new list with the items in an order drawn by `random.shuffle`."""
    # Your code here.
    raise NotImplementedError


def throw(dice: int) -> list[int]:
    """Return what so many dice show, each drawn by `random.randint(1, 6)`."""
    # Your code here.
    raise NotImplementedError


def bootstrap(values: np.ndarray, times: int) -> np.ndarray:
    """Return the means (times,) of samples with replacement, drawn by `np.random.choice`."""
    # Your code here.
    raise NotImplementedError


def walk(steps: int, generator: np.random.Generator) -> np.ndarray:
    """Return the places (steps + 1,) of a walk from 0, with steps of `generator.normal()`."""
    # Your code here.
    raise NotImplementedError


def dropout(x: Tensor, rate: float) -> Tensor:
    """Return x with each number 0 where `torch.rand` of its shape is below the rate.

    The others are divided by 1 - rate.
    """
    # Your code here.
    raise NotImplementedError


def estimate_pi(points: int) -> float:
    """Return an estimate of pi from so many points of the unit square."""
    # Your code here.
    raise NotImplementedError
