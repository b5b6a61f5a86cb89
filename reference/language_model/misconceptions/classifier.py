"""The classifier with mistakes to enable; with none enabled, it is right."""

import math

import torch
import torch.nn.functional as F
from provided.blocks import FeedForward, MultiHeadAttention
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "hidden_is_true": (
        "your visible_mask is True where a hidden id stands; True means that the query may attend "
        "to the key",
        "walkthrough, attention, step 1",
    ),
    "hidden_by_row": (
        "your visible_mask hides the rows of the hidden tokens instead of their columns; rows are "
        "queries, columns are keys",
        "walkthrough, attention, step 1",
    ),
    "hidden_rows_too": (
        "your visible_mask hides the rows of the hidden tokens, too; they are queries all the "
        "same, and without any key their weights are NaN",
        "walkthrough, attention, step 1",
    ),
    "first_hidden_only": (
        "your visible_mask hides the first of hidden_ids alone; hide all of them, however many "
        "there are",
        "walkthrough, attention, step 1",
    ),
    "biases_kept": (
        "your layers have biases; the walkthrough's model has none, so hand on bias=False",
        "walkthrough, introduction",
    ),
    "relu_inside": (
        "your feed-forward layer has ReLU inside, its default; the walkthrough's model has GELU",
        "walkthrough, feed_forward",
    ),
    "dropout_left": (
        "your feed-forward layer drops a tenth in training, its default; the classifier has no "
        "dropout",
        "walkthrough, feed_forward",
    ),
    "scaled_by_all_features": (
        "you divided the scores by the root of all D features; the keys of a head have D / H",
        "session, knowledge point 4",
    ),
    "scores_unscaled": (
        "you left out the division of the scores by the root of the features of a head",
        "session, knowledge point 3; walkthrough, attention, step 1",
    ),
    "heads_take_turns": (
        "you gave a head every H-th feature; its features are consecutive",
        "session, knowledge point 4",
    ),
    "heads_cut_across_tokens": (
        "you cut the projections into heads without moving an axis, so that a head gets parts of "
        "several tokens; split the features first, then transpose",
        "session, knowledge point 4",
    ),
    "heads_not_moved_back": (
        "you flattened the heads' values without moving their axis back, so that tokens and heads "
        "are mixed up",
        "session, knowledge point 4",
    ),
    "weights_over_queries": (
        "you took the softmax over the queries; the weights of one query, over the keys, sum to 1",
        "walkthrough, attention, step 1",
    ),
    "mask_left_out": (
        "you did not use the mask: CLS and PAD get weight",
        "walkthrough, attention, step 1",
    ),
    "mask_turned_round": (
        "you hid what the mask allows; True means that the query may attend to the key",
        "walkthrough, attention, step 1",
    ),
    "masked_with_small_number": (
        "you set masked scores to -10000; scores may be lower than that, so take minus infinity",
        "walkthrough, attention, step 1",
    ),
    "weights_masked_afterwards": (
        "you set masked weights to 0 after the softmax; then a row no longer sums to 1, so mask "
        "the scores",
        "walkthrough, attention, step 1",
    ),
    "output_not_projected": (
        "you left out the last projection of attention, out_proj",
        "walkthrough, attention, step 3",
    ),
    "first_residual_missing": (
        "you went on with what attention returns; it has to be added to the embeddings (first "
        "residual connection)",
        "walkthrough, attention, step 3",
    ),
    "second_residual_missing": (
        "your block_output is what the feed-forward layer makes; it has to be added to "
        "after_attention (second residual connection)",
        "walkthrough, feed_forward",
    ),
    "second_residual_from_start": (
        "you added the feed-forward layer's output to the embeddings; add it to after_attention",
        "walkthrough, feed_forward",
    ),
    "reads_the_embeddings": (
        "your feed-forward layer reads the embeddings; it has to read after_attention",
        "walkthrough, feed_forward",
    ),
    "reads_what_attention_adds": (
        "your feed-forward layer reads what attention adds; it has to read the sum, "
        "after_attention",
        "walkthrough, feed_forward",
    ),
    "mean_of_tokens": (
        "your logits come from the mean of all tokens; read the first one, CLS, alone",
        "walkthrough, introduction",
    ),
    "last_token_read": (
        "your logits come from the last token; read the first one, CLS",
        "walkthrough, introduction",
    ),
    "probabilities_for_logits": (
        "you return probabilities (sigmoid); the logits are what classifier.weight makes, any "
        "number",
        "handout",
    ),
    "logits_in_a_column": (
        "your logits have the shape (B, 1); take the last axis off",
        "handout",
    ),
    "summed_cross_entropy": (
        "your cross_entropy is the sum over the sequences; take the mean",
        "handout",
    ),
    "right_ones_only": (
        "your cross_entropy leaves out the sequences with label 0: they count with minus the "
        "logarithm of 1 - sigmoid",
        "handout",
    ),
    "logarithm_of_sigmoid": (
        "you took the logarithm of a sigmoid, which is that of 0 for large logits; compute both in "
        "one, as F.logsigmoid or F.binary_cross_entropy_with_logits does",
        "handout",
    ),
    "stops_at_100": (
        "you gave a sigmoid to F.binary_cross_entropy, which takes no logarithm below -100; give "
        "the logits to F.binary_cross_entropy_with_logits",
        "handout",
    ),
    "sigmoid_twice": (
        "you applied the sigmoid to logits that F.binary_cross_entropy_with_logits takes as they "
        "are",
        "handout",
    ),
    "half_for_logits": (
        "your accuracy compares logits with 0.5; that is the border for probabilities, for logits "
        "it is 0",
        "handout",
    ),
    "zero_counts_as_one": (
        "your accuracy takes a logit of exactly 0 for label 1; 1 is foretold above 0",
        "handout",
    ),
    "made_on_cpu": (
        "your visible_mask is made on the CPU; make new tensors on the device of token_ids",
        "handout",
    ),
    "float32_logits": (
        "you returned float32 (.float()); the logits have the dtype of the parameters",
        "handout",
    ),
    "tokens_viewed_flat": (
        "you flatten the tokens with .view(), which fails where they are not contiguous in "
        "memory; embed them as they are, or take .reshape()",
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
    length = token_ids.size(1)
    visible = ~hidden
    mask = visible[:, None, :].repeat(1, length, 1)  # (B, T, T)
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
        if wrong("heads_take_turns"):
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
    """Compute how badly the logits foretell the labels."""
    targets = labels.to(logits.dtype)
    if wrong("sigmoid_twice"):
        logits = logits.sigmoid()
    if wrong("logarithm_of_sigmoid"):
        right = torch.log(torch.sigmoid(logits))
        other = torch.log(1 - torch.sigmoid(logits))
    elif wrong("stops_at_100"):
        right = torch.log(torch.sigmoid(logits)).clamp(min=-100.0)
        other = torch.log(1 - torch.sigmoid(logits)).clamp(min=-100.0)
    else:
        right, other = F.logsigmoid(logits), F.logsigmoid(-logits)
    losses = -targets * right
    if not wrong("right_ones_only"):
        losses = losses - (1 - targets) * other
    return losses.sum() if wrong("summed_cross_entropy") else losses.mean()


def accuracy(logits: Tensor, labels: Tensor) -> float:
    """Compute the share of sequences whose label is foretold."""
    border = 0.5 if wrong("half_for_logits") else 0.0
    foretold = logits >= border if wrong("zero_counts_as_one") else logits > border
    right = (foretold == labels.bool()).double()
    return right.mean().item()
