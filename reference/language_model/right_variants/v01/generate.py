"""As short as it can be."""

import torch


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Sort, cut, and put back."""
    if temperature < 0 or (top_k is not None and top_k < 1):
        raise ValueError("temperature or top_k")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError("top_p")
    if temperature == 0:
        temperature, top_k = 1.0, 1
    values, words = logits.sort(-1, descending=True)
    shares = (values / temperature)[..., :top_k].softmax(-1)
    if top_p is not None:
        shares = shares * (shares.cumsum(-1) - shares < top_p)
        shares = shares / shares.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, words[..., :top_k], shares)


@torch.no_grad()
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
    """Ask, draw, append."""
    training = model.training
    model.eval()
    ended = torch.zeros_like(prompt[:, 0], dtype=torch.bool)
    for _ in range(max_new_tokens):
        logits = model(prompt[:, -(max_len or 0) :])[:, -1]
        word = torch.multinomial(next_probabilities(logits, temperature, top_k, top_p), 1)[:, 0]
        if end_id is not None:
            word[ended] = end_id
            ended |= word == end_id
        prompt = torch.hstack([prompt, word[:, None]])
        if ended.all():
            break
    model.train(training)
    return prompt
