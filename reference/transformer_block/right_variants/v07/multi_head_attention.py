"""Several heads in one file, without importing the single one."""

import torch
from torch import nn


def share_out(scores, mask):
    """Take the softmax over the allowed keys."""

    def allowed(s):
        return s if mask is None else torch.where(mask, s, torch.full_like(s, -torch.inf))

    return torch.softmax(allowed(scores), -1)


class MultiHeadAttention(nn.Module):
    """H heads, each with a function of its own that cuts out its features."""

    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"{num_heads} heads cannot share {d_model} features")
        size = d_model // num_heads

        def make_head(number):
            begin = number * size

            def cut(t):
                return t.narrow(-1, begin, size)

            def head(q, k, v, mask):
                weights = share_out(cut(q) @ cut(k).mT / size**0.5, mask)
                return weights @ cut(v), weights

            return head

        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            setattr(self, name, nn.Linear(d_model, d_model, bias))
        self.heads = tuple(make_head(number) for number in range(num_heads))

    def forward(self, x, mask=None):
        """Run every head and put the results side by side."""
        q, k, v = self.q_linear(x), self.k_linear(x), self.v_linear(x)

        def run(head):
            return head(q, k, v, mask)

        outputs, weights = zip(*map(run, self.heads), strict=True)
        return self.out_proj(torch.cat(outputs, -1)), torch.stack(weights, 1)
