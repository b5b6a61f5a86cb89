"""With einsum and matrices of comparisons in the place of sorting and running sums."""

import torch
from torch import Tensor


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Compare every word with every other."""
    if temperature < 0:
        raise ValueError(f"temperature {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k {top_k}")
    if top_p is not None and (top_p <= 0 or top_p > 1):
        raise ValueError(f"top_p {top_p}")
    # before[..., i, j] is 1 where word j is likelier than word i.
    before = (logits[..., None, :] > logits[..., :, None]).to(logits.dtype)
    rank = torch.einsum("...ij->...i", before)
    if temperature == 0:
        return (rank == 0).to(logits.dtype)
    scores = logits / temperature
    weights = torch.exp(scores - scores.amax(-1, keepdim=True))
    if top_k is not None:
        weights = weights * (rank < top_k)
    shares = weights / torch.einsum("...i->...", weights)[..., None]
    if top_p is not None:
        likelier = torch.einsum("...ij,...j->...i", before, shares)
        shares = shares * ((likelier < top_p) | (rank == 0))
        shares = shares / torch.einsum("...i->...", shares)[..., None]
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
    """Draw by the exponential race: the word whose clock rings first."""
    batch, length = prompt.shape
    text = torch.cat([prompt, prompt.new_zeros(batch, max_new_tokens)], dim=1)
    running = torch.ones(batch, dtype=torch.bool, device=prompt.device)
    mode = model.training
    model.train(False)
    with torch.inference_mode():
        while length < text.shape[1] and running.any():
            start = 0 if max_len is None else max(0, length - max_len)
            logits = model(text[:, start:length])[:, -1]
            shares = next_probabilities(logits, temperature, top_k, top_p).double()
            rings = torch.empty_like(shares).exponential_()
            word = (shares / rings).argmax(-1)
            if end_id is not None:
                word = torch.where(running, word, torch.full_like(word, end_id))
                running = running & (word != end_id)
            text[:, length] = word
            length += 1
    model.train(mode)
    return text[:, :length].clone()
