"""With checks of everything that comes in, in single precision inside."""

from __future__ import annotations

import numbers

import torch
from torch import Tensor, nn


def _check(temperature: float, top_k: int | None, top_p: float | None) -> None:
    if not isinstance(temperature, numbers.Real) or not temperature >= 0:
        raise ValueError(f"temperature must be a number of at least 0, not {temperature!r}")
    if top_k is not None and (not isinstance(top_k, numbers.Integral) or top_k < 1):
        raise ValueError(f"top_k must be a whole number of at least 1, not {top_k!r}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {top_p!r}")


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Turn logits into probabilities."""
    _check(temperature, top_k, top_p)
    scores = logits.detach().to(torch.float32, copy=True)
    words = scores.shape[-1]
    if temperature == 0:
        keep = torch.zeros_like(scores, dtype=torch.bool)
        keep = keep.scatter(-1, scores.argmax(dim=-1, keepdim=True), True)
        return keep.to(logits.dtype)
    scores /= temperature
    if top_k is not None and top_k < words:
        scores[scores < scores.topk(top_k, dim=-1)[0][..., -1, None]] = -torch.inf
    shares = torch.softmax(scores, dim=-1)
    if top_p is not None and top_p < 1:
        ascending, order = shares.sort(dim=-1)
        # From the least likely on: a word goes while all up to it are no more than what may go.
        goes = ascending.cumsum(dim=-1) <= 1 - top_p
        goes[..., -1] = False
        shares = shares.masked_fill(torch.zeros_like(goes).scatter(-1, order, goes), 0.0)
        shares /= shares.sum(dim=-1, keepdim=True)
    return shares.to(logits.dtype)


def generate(
    model: nn.Module,
    prompt: Tensor,
    max_new_tokens: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    end_id: int | None = None,
    max_len: int | None = None,
) -> Tensor:
    """Write on, with every mode as it was."""
    _check(temperature, top_k, top_p)
    if prompt.ndim != 2 or prompt.shape[1] < 1:
        raise ValueError(f"a prompt has the shape (B, T), not {tuple(prompt.shape)}")
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            return _written(
                model, prompt, max_new_tokens, (temperature, top_k, top_p), end_id, max_len
            )
    finally:
        for module, mode in modes.items():
            module.training = mode


def _written(model, prompt, count, options, end_id, max_len):
    text = prompt.detach().clone().contiguous()
    alive = torch.arange(len(text), device=text.device)
    for _ in range(count):
        if not len(alive):
            break
        shown = text[alive] if max_len is None else text[alive, -max_len:]
        shares = next_probabilities(model(shown)[:, -1, :], *options)
        word = torch.multinomial(shares.float(), 1).flatten()
        column = torch.full((len(text),), 0 if end_id is None else end_id, device=text.device)
        column[alive] = word
        text = torch.cat([text, column.unsqueeze(1)], dim=1)
        if end_id is not None:
            alive = alive[word != end_id]
    return text
