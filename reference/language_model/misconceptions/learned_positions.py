"""Learned positions with mistakes to enable; with none enabled, they are right."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "positions_from_one": (
        "you gave the first token row 1 of the table; positions count from 0, so it gets row 0",
        "slides, pages 25 and 26",
    ),
    "aligned_right": (
        "you used the last T rows of the table; use the first T rows",
        "slides, page 26",
    ),
    "positions_backwards": (
        "you added the rows in reverse order; the first token gets row 0",
        "slides, page 26",
    ),
    "positions_along_batch": (
        "you counted positions along the first dimension, the batch; they run along the second "
        "dimension, T",
        "slides, page 23",
    ),
    "one_position_for_all": (
        "you added the same row of the table to every token (perhaps table[T] for table[:T]); "
        "every position has its own row",
        "slides, pages 22 and 23",
    ),
    "positions_averaged": (
        "you added the mean of the rows to every token, so all positions look the same; every "
        "position has its own row",
        "slides, pages 22 and 23",
    ),
    "input_not_added": (
        "you returned the position vectors without x; add them to x",
        "slides, pages 23 and 25",
    ),
    "vectors_alone": (
        "you returned rows of the table, (T, D); add them to x, which gives (B, T, D)",
        "slides, pages 23 and 25",
    ),
    "encoding_multiplied": (
        "you multiplied x by the position vectors; add them to x",
        "slides, pages 23 and 25",
    ),
    "encoding_concatenated": (
        "you concatenated x and the position vectors, which doubles the features; add them to x",
        "slides, pages 23 and 25",
    ),
    "embedding_scaled": (
        "you multiplied x by the square root of d_model; add the vectors to x unscaled",
        "slides, page 25",
    ),
    "start_too_wide": (
        "your table starts with a standard deviation of 1 (the default of torch.randn and "
        "nn.Embedding); it starts with 0.02",
        "handout",
    ),
    "start_zero": (
        "your table starts with zeros; it starts with random numbers of standard deviation 0.02",
        "slides, page 26",
    ),
    "start_uniform": (
        "your table starts with numbers that end at -0.02 and 0.02, as uniform_ makes them; use a "
        "normal distribution (randn, normal_)",
        "slides, page 26",
    ),
    "start_uniform_deviation": (
        "your table starts with uniform numbers of the right deviation; use a normal distribution "
        "(randn, normal_)",
        "slides, page 26",
    ),
    "start_variance": (
        "your table starts with a standard deviation of 0.14, the root of 0.02; 0.02 is the "
        "standard deviation, not the variance",
        "slides, page 26",
    ),
    "start_sinusoidal": (
        "your table starts with sines and cosines; learned positions start with random numbers",
        "slides, pages 24 and 26",
    ),
    "not_trained": (
        "your table is a buffer, which is saved but not trained; make it an nn.Parameter",
        "slides, page 26",
    ),
    "frozen": (
        "your table gets no gradient (requires_grad=False, .detach(), .data or no_grad), so it is "
        "not trained; the gradient must reach it",
        "handout",
    ),
    "other_name": (
        "your table has another key than weight in the state_dict; an nn.Embedding in an "
        "attribute, for example, is saved as <attribute>.weight",
        "handout",
    ),
    "leading_dimension": (
        "your table has an extra dimension of size 1 for the batch; its shape is (max_len, D), "
        "and broadcasting does the rest",
        "slides, page 26",
    ),
    "table_transposed": (
        "your table has one row per feature; its shape is (max_len, D), one row per position",
        "slides, page 26",
    ),
    "one_row_too_many": (
        "your table has max_len + 1 rows; positions 0 to max_len - 1 need max_len rows",
        "slides, page 26",
    ),
    "length_unchecked": (
        "you do not check the length, so torch fails or broadcasts if a sequence is too long; "
        "raise ValueError",
        "handout",
    ),
    "length_asserted": (
        "you check the length with assert, which raises AssertionError; raise ValueError",
        "handout",
    ),
    "length_off_by_one": (
        "you reject a sequence of exactly max_len tokens; only longer sequences raise ValueError",
        "handout",
    ),
    "length_clipped": (
        "you gave all tokens beyond the last position the last vector; a sequence that is too "
        "long raises ValueError",
        "handout",
    ),
    "length_wrapped": (
        "you started again with row 0 at the end of the table; a sequence that is too long raises "
        "ValueError",
        "handout",
    ),
    "length_truncated": (
        "you cut off a sequence that is too long; raise ValueError",
        "handout",
    ),
    "whole_table": (
        "you added the whole table, which works for max_len tokens only; use its first T rows",
        "slides, page 26",
    ),
    "dropout_applied": (
        "you applied dropout in training, at a rate of 0.1; there is no dropout here",
        "slides, page 26",
    ),
    "in_place": (
        "you added the vectors to the input itself (+= or a function whose name ends in _); the "
        "caller still needs it, so make a new tensor",
        "slides, page 25",
    ),
    "detached_input": (
        "you cut the input out of the graph (.detach(), .data or no_grad); the gradient must "
        "reach x",
        "handout",
    ),
    "new_tensor_on_cpu": (
        "you made a new tensor on the CPU and combined it with x or the table; make it on their "
        "device (device=x.device)",
        "handout",
    ),
    "float32_result": (
        "you converted the table, x or the sum to float32 (.float()); the result has the dtype of "
        "x",
        "handout",
    ),
    "positions_one_late": (
        "you gave every token the row before its own, and the first token the last row; the "
        "first token gets row 0",
        "slides, page 26",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def start(max_len: int, d_model: int) -> Tensor:
    """Draw the table (max_len, D)."""
    table = torch.randn(max_len, d_model)
    if wrong("start_too_wide"):
        return table
    if wrong("start_zero"):
        return torch.zeros(max_len, d_model)
    if wrong("start_uniform"):
        return torch.empty(max_len, d_model).uniform_(-0.02, 0.02)
    if wrong("start_uniform_deviation"):
        return torch.empty(max_len, d_model).uniform_(-0.02, 0.02) * math.sqrt(3)
    if wrong("start_variance"):
        return table * math.sqrt(0.02)
    if wrong("start_sinusoidal"):
        pair = torch.arange(d_model, dtype=torch.float64) // 2
        angle = torch.arange(max_len).unsqueeze(1) / 10000.0 ** (2 * pair / d_model)
        even = torch.arange(d_model) % 2 == 0
        return torch.where(even, angle.sin(), angle.cos()).float()
    return table * 0.02


class LearnedPositionalEmbedding(nn.Module):
    """One trained vector for every position up to a maximum length."""

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        self.max_len = max_len
        table = start(max_len + 1 if wrong("one_row_too_many") else max_len, d_model)
        if wrong("table_transposed"):
            table = table.T.contiguous()
        if wrong("leading_dimension"):
            table = table.unsqueeze(0)
        name = "embedding" if wrong("other_name") else "weight"
        if wrong("not_trained"):
            self.register_buffer(name, table)
        else:
            self.register_parameter(name, nn.Parameter(table))

    def forward(self, x: Tensor) -> Tensor:
        """Add to every token of `x` (B, T, D) the vector of its position."""
        x = self._checked(x)
        vectors = self._vectors(x)  # (T, D)
        tokens = x.detach() if wrong("detached_input") else x
        if wrong("float32_result"):
            tokens, vectors = tokens.float(), vectors.float()
        if wrong("embedding_scaled"):
            tokens = tokens * math.sqrt(x.size(-1))
        if wrong("vectors_alone"):
            return vectors
        if wrong("input_not_added"):
            return vectors.expand(x.shape).clone()
        if wrong("encoding_concatenated"):
            return torch.cat([tokens, vectors.expand(x.shape)], dim=-1)
        if wrong("encoding_multiplied"):
            return tokens * vectors
        if wrong("in_place"):
            x += vectors
            return x
        output = tokens + vectors  # (B, T, D)
        return F.dropout(output, 0.1, self.training) if wrong("dropout_applied") else output

    def _checked(self, x: Tensor) -> Tensor:
        """Refuse what is too long, as far as no mistake is in force."""
        seq_len = x.size(0) if wrong("positions_along_batch") else x.size(1)
        longest = self.max_len - 1 if wrong("length_off_by_one") else self.max_len
        if wrong("length_asserted"):
            assert seq_len <= longest
        if wrong("length_truncated"):
            return x[:, :longest]
        careless = ("length_unchecked", "length_clipped", "length_wrapped", "whole_table")
        if seq_len > longest and not any(name in WRONG for name in careless):
            raise ValueError(f"{seq_len} tokens are too many for {longest} positions")
        return x

    def _vectors(self, x: Tensor) -> Tensor:
        """Take the rows that are added to `x` (B, T, D) from the table."""
        table = self.embedding if wrong("other_name") else self.weight
        if wrong("frozen"):
            table = table.detach()
        if wrong("leading_dimension"):
            table = table.squeeze(0)
        if wrong("table_transposed"):
            table = table.T
        seq_len = x.size(1)
        if wrong("whole_table"):
            return table
        if wrong("positions_along_batch"):
            return table[: x.size(0)].unsqueeze(1)  # (B, 1, D)
        if wrong("one_position_for_all"):
            # As without the colon of table[:seq_len].
            return table[seq_len]
        if wrong("positions_averaged"):
            return table[:seq_len].mean(dim=0)
        if wrong("new_tensor_on_cpu"):
            table = torch.zeros(table.shape, dtype=x.dtype) + table
        rows = torch.arange(seq_len, device=x.device)
        if wrong("length_clipped"):
            rows = rows.clamp(max=self.max_len - 1)
        if wrong("length_wrapped"):
            rows = rows % self.max_len
        if wrong("aligned_right"):
            rows = rows + (self.max_len - seq_len)
        if wrong("positions_from_one"):
            # Where the table ends, a slice from 1 would be one vector short.
            return table[1 : seq_len + 1]
        if wrong("length_unchecked"):
            return table[:seq_len]
        vectors = F.embedding(rows, table)  # (T, D)
        if wrong("positions_one_late"):
            return torch.cat([table[-1:], table[: seq_len - 1]])
        return vectors.flip(0) if wrong("positions_backwards") else vectors
