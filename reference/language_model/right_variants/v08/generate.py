"""In numpy and double precision, but for what torch draws."""

import numpy as np
import torch


def next_probabilities(logits, temperature=1.0, top_k=None, top_p=None):
    """Turn logits into probabilities with numpy."""
    if temperature < 0:
        raise ValueError("temperature")
    if top_k is not None and top_k < 1:
        raise ValueError("top_k")
    if top_p is not None and not (0 < top_p <= 1):
        raise ValueError("top_p")
    if logits.device.type == "meta":
        return logits.clone()
    scores = logits.detach().cpu().to(torch.float64).numpy()
    order = np.argsort(-scores, axis=-1)
    ordered = np.take_along_axis(scores, order, axis=-1)
    if temperature == 0:
        shares = np.zeros_like(ordered)
        shares[..., 0] = 1.0
    else:
        shares = np.exp((ordered - ordered[..., :1]) / temperature)
        if top_k is not None:
            shares[..., top_k:] = 0.0
        shares = shares / shares.sum(axis=-1, keepdims=True)
        if top_p is not None:
            sums = np.cumsum(shares, axis=-1)
            shares[..., 1:][sums[..., :-1] >= top_p] = 0.0
            shares = shares / shares.sum(axis=-1, keepdims=True)
    result = np.zeros_like(shares)
    np.put_along_axis(result, order, shares, axis=-1)
    return torch.from_numpy(result).to(logits.dtype).to(logits.device)


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
    """Draw by searching the sums of the shares for numbers that torch drew."""
    text = prompt.cpu().numpy()
    ended = np.zeros(len(text), dtype=bool)
    was = model.training
    model.eval()
    for _ in range(max_new_tokens):
        shown = text if max_len is None else text[:, -max_len:]
        with torch.no_grad():
            logits = model(torch.from_numpy(np.ascontiguousarray(shown)).to(prompt.device))[:, -1]
        shares = next_probabilities(logits.double(), temperature, top_k, top_p).numpy()
        sums = np.cumsum(shares, axis=-1)
        points = torch.rand(len(text), dtype=torch.float64).numpy() * sums[:, -1]
        words = np.array(
            [
                np.searchsorted(row, point, side="right")
                for row, point in zip(sums, points, strict=True)
            ]
        )
        words = np.minimum(words, sums.shape[1] - 1).astype(np.int64)
        if end_id is not None:
            words = np.where(ended, end_id, words)
            ended |= words == end_id
        text = np.concatenate([text, words[:, None]], axis=1)
        if ended.all():
            break
    model.train(was)
    return torch.from_numpy(text).to(prompt.device)
