"""Attention as an object with fine methods, and the module that uses it."""

import torch
from base import WithLinears
from torch import Tensor


class Masks:
    """Factory of masks; True = may attend."""

    @staticmethod
    def causal(seq_len: int) -> Tensor:
        """Lower triangle."""
        allowed = torch.zeros(seq_len, seq_len, dtype=torch.bool)
        rows, columns = torch.tril_indices(seq_len, seq_len)
        allowed[rows, columns] = True
        return allowed

    @staticmethod
    def padding(token_ids: Tensor, pad_id: int) -> Tensor:
        """Every query, but only keys that are words."""
        words = torch.not_equal(token_ids, pad_id)
        return torch.stack([words] * token_ids.size(1), dim=1)


class DotProductAttention:
    """One attention over given queries, keys and values; not a module."""

    def __init__(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
        self.query, self.key, self.value, self.mask = query, key, value, mask

    @property
    def scale(self) -> float:
        """1 / sqrt(d_k)."""
        return float(self.query.size(-1)) ** -0.5

    def scores(self) -> Tensor:
        """How well the keys fit, -inf where forbidden."""
        raw = torch.matmul(self.query * self.scale, self.key.transpose(-1, -2))
        return raw if self.mask is None else self._hide(raw)

    def _hide(self, raw: Tensor) -> Tensor:
        nothing = torch.tensor(float("-inf"), dtype=raw.dtype, device=raw.device)
        return torch.where(self.mask, raw, nothing)

    def weights(self) -> Tensor:
        """Shares of every query."""
        return self.scores().softmax(dim=-1)

    def __call__(self) -> tuple[Tensor, Tensor]:
        """Give output and weights."""
        weights = self.weights()
        return torch.matmul(weights, self.value), weights


def causal_mask(seq_len: int) -> Tensor:
    """See Masks."""
    return Masks.causal(seq_len)


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """See Masks."""
    return Masks.padding(token_ids, pad_id)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """See DotProductAttention."""
    return DotProductAttention(query, key, value, mask)()


class QueryKeyValue(WithLinears):
    """Base class of everything with three projections."""

    _names = ("q_linear", "k_linear", "v_linear")
    _more: tuple[str, ...] = ()

    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        self.add_linears(dict.fromkeys(self._names + self._more, (d_model, d_model)), bias)

    def project(self, x: Tensor) -> tuple[Tensor, ...]:
        """Query, key and value of every token."""
        return tuple(self.apply_linears(x, *self._names))


class SelfAttention(QueryKeyValue):
    """A single head over all features."""

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Project and attend."""
        return DotProductAttention(*self.project(x), mask)()
