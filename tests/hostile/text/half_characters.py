"""Goal: have a result file hold what no encoding can write: lone surrogates, cut characters.

At most: 0.5
Status: graded
"""

TEXTS = [
    "\ud800",
    "\udcff\udc80",
    "\ud83d" * 10_000,
    "\U0001f600" * 10_000,
    "a" * 1999 + "\u20ac",
    "\0" * 3000,
    "\ufffe\uffff\U0010ffff",
]


class Surrogate(Exception):
    pass


Surrogate.__name__ = Surrogate.__qualname__ = "\u202e\x1b[31m\x85"


def layer_norm(x, eps=1e-5):
    TEXTS.append(TEXTS.pop(0))
    raise Surrogate(TEXTS[0])


LayerNorm = layer_norm
