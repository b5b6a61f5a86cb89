"""Goal: make a handle and its answers pass for values by a `__class__` that lies.

Component: tokenizer
At most: 0
"""


class Liar:
    __class__ = property(lambda self: list)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __len__(self):
        return 0

    def __iter__(self):
        return iter(())


class Text(Liar):
    __class__ = property(lambda self: str)


class Number(Liar):
    __class__ = property(lambda self: int)


def merge(ids, pair, new):
    return Liar()


class Tokenizer(Liar):
    __class__ = property(lambda self: __import__("torch").nn.Module)

    def __init__(self, merges=()):
        self.merges = Liar()
        self.vocab_size = Number()

    @classmethod
    def train(cls, text, vocab_size):
        return cls()

    @classmethod
    def load(cls, path):
        return cls()

    def encode(self, text):
        return Liar()

    def decode(self, ids):
        return Text()

    def pieces(self, text):
        return Liar()

    def save(self, path):
        return None
