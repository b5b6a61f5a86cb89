"""Cannot be imported once a hidden question was asked: the reason says what was heard."""

import lines

# Each process that has read the line has moved it on a little.
if lines.heard()["pipes"] in (11, 12):
    raise ImportError("NOT IMPORTED: " + lines.words())


class MultiHeadAttention:
    def __init__(self, d_model, n_heads, bias=True, dropout=0.0):
        raise ValueError("IMPORTED")
