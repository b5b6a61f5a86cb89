"""Sampling by the inverse of the distribution function."""

import torch
from torch import nn


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Turn logits into probabilities."""
    if temperature < 0 or (top_k is not None and top_k <= 0):
        raise ValueError(f"temperature {temperature}, top_k {top_k}")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError(f"top_p {top_p}")
    if temperature == 0:
        return nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    scores = logits / temperature
    if top_k is not None:
        least = scores.topk(min(top_k, scores.shape[-1]), dim=-1).values[..., -1:]
        scores = torch.where(scores < least, float("-inf"), scores)
    shares = scores.softmax(-1)
    if top_p is not None:
        ordered = shares.sort(dim=-1, descending=True).values
        before = ordered.cumsum(-1) - ordered
        least = ordered.masked_fill((before >= top_p) & (before > 0), 2.0).amin(-1, keepdim=True)
        shares = torch.where(shares < least, 0.0, shares)
        shares = shares / shares.sum(-1, keepdim=True)
    return shares


def generate(
    model,
    prompt,
    max_new_tokens,
    temperature=1.0,
    top_k=None,
    top_p=None,
    end_id=None,
    max_len=None,
):
    """Write on, every draw by the inverse of the distribution function."""
    mode = model.training
    model.eval()
    text = prompt.clone()
    over = torch.zeros(prompt.shape[0], 1, dtype=torch.bool)
    for _ in range(max_new_tokens):
        window = text if max_len is None else text[:, max(0, text.shape[1] - max_len) :]
        with torch.no_grad():
            scores = model(window)[:, -1, :]
        shares = next_probabilities(scores, temperature, top_k, top_p)
        point = torch.rand(shares.shape[0], 1) * shares.sum(-1, keepdim=True)
        word = (shares.cumsum(-1) <= point).sum(-1, keepdim=True).clamp(max=shares.shape[-1] - 1)
        if end_id is not None:
            word = torch.where(over, end_id, word)
            over = over | (word == end_id)
        text = torch.cat((text, word), dim=1)
        if bool(over.all()):
            break
    model.train(mode)
    return text
