"""Keeps no dimensions, ignores the axis, and pads averages."""

import numpy as np


def moving_average(values, width):
    return np.convolve(values, np.ones(width) / width, mode="same")


def standardise(x, axis=0):
    return (x - x.mean(axis=0)) / x.std(axis=0)


def one_hot(labels, classes):
    return np.eye(classes)[labels]


def distances(a, b):
    return np.square(a[:, None] - b[None]).sum(axis=-1)


def clip_in_place(x, low, high):
    x = np.clip(x, low, high)
    return int(((x < low) | (x > high)).sum())


def extremes(x):
    return x.max(), x.argmax()
