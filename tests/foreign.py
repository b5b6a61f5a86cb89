"""Components as students write them, unlike the catalogue's, and the mistakes in them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Foreign:
    """A component, and what is to be said of it.

    Attributes:
        names: the mistakes to be named; none where there is no entry for what is wrong.
        at_home: whether the public questions show them, so that the student's own run is tried.
    """

    component: str
    source: str
    names: tuple[str, ...] = ()
    at_home: bool = True


_ATTENTION = """\
import math
import torch
from torch import nn

def causal_mask(seq_len):
    i = torch.arange(seq_len)
    return i[:, None] >= i[None]

def padding_mask(token_ids, pad_id):
    B, T = token_ids.shape
    return (token_ids != pad_id)[:, None, :].repeat(1, T, 1)

def scaled_dot_product_attention(query, key, value, mask=None):
    s = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask, -1e9)
    w = torch.softmax(s, dim=-1)
    return torch.matmul(w, value), w

class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        q, k, v = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        return scaled_dot_product_attention(q, k, v, mask)
"""
_MASKING = """\
    if mask is not None:
        s = s.masked_fill(mask, -1e9)
    w = torch.softmax(s, dim=-1)
"""


def attention(softmax: str) -> str:
    """Return a file of attention that makes weights `w` of scores `s` in this way."""
    assert _MASKING in _ATTENTION
    return _ATTENTION.replace(_MASKING, softmax)


BARE = """\
    e = torch.exp(s)
    if mask is not None:
        e = e * mask
    w = e / e.sum(-1, keepdim=True)
"""
LARGEST_OF_ALL = """\
    s = s - s.max()
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    e = torch.exp(s)
    w = e / e.sum(-1, keepdim=True)
"""
LARGEST_BEFORE_MASKING = """\
    s = s - s.amax(-1, keepdim=True)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    e = torch.exp(s)
    w = e / e.sum(-1, keepdim=True)
"""
LARGEST_OF_COLUMN = """\
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    s = s - s.amax(-2, keepdim=True)
    e = torch.exp(s)
    w = e / e.sum(-1, keepdim=True)
"""
_IN_LOG_SPACE = """\
import math
import torch
from torch import nn

def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2:
        raise ValueError("d_model must be even")
    pe = torch.zeros(seq_len, d_model)
    position = torch.arange({start}, seq_len + {start}).unsqueeze(1).float()
    div = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log({base}) / d_model))
    pe[:, 0::2] = torch.{even}(position * div)
    pe[:, 1::2] = torch.{odd}(position * div)
    return pe

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.max_len = max_len
        self.register_buffer("pe", sinusoidal_encoding(max_len, d_model), persistent=False)

    def forward(self, x):
        if x.size(1) > self.max_len:
            raise ValueError("too long")
        return self.drop(x + self.pe[: x.size(1)].unsqueeze(0).to(x.dtype))
"""


def in_log_space(start: int = 0, base: str = "10000.0", even: str = "sin", odd: str = "cos") -> str:
    """Return a file of positional_encoding whose table is computed in float32, in log space."""
    return _IN_LOG_SPACE.format(start=start, base=base, even=even, odd=odd)


NEVER_DROPS = """\
import torch
from torch import nn
import torch.nn.functional as F

def memory_lookup(x, keys, values):
    return F.relu(x @ keys.T) @ values

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        if activation not in ("relu", "gelu"):
            raise ValueError(activation)
        self.act = F.relu if activation == "relu" else F.gelu
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x):
        return self.linear2(self.act(self.linear1(x)))
"""
OWN_DROPOUT_LAST = """\
import torch
from torch import nn

def memory_lookup(x, keys, values):
    return torch.relu(x @ keys.t()) @ values

class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff, dropout=0.1, activation="relu", bias=True):
        super().__init__()
        if activation not in {"relu", "gelu"}:
            raise ValueError(activation)
        self.kind = activation
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.p = dropout

    def forward(self, x):
        h = self.linear1(x)
        h = h.clamp_min(0) if self.kind == "relu" else 0.5 * h * (1 + torch.erf(h / 2 ** 0.5))
        h = self.linear2(h)
        if self.training and self.p > 0:
            keep = (torch.rand(h.shape, device=h.device) > self.p).to(h.dtype)
            h = h * keep / (1 - self.p)
        return h
"""
NO_BIAS_BUT_DROPOUT = """\
import math
import torch
from torch import nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if num_heads <= 0 or d_model % num_heads:
            raise ValueError("no")
        self.h = num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=False)
        self.k_linear = nn.Linear(d_model, d_model, bias=False)
        self.v_linear = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, mask=None):
        b, t, d = x.shape
        layers = (self.q_linear, self.k_linear, self.v_linear)
        q, k, v = (f(x).reshape(b, t, self.h, d // self.h).transpose(1, 2) for f in layers)
        s = q @ k.mT / math.sqrt(d // self.h)
        if mask is not None:
            s = s.masked_fill(~(mask.unsqueeze(1) if mask.dim() == 3 else mask), float("-inf"))
        w = s.softmax(-1)
        o = F.dropout(w, 0.1) @ v
        return F.dropout(self.out_proj(o.transpose(1, 2).reshape(b, t, d)), 0.1), w
"""
VIEWS = """\
import torch
from torch import nn

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if num_heads < 1 or d_model % num_heads != 0:
            raise ValueError("d_model must be divisible")
        self.n = num_heads
        self.hd = d_model // num_heads
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        B, T, D = x.size()
        Q = self.q_linear(x).contiguous().view(B, self.n, T, self.hd)
        K = self.k_linear(x).contiguous().view(B, self.n, T, self.hd)
        V = self.v_linear(x).contiguous().view(B, self.n, T, self.hd)
        sc = torch.einsum("bhqd,bhkd->bhqk", Q, K) * self.hd ** -0.5
        if mask is not None:
            if mask.dim() == 3:
                mask = mask[:, None]
            sc = torch.where(mask, sc, torch.full_like(sc, float("-inf")))
        w = torch.softmax(sc, -1)
        out = torch.einsum("bhqk,bhkd->bhqd", w, V).contiguous().view(B, T, D)
        return self.out_proj(out), w
"""
# Dropout stands where it should, and keeps with the probability with which it should drop.
KEEPS_WITH_P = (
    OWN_DROPOUT_LAST.replace("        h = self.linear2(h)\n", "")
    .replace("> self.p)", "< self.p)")
    .replace("/ (1 - self.p)", "/ self.p")
    .replace("return h\n", "return self.linear2(h)\n")
)
# It draws its encodings, so it asks nobody whether the number of features is even.
LEARNED = """\
import torch
from torch import nn

def sinusoidal_encoding(seq_len, d_model):
    if d_model % 2:
        raise ValueError(d_model)
    angle = torch.arange(seq_len).unsqueeze(1) / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=2).reshape(seq_len, d_model)

class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=512, dropout=0.0):
        super().__init__()
        self.limit = max_len
        self.positions = nn.Parameter(torch.randn(1, max_len, d_model))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        if x.shape[1] > self.limit:
            raise ValueError(x.shape)
        return self.drop(x + self.positions[:, : x.shape[1]].to(x.device, x.dtype))
"""
FLOAT_BLOCK = """\
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn

class TransformerBlock(nn.Module):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        if norm not in ("pre", "post", "none"):
            raise ValueError(norm)
        self.attention = MultiHeadAttention(d_model, num_heads, bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        if norm != "none":
            self.norm1, self.norm2 = LayerNorm(d_model), LayerNorm(d_model)
        self.where, self.drop = norm, nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.where == "post":
            x = self.norm1(x + self.drop(self.attention(x, mask)[0]))
            return self.norm2(x + self.drop(self.feed_forward(x))).float()
        first, second = (self.norm1, self.norm2) if self.where == "pre" else (nn.Identity(),) * 2
        x = x + self.drop(self.attention(first(x), mask)[0])
        return (x + self.drop(self.feed_forward(second(x)))).float()
"""

_BY_VIEW = ("split_without_transpose", "joined_without_transpose")
CASES = {
    "keeps_with_p": Foreign("feed_forward", KEEPS_WITH_P, ("keep_probability_above_zero",), False),
    "learned": Foreign("positional_encoding", LEARNED, ("learned_positions",), False),
    "float_block": Foreign("transformer_block", FLOAT_BLOCK, ("float32_result",), False),
    "never_drops": Foreign("feed_forward", NEVER_DROPS, ("dropout_missing",), False),
    "own_dropout_last": Foreign("feed_forward", OWN_DROPOUT_LAST, ("dropout_last",), False),
    "no_bias_but_dropout": Foreign("multi_head_attention", NO_BIAS_BUT_DROPOUT),
    "views": Foreign("multi_head_attention", VIEWS, _BY_VIEW),
    "largest_of_all": Foreign("attention", attention(LARGEST_OF_ALL)),
    "largest_before_masking": Foreign("attention", attention(LARGEST_BEFORE_MASKING)),
    "largest_of_column": Foreign("attention", attention(LARGEST_OF_COLUMN)),
    "swapped": Foreign(
        "positional_encoding", in_log_space(even="cos", odd="sin"), ("sine_cosine_swapped",)
    ),
    "from_one": Foreign("positional_encoding", in_log_space(start=1), ("positions_from_one",)),
    "base": Foreign("positional_encoding", in_log_space(base="1000.0"), ("wrong_base",)),
    "swapped_from_one": Foreign(
        "positional_encoding",
        in_log_space(start=1, even="cos", odd="sin"),
        ("sine_cosine_swapped", "positions_from_one"),
    ),
}
# A mask that is read the wrong way round, and a finite number for minus infinity.
INVERTED = attention(_MASKING)
