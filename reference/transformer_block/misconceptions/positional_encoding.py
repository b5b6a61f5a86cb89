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
        "your angles shrink too slowly: the exponent is i / d with i counting the pairs, or the "
        "base 100, which comes to the same; the course has 10000 and 2i / d",
        "slides, page 24",
    ),
    "column_as_i": (
        "you put the number of the column in for i, so that it counts twice in 2i / d; i numbers "
        "the pairs, and a sine and its cosine share one angle",
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
    "cosines_missing": (
        "all your columns hold sines; sine and cosine take turns",
        "slides, pages 24 and 25",
    ),
    "columns_own_angles": (
        "each of your columns has an angle of its own, with the number of the column in the "
        "exponent; a cosine shares the angle of the sine before it",
        "slides, pages 24 and 25",
    ),
    "exponent_doubled": (
        "your exponent grows twice as fast, as 4i / d: the steps of 2 are in your range already, "
        "or i was doubled once more; the course has 2i / d",
        "slides, page 24",
    ),
    "exponent_to_the_end": (
        "your exponent is i / (d/2 - 1), which reaches 1 in the last pair; the course has 2i / d",
        "slides, page 24",
    ),
    "encoding_multiplied": (
        "you multiplied x by the encoding; the course adds it",
        "slides, page 25",
    ),
    "encoding_concatenated": (
        "you put the encoding beside x, which doubles the features; the course adds it to x",
        "slides, page 25",
    ),
    "input_not_added": (
        "you returned the encoding alone; it is added to x",
        "slides, page 25",
    ),
    "one_position_for_all": (
        "you added one and the same row of the table to every token (a colon is missing in "
        "table[:T]); every position has a row of its own",
        "slides, page 25",
    ),
    "encoding_dropped": (
        "you applied dropout to the encoding before adding it; dropout comes last and hits the sum",
        "slides, page 25",
    ),
    "dropout_by_default": (
        "you drop values unless told otherwise, at a rate of 0.1; here the default is no dropout",
        "slides, page 25",
    ),
    "max_len_default": (
        "your max_len is far more than 512 unless it is given; the default is 512",
        "slides, page 24",
    ),
    "max_len_ignored": (
        "you work with any length, whatever max_len is; a longer sequence is a ValueError",
        "slides, page 24",
    ),
    "length_asserted": (
        "you assert that the sequence is not too long, which is an AssertionError; raise a "
        "ValueError",
        "slides, page 24",
    ),
    "odd_asserted": (
        "you assert that d_model is even, which is an AssertionError; raise a ValueError",
        "slides, page 24",
    ),
    "odd_fails_in_torch": (
        "you do not check d_model, so an odd one fails inside torch, where the cosines do not fit; "
        "raise a ValueError yourself",
        "slides, page 24",
    ),
    "trained_encoding": (
        "you made a Parameter of the encoding, so it is saved and trained; the course computes it "
        "and trains nothing",
        "slides, pages 24 and 26",
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
        if seq_len > self.max_len and wrong("max_len_ignored"):
            encoding = sinusoidal_encoding(seq_len, self.d_model)
        if wrong("computed_in_input_dtype"):
            encoding = _encoding_in(x.dtype, self.max_len, self.d_model)
        encoding = encoding.to(torch.float32 if wrong("dtype_not_followed") else x.dtype)
        if not wrong("cpu_table"):
            encoding = encoding.to(device=x.device)
        encoding = encoding[seq_len if wrong("one_position_for_all") else slice(seq_len)]  # (T, D)
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
