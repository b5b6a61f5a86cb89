"""Positional encoding with mistakes to enable; with none enabled, it is right."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "sines_first": (
        "you put all sines into the first half and all cosines into the second; they must "
        "alternate: sin, cos, sin, cos",
        "slides, pages 24 and 25",
    ),
    "sine_cosine_swapped": (
        "you swapped sines and cosines; sines belong in the even columns (0, 2, ...), cosines in "
        "the odd columns",
        "slides, page 24",
    ),
    "exponent_without_2": (
        "your angles shrink too slowly: your exponent is i / d with i counting the pairs, or your "
        "base is 100; the course has 10000^(2i / d)",
        "slides, page 24",
    ),
    "column_as_i": (
        "you used the column number as i, which doubles the exponent 2i / d; i counts the pairs, "
        "and a sine and its cosine share one angle",
        "slides, pages 24 and 25",
    ),
    "wrong_base": (
        "your wavelengths grow with powers of 1000; the course uses powers of 10000",
        "slides, page 24",
    ),
    "angle_multiplied": (
        "you multiplied the position by the power of 10000 (a minus sign is missing); divide by it",
        "slides, page 24",
    ),
    "positions_from_one": (
        "you gave the first token position 1; positions count from 0",
        "slides, page 25",
    ),
    "positions_along_batch": (
        "you counted positions along the first dimension, the batch; they run along the second "
        "dimension, T",
        "slides, page 25",
    ),
    "embedding_scaled": (
        "you multiplied x by the square root of d_model; add the encoding to x unscaled",
        "slides, page 25",
    ),
    "module_from_one": (
        "your PositionalEncoding gives the first token position 1; positions count from 0",
        "slides, page 24",
    ),
    "in_place": (
        "you added the encoding to the input itself (+= or a function whose name ends in _); the "
        "caller still needs it, so make a new tensor",
        "handout",
    ),
    "detached_input": (
        "you cut the input out of the graph (.detach(), .data or no_grad); the gradient must "
        "reach x",
        "handout",
    ),
    "computed_in_input_dtype": (
        "you counted positions or computed angles in the input's dtype, but bfloat16 cannot count "
        "beyond 256; "
        "compute in float32 and convert the finished encoding",
        "handout",
    ),
    "dtype_not_followed": (
        "you added a float32 table to a bfloat16 input, so the result is float32; the result has "
        "the input's dtype",
        "handout",
    ),
    "cpu_table": (
        "your table stays on the CPU when the input is on another device; move it to the input's "
        "device",
        "handout",
    ),
    "persistent_buffer": (
        "your table is saved in the state_dict, as buffers are by default; the state_dict must be "
        "empty (persistent=False)",
        "handout",
    ),
    "learned_positions": (
        "your encodings are a Parameter with random values; the course computes them and learns "
        "nothing",
        "slides, pages 24 and 26",
    ),
    "odd_unchecked": (
        "you accept an odd d_model; raise ValueError, because sines and cosines come in pairs",
        "handout",
    ),
    "length_unchecked": (
        "you do not check the length, so torch fails on a sequence that is too long; raise "
        "ValueError",
        "handout",
    ),
    "max_len_off_by_one": (
        "you reject a sequence of exactly max_len tokens; only longer sequences raise ValueError",
        "handout",
    ),
    "dropout_before_sum": (
        "you applied dropout to x and added the encoding afterwards; apply dropout to the sum",
        "handout",
    ),
    "dropout_ignored": (
        "you never apply dropout; in training, the sum is dropped at the given rate",
        "handout",
    ),
    "dropout_always": (
        "you drop values in evaluation mode too (F.dropout does so by default); drop them only in "
        "training",
        "handout",
    ),
    "cosines_missing": (
        "all your columns are sines; sines and cosines must alternate",
        "slides, pages 24 and 25",
    ),
    "columns_own_angles": (
        "each of your columns has its own angle, with the column number in the exponent; a cosine "
        "has the angle of the sine before it",
        "slides, pages 24 and 25",
    ),
    "exponent_doubled": (
        "your exponent is 4i / d: perhaps your range has steps of 2 already, and i was doubled "
        "again; the course has 2i / d",
        "slides, page 24",
    ),
    "exponent_to_the_end": (
        "your exponent is i / (d/2 - 1), which reaches 1 at the last pair; the course has 2i / d",
        "slides, page 24",
    ),
    "encoding_multiplied": (
        "you multiplied x by the encoding; add the encoding to x",
        "slides, page 25",
    ),
    "encoding_concatenated": (
        "you concatenated x and the encoding, which doubles the features; add the encoding to x",
        "slides, page 25",
    ),
    "input_not_added": (
        "you returned the encoding alone; add it to x",
        "slides, page 25",
    ),
    "one_position_for_all": (
        "you added the same row of the table to every token (perhaps table[T] for table[:T]); "
        "every position has its own row",
        "slides, page 25",
    ),
    "encoding_dropped": (
        "you applied dropout to the encoding before adding it; apply dropout to the sum",
        "slides, page 25",
    ),
    "dropout_by_default": (
        "your default for dropout is 0.1; it is 0",
        "handout",
    ),
    "max_len_default": (
        "your default for max_len is far above 512; it is 512",
        "handout",
    ),
    "max_len_ignored": (
        "you accept any length, whatever max_len is; a longer sequence raises ValueError",
        "handout",
    ),
    "length_asserted": (
        "you check the length with assert, which raises AssertionError; raise ValueError",
        "handout",
    ),
    "odd_asserted": (
        "you check d_model with assert, which raises AssertionError; raise ValueError",
        "handout",
    ),
    "odd_fails_in_torch": (
        "you do not check d_model, so torch fails on an odd value when it assigns the cosines; "
        "raise ValueError",
        "handout",
    ),
    "trained_encoding": (
        "you made the encoding a Parameter, so it is one of the module's parameters and saved; the "
        "course computes it and learns nothing",
        "slides, pages 24 and 26",
    ),
    "power_divided_by_d": (
        "you divided 10000 ** (2i) by d, or the angle by d (10000 ** 2i / d); d divides in the "
        "exponent, 10000 ** (2i / d)",
        "slides, page 24",
    ),
    "aligned_right": (
        "you added the last T rows of the table; the first token has position 0, so use the first"
        " T rows",
        "slides, page 25",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """Compute the encodings of the positions 0 to `seq_len` - 1."""
    return _encoding_in(torch.float64, seq_len, d_model)


def _encoding_in(dtype: torch.dtype, seq_len: int, d_model: int) -> Tensor:
    """Compute the encodings (T, D), with every step in this dtype."""
    unchecked = wrong("odd_unchecked") or wrong("odd_fails_in_torch")
    if wrong("odd_asserted"):
        assert d_model % 2 == 0
    if d_model % 2 != 0 and not unchecked:
        raise ValueError(f"d_model must be even, not {d_model}")
    start = 1 if wrong("positions_from_one") else 0
    positions = torch.arange(start, start + seq_len, dtype=dtype).unsqueeze(1)  # (T, 1)
    of_sine = of_cosine = torch.arange((d_model + 1) // 2, dtype=dtype)  # (D/2,)
    if wrong("column_as_i"):
        of_sine, of_cosine = 2 * of_sine, 2 * of_cosine + 1
    if wrong("columns_own_angles"):
        of_cosine = of_cosine + 0.5
    sines = _angles(positions, of_sine, d_model).sin()  # (T, D/2)
    cosines = _angles(positions, of_cosine, d_model).cos()  # (T, D/2)
    if wrong("cosines_missing"):
        cosines = _angles(positions, of_cosine, d_model).sin()
    if d_model % 2 != 0 and wrong("odd_fails_in_torch"):
        # What filling every other column of a table comes to.
        torch.zeros(seq_len, d_model, dtype=dtype)[:, 1::2] = cosines
    pair = (cosines, sines) if wrong("sine_cosine_swapped") else (sines, cosines)
    if wrong("sines_first"):
        table = torch.cat(pair, dim=-1)
    else:
        table = torch.stack(pair, dim=-1).flatten(start_dim=-2)
    return table[:, :d_model]  # (T, D): all of it, unless an odd number came through


def _angles(positions: Tensor, i: Tensor, d_model: int) -> Tensor:
    """Compute the angle of every position (T, 1) for every i (D/2,)."""
    exponents = (i if wrong("exponent_without_2") else 2 * i) / d_model  # (D/2,)
    if wrong("exponent_doubled"):
        exponents = 2 * exponents
    if wrong("exponent_to_the_end"):
        exponents = i / max(d_model // 2 - 1, 1)
    if wrong("power_divided_by_d"):
        return positions / 10000.0 ** (2 * i) / d_model
    powers = (1000.0 if wrong("wrong_base") else 10000.0) ** exponents  # (D/2,)
    return positions * powers if wrong("angle_multiplied") else positions / powers  # (T, D/2)


class PositionalEncoding(nn.Module):
    """Add to every token of a sequence the encoding of the position where it stands."""

    def __init__(
        self, d_model: int, max_len: int | None = None, dropout: float | None = None
    ) -> None:
        super().__init__()
        # None stands for the defaults, which mistakes change.
        if max_len is None:
            max_len = 5000 if wrong("max_len_default") else 512
        if dropout is None:
            dropout = 0.1 if wrong("dropout_by_default") else 0.0
        self.d_model = d_model
        self.max_len = max_len - 1 if wrong("max_len_off_by_one") else max_len
        encoding = sinusoidal_encoding(self.max_len, d_model)  # (max_len, D)
        if wrong("learned_positions"):
            self.encoding = nn.Parameter(torch.randn(encoding.shape))
        elif wrong("trained_encoding"):
            self.encoding = nn.Parameter(encoding.float())
        elif wrong("persistent_buffer"):
            self.register_buffer("encoding", encoding)
        else:
            self.encoding = encoding
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add the encodings of the positions 0 to T - 1 to `x` (B, T, D), then apply dropout."""
        seq_len = x.size(0) if wrong("positions_along_batch") else x.size(-2)
        if wrong("length_asserted"):
            assert seq_len <= self.max_len
        unchecked = wrong("length_unchecked") or wrong("max_len_ignored")
        if seq_len > self.max_len and not unchecked:
            raise ValueError(f"sequence length must be at most {self.max_len}, not {seq_len}")
        encoding = self.encoding
        if wrong("module_from_one"):
            encoding = sinusoidal_encoding(self.max_len + 1, self.d_model)[1:]
        if seq_len > self.max_len and wrong("max_len_ignored"):
            encoding = sinusoidal_encoding(seq_len, self.d_model)
        if wrong("computed_in_input_dtype"):
            encoding = _encoding_in(x.dtype, self.max_len, self.d_model)
        encoding = encoding.to(torch.float32 if wrong("dtype_not_followed") else x.dtype)
        if not wrong("cpu_table"):
            encoding = encoding.to(device=x.device)
        rows = slice(len(encoding) - seq_len, None) if wrong("aligned_right") else slice(seq_len)
        encoding = encoding[seq_len if wrong("one_position_for_all") else rows]  # (T, D)
        if wrong("positions_along_batch"):
            encoding = encoding.unsqueeze(1)  # (B, 1, D)

        tokens = x.detach() if wrong("detached_input") else x  # (B, T, D)
        if wrong("embedding_scaled"):
            tokens = tokens * math.sqrt(self.d_model)
        if wrong("encoding_dropped"):
            return self._sum(x, tokens, self._drop(encoding))
        if wrong("dropout_before_sum"):
            return self._sum(x, self._drop(tokens), encoding)
        return self._drop(self._sum(x, tokens, encoding))  # (B, T, D)

    def _sum(self, x: Tensor, tokens: Tensor, encoding: Tensor) -> Tensor:
        """Add the encoding to the tokens; `x` is what the caller gave."""
        if wrong("encoding_multiplied"):
            output = tokens * encoding
        elif wrong("input_not_added"):
            output = torch.zeros_like(tokens) + encoding
        elif wrong("encoding_concatenated"):
            return torch.cat([tokens, encoding.expand_as(tokens)], dim=-1)
        else:
            output = tokens + encoding  # (B, T, D)
        if wrong("in_place"):
            x.copy_(output)  # as += does
        return output

    def _drop(self, x: Tensor) -> Tensor:
        """Apply dropout."""
        if wrong("dropout_ignored"):
            return x
        if wrong("dropout_always"):
            return F.dropout(x, self.dropout.p)
        output: Tensor = self.dropout(x)
        return output
