"""Multi-head attention with mistakes to enable; with none enabled, it is right."""

import math

import torch
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "split_without_transpose": (
        "you reshaped the projections directly to (B, H, T, D/H), which mixes tokens; reshape to "
        "(B, T, H, D/H), then swap T and H",
        "session, knowledge point 4",
    ),
    "joined_without_transpose": (
        "you joined the heads without swapping dimensions back, which mixes tokens; swap H and T "
        "first, then reshape",
        "session, knowledge point 4",
    ),
    "heads_interleaved": (
        "your heads take every H-th feature; each head owns D/H consecutive features",
        "session, knowledge point 4",
    ),
    "heads_interleaved_and_joined_so": (
        "your heads take every H-th feature, and you join them in that order; each head owns D/H "
        "consecutive features",
        "session, knowledge point 4",
    ),
    "masks_repeated": (
        "you repeated the batch of masks H times (repeat), so that heads get the masks of other "
        "sequences; repeat each mask H times (repeat_interleave), or use mask.unsqueeze(1)",
        "walkthrough, attention, step 1",
    ),
    "output_dropped": (
        "you applied dropout to the output in training, at a rate of 0.1; attention has no dropout "
        "here",
        "session, knowledge point 4",
    ),
    "scaled_by_d_model": (
        "you divided the scores by sqrt(D); a head has D/H features, so divide by sqrt(D/H)",
        "session, knowledge point 4",
    ),
    "no_scaling": (
        "you did not scale the scores; divide them by sqrt(D/H)",
        "session, knowledge point 4",
    ),
    "output_not_projected": (
        "you returned the joined heads; apply out_proj to them",
        "session, knowledge point 4; walkthrough, attention, step 3",
    ),
    "weights_averaged": (
        "you averaged the weights over the heads; return the weights of every head",
        "session, knowledge point 4",
    ),
    "pair_swapped": (
        "you returned (weights, output); the order is (output, weights)",
        "session, knowledge point 4",
    ),
    "mask_without_head_axis": (
        "your (B, T, T) mask is broadcast as if B were the heads, or raises; use mask.unsqueeze(1)",
        "walkthrough, attention, step 1",
    ),
    "mask_always_given_axis": (
        "you added a head axis to every mask, so the rows of a (T, T) mask are used for "
        "sequences; add it only to (B, T, T) masks",
        "session, knowledge point 4; walkthrough, attention, step 1",
    ),
    "mask_of_first_sequence": (
        "you used the first sequence's mask for the whole batch; every sequence has its own mask",
        "walkthrough, attention, step 1",
    ),
    "mask_in_first_head_only": (
        "you masked the scores of the first head only; the mask applies to every head",
        "walkthrough, attention, step 1",
    ),
    "mask_inverted": (
        "you read the mask the wrong way round; True means that the query may attend to the key",
        "handout",
    ),
    "softmax_over_heads": (
        "your softmax runs over the heads; run it over the keys, in every head separately",
        "session, knowledge points 3 and 4",
    ),
    "softmax_over_queries": (
        "your softmax runs over the queries, so the columns sum to 1; run it over the keys, so "
        "that every row sums to 1",
        "session, knowledge point 3",
    ),
    "keys_from_queries": (
        "you computed the keys with q_linear; queries, keys and values each have their own "
        "projection",
        "session, knowledge point 4",
    ),
    "values_not_projected": (
        "you used x itself as values; values are v_linear(x)",
        "session, knowledge point 4",
    ),
    "output_bias_always": (
        "your out_proj has a bias even with bias=False; pass bias to all four projections",
        "session, knowledge point 4; walkthrough, attention",
    ),
    "indivisible_accepted": (
        "you do not check in __init__ that num_heads divides d_model; raise ValueError where it "
        "does not",
        "session, knowledge point 4",
    ),
    "float32_weights": (
        "your weights are float32 whatever the input's dtype (softmax in float32, or a tensor made "
        "without dtype); they have the input's dtype",
        "handout",
    ),
    "detached_weights": (
        "you cut the weights out of the graph (.detach(), .data or no_grad); the gradient must "
        "reach queries and keys through them",
        "handout",
    ),
    "mask_in_place": (
        "you changed the caller's mask (unsqueeze_ or another function whose name ends in _); "
        "make a new tensor",
        "handout",
    ),
    "contiguous_input_only": (
        "your reshaping of the input (.view()) fails for a transposed input; .reshape() works for "
        "any memory layout",
        "handout",
    ),
    "mask_on_cpu": (
        "you made a new tensor for the mask on the CPU; it belongs on the input's device",
        "handout",
    ),
    "divided_by_head_size": (
        "you divided the scores by D/H; divide them by sqrt(D/H), once",
        "session, knowledge points 3 and 4",
    ),
    "scaled_by_heads": (
        "you divided the scores by the square root of the number of heads; divide by sqrt(D/H)",
        "session, knowledge point 4",
    ),
    "heads_and_size_exchanged": (
        "you split the features into D/H heads of H features; split them into H heads of D/H "
        "features",
        "session, knowledge point 4",
    ),
    "softmax_missing": (
        "you used the scores as weights; apply a softmax, so that every row sums to 1",
        "session, knowledge point 3",
    ),
    "weights_dropped": (
        "you applied dropout to the weights in training, at a rate of 0.1; attention has no "
        "dropout here",
        "session, knowledge point 4",
    ),
    "mask_ignored": (
        "you do not use the mask; set the scores of forbidden pairs to minus infinity before the "
        "softmax",
        "walkthrough, attention, step 1",
    ),
    "mask_after_softmax": (
        "you set masked weights to 0 after the softmax, so the rows no longer sum to 1; mask the "
        "scores before the softmax",
        "walkthrough, attention, step 1",
    ),
    "zero_before_softmax": (
        "you set masked scores to 0, which still gets a positive weight; set them to minus "
        "infinity",
        "walkthrough, attention, step 1",
    ),
    "finite_mask": (
        "you masked with a finite number; if real scores are even lower, the masked key wins. Use "
        'float("-inf")',
        "walkthrough, attention, step 1",
    ),
    "output_alone": (
        "you returned the output alone; return the pair (output, weights)",
        "session, knowledge point 4",
    ),
    "residual_added": (
        "you added x to the output; the residual connection belongs to the block, not to attention",
        "session, knowledge points 4 and 5",
    ),
    "query_and_key_exchanged": (
        "you computed queries with k_linear and keys with q_linear, or key · queryᵀ; exchange the "
        "two",
        "session, knowledge point 4",
    ),
    "key_and_value_exchanged": (
        "you exchanged keys and values; scores are query · keyᵀ, and the output is weights · value",
        "session, knowledge point 4",
    ),
    "bias_ignored": (
        "your four projections have a bias even with bias=False; pass bias to all of them",
        "session, knowledge point 4; walkthrough, attention",
    ),
    "projections_without_bias": (
        "your q_linear, k_linear and v_linear never have a bias; all four projections have a bias "
        "unless bias=False",
        "session, knowledge point 4",
    ),
    "fused_projection": (
        "you used one layer for queries, keys and values (qkv); use three: q_linear, k_linear and "
        "v_linear",
        "session, knowledge point 4",
    ),
    "mask_for_each_head_if_b_is_h": (
        "if there are as many sequences as heads, you take the masks (B, T, T) for those of the "
        "heads; they belong to the sequences: mask.unsqueeze(1)",
        "walkthrough, attention, step 1",
    ),
    "weights_transposed": (
        "you multiplied the transposed weights with the values; the output is weights · value",
        "session, knowledge point 4",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


class MultiHeadAttention(nn.Module):
    """Self-attention with H heads of D / H features each, joined by an output projection."""

    def __init__(self, d_model: int, num_heads: int, bias: bool = True) -> None:
        super().__init__()
        divisible = num_heads > 0 and d_model % num_heads == 0
        if not divisible and not wrong("indivisible_accepted"):
            raise ValueError(f"d_model ({d_model}) must be divisible by num_heads ({num_heads})")
        self.num_heads = num_heads
        bias = bias or wrong("bias_ignored")
        of_inputs = bias and not wrong("projections_without_bias")
        if wrong("fused_projection"):
            self.qkv = nn.Linear(d_model, 3 * d_model, bias=of_inputs)
        else:
            self.q_linear = nn.Linear(d_model, d_model, bias=of_inputs)
            self.k_linear = nn.Linear(d_model, d_model, bias=of_inputs)
            self.v_linear = nn.Linear(d_model, d_model, bias=of_inputs)
        self.out_proj = nn.Linear(d_model, d_model, bias=bias or wrong("output_bias_always"))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor] | Tensor:
        """Let every token of `x` (B, T, D) gather from the others, once for each head."""
        batch, seq_len, d_model = x.shape
        if wrong("contiguous_input_only"):
            x = x.view(batch * seq_len, d_model).reshape(batch, seq_len, d_model)
        query, key, value = (self._split(features) for features in self._projected(x))

        scale = math.sqrt(d_model if wrong("scaled_by_d_model") else query.size(-1))
        if wrong("no_scaling"):
            scale = 1.0
        elif wrong("divided_by_head_size"):
            scale = query.size(-1)
        elif wrong("scaled_by_heads"):
            scale = math.sqrt(self.num_heads)
        scores = query @ key.transpose(-2, -1) / scale  # (B, H, T, T)
        unmasked = scores
        if mask is not None and not wrong("mask_ignored"):
            scores = self._mask(scores, mask)  # (B, H, T, T)
        barred = scores != unmasked  # (B, H, T, T)
        if wrong("mask_after_softmax"):
            scores = unmasked
        if wrong("zero_before_softmax"):
            scores = scores.masked_fill(barred, 0.0)

        dim = -1
        if wrong("softmax_over_heads"):
            dim = 1
        elif wrong("softmax_over_queries"):
            dim = -2
        if wrong("float32_weights"):
            scores = scores.float()
        weights = torch.softmax(scores, dim=dim)  # (B, H, T, T)
        if wrong("softmax_missing"):
            weights = scores
        if wrong("mask_after_softmax"):
            weights = weights.masked_fill(barred, 0.0)
        if wrong("weights_dropped"):
            weights = nn.functional.dropout(weights, 0.1, self.training)
        if wrong("detached_weights"):
            weights = weights.detach()

        mixing = weights.transpose(-2, -1) if wrong("weights_transposed") else weights
        joined = self._join(mixing.to(value.dtype) @ value)  # (B, T, D)
        output = joined if wrong("output_not_projected") else self.out_proj(joined)  # (B, T, D)
        if wrong("output_dropped"):
            output = nn.functional.dropout(output, 0.1, self.training)
        if wrong("residual_added"):
            output = x + output
        if wrong("output_alone"):
            return output
        if wrong("weights_averaged"):
            weights = weights.mean(dim=1)  # (B, T, T)
        return (weights, output) if wrong("pair_swapped") else (output, weights)

    def _projected(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Make queries, keys and values of `x`, each (B, T, D)."""
        if wrong("fused_projection"):
            query, key, value = self.qkv(x).chunk(3, dim=-1)
        else:
            query, key, value = self.q_linear(x), self.k_linear(x), self.v_linear(x)
        if wrong("keys_from_queries"):
            key = query
        if wrong("values_not_projected"):
            value = x
        if wrong("query_and_key_exchanged"):
            query, key = key, query
        if wrong("key_and_value_exchanged"):
            key, value = value, key
        return query, key, value

    def _split(self, features: Tensor) -> Tensor:
        """Part the features (B, T, D) among the heads: (B, H, T, D / H)."""
        batch, seq_len, d_model = features.shape
        size = d_model // self.num_heads
        if wrong("heads_and_size_exchanged"):
            return features.reshape(batch, seq_len, size, self.num_heads).transpose(1, 2)
        if wrong("split_without_transpose"):
            return features.reshape(batch, self.num_heads, seq_len, size)
        if wrong("heads_interleaved") or wrong("heads_interleaved_and_joined_so"):
            return features.reshape(batch, seq_len, size, self.num_heads).permute(0, 3, 1, 2)
        return features.reshape(batch, seq_len, self.num_heads, size).transpose(1, 2)

    def _join(self, mixed: Tensor) -> Tensor:
        """Put the heads' features (B, H, T, D / H) side by side: (B, T, D)."""
        batch, heads, seq_len, size = mixed.shape
        if wrong("heads_interleaved_and_joined_so"):
            return mixed.permute(0, 2, 3, 1).reshape(batch, seq_len, heads * size)
        if not wrong("joined_without_transpose"):
            mixed = mixed.transpose(1, 2)  # (B, T, H, D/H)
        return mixed.reshape(batch, seq_len, heads * size)  # (B, T, D)

    def _mask(self, scores: Tensor, mask: Tensor) -> Tensor:
        """Give the scores (B, H, T, T) of pairs that the mask forbids minus infinity."""
        of_each_sequence = mask.dim() == 3
        needs_axis = of_each_sequence and not wrong("mask_without_head_axis")
        if (
            wrong("mask_for_each_head_if_b_is_h")
            and of_each_sequence
            and len(mask) == scores.size(1)
        ):
            mask = mask.unsqueeze(0)  # (1, H, T, T)
        elif needs_axis or wrong("mask_always_given_axis"):
            # (B, 1, T, T), the same for every head
            mask = mask.unsqueeze_(1) if wrong("mask_in_place") else mask.unsqueeze(1)
        if of_each_sequence and wrong("masks_repeated"):
            mask = mask.repeat(self.num_heads, 1, 1, 1).reshape(scores.shape)  # (B, H, T, T)
        if of_each_sequence and wrong("mask_of_first_sequence"):
            mask = mask[:1]  # (1, 1, T, T)
        if wrong("mask_inverted"):
            mask = ~mask
        if wrong("mask_on_cpu"):
            mask = torch.ones(mask.shape, dtype=torch.bool) & mask
        fill = -1e4 if wrong("finite_mask") else float("-inf")
        masked = scores.masked_fill(~mask, fill)  # (B, H, T, T)
        if wrong("mask_in_first_head_only"):
            return torch.cat([masked[:, :1], scores[:, 1:]], dim=1)
        return masked
