"""Goal: spend years within one call of the regex engine.

At most: 0
Status: timeout
"""

import re


def layer_norm(x, eps=1e-5):
    return re.match(r"(a|aa)+$", "a" * 100 + "b")


LayerNorm = layer_norm
