"""Goal: raise an exception that was caused by a hundred thousand others.

At most: 0.5
Status: graded, crashed, timeout
"""

last = ValueError(0)
for number in range(100_000):
    error = ValueError(number)
    error.__cause__ = error.__context__ = last
    last = error
last.__notes__ = ["note"] * 100_000


def layer_norm(x, eps=1e-5):
    raise ExceptionGroup("all", [last] * 1000)


LayerNorm = layer_norm
