"""The block with everything it needs: three private classes and nothing imported but torch."""

import torch
from torch import nn


def _make_norm(d_model):
    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(d_model))
            self.bias = nn.Parameter(torch.zeros(d_model))

        def forward(self, x):
            def mean(t):
                return t.mean(-1, keepdim=True)

            centred = x - mean(x)
            return self.weight * (centred / (mean(centred * centred) + 1e-5).sqrt()) + self.bias

    return Norm()


def _make_attention(d_model, num_heads, bias):
    if d_model % num_heads:
        raise ValueError(f"{num_heads} heads cannot share {d_model} features")
    size = d_model // num_heads

    def split(t):
        return t.unflatten(-1, (num_heads, size)).transpose(-3, -2)

    def join(t):
        return t.transpose(-3, -2).flatten(-2)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q_linear = nn.Linear(d_model, d_model, bias)
            self.k_linear = nn.Linear(d_model, d_model, bias)
            self.v_linear = nn.Linear(d_model, d_model, bias)
            self.out_proj = nn.Linear(d_model, d_model, bias)

        def forward(self, x, mask):
            def forbid(scores):
                if mask is None:
                    return scores
                return scores.masked_fill(mask.logical_not().unsqueeze(-3), float("-inf"))

            q, k, v = map(split, (self.q_linear(x), self.k_linear(x), self.v_linear(x)))
            weights = forbid(q @ k.mT * size**-0.5).softmax(-1)
            return self.out_proj(join(weights @ v))  # the block has no use for the weights

    return Attention()


def _make_feed_forward(d_model, d_ff, activation, drop, bias):
    functions = {"relu": nn.functional.relu, "gelu": nn.functional.gelu}
    if activation not in functions:
        raise ValueError(f"no such activation: {activation}")
    activate = functions[activation]

    class Memory(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear1 = nn.Linear(d_model, d_ff, bias)
            self.linear2 = nn.Linear(d_ff, d_model, bias)

        def forward(self, x):
            return self.linear2(drop(activate(self.linear1(x))))

    return Memory()


class TransformerBlock(nn.Module):
    """Attention, then feed-forward, each added to the stream."""

    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()

        def drop(t):
            return nn.functional.dropout(t, dropout, self.training)

        def pre(f, n):
            return lambda x: x + drop(f(n(x)))

        def post(f, n):
            return lambda x: n(x + drop(f(x)))

        def bare(f, n):
            return lambda x: x + drop(f(x))

        wrappers = {"pre": pre, "post": post, "none": bare}
        if norm not in wrappers:
            raise ValueError(f"no such norm: {norm}")
        wrap = wrappers[norm]

        self.attention = _make_attention(d_model, num_heads, bias)
        self.feed_forward = _make_feed_forward(d_model, d_ff, activation, drop, bias)
        first = second = None
        if norm != "none":
            first = self.norm1 = _make_norm(d_model)
            second = self.norm2 = _make_norm(d_model)

        def both(x, mask):
            attend = wrap(lambda t: self.attention(t, mask), first)
            think = wrap(self.feed_forward, second)
            return think(attend(x))

        self.both = both

    def forward(self, x, mask=None):
        """Take x through both sublayers."""
        return self.both(x, mask)
