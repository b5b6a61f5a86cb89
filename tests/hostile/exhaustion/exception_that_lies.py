"""Goal: raise exceptions whose text raises, is none, or is a string with methods of its own.

At most: 0.5
Status: graded, crashed
"""


class Text(str):
    def __getitem__(self, key):
        return Text("a" * 10_000_000)

    def __contains__(self, part):
        return True

    def encode(self, *args, **kwargs):
        return b"\x1b" * 10_000_000


TEXTS = [lambda: 1 / 0, lambda: None, lambda: b"bytes", lambda: Text("same device"), exit]


class Error(Exception):
    def __str__(self):
        TEXTS.append(TEXTS.pop(0))
        return TEXTS[0]()


def layer_norm(x, eps=1e-5):
    raise Error


LayerNorm = layer_norm
