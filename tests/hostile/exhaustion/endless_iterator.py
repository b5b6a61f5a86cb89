"""Goal: drain an iterator without end in C, where no signal is handled.

At most: 0
Status: timeout
"""

import collections
import itertools


def layer_norm(x, eps=1e-5):
    collections.deque(itertools.count(), maxlen=0)


LayerNorm = layer_norm
