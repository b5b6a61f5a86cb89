"""With torch.nn.functional wherever it has something."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def next_probabilities(
    logits: Tensor,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Tensor:
    """Work with logarithms until the end."""
    if (
        temperature < 0
        or not (top_k is None or top_k >= 1)
        or not (top_p is None or 0 < top_p <= 1)
    ):
        raise ValueError(f"{temperature}, {top_k}, {top_p}")
    if temperature == 0:
        words = logits.size(-1)
        return F.one_hot(logits.argmax(dim=-1), words).type_as(logits)
    logs = F.log_softmax(logits.div(temperature), dim=-1)
    if top_k is not None and top_k < logs.size(-1):
        bound = logs.kthvalue(logs.size(-1) - top_k + 1, dim=-1, keepdim=True).values
        logs = F.log_softmax(logs.masked_fill(logs < bound, -torch.inf), dim=-1)
    if top_p is not None:
        ordered, order = logs.sort(dim=-1, descending=True)
        before = F.pad(ordered.logcumsumexp(dim=-1), (1, -1), value=-torch.inf).exp()
        ordered = ordered.masked_fill(before >= top_p, -torch.inf)
        logs = F.log_softmax(torch.empty_like(logs).scatter_(-1, order, ordered), dim=-1)
    return logs.exp()


@torch.inference_mode()
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
    """Draw with F.gumbel_softmax."""
    training = model.training
    model.eval()
    text = prompt
    ended = torch.zeros(prompt.size(0), 1, dtype=torch.bool, device=prompt.device)
    for _ in range(max_new_tokens):
        shown = text[:, -max_len:] if max_len else text
        shares = next_probabilities(model(shown)[:, -1], temperature, top_k, top_p)
        word = F.gumbel_softmax(shares.log(), hard=True).argmax(dim=-1, keepdim=True)
        if end_id is not None:
            word = torch.where(ended, end_id, word)
            ended = ended | (word == end_id)
        text = torch.cat((text, word), dim=1)
        if ended.all():
            break
    model.train(training)
    return text.clone()
