"""Small functions shared by all parts."""

from functools import reduce


def compose(*fs):
    """compose(f, g)(x) is g(f(x))."""
    return lambda x: reduce(lambda y, f: f(y), fs, x)


def pick(table, name):
    """Look up an option, complain if there is no such."""
    if (found := table.get(name)) is None:
        raise ValueError(f"{name!r} is none of {', '.join(table)}")
    return found


def z_score(x, eps):
    """Standardise the last dimension."""
    return (d := x - x.mean(-1, True)) / ((d * d).mean(-1, True) + eps) ** 0.5


def attend(q, k, v, mask=None):
    """Attention and its weights."""
    s = q @ k.mT * k.shape[-1] ** -0.5
    return (w := (s if mask is None else s.where(mask, -float("inf"))).softmax(-1)) @ v, w


def split(t, h):
    """(B, T, D) -> (B, H, T, D/H)."""
    return t.unflatten(-1, (h, -1)).transpose(-3, -2)


def join(t):
    """(B, H, T, D/H) -> (B, T, D)."""
    return t.transpose(-3, -2).flatten(-2)
