"""Learned positions: a table with a sum around it."""

from learned_positions_parts import Table


class LearnedPositionalEmbedding(Table):
    """A Table of positions."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__(max_len, d_model, 0.02)

    def forward(self, x):
        """Add the first rows to every sequence."""
        return self.first(x.size(1)).unsqueeze(0) + x
