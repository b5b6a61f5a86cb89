"""Relative positions with mistakes to enable; with none enabled, they are right."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "sign_swapped": (
        "your distances are i - j, query minus key; they are j - i, so that a key to the right "
        "has a positive distance",
        "slides, page 27",
    ),
    "sign_lost": (
        "your distances have no sign; j - i is negative for a key to the left",
        "slides, page 27",
    ),
    "not_clipped": (
        "you do not clip the distances; clip them to -max_distance ... max_distance",
        "slides, page 27",
    ),
    "clipped_on_the_right": (
        "you clip distances only on the right; clip them to -max_distance ... max_distance",
        "slides, page 27",
    ),
    "clipped_on_the_right_wrapped": (
        "you clip distances only on the right, so large negative ones index the table from its "
        "end; clip them at -max_distance too",
        "slides, page 27",
    ),
    "clipped_too_early": (
        "you clip at max_distance - 1; clip at max_distance",
        "slides, page 27",
    ),
    "far_is_zero": (
        "you set distances beyond the maximum to 0, so a distant token looks like the token "
        "itself; clip to ±max_distance",
        "slides, page 27",
    ),
    "distances_from_zero": (
        "your distances start at 0 (max_distance is added); relative_distances returns j - i, and "
        "only the table lookup adds max_distance",
        "slides, page 27",
    ),
    "distances_float": (
        "your distances are floating-point numbers; they are integers, int64",
        "handout",
    ),
    "distances_int32": (
        "your distances are int32; they are int64, the default of torch.arange",
        "handout",
    ),
    "negative_rows": (
        "you look up weight[distance] without adding max_distance, so negative distances index "
        "from the end; the row is distance + max_distance",
        "slides, page 27",
    ),
    "negative_rows_refused": (
        "you look up rows without adding max_distance, so torch rejects the negative ones; the "
        "row is distance + max_distance",
        "slides, page 27",
    ),
    "table_reversed": (
        "your bias exchanges query and key or reads the table from its end (i - j); the first row "
        "belongs to -max_distance, a key far to the left",
        "slides, page 27",
    ),
    "heads_last": (
        "your bias has shape (T, T, H); it is (H, T, T), so permute the dimensions",
        "slides, page 27",
    ),
    "batch_dimension": (
        "your bias has an extra dimension of size 1 for the batch; its shape is (H, T, T), and "
        "broadcasting does the rest",
        "slides, page 27",
    ),
    "heads_reshaped": (
        "you reshaped the bias to (H, T, T), which mixes heads and positions; move the heads "
        "forward with permute(2, 0, 1)",
        "slides, page 27",
    ),
    "heads_share": (
        "all your heads use the first head's bias; every head has its own column",
        "slides, page 27",
    ),
    "row_missing": (
        "your table has 2 * max_distance rows; it has 2 * max_distance + 1, because the distance "
        "0 counts as well",
        "slides, page 27",
    ),
    "half_a_table": (
        "your table has max_distance + 1 rows, which ignores the sign; left and right differ, so "
        "it has 2 * max_distance + 1",
        "slides, page 27",
    ),
    "table_transposed": (
        "your table has one row per head; its shape is (2 * max_distance + 1, H), one row per "
        "distance",
        "slides, page 27",
    ),
    "other_name": (
        "your table has another key than weight in the state_dict; an nn.Embedding in an "
        "attribute, for example, is saved as <attribute>.weight",
        "handout",
    ),
    "not_trained": (
        "your table is a buffer, which is saved but not trained; make it an nn.Parameter",
        "slides, page 27",
    ),
    "frozen": (
        "your table gets no gradient (requires_grad=False, .detach(), .data or no_grad), so it is "
        "not trained; the gradient must reach it",
        "handout",
    ),
    "start_too_wide": (
        "your table starts with a standard deviation of 1 (the default of torch.randn and "
        "nn.Embedding); it starts with 0.02",
        "handout",
    ),
    "start_zero": (
        "your table starts with zeros; it starts with random numbers of standard deviation 0.02",
        "slides, page 27",
    ),
    "long_refused": (
        "you raise an error for long sequences; far distances are clipped, so every length works",
        "slides, page 27",
    ),
    "bias_ignored": (
        "your attention does not use its bias; add it to the scores before the softmax",
        "slides, page 27",
    ),
    "bias_after_softmax": (
        "you added the bias to the weights, after the softmax, so the rows no longer sum to 1; "
        "add it to the scores",
        "slides, page 27",
    ),
    "bias_divided": (
        "you added the bias before dividing by sqrt(d_k), which divides the bias too; add it to "
        "the scaled scores",
        "slides, page 27",
    ),
    "bias_multiplied": (
        "you multiplied the scores by the bias; add the bias to the scores",
        "slides, page 27",
    ),
    "bias_subtracted": (
        "you subtracted the bias from the scores; add the bias to the scores",
        "slides, page 27",
    ),
    "bias_transposed": (
        "you added the transposed bias; its rows are queries, like the rows of the scores",
        "slides, page 27",
    ),
    "bias_of_first_head": (
        "you added the first head's bias to every head; every head has its own bias",
        "slides, page 27",
    ),
    "bias_detached": (
        "you cut the bias out of the graph (.detach(), .data or no_grad); the gradient must reach "
        "it, because it trains the table",
        "handout",
    ),
    "bias_in_place": (
        "you changed the bias itself (+=, masked_fill_ or another function ending in _); the "
        "caller still needs it, so make a new tensor",
        "handout",
    ),
    "no_scaling": (
        "you did not scale the scores; divide them by sqrt(d_k)",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "divided_by_d_k": (
        "you divided the scores by d_k; divide them by its square root",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "scaled_by_values": (
        "you divided the scores by sqrt(d_v); d_k is the number of features of a query or key",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "scaled_by_all_heads": (
        "you divided the scores by sqrt(H · d_k); d_k is the last dimension of a query, the "
        "features of one head",
        "session, knowledge point 3 (mathematical formulation)",
    ),
    "mask_ignored": (
        "your attention does not use its mask; set the scores of forbidden pairs to minus "
        "infinity before the softmax",
        "walkthrough, attention, step 1",
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
    "mask_before_bias": (
        "you set masked scores to 0 and then added the bias, so they still get a positive weight; "
        "set them to minus infinity",
        "walkthrough, attention, step 1",
    ),
    "finite_mask": (
        "you masked with a finite number; if real scores are even lower, the masked key wins. Use "
        'float("-inf")',
        "walkthrough, attention, step 1",
    ),
    "mask_over_heads": (
        "your (B, T, T) mask is broadcast as if B were the heads; use mask.unsqueeze(1)",
        "session, knowledge point 4",
    ),
    "first_mask_for_all": (
        "you used the first sequence's mask for the whole batch; every sequence has its own mask",
        "walkthrough, attention, step 1",
    ),
    "new_tensor_on_cpu": (
        "you made a new tensor on the CPU in relative_attention; make it on the query's device "
        "(device=query.device)",
        "handout",
    ),
    "softmax_over_queries": (
        "your softmax runs over the queries, so the columns sum to 1; run it over the keys, so "
        "that every row sums to 1",
        "session, knowledge point 3",
    ),
    "softmax_over_heads": (
        "your softmax runs over the heads; run it over the keys, the last dimension",
        "session, knowledge points 3 and 4",
    ),
    "softmax_missing": (
        "you used the scores as weights; apply a softmax, so that every row sums to 1",
        "session, knowledge point 3",
    ),
    "unstable_softmax": (
        "you computed exp(scores) directly, which overflows for large scores; subtract each row's "
        "maximum first, or use torch.softmax",
        "handout",
    ),
    "scores_transposed": (
        "you computed key times query transposed, so the rows of the scores are keys; rows must "
        "be queries: query · keyᵀ",
        "session, knowledge point 3 (mathematical formulation)",
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
    "output_alone": (
        "your function returns the output alone; return the pair (output, weights)",
        "session, knowledge point 3",
    ),
    "heads_joined": (
        "you joined the heads' outputs to (B, T, H * d_v); the output is (B, H, T, d_v)",
        "session, knowledge point 4",
    ),
    "weights_averaged": (
        "you averaged the weights over the heads, as torch's attention does; return the weights "
        "of every head, (B, H, T, T)",
        "session, knowledge point 4",
    ),
    "weights_dropped": (
        "you applied dropout to the weights, at a rate of 0.1; there is no dropout here",
        "session, knowledge point 3",
    ),
    "detached_weights": (
        "you cut the weights out of the graph (.detach(), .data or no_grad); the gradient must "
        "reach query, key and bias through them",
        "handout",
    ),
    "float32_result": (
        "your results are float32 whatever the query's dtype (.float()); they have the query's "
        "dtype",
        "handout",
    ),
    "query_in_place": (
        "you divided the query in place (/= or div_), which changes the caller's tensor; make a "
        "new tensor",
        "handout",
    ),
    "far_bias_is_zero": (
        "you gave pairs beyond max_distance a bias of 0; their distance is clipped, so they get"
        " the bias of the largest one",
        "slides, page 27",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def relative_distances(seq_len: int, max_distance: int) -> Tensor:
    """Compute how far every key stands to the right of every query, clipped both ways."""
    position = torch.arange(seq_len)  # (T,)
    distance = position[None, :] - position[:, None]  # (T, T)
    if wrong("sign_swapped"):
        distance = -distance
    low, high = -max_distance, max_distance
    if wrong("clipped_on_the_right") or wrong("clipped_on_the_right_wrapped"):
        low = -seq_len
    if wrong("clipped_too_early"):
        low, high = low + 1, high - 1
    if wrong("far_is_zero"):
        distance = distance.masked_fill(distance.abs() > max_distance, 0)
    if not wrong("not_clipped"):
        distance = distance.clamp(low, high)
    if wrong("sign_lost"):
        distance = distance.abs()
    if wrong("distances_from_zero"):
        distance = distance + max_distance
    if wrong("distances_int32"):
        distance = distance.int()
    return distance.float() if wrong("distances_float") else distance


class RelativePositionBias(nn.Module):
    """A learned number for every head and every clipped distance."""

    def __init__(self, num_heads: int, max_distance: int) -> None:
        super().__init__()
        self.max_distance = max_distance
        rows = 2 * max_distance + 1
        if wrong("row_missing"):
            rows -= 1
        if wrong("half_a_table"):
            rows = max_distance + 1
        table = torch.randn(rows, num_heads)
        if not wrong("start_too_wide"):
            table = table * 0.02
        if wrong("start_zero"):
            table = torch.zeros(rows, num_heads)
        if wrong("table_transposed"):
            table = table.T.contiguous()
        name = "embedding" if wrong("other_name") else "weight"
        if wrong("not_trained"):
            self.register_buffer(name, table)
        else:
            self.register_parameter(name, nn.Parameter(table))

    def forward(self, seq_len: int) -> Tensor:
        """Look up the number of every pair of positions of a sequence, for every head."""
        if seq_len > self.max_distance + 1 and wrong("long_refused"):
            raise ValueError(f"{seq_len} tokens are too many")
        table = self.embedding if wrong("other_name") else self.weight
        if wrong("frozen"):
            table = table.detach()
        if wrong("table_transposed"):
            table = table.T
        bias = F.embedding(self._rows(seq_len, table), table)  # (T, T, H)
        if wrong("far_bias_is_zero"):
            position = torch.arange(seq_len, device=bias.device)
            far = (position[None, :] - position[:, None]).abs() > self.max_distance  # (T, T)
            bias = bias.masked_fill(far[..., None], 0.0)
        if wrong("heads_share"):
            bias = bias[..., :1].expand(bias.shape)
        if wrong("heads_last"):
            return bias
        if wrong("heads_reshaped"):
            return bias.reshape(-1, seq_len, seq_len)
        bias = bias.permute(2, 1, 0) if wrong("table_reversed") else bias.permute(2, 0, 1)
        return bias.unsqueeze(0) if wrong("batch_dimension") else bias

    def _rows(self, seq_len: int, table: Tensor) -> Tensor:
        """Number the rows of the table that the pairs of positions (T, T) use."""
        distance = relative_distances(seq_len, self.max_distance).long()
        if wrong("half_a_table"):
            row = distance.abs()
        elif wrong("negative_rows"):
            row = torch.where(distance < 0, distance + len(table), distance)
        elif wrong("distances_from_zero") or wrong("negative_rows_refused"):
            row = distance
        else:
            row = distance + self.max_distance
        if wrong("clipped_on_the_right_wrapped"):
            row = torch.where(row < 0, row + len(table), row)
        return row.to(table.device)


def relative_attention(
    query: Tensor, key: Tensor, value: Tensor, bias: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor] | Tensor:
    """Attend with a bias on the scores."""
    if wrong("float32_result"):
        query, key, value, bias = query.float(), key.float(), value.float(), bias.float()
    used = bias.detach() if wrong("bias_detached") else bias
    if wrong("bias_transposed"):
        used = used.transpose(-2, -1)
    if wrong("bias_of_first_head"):
        used = used[:1]
    scores = _scores(query, key, value, used)  # (B, H, T, T)
    if wrong("new_tensor_on_cpu"):
        scores = scores + torch.zeros(scores.shape, dtype=scores.dtype)
    if wrong("bias_in_place") and mask is not None and mask.dim() == 2:
        bias.masked_fill_(~mask, float("-inf"))
    if wrong("mask_ignored"):
        mask = None
    if mask is not None:
        mask = _aligned(mask)
    if mask is not None and not wrong("mask_after_softmax"):
        fill = float("-inf")
        if wrong("zero_before_softmax"):
            fill = 0.0
        elif wrong("finite_mask"):
            fill = -1e4
        filling = used.expand(scores.shape) if wrong("mask_before_bias") else fill
        scores = torch.where(mask, scores, filling)
    weights = _softmax(scores)
    if mask is not None and wrong("mask_after_softmax"):
        weights = weights.masked_fill(~mask, 0.0)
    if wrong("bias_after_softmax"):
        weights = weights + used
    if wrong("detached_weights"):
        weights = weights.detach()
    if wrong("weights_dropped"):
        weights = F.dropout(weights, 0.1)
    output = weights @ value  # (B, H, T, d_v)
    if wrong("heads_joined"):
        output = output.transpose(1, 2).flatten(2)
    if wrong("output_alone"):
        return output
    second = scores if wrong("scores_returned") else weights
    if wrong("weights_averaged"):
        second = second.mean(dim=1)
    return (second, output) if wrong("pair_swapped") else (output, second)


def _scores(query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    """Compute the scores with their bias."""
    d_k = query.size(-1)
    if wrong("scaled_by_values"):
        d_k = value.size(-1)
    if wrong("scaled_by_all_heads"):
        d_k = query.size(1) * d_k
    scale = float(d_k) if wrong("divided_by_d_k") else math.sqrt(d_k)
    if wrong("no_scaling"):
        scale = 1.0
    if wrong("query_in_place"):
        query /= scale
        scale = 1.0
    scores = query @ key.transpose(-2, -1)  # (B, H, T, T)
    if wrong("scores_transposed"):
        scores = scores.transpose(-2, -1)
    if wrong("bias_divided"):
        return (scores + bias) / scale
    scores = scores / scale
    if wrong("bias_ignored") or wrong("bias_after_softmax"):
        return scores
    if wrong("bias_multiplied"):
        return scores * bias
    return scores - bias if wrong("bias_subtracted") else scores + bias


def _aligned(mask: Tensor) -> Tensor:
    """Give the mask the dimensions of the scores."""
    if wrong("mask_inverted"):
        mask = ~mask
    if mask.dim() == 3 and wrong("first_mask_for_all"):
        mask = mask[0]
    if mask.dim() == 3 and not wrong("mask_over_heads"):
        mask = mask.unsqueeze(1)  # (B, 1, T, T)
    return mask


def _softmax(scores: Tensor) -> Tensor:
    """Make weights of the scores."""
    dim = -1
    if wrong("softmax_over_queries"):
        dim = -2
    if wrong("softmax_over_heads"):
        dim = 1
    if wrong("softmax_missing"):
        return scores
    if wrong("unstable_softmax"):
        return scores.exp() / scores.exp().sum(dim=dim, keepdim=True)
    return torch.softmax(scores, dim=dim)
