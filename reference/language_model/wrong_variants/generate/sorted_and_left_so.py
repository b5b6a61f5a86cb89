# misconception: sorted_words
"""The words are sorted, and stay so."""

import torch


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Turn logits into probabilities."""
    if temperature < 0 or (top_k is not None and top_k <= 0):
        raise ValueError(f"temperature {temperature}, top_k {top_k}")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError(f"top_p {top_p}")
    if temperature == 0:
        return (logits == logits.max(-1, keepdim=True).values).to(logits.dtype)
    scores = torch.sort(logits / temperature, dim=-1, descending=True)[0]
    place = torch.arange(scores.shape[-1], device=scores.device)
    if top_k is not None:
        scores = scores + torch.where(place < top_k, 0.0, float("-inf"))
    shares = torch.exp(scores - scores.logsumexp(-1, keepdim=True))
    if top_p is not None:
        enough = torch.cumsum(shares, -1) >= top_p
        enough = torch.cat([torch.zeros_like(enough[..., :1]), enough[..., :-1]], -1)
        shares = torch.where(enough, 0.0, shares)
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
