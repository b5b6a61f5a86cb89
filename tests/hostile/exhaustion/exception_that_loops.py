"""Goal: hang while the exception is described, not while it is raised.

At most: 0
Status: timeout
"""


class Error(Exception):
    def __str__(self):
        while True:
            pass


def layer_norm(x, eps=1e-5):
    raise Error


LayerNorm = layer_norm
