"""Positional encoding with one mistake in it, or several; with none in force it is right."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "sines_first": (
        "you put all sines into the first half and all cosines into the second; the course lets "
        "them take turns",
        "slides, pages 24 and 25",
    ),
    "sine_cosine_swapped": (
        "you swapped the two: sines belong in the even columns, counted from 0, cosines in the odd "
        "ones",
        "slides, page 24",
    ),
    "exponent_without_2": (
        "your exponent is i / d with i counting the pairs; the course has 2i / d",
        "slides, page 24",
    ),
    "column_as_i": (
        "you put the number of the column in for i; i numbers the pairs, so a sine and its cosine "
        "share one angle",
        "slides, pages 24 and 25",
    ),
    "wrong_base": (
        "your wavelengths grow with powers of 1000; the course uses powers of 10000",
        "slides, page 24",
    ),
    "angle_multiplied": (
        "you multiplied the position by the power of 10000 (a minus sign got lost); the course "
        "divides by it",
        "slides, page 24",
    ),
    "positions_from_one": (
        "you gave the first token position 1; the course counts positions from 0",
        "slides, page 25",
    ),
    "positions_along_batch": (
        "you counted positions along the first dimension, which is the batch; they run along the "
        "second, T",
        "slides, page 25",
    ),
    "embedding_scaled": (
        "you multiplied x by the root of d_model before adding; the course adds the encoding to x "
        "as it is",
        "slides, page 25",
    ),
    "in_place": (
        "you added the encoding into the input itself (+= or a function ending in _); the caller "
        "still needs it as it was",
        "slides, page 25",
    ),
    "detached_input": (
        "you cut the input out of the graph (.detach(), .data or no_grad); only the encoding is "
        "fixed, x still needs its gradient",
        "slides, page 25",
    ),
    "computed_in_input_dtype": (
        "you computed the angles in the input's dtype; bfloat16 cannot even count past 256, so "
        "round only the finished encoding",
        "slides, page 25",
    ),
    "dtype_not_followed": (
        "you added a float32 table to whatever came in, so bfloat16 comes out as float32; the "
        "result keeps the input's dtype",
        "slides, page 25",
    ),
    "cpu_table": (
        "your table stays on the CPU when the input is elsewhere; it has to follow the input's "
        "device",
        "slides, page 25",
    ),
    "persistent_buffer": (
        "your table is saved in the state_dict, as an ordinary buffer is; the course expects the "
        "state_dict to be empty",
        "slides, pages 24 and 26",
    ),
    "learned_positions": (
        "your encodings are a Parameter with random values, that is, learned; the course computes "
        "them and trains nothing",
        "slides, pages 24 and 26",
    ),
    "odd_unchecked": (
        "you let an odd d_model through; sines and cosines come in pairs, so that is a ValueError",
        "slides, page 24",
    ),
    "length_unchecked": (
        "you do not check the length, so a sequence that is too long fails inside torch; raise a "
        "ValueError yourself",
        "slides, page 24",
    ),
    "max_len_off_by_one": (
        "you stop one position early; a sequence of exactly max_len tokens is still allowed",
        "slides, page 24",
    ),
    "dropout_before_sum": (
        "you applied dropout to x and added the encoding afterwards; dropout comes last and hits "
        "the sum",
        "slides, page 25",
    ),
    "dropout_ignored": (
        "you never apply dropout; in training it drops values of the sum at the rate that was "
        "given",
        "slides, page 25",
    ),
    "dropout_always": (
        "you drop values in evaluation too (F.dropout does, unless told otherwise); dropout is for "
        "training only",
        "slides, page 25",
    ),
}
# The mistakes in force.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force."""
    return name in WRONG


def sinusoidal_encoding(seq_len: int, d_model: int) -> Tensor:
    """Compute the encodings of the positions 0 to `seq_len` - 1."""
    return _encoding_in(torch.float64, seq_len, d_model)


def _encoding_in(dtype: torch.dtype, seq_len: int, d_model: int) -> Tensor:
    """Compute the encodings (T, D), with every step in this dtype."""
    if d_model % 2 != 0 and not wrong("odd_unchecked"):
        raise ValueError(f"d_model must be even, not {d_model}")
    start = 1 if wrong("positions_from_one") else 0
    positions = torch.arange(start, start + seq_len, dtype=dtype).unsqueeze(1)  # (T, 1)
    of_sine = of_cosine = torch.arange((d_model + 1) // 2, dtype=dtype)  # (D/2,)
    if wrong("column_as_i"):
        of_sine, of_cosine = 2 * of_sine, 2 * of_cosine + 1
    sines = _angles(positions, of_sine, d_model).sin()  # (T, D/2)
    cosines = _angles(positions, of_cosine, d_model).cos()  # (T, D/2)
    pair = (cosines, sines) if wrong("sine_cosine_swapped") else (sines, cosines)
    if wrong("sines_first"):
        table = torch.cat(pair, dim=-1)
    else:
        table = torch.stack(pair, dim=-1).flatten(start_dim=-2)
    return table[:, :d_model]  # (T, D): all of it, unless an odd number came through


def _angles(positions: Tensor, i: Tensor, d_model: int) -> Tensor:
    """Compute the angle of every position (T, 1) for every i (D/2,)."""
    exponents = (i if wrong("exponent_without_2") else 2 * i) / d_model  # (D/2,)
    powers = (1000.0 if wrong("wrong_base") else 10000.0) ** exponents  # (D/2,)
    return positions * powers if wrong("angle_multiplied") else positions / powers  # (T, D/2)


class PositionalEncoding(nn.Module):
    """Add to every token of a sequence the encoding of the position where it stands."""

    def __init__(self, d_model: int, max_len: int = 512, dropout: float = 0.0) -> None:
        super().__init__()
        self.d_model = d_model
        self.max_len = max_len - 1 if wrong("max_len_off_by_one") else max_len
        encoding = sinusoidal_encoding(self.max_len, d_model)  # (max_len, D)
        if wrong("learned_positions"):
            self.encoding = nn.Parameter(torch.randn(encoding.shape))
        elif wrong("persistent_buffer"):
            self.register_buffer("encoding", encoding)
        else:
            self.encoding = encoding
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Add the encodings of the positions 0 to T - 1 to `x` (B, T, D), then apply dropout."""
        seq_len = x.size(0) if wrong("positions_along_batch") else x.size(-2)
        if seq_len > self.max_len and not wrong("length_unchecked"):
            raise ValueError(f"sequence length must be at most {self.max_len}, not {seq_len}")
        encoding = self.encoding
        if wrong("computed_in_input_dtype"):
            encoding = _encoding_in(x.dtype, self.max_len, self.d_model)
        encoding = encoding.to(torch.float32 if wrong("dtype_not_followed") else x.dtype)
        if not wrong("cpu_table"):
            encoding = encoding.to(device=x.device)
        encoding = encoding[:seq_len]  # (T, D)
        if wrong("positions_along_batch"):
            encoding = encoding.unsqueeze(1)  # (B, 1, D)

        tokens = x.detach() if wrong("detached_input") else x  # (B, T, D)
        if wrong("embedding_scaled"):
            tokens = tokens * math.sqrt(self.d_model)
        if wrong("dropout_before_sum"):
            return self._sum(x, self._drop(tokens), encoding)
        return self._drop(self._sum(x, tokens, encoding))  # (B, T, D)

    def _sum(self, x: Tensor, tokens: Tensor, encoding: Tensor) -> Tensor:
        """Add the encoding to the tokens; `x` is what the caller gave."""
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
