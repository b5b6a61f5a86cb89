"""In steps that generate_parts.py has."""

import contextlib

import torch
from generate_parts import checked, draw, likeliest, nucleus


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Take the steps in order."""
    checked(temperature, top_k, top_p)
    if temperature == 0:
        return likeliest(logits, 1).softmax(dim=-1)
    logits = logits / temperature
    if top_k is not None:
        logits = likeliest(logits, top_k)
    shares = logits.softmax(dim=-1)
    return shares if top_p is None else nucleus(shares, top_p)


@contextlib.contextmanager
def evaluation(model):
    """Switch to evaluation, and back."""
    before = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(before)


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
    """Write on step by step."""
    columns = list(prompt.unbind(dim=1))
    ended = torch.zeros(len(prompt), dtype=torch.bool, device=prompt.device)
    with evaluation(model):
        for _ in range(max_new_tokens):
            if bool(ended.all()):
                break
            shown = columns if max_len is None else columns[-max_len:]
            logits = model(torch.stack(shown, dim=1))[:, -1]
            word = draw(next_probabilities(logits, temperature, top_k, top_p))
            if end_id is not None:
                word = torch.where(ended, torch.tensor(end_id), word)
                ended = ended.logical_or(word.eq(end_id))
            columns.append(word)
    return torch.stack(columns, dim=1)
