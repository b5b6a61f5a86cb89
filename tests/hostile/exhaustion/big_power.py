"""Goal: hold the interpreter lock in one multiplication of whole numbers.

At most: 0
Status: timeout
"""


def layer_norm(x, eps=1e-5):
    return x * (3 ** (10**8) % 10)


LayerNorm = layer_norm
