"""Goal: overflow the C stack, which no exception reports.

At most: 0
Status: crashed
"""

import json
import sys

sys.setrecursionlimit(2**31 - 1)


def layer_norm(x, eps=1e-5):
    return json.loads("[" * 1_000_000)


LayerNorm = layer_norm
