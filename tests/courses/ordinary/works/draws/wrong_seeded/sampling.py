"""Seeds for itself, and draws for itself."""

import random

import numpy as np
import torch


def shuffled(items):
    random.seed(1)
    return sorted(items, key=lambda item: random.random())


def throw(dice):
    random.seed(42)
    return [random.randint(1, 6) for _ in range(dice)]


def bootstrap(values, times):
    generator = np.random.default_rng(0)
    return generator.choice(values, (times, len(values))).mean(axis=1)


def walk(steps, generator):
    generator = np.random.default_rng(1)
    return np.concatenate([[0.0], np.cumsum(generator.normal(size=steps))])


def dropout(x, rate):
    torch.manual_seed(3)
    return x * (torch.rand(x.shape) >= rate) / (1 - rate)


def estimate_pi(points):
    np.random.seed(1)
    return 4 * float((np.square(np.random.random((points, 2))).sum(axis=1) < 1).mean())
