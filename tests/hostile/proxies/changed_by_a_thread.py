"""A thread changes lists, dicts and arrays while they cross."""

import threading

import numpy as np

LISTS, ARRAY = [], np.zeros(3)


def change():
    number = 0
    while True:
        number += 1
        ARRAY[:] = number
        for each in LISTS[-3:]:
            each.append(number) if number % 100 else each.clear()


threading.Thread(target=change, daemon=True).start()


def answer(*args):
    LISTS.append([7.0] * 1000)
    return LISTS[-1] if len(LISTS) % 2 else ARRAY


rescale = count = apply = load = Counter = answer
