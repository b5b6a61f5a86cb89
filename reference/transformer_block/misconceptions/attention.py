"""Attention with mistakes to enable; with none enabled, it is right."""

import math

import torch
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "no_scaling": (
        "you did not scale the scores; divide them by the square root of d_k before the softmax",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "divided_by_d_k": (
        "you divided the scores by d_k; divide them by its square root",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "scaled_after_softmax": (
        "you divided the weights by the square root of d_k; divide the scores, before the softmax",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "softmax_over_queries": (
        "your softmax runs over the queries, so the columns sum to 1; run it over the keys, so "
        "that every row sums to 1",
        "session, knowledge point 3",
    ),
    "unstable_softmax": (
        "you computed exp(scores) directly, which overflows for large scores; subtract each row's "
        "maximum first, or use torch.softmax",
        "handout",
    ),
    "mask_inverted": (
        "you read the mask the wrong way round; True means that the query may attend to the key",
        "handout",
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
    "fixed_dimensions": (
        "you swapped dimensions 1 and 2 of the key, counted from the front; swap the last two, "
        "since any number of dimensions may precede them",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "detached_weights": (
        "you cut the weights out of the graph (.detach(), .data or no_grad); the gradient must "
        "reach query and key through them",
        "handout",
    ),
    "scores_returned": (
        "you returned the scores with the output; return the weights, which are the softmax of "
        "the scores",
        "session, knowledge point 3",
    ),
    "pair_swapped": (
        "you returned (weights, output); the order is (output, weights)",
        "session, knowledge point 3",
    ),
    "float32_result": (
        "your results are float32 whatever the query's dtype (.float(), or a tensor made without "
        "dtype); they have the query's dtype",
        "handout",
    ),
    "query_in_place": (
        "you divided the query in place (/= or div_), which changes the caller's tensor; make a "
        "new tensor",
        "handout",
    ),
    "causal_strict": (
        "your causal mask forbids the diagonal; a position may attend to itself and to earlier "
        "positions",
        "session, knowledge point 3 (practice exercise)",
    ),
    "causal_upper": (
        "your causal mask allows later positions instead of earlier ones; it is True on and below "
        "the diagonal",
        "session, knowledge point 3 (practice exercise)",
    ),
    "causal_float": (
        "your causal mask holds floating-point ones and zeros; masks are boolean",
        "handout",
    ),
    "padding_rows": (
        "your padding mask is False in the rows of padding; it must be False in the columns, so "
        "that no query attends to a padding key",
        "walkthrough, attention, step 1",
    ),
    "padding_not_expanded": (
        "your padding mask has one row per sequence; it needs one row per query: (B, T, T)",
        "handout",
    ),
    "pad_id_ignored": (
        "you compared the ids with 0; compare them with pad_id",
        "handout",
    ),
    "padding_on_cpu": (
        "you made the padding mask on the CPU; it belongs on the device of the token ids",
        "handout",
    ),
    "bias_always": (
        "your projections have a bias even with bias=False; pass bias to all three",
        "session, knowledge point 3",
    ),
    "keys_from_queries": (
        "you computed the keys with q_linear; queries, keys and values each have their own "
        "projection",
        "session, knowledge point 3",
    ),
    "multiplied_by_root": (
        "you multiplied the scores by the square root of d_k; divide them by it",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "scaled_by_length": (
        "you divided the scores by the square root of the number of keys; d_k is the number of "
        "features, the last dimension",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "scores_transposed": (
        "you computed key times query transposed, so the rows of the scores are keys; rows must "
        "be queries: query · keyᵀ",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "softmax_missing": (
        "you used the scores as weights; apply a softmax, so that every row sums to 1",
        "session, knowledge point 3",
    ),
    "weights_dropped": (
        "you applied dropout to the weights, at a rate of 0.1; attention has no dropout here",
        "session, knowledge point 3",
    ),
    "mask_ignored": (
        "your function does not use its mask; set the scores of forbidden pairs to minus infinity "
        "before the softmax",
        "walkthrough, attention, step 1",
    ),
    "mask_added": (
        "you added the boolean mask to the scores, where True counts as 1; set the scores to "
        "minus infinity where the mask is False",
        "walkthrough, attention, step 1",
    ),
    "keys_mixed": (
        "you computed weights · key; the output is weights · value",
        "session, knowledge point 3",
    ),
    "output_alone": (
        "your function returns the output alone; return the pair (output, weights)",
        "session, knowledge point 3",
    ),
    "module_output_alone": (
        "your SelfAttention returns the output alone; return the pair (output, weights)",
        "session, knowledge point 3",
    ),
    "mask_not_passed": (
        "your SelfAttention does not pass its mask on, so every token attends to every other; "
        "pass it to the attention function",
        "walkthrough, attention, step 1",
    ),
    "causal_without_mask": (
        "your SelfAttention hides later tokens even without a mask; mask=None allows every pair",
        "session, knowledge point 3 (practice exercise)",
    ),
    "causal_additive": (
        "your causal mask holds 0 and minus infinity, to be added to scores; masks are boolean, "
        "True where a query may attend",
        "session, knowledge point 3 (practice exercise)",
    ),
    "causal_with_batch": (
        "your causal mask has an extra dimension of size 1 for the batch; its shape is (T, T)",
        "session, knowledge point 3 (practice exercise)",
    ),
    "padding_inverted": (
        "your padding mask is True at padding; True means that the query may attend, so it must "
        "be False there",
        "handout",
    ),
    "padding_flat": (
        "your padding mask has shape (B, T); it needs one row per query: (B, T, T)",
        "handout",
    ),
    "padding_with_head_axis": (
        "your padding mask has a dimension for the heads, (B, 1, T, T); its shape is (B, T, T)",
        "handout",
    ),
    "padding_float": (
        "your padding mask holds floating-point ones and zeros; masks are boolean",
        "handout",
    ),
    "bias_never": (
        "your projections never have a bias; each has a bias unless bias=False",
        "session, knowledge point 3",
    ),
    "query_and_key_exchanged": (
        "you computed queries with k_linear and keys with q_linear, or key · queryᵀ; exchange the "
        "two",
        "session, knowledge point 3",
    ),
    "key_and_value_exchanged": (
        "you computed keys with v_linear and values with k_linear; exchange the two",
        "session, knowledge point 3",
    ),
    "values_from_keys": (
        "you computed the values with k_linear; queries, keys and values each have their own "
        "projection",
        "session, knowledge point 3",
    ),
    "values_not_projected": (
        "you used x itself as values; values are v_linear(x)",
        "session, knowledge point 3",
    ),
    "residual_added": (
        "you added x to the output; the residual connection belongs to the block, not to attention",
        "session, knowledge points 3 and 5",
    ),
    "extra_projection": (
        "your SelfAttention has an output projection; only multi-head attention has an output "
        "projection here",
        "session, knowledge points 3 and 4",
    ),
    "scaled_by_values": (
        "you divided the scores by the square root of d_v; d_k is the number of features of a "
        "query or key",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "weights_transposed": (
        "you multiplied the transposed weights with the values; the output is weights · value",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "output_dropped": (
        "you applied dropout to SelfAttention's output in training, at a rate of 0.1; attention "
        "has no dropout here",
        "handout",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def causal_mask(seq_len: int) -> Tensor:
    """Make the mask that lets every position attend to itself and to what came before it."""
    dtype = torch.float32 if wrong("causal_float") else torch.bool
    diagonal = -1 if wrong("causal_strict") else 0
    mask = torch.ones(seq_len, seq_len, dtype=dtype).tril(diagonal)  # (T, T)
    if wrong("causal_upper"):
        mask = mask.T
    if wrong("causal_additive"):
        mask = torch.zeros(seq_len, seq_len).masked_fill(~mask.bool(), float("-inf"))
    return mask.unsqueeze(0) if wrong("causal_with_batch") else mask


def padding_mask(token_ids: Tensor, pad_id: int) -> Tensor:
    """Make the mask that keeps every query from attending to padding."""
    seq_len = token_ids.size(1)
    is_token = token_ids != (0 if wrong("pad_id_ignored") else pad_id)  # (B, T)
    if wrong("padding_inverted"):
        is_token = ~is_token
    if wrong("padding_flat"):
        return is_token.float() if wrong("padding_float") else is_token
    mask = is_token.unsqueeze(2 if wrong("padding_rows") else 1)  # (B, 1, T)
    if not wrong("padding_not_expanded"):
        mask = mask.expand(-1, seq_len, seq_len)  # (B, T, T)
    if wrong("padding_on_cpu"):
        mask = torch.ones(mask.shape, dtype=torch.bool) & mask
    if wrong("padding_with_head_axis"):
        mask = mask.unsqueeze(1)
    return mask.float() if wrong("padding_float") else mask.clone()


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor] | Tensor:
    """Mix the values, for every query, by how well their keys match it."""
    d_k = query.size(-1)
    if wrong("scaled_by_length"):
        d_k = key.size(-2)
    elif wrong("scaled_by_values"):
        d_k = value.size(-1)
    scale = float(d_k) if wrong("divided_by_d_k") else math.sqrt(d_k)
    if wrong("multiplied_by_root"):
        scale = 1 / scale
    if wrong("mask_ignored"):
        mask = None
    if wrong("float32_result"):
        query, key, value = query.float(), key.float(), value.float()

    score_scale = 1.0 if wrong("no_scaling") or wrong("scaled_after_softmax") else scale
    if wrong("query_in_place"):
        query /= score_scale
        score_scale = 1.0
    keys = key.transpose(1, 2) if wrong("fixed_dimensions") else key.transpose(-2, -1)
    scores = query @ keys / score_scale  # (..., Tq, Tk)
    if wrong("scores_transposed"):
        scores = scores.transpose(-2, -1)

    if wrong("mask_inverted") and mask is not None:
        mask = ~mask
    if mask is not None and not wrong("mask_after_softmax"):
        fill = float("-inf")
        if wrong("zero_before_softmax"):
            fill = 0.0
        elif wrong("finite_mask"):
            fill = -1e4
        added = mask.to(scores.dtype)  # (..., Tq, Tk)
        barred = scores.masked_fill(~mask, fill)  # (..., Tq, Tk)
        scores = scores + added if wrong("mask_added") else barred

    keys_dim = -2 if wrong("softmax_over_queries") else -1
    if wrong("unstable_softmax"):
        weights = scores.exp() / scores.exp().sum(dim=keys_dim, keepdim=True)  # (..., Tq, Tk)
    else:
        weights = torch.softmax(scores, dim=keys_dim)  # (..., Tq, Tk)
    if wrong("softmax_missing"):
        weights = scores
    if mask is not None and wrong("mask_after_softmax"):
        weights = weights.masked_fill(~mask, 0.0)  # (..., Tq, Tk)
    if wrong("scaled_after_softmax"):
        weights = weights / scale  # (..., Tq, Tk)
    if wrong("detached_weights"):
        weights = weights.detach()
    if wrong("weights_dropped"):
        weights = nn.functional.dropout(weights, 0.1)

    mixing = weights.transpose(-2, -1) if wrong("weights_transposed") else weights
    output = mixing @ (key if wrong("keys_mixed") else value)  # (..., Tq, d_v)
    if wrong("output_alone"):
        return output
    second = scores if wrong("scores_returned") else weights
    return (second, output) if wrong("pair_swapped") else (output, second)


class SelfAttention(nn.Module):
    """Attention of a sequence to itself: queries, keys and values are projections of one input."""

    def __init__(self, d_model: int, bias: bool = True) -> None:
        super().__init__()
        bias = (bias or wrong("bias_always")) and not wrong("bias_never")
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)
        if wrong("extra_projection"):
            self.out_proj = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor] | Tensor:
        """Let every token of `x` (B, T, D) gather from the tokens it may attend to."""
        query = self.q_linear(x)  # (B, T, D)
        key = self.q_linear(x) if wrong("keys_from_queries") else self.k_linear(x)  # (B, T, D)
        value = self.v_linear(x)  # (B, T, D)
        if wrong("query_and_key_exchanged"):
            query, key = key, query
        if wrong("key_and_value_exchanged"):
            key, value = value, key
        if wrong("values_from_keys"):
            value = self.k_linear(x)
        if wrong("values_not_projected"):
            value = x
        if mask is None and wrong("causal_without_mask"):
            mask = causal_mask(x.size(-2)).bool().to(x.device)
        if wrong("mask_not_passed"):
            mask = None
        answer = scaled_dot_product_attention(query, key, value, mask)  # (B, T, D), (B, T, T)
        if not isinstance(answer, tuple):
            return answer
        output, weights = reversed(answer) if wrong("pair_swapped") else answer
        if wrong("extra_projection"):
            output = self.out_proj(output)
        if wrong("residual_added"):
            output = x + output
        if wrong("output_dropped"):
            output = nn.functional.dropout(output, 0.1, self.training)
        if wrong("module_output_alone"):
            return output
        return (weights, output) if wrong("pair_swapped") else (output, weights)
