"""Goal: raise an exception whose text has 100 MB.

At most: 0.5
Status: graded, timeout
"""

TEXT = "a" * 100_000_000


def layer_norm(x, eps=1e-5):
    raise ValueError(TEXT)


LayerNorm = layer_norm
