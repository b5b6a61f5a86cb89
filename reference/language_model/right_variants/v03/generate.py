"""Row by row and word by word, in plain Python."""

import math

import torch


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Turn every row by itself."""
    if temperature < 0:
        raise ValueError("the temperature is negative")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k is below 1")
    if top_p is not None and not 0.0 < top_p <= 1.0:
        raise ValueError("top_p is no share")
    if logits.is_meta:
        return torch.empty_like(logits)
    rows = logits.detach().reshape(-1, logits.shape[-1]).tolist()
    turned = [_row(row, temperature, top_k, top_p) for row in rows]
    result = torch.tensor(turned, dtype=logits.dtype, device=logits.device)
    return result.reshape(logits.shape)


def _row(row, temperature, top_k, top_p):
    order = sorted(range(len(row)), key=lambda word: row[word], reverse=True)
    if temperature == 0:
        order, temperature = order[:1], 1.0
    if top_k is not None:
        order = order[:top_k]
    best = row[order[0]]
    powers = {word: math.exp((row[word] - best) / temperature) for word in order}
    whole = sum(powers.values())
    if top_p is not None:
        kept, total = {}, 0.0
        for word in order:
            kept[word] = powers[word]
            total += powers[word] / whole
            if total >= top_p:
                break
        powers, whole = kept, sum(kept.values())
    return [powers.get(word, 0.0) / whole for word in range(len(row))]


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
    """Keep the texts as lists."""
    mode = model.training
    model.eval()
    texts = prompt.tolist()
    ended = [False] * len(texts)
    for _ in range(max_new_tokens):
        if all(ended):
            break
        shown = [text if max_len is None else text[-max_len:] for text in texts]
        with torch.no_grad():
            logits = model(torch.tensor(shown, device=prompt.device))[:, -1]
        shares = next_probabilities(logits, temperature, top_k, top_p).tolist()
        points = torch.rand(len(texts)).tolist()
        for number, text in enumerate(texts):
            word = end_id if ended[number] else _drawn(shares[number], points[number])
            text.append(word)
            ended[number] = ended[number] or word == end_id
    model.train(mode)
    return torch.tensor(texts, device=prompt.device)


def _drawn(shares, point):
    """Go along the shares until the point is passed."""
    last = 0
    for word, share in enumerate(shares):
        if share > 0:
            last = word
            if point < share:
                break
            point -= share
    return last
