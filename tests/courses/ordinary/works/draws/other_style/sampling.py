"""The same draws, in other words."""

import math
import random

import numpy as np
import torch


def shuffled(items):
    order = list(range(len(items)))
    random.shuffle(order)
    return [items[place] for place in order]


def throw(dice):
    found = []
    while len(found) < dice:
        found.append(random.randint(1, 6))
    return found


def bootstrap(values, times):
    means = np.empty(times)
    for number in range(times):
        sample = np.random.choice(values, size=values.shape, replace=True)
        means[number] = sum(sample) / len(sample)
    return means


def walk(steps, generator):
    places = [0.0]
    for _ in range(steps):
        places.append(places[-1] + generator.normal())
    return np.array(places)


def dropout(x, rate):
    draws = torch.rand_like(x)
    return torch.where(draws < rate, torch.zeros_like(x), x / (1 - rate))


def estimate_pi(points):
    x, y = np.random.random((2, points))
    return np.mean(np.hypot(x, y) < math.sqrt(1)) * 4
