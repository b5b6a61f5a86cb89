"""With modules: every step is one, and the writer, too."""

import torch
from torch import nn


class Temperature(nn.Module):
    """Divides logits."""

    def __init__(self, temperature):
        super().__init__()
        if temperature < 0:
            raise ValueError(temperature)
        self.temperature = temperature

    def forward(self, logits):
        """At 0 the likeliest word alone is left."""
        if self.temperature:
            return logits / self.temperature
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, float("-inf")).scatter(-1, best, 0.0)


class TopK(nn.Module):
    """Leaves the k likeliest words."""

    def __init__(self, top_k):
        super().__init__()
        if top_k < 1:
            raise ValueError(top_k)
        self.top_k = top_k

    def forward(self, logits):
        """Mask by rank."""
        rank = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
        return logits.masked_fill(rank >= self.top_k, float("-inf"))


class TopP(nn.Module):
    """Leaves the likeliest words that together reach a probability."""

    def __init__(self, top_p):
        super().__init__()
        if not 0 < top_p <= 1:
            raise ValueError(top_p)
        self.top_p = top_p

    def forward(self, logits):
        """Mask by what stands before a word."""
        ordered, order = logits.sort(dim=-1, descending=True)
        shares = ordered.softmax(-1)
        before = nn.functional.pad(shares.cumsum(-1)[..., :-1], (1, 0))
        before = before.gather(-1, order.argsort(dim=-1))
        return logits.masked_fill(before >= self.top_p, float("-inf"))


def _steps(temperature, top_k, top_p):
    steps = [Temperature(temperature)]
    if top_k is not None:
        steps.append(TopK(top_k))
    if top_p is not None:
        steps.append(TopP(top_p))
    return nn.Sequential(*steps, nn.Softmax(dim=-1))


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Pass logits through the steps."""
    return _steps(temperature, top_k, top_p)(logits)


class Writer(nn.Module):
    """Writes one word more."""

    def __init__(self, model, steps, max_len):
        super().__init__()
        self.model, self.steps, self.max_len = model, steps, max_len

    def forward(self, text):
        """Draw the word behind every text (B, T)."""
        start = 0 if self.max_len is None else -self.max_len
        shares = self.steps(self.model(text[:, start:])[:, -1])
        return torch.multinomial(shares, num_samples=1, replacement=True)


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
    """Ask the writer again and again."""
    before = model.training
    writer = Writer(model, _steps(temperature, top_k, top_p), max_len).eval()
    text, ended = prompt, torch.zeros_like(prompt[:, :1]).bool()
    with torch.no_grad():
        for _ in range(max_new_tokens):
            word = writer(text)
            if end_id is not None:
                word = word.masked_fill(ended, end_id)
                ended = ended | word.eq(end_id)
            text = torch.cat([text, word], dim=-1)
            if ended.all():
                break
    model.train(before)
    return text
