"""The classifier with mistakes to enable; with none enabled, it is right."""

import math

import torch
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "hidden_is_true": (
        "your visible_mask is True at hidden ids; True means that the query may attend to the key",
        "handout",
    ),
    "hidden_by_row": (
        "your visible_mask hides the rows of hidden tokens; hide their columns, since columns are "
        "keys",
        "walkthrough, attention, step 1",
    ),
    "hidden_rows_too": (
        "your visible_mask also hides the rows of hidden tokens, so their weights are NaN; hide "
        "only the columns",
        "walkthrough, attention, step 1",
    ),
    "first_hidden_only": (
        "your visible_mask hides only the first of hidden_ids; hide all of them",
        "walkthrough, attention, step 1",
    ),
    "biases_kept": (
        "your layers have biases; the walkthrough's model has none, so use bias=False",
        "walkthrough, introduction",
    ),
    "relu_inside": (
        "your feed-forward layer uses relu, its default; the walkthrough's model uses gelu",
        "handout",
    ),
    "dropout_left": (
        "your feed-forward layer drops 10% in training, its default; the classifier has no dropout",
        "walkthrough, feed_forward",
    ),
    "scaled_by_all_features": (
        "you divided the scores by sqrt(D); divide them by sqrt(D / H)",
        "session, knowledge point 4",
    ),
    "scores_unscaled": (
        "you did not scale the scores; divide them by sqrt(D / H)",
        "session, knowledge point 3; walkthrough, attention, step 1",
    ),
    "heads_take_turns": (
        "you gave a head every H-th feature; each head owns consecutive features",
        "session, knowledge point 4",
    ),
    "heads_cut_across_tokens": (
        "you reshaped the projections directly into heads, which mixes tokens; split the features "
        "first, then transpose",
        "session, knowledge point 4",
    ),
    "heads_not_moved_back": (
        "you flattened the heads' values without moving the head axis back, which mixes tokens; "
        "transpose first",
        "session, knowledge point 4",
    ),
    "weights_over_queries": (
        "your softmax runs over the queries; run it over the keys, so that every row sums to 1",
        "walkthrough, attention, step 1",
    ),
    "mask_left_out": (
        "you did not use the mask, so CLS and PAD get weight; set masked scores to minus infinity",
        "walkthrough, attention, step 1",
    ),
    "mask_turned_round": (
        "you hid the keys that the mask allows; True means that the query may attend to the key",
        "handout",
    ),
    "masked_with_small_number": (
        'you set masked scores to a finite number, but real ones may be lower; use float("-inf")',
        "walkthrough, attention, step 1",
    ),
    "weights_masked_afterwards": (
        "you set masked weights to 0 after the softmax, so the rows no longer sum to 1; mask the "
        "scores before the softmax",
        "walkthrough, attention, step 1",
    ),
    "output_not_projected": (
        "you left out the last projection of attention; apply out_proj",
        "walkthrough, attention, step 3",
    ),
    "first_residual_missing": (
        "you replaced the stream by attention's output; add it to the embeddings (first residual "
        "connection)",
        "walkthrough, attention, step 3",
    ),
    "second_residual_missing": (
        "your block_output is the feed-forward layer's output; add it to after_attention (second "
        "residual connection)",
        "walkthrough, feed_forward",
    ),
    "second_residual_from_start": (
        "you added the feed-forward layer's output to the embeddings; add it to after_attention",
        "walkthrough, feed_forward",
    ),
    "reads_the_embeddings": (
        "your feed-forward layer reads the embeddings; it reads after_attention",
        "walkthrough, feed_forward",
    ),
    "reads_what_attention_adds": (
        "your feed-forward layer reads attention_output; it reads the sum, after_attention",
        "walkthrough, feed_forward",
    ),
    "mean_of_tokens": (
        "your logits use the mean of all tokens; use the first token, CLS",
        "walkthrough, introduction",
    ),
    "last_token_read": (
        "your logits use the last token; use the first token, CLS",
        "walkthrough, introduction",
    ),
    "probabilities_for_logits": (
        "you returned probabilities (sigmoid); return the logits",
        "handout",
    ),
    "logits_in_a_column": (
        "your logits have shape (B, 1); their shape is (B,)",
        "handout",
    ),
    "summed_cross_entropy": (
        "your cross_entropy is the sum over the sequences; return the mean",
        "handout",
    ),
    "labels_exchanged": (
        "your cross_entropy takes the labels the wrong way round: 1 as 0 and 0 as 1; a large logit "
        "means label 1",
        "handout",
    ),
    "cross_entropy_in_bits": (
        "your cross_entropy is in bits (log2); use the natural logarithm",
        "handout",
    ),
    "right_ones_only": (
        "you left out the sequences with label 0; their loss is -log(1 - sigmoid(logit))",
        "handout",
    ),
    "logarithm_of_sigmoid": (
        "you computed log(sigmoid(logit)), which becomes log(0) for large logits; use "
        "F.logsigmoid or F.binary_cross_entropy_with_logits",
        "handout",
    ),
    "stops_at_100": (
        "you used F.binary_cross_entropy, which clamps logarithms at -100; use "
        "F.binary_cross_entropy_with_logits on the logits",
        "handout",
    ),
    "sigmoid_twice": (
        "you gave probabilities to F.binary_cross_entropy_with_logits, which applies the sigmoid "
        "itself; give it the logits",
        "handout",
    ),
    "half_for_logits": (
        "your accuracy compares logits with 0.5, the threshold of probabilities; for logits it is "
        "0",
        "handout",
    ),
    "zero_counts_as_one": (
        "your accuracy predicts label 1 for a logit of exactly 0; label 1 is predicted above 0",
        "handout",
    ),
    "made_on_cpu": (
        "your visible_mask is made on the CPU; it belongs on the device of token_ids",
        "handout",
    ),
    "float32_logits": (
        "you returned float32 (.float()); the logits have the dtype of the parameters",
        "handout",
    ),
    "tokens_viewed_flat": (
        "you flattened the token ids with .view(), which fails if they are not contiguous; use "
        ".reshape(), or do not flatten them",
        "handout",
    ),
    "own_token_visible": (
        "your visible_mask lets every token attend to itself, also a hidden one; hide the whole"
        " column",
        "walkthrough, attention, step 1",
    ),
    "hidden_by_any_other": (
        "with several hidden_ids, your visible_mask hides a token only if it is all of them at "
        "once; hide it if it is one of them",
        "walkthrough, attention, step 1",
    ),
    "heads_take_turns_and_back": (
        "you gave a head every H-th feature, and joined the heads in that order; each head owns"
        " consecutive features",
        "session, knowledge point 4",
    ),
    "probabilities_clamped": (
        "you clamped the probabilities (to 1e-7, say) before the logarithm, so large losses "
        "stop at 16; use F.binary_cross_entropy_with_logits on the logits",
        "handout",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def visible_mask(token_ids: Tensor, hidden_ids: list[int]) -> Tensor:
    """Make the mask (B, T, T) that keeps every query from attending to certain tokens."""
    if wrong("first_hidden_only"):
        hidden_ids = hidden_ids[:1]
    hidden = torch.zeros_like(token_ids, dtype=torch.bool)
    for one in hidden_ids:
        hidden = hidden | (token_ids == one)
    if wrong("hidden_by_any_other"):
        hidden = hidden & (len(hidden_ids) < 2)
    length = token_ids.size(1)
    visible = ~hidden
    mask = visible[:, None, :].repeat(1, length, 1)  # (B, T, T)
    if wrong("own_token_visible"):
        mask = mask | torch.eye(length, dtype=torch.bool, device=mask.device)
    if wrong("hidden_by_row"):
        mask = visible[:, :, None].repeat(1, 1, length)
    if wrong("hidden_rows_too"):
        mask = mask & visible[:, :, None]
    if wrong("hidden_is_true"):
        mask = ~mask
    if wrong("made_on_cpu"):
        mask = torch.ones(mask.shape, dtype=torch.bool) & mask
    return mask


class Classifier(nn.Module):
    """Tells sequences of one class from those of another by the vector of their first token."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        biased = wrong("biases_kept")
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, bias=biased)
        rate = 0.1 if wrong("dropout_left") else 0.0
        activation = "relu" if wrong("relu_inside") else "gelu"
        self.feed_forward = FeedForward(d_model, d_ff, rate, activation, bias=biased)
        self.classifier = nn.Linear(d_model, 1, bias=biased)

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute one logit for every sequence (B)."""
        return self.trace(token_ids, mask)["logits"]

    def trace(self, token_ids: Tensor, mask: Tensor | None = None) -> dict[str, Tensor]:
        """Compute what the walkthrough shows, step by step."""
        flat = token_ids.view(-1) if wrong("tokens_viewed_flat") else token_ids.reshape(-1)
        embedded = self.embedding(flat).unflatten(0, token_ids.shape)  # (B, T, D)
        layers = (self.attention.q_linear, self.attention.k_linear, self.attention.v_linear)
        query, key, value = (self._split(layer(embedded)) for layer in layers)
        weights = self._weights(query, key, mask)  # (B, H, T, T)
        mixed = weights @ value  # (B, H, T, D/H)
        values = self._joined(mixed)  # (B, T, D)
        output = values if wrong("output_not_projected") else self.attention.out_proj(values)
        after = output if wrong("first_residual_missing") else embedded + output
        read = output if wrong("reads_what_attention_adds") else after
        fed = self.feed_forward(embedded if wrong("reads_the_embeddings") else read)
        block = fed + (embedded if wrong("second_residual_from_start") else after)
        block = fed if wrong("second_residual_missing") else block  # (B, T, D)
        return {
            "embedded": embedded,
            "query": query,
            "key": key,
            "value": value,
            "attention_weights": weights,
            "attention_values": values,
            "attention_output": output,
            "after_attention": after,
            "feed_forward_output": fed,
            "block_output": block,
            "logits": self._logits(block),
        }

    def _split(self, x: Tensor) -> Tensor:
        """Split the features of `x` (B, T, D) into heads (B, H, T, D/H)."""
        batch, length, features = x.shape
        size = features // self.num_heads
        if wrong("heads_cut_across_tokens"):
            return x.reshape(batch, self.num_heads, length, size)
        if wrong("heads_take_turns") or wrong("heads_take_turns_and_back"):
            return x.unflatten(-1, (size, self.num_heads)).permute(0, 3, 1, 2)
        return x.unflatten(-1, (self.num_heads, size)).transpose(1, 2)

    def _weights(self, query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
        """Compute the attention weights (B, H, T, T)."""
        size = query.size(-1)
        if wrong("scaled_by_all_features"):
            size *= self.num_heads
        if wrong("scores_unscaled"):
            size = 1
        scores = query @ key.transpose(-2, -1) / math.sqrt(size)
        axis = -2 if wrong("weights_over_queries") else -1
        if mask is None or wrong("mask_left_out"):
            return scores.softmax(axis)
        hidden = (mask if wrong("mask_turned_round") else ~mask)[:, None]
        if wrong("weights_masked_afterwards"):
            return scores.softmax(axis).masked_fill(hidden, 0.0)
        lowest = -1e4 if wrong("masked_with_small_number") else -math.inf
        return scores.masked_fill(hidden, lowest).softmax(axis)

    def _joined(self, mixed: Tensor) -> Tensor:
        """Put the heads of `mixed` (B, H, T, D/H) side by side (B, T, D)."""
        batch, heads, length, size = mixed.shape
        if wrong("heads_take_turns_and_back"):
            return mixed.permute(0, 2, 3, 1).reshape(batch, length, heads * size)
        if wrong("heads_not_moved_back"):
            return mixed.reshape(batch, length, heads * size)
        return mixed.transpose(1, 2).reshape(batch, length, heads * size)

    def _logits(self, block: Tensor) -> Tensor:
        """Score the vector of one token of `block` (B, T, D)."""
        read = block[:, -1 if wrong("last_token_read") else 0]
        if wrong("mean_of_tokens"):
            read = block.mean(1)
        logits = self.classifier(read)  # (B, 1)
        if not wrong("logits_in_a_column"):
            logits = logits.squeeze(-1)
        if wrong("float32_logits"):
            logits = logits.float()
        return logits.sigmoid() if wrong("probabilities_for_logits") else logits


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute how badly the logits predict the labels."""
    targets = labels.to(logits.dtype)
    if wrong("labels_exchanged"):
        targets = 1 - targets
    if wrong("sigmoid_twice"):
        logits = logits.sigmoid()
    if wrong("logarithm_of_sigmoid"):
        right = torch.log(torch.sigmoid(logits))
        other = torch.log(1 - torch.sigmoid(logits))
    elif wrong("probabilities_clamped"):
        share = torch.sigmoid(logits).clamp(1e-7, 1 - 1e-7)
        right, other = torch.log(share), torch.log(1 - share)
    elif wrong("stops_at_100"):
        right = torch.log(torch.sigmoid(logits)).clamp(min=-100.0)
        other = torch.log(1 - torch.sigmoid(logits)).clamp(min=-100.0)
    else:
        right, other = F.logsigmoid(logits), F.logsigmoid(-logits)
    losses = -targets * right
    if not wrong("right_ones_only"):
        losses = losses - (1 - targets) * other
    if wrong("cross_entropy_in_bits"):
        losses = losses / math.log(2)
    return losses.sum() if wrong("summed_cross_entropy") else losses.mean()


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Compute the share of sequences whose label is predicted."""
    border = 0.5 if wrong("half_for_logits") else 0.0
    predicted = logits >= border if wrong("zero_counts_as_one") else logits > border
    right = (predicted == labels.bool()).double()
    return right.mean().item()
