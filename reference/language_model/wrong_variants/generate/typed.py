"""Sampling, token by token."""

import torch
from torch import Tensor, nn


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    if temperature < 0:
        raise ValueError(f"temperature must be 0 or more, not {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be 1 or more, not {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {top_p}")
    if temperature == 0:
        best = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    ordered, order = (logits / temperature).sort(descending=True)
    if top_k is not None:
        ordered[..., top_k:] = float("-inf")
    probabilities = torch.softmax(ordered, dim=-1)
    if top_p is not None:
        before = probabilities.cumsum(dim=-1) - probabilities
        probabilities = probabilities.masked_fill(before >= top_p, 0)
        probabilities = probabilities / probabilities.sum(dim=-1, keepdim=True)
    return probabilities.scatter(-1, order, probabilities)


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
    was_training = model.training
    model.eval()
    tokens, ended = prompt, prompt.new_zeros(len(prompt), dtype=torch.bool)
    try:
        with torch.no_grad():
            for _ in range(max_new_tokens):
                seen = tokens if max_len is None else tokens[:, -max_len:]
                logits = model(seen)[:, -1]
                probabilities = next_probabilities(logits, temperature, top_k, top_p)
                drawn = torch.multinomial(probabilities, 1).squeeze(-1)
                if end_id is not None:
                    drawn = drawn.masked_fill(ended, end_id)
                    ended = drawn == end_id
                tokens = torch.cat([tokens, drawn[:, None]], dim=1)
                if ended.all():
                    break
    finally:
        model.train(was_training)
    return tokens
