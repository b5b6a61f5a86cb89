"""The language model with mistakes to enable; with none enabled, it is right."""

import math

import torch
import torch.nn.functional as F
from encoder import Encoder
from provided.blocks import causal_mask
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "no_mask": (
        "you passed no mask to the encoder, so every position sees the word that it predicts; "
        "pass a causal mask",
        "slides, page 28",
    ),
    "mask_upside_down": (
        "your mask is upside down: it allows a position and later ones; allow the position and "
        "earlier ones",
        "slides, page 28",
    ),
    "one_ahead": (
        "your mask is shifted by one, so every position sees the next token, its target; allow "
        "only the position itself and earlier ones",
        "slides, page 28",
    ),
    "own_token_hidden": (
        "your mask also hides the position itself, so the first one sees nothing; allow the "
        "position itself and earlier ones",
        "slides, page 28",
    ),
    "own_head": (
        "your head has its own weight; use encoder.token_embedding.weight",
        "slides, page 30",
    ),
    "second_key": (
        "you tied the embedding's weight to a layer, which saves it under a second name; use "
        "encoder.token_embedding.weight in forward",
        "slides, page 30",
    ),
    "head_bias": (
        "your head has a bias; the logits are the products with the embedding alone",
        "slides, page 30",
    ),
    "copied_head": (
        "your head uses a copy of the embedding from when the model was built; use the weight "
        "itself",
        "slides, page 30",
    ),
    "head_detached": (
        "you used the embedding outside the graph in the head (.detach() or .data); its gradient "
        "must include the head's part",
        "handout",
    ),
    "hidden_detached": (
        "you cut the encoder's result out of the graph (.detach(), .data or no_grad); the "
        "gradient must reach the encoder",
        "handout",
    ),
    "scaled_logits": (
        "you divided the logits by sqrt(d_model), as attention does with its scores; do not scale "
        "them",
        "slides, page 30",
    ),
    "probabilities_in_forward": (
        "your forward applies the softmax; it returns the logits",
        "slides, page 28",
    ),
    "log_probabilities_in_forward": (
        "your forward applies log_softmax; it returns the logits",
        "slides, page 28",
    ),
    "last_position_only": (
        "your forward returns the logits of the last position; it returns those of every position",
        "slides, page 28",
    ),
    "post_norm": (
        'your encoder has norm="post", and so no final norm; use norm="pre"',
        "slides, page 31",
    ),
    "final_norm_skipped": (
        "you used the last entry of the encoder's stream, without the final norm; call the "
        "encoder itself",
        "slides, pages 28 and 31",
    ),
    "dropout_not_passed": (
        "you did not pass dropout to the encoder, so it uses its default, 0.1",
        "session, knowledge point 5",
    ),
    "not_shifted": (
        "your loss compares the logits at a position with the token at the same position; compare "
        "them with the next token",
        "handout",
    ),
    "shifted_backwards": (
        "your loss compares the logits at a position with the previous token; compare them with "
        "the next token",
        "handout",
    ),
    "summed": (
        "your loss is a sum over the positions; divide it by the number of positions that count",
        "handout",
    ),
    "mean_of_means": (
        "you averaged per sequence and then over sequences, so positions of short sequences weigh "
        "more; take one mean over all positions that count",
        "handout",
    ),
    "padding_counts": (
        "your loss includes positions whose next token is pad_id; leave them out",
        "handout",
    ),
    "padding_divides": (
        "you set the loss to 0 where padding follows, but divide by all positions; divide by the "
        "number of those that count",
        "handout",
    ),
    "padding_by_the_input": (
        "you left out the positions that are padding; leave out the positions whose next token is "
        "padding",
        "handout",
    ),
    "padding_0_ignored": (
        "your loss ignores a pad_id of 0 (`if pad_id` is false for 0); compare it with None",
        "handout",
    ),
    "padding_0_assumed": (
        "your loss treats 0 as padding when no pad_id is given; then every token counts",
        "handout",
    ),
    "nan_for_nothing": (
        "your loss returns NaN or 0 if no position counts; raise ValueError",
        "handout",
    ),
    "softmax_twice": (
        "your loss applies a softmax before F.cross_entropy, which applies another one; give it "
        "the logits",
        "handout",
    ),
    "naive_softmax": (
        "your loss takes the logarithm of a softmax, which is infinite or NaN for large logits; "
        "use log_softmax or cross_entropy",
        "handout",
    ),
    "bits": (
        "your loss is in bits (log2); use the natural logarithm",
        "handout",
    ),
    "loss_detached": (
        "your loss is cut out of the graph; return the tensor computed from the logits, so that "
        "the gradient reaches them",
        "handout",
    ),
    "power_of_2": (
        "your perplexity is 2 to the power of the loss; it is e to the power of the loss",
        "handout",
    ),
    "cpu_logits": (
        "you collect the logits in a new tensor on the CPU; it belongs on the device of token_ids",
        "handout",
    ),
    "float32_result": (
        "you returned float32 for every input; the logits have the parameters' dtype, the loss "
        "the logits' dtype",
        "handout",
    ),
    "not_shifted_last_left_out": (
        "your loss leaves out the last position but compares the logits at the others with the "
        "token at the same position; compare them with the next token",
        "handout",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


class LanguageModel(nn.Module):
    """A causal stack, whose head is its own embedding."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        sizes = (vocab_size, max_len, d_model, num_heads, d_ff, num_layers)
        options = {} if wrong("dropout_not_passed") else {"dropout": dropout}
        norm = "post" if wrong("post_norm") else "pre"
        self.encoder = Encoder(*sizes, norm=norm, **options)
        if wrong("own_head"):
            self.head = nn.Linear(d_model, vocab_size, bias=False)
        elif wrong("second_key"):
            self.head = nn.Linear(d_model, vocab_size, bias=False)
            self.head.weight = self.encoder.token_embedding.weight
        if wrong("copied_head"):
            self.copied = [self.encoder.token_embedding.weight.detach().clone()]
        if wrong("head_bias"):
            self.bias = nn.Parameter(torch.zeros(vocab_size))

    def forward(self, token_ids: Tensor) -> Tensor:
        """Score every word as the next one, at every position of token_ids (B, T)."""
        hidden = self._hidden(token_ids, self._mask(token_ids))  # (B, T, D)
        if wrong("hidden_detached"):
            hidden = hidden.detach()
        if wrong("own_head"):
            weight = self.head.weight
        elif wrong("copied_head"):
            weight = self.copied[0].to(hidden)
        else:
            weight = self.encoder.token_embedding.weight  # (V, D)
        logits = hidden @ (weight.detach() if wrong("head_detached") else weight).T  # (B, T, V)
        if wrong("cpu_logits"):
            logits = torch.zeros(logits.shape, dtype=logits.dtype) + logits
        if wrong("scaled_logits"):
            logits = logits / math.sqrt(hidden.size(-1))
        if wrong("head_bias"):
            logits = logits + self.bias
        if wrong("last_position_only"):
            logits = logits[:, -1]
        if wrong("log_probabilities_in_forward"):
            logits = torch.log_softmax(logits, dim=-1)
        if wrong("probabilities_in_forward"):
            logits = torch.softmax(logits, dim=-1)
        return logits.float() if wrong("float32_result") else logits

    def _mask(self, token_ids: Tensor) -> Tensor | None:
        length, device = token_ids.size(1), token_ids.device
        if wrong("no_mask"):
            return None
        below = causal_mask(length, device=device)
        if wrong("mask_upside_down"):
            return below.T
        if wrong("one_ahead"):
            return torch.ones(length, length, dtype=torch.bool, device=below.device).tril(1)
        if wrong("own_token_hidden"):
            return below.tril(-1)
        return below

    def _hidden(self, token_ids: Tensor, mask: Tensor | None) -> Tensor:
        if wrong("final_norm_skipped"):
            return self.encoder.stream(token_ids, mask)[-1]
        return self.encoder(token_ids, mask)


def next_token_loss(logits: Tensor, token_ids: Tensor, pad_id: int | None = None) -> Tensor:
    """Compute how badly every position of logits (B, T, V) predicts the token after it."""
    if wrong("padding_0_assumed") and pad_id is None:
        pad_id = 0
    if wrong("padding_0_ignored") and pad_id == 0:
        pad_id = None
    if wrong("not_shifted"):
        predicted, targets, inputs = logits, token_ids, token_ids
    elif wrong("not_shifted_last_left_out"):
        predicted, targets, inputs = logits[:, :-1], token_ids[:, :-1], token_ids[:, :-1]
    elif wrong("shifted_backwards"):
        predicted, targets, inputs = logits[:, 1:], token_ids[:, :-1], token_ids[:, 1:]
    else:
        predicted, targets, inputs = logits[:, :-1], token_ids[:, 1:], token_ids[:, :-1]
    counts = torch.ones_like(targets, dtype=torch.bool)
    if pad_id is not None and not wrong("padding_counts"):
        counts = (inputs if wrong("padding_by_the_input") else targets) != pad_id
    if not counts.any() and not wrong("nan_for_nothing"):
        raise ValueError("no position counts")
    losses = _losses(predicted, targets) * counts  # (B, T - 1)
    if wrong("summed"):
        loss = losses.sum()
    elif wrong("mean_of_means"):
        rows = counts.any(dim=1)
        loss = (losses[rows].sum(dim=1) / counts[rows].sum(dim=1)).mean()
    elif wrong("padding_divides"):
        loss = losses.mean()
    else:
        loss = losses.sum() / counts.sum()
    if wrong("bits"):
        loss = loss / math.log(2)
    if wrong("loss_detached"):
        loss = loss.detach()
    return loss.float() if wrong("float32_result") else loss


def _losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Compute the cross-entropy of every position (B, T)."""
    if wrong("naive_softmax"):
        powers = logits.exp()
        logs = (powers / powers.sum(dim=-1, keepdim=True)).log()
    else:
        logs = torch.log_softmax(logits, dim=-1)
    if wrong("softmax_twice"):
        logs = torch.log_softmax(logs.exp(), dim=-1)
    return F.nll_loss(logs.transpose(1, 2), targets, reduction="none")


def perplexity(loss: Tensor) -> Tensor:
    """Compute e to the power of a mean cross-entropy."""
    return loss.exp2() if wrong("power_of_2") else loss.exp()
