"""The transformer block with mistakes to enable; with none enabled, it is right."""

import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "attention_not_added": (
        "you replaced the stream by attention's output; add it to the stream (first residual "
        "connection)",
        "slides, pages 4 and 5; session, knowledge point 5",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "feed_forward_not_added": (
        "you returned the feed-forward layer's output; add it to the stream (second residual "
        "connection)",
        "slides, pages 4 and 5; session, knowledge point 5",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "normalised_residual": (
        'you added the sublayer\'s output to the normalised stream; with "pre" only the sublayer '
        "reads the normalised stream, and its output is added to x itself",
        "session, knowledge point 5",
    ),
    "residual_detached": (
        "you cut the residual connection out of the graph (.detach() or .data); the gradient must "
        "flow along the stream",
        "handout",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "pre_post_swapped": (
        'you exchanged "pre" and "post"; "pre" normalises the input of a sublayer, "post" the sum '
        "after it",
        "session, knowledge point 5",
    ),
    "post_by_default": (
        'your block normalises after the sublayers by default; the default is "pre"',
        "session, knowledge point 5",
    ),
    "post_before_the_sum": (
        'with "post", you normalised the sublayer\'s output before adding it; normalise the sum',
        "session, knowledge point 5",
    ),
    "norm1_used_twice": (
        "you used norm1 for both sublayers; use norm2 for the feed-forward layer",
        "session, knowledge point 5",
        ("pre", "post"),
    ),
    "norm_shared": (
        "norm1 and norm2 are the same module in your block; each has its own parameters",
        "session, knowledge point 5",
    ),
    "norms_kept": (
        'you made the norms even with norm="none"; then the block has no parameters for them',
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "unknown_norm_accepted": (
        "you accept an unknown norm and treat it as another one; raise ValueError",
        "handout",
    ),
    "mask_not_passed": (
        "you did not pass the mask to attention, so every token attends to every other",
        "session, knowledge point 3; walkthrough, attention, step 1",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "parallel_sublayers": (
        "your feed-forward layer reads the block's input; it reads the stream after attention was "
        "added",
        "session, knowledge point 5; slides, pages 17 and 18",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "sublayers_reversed": (
        "your feed-forward layer comes before attention; attention comes first, with norm1",
        "session, knowledge point 5; slides, pages 17 and 18",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "stream_dropped": (
        "you applied dropout to the sum, and so to the stream; apply it only to the sublayer's "
        "output",
        "slides, pages 4 and 5; session, knowledge point 5",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "attention_not_dropped": (
        "you did not apply dropout to attention's output; apply it before adding",
        "session, knowledge point 5",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "feed_forward_not_dropped": (
        "you did not apply dropout to the feed-forward layer's output; the dropout inside the "
        "layer does not replace it",
        "session, knowledge point 5; walkthrough, feed_forward",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "inner_dropout_not_passed": (
        "you did not pass dropout to the feed-forward layer, so it uses its default",
        "session, knowledge point 5",
    ),
    "dropped_in_evaluation": (
        "you drop values in evaluation mode (F.dropout without its training argument); drop them "
        "only in training",
        "session, knowledge points 1 and 5",
    ),
    "activation_not_passed": (
        "you did not pass activation to the feed-forward layer, so it uses its default, relu",
        "session, knowledge point 5; walkthrough, feed_forward",
    ),
    "bias_not_passed": (
        "you passed bias to attention only; pass it to the feed-forward layer as well",
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "input_in_place": (
        "you added to the input in place (+= or add_), which changes the caller's tensor and "
        "breaks gradients; make a new tensor",
        "handout",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "float32_result": (
        "your result is float32 whatever the input's dtype (.float(), or a tensor made without "
        "dtype); it has the input's dtype",
        "handout",
    ),
    "weights_returned": (
        "you returned attention's weights with the stream; return the stream alone",
        "session, knowledge point 5",
    ),
    "attention_not_normalised": (
        'with "pre", you gave attention the stream itself; give it norm1 of the stream',
        "session, knowledge point 5",
    ),
    "feed_forward_not_normalised": (
        'with "pre", you gave the feed-forward layer the stream itself; give it norm2 of the '
        "stream",
        "session, knowledge point 5",
    ),
    "norms_exchanged": (
        "you used norm2 for attention and norm1 for the feed-forward layer; exchange the two",
        "session, knowledge point 5",
        ("pre", "post"),
    ),
    "norm_eps": (
        "you gave the norms an eps far below 1e-5 (such as 1e-8 or 1e-12); use the default of "
        "LayerNorm",
        "slides, page 8; session, knowledge point 5",
    ),
    "none_treated_as_pre": (
        'with norm="none" you still normalise; then the block has neither norms nor their '
        "parameters",
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "mask_inverted": (
        "you inverted the mask before passing it to attention; True means that the query may "
        "attend to the key in both modules",
        "handout",
    ),
    "one_head": (
        "your attention always has one head; pass num_heads to it",
        "session, knowledge points 4 and 5",
    ),
    "d_ff_ignored": (
        "your feed-forward layer always expands to 4 · d_model features; pass d_ff to it",
        "session, knowledge points 1 and 5",
    ),
    "dropout_default": (
        "your default for dropout is 0; it is 0.1",
        "session, knowledge point 5",
    ),
    "own_dropout_fixed": (
        "your block always drops at a rate of 0.1; use the argument dropout, as in the "
        "feed-forward layer",
        "session, knowledge point 5",
    ),
    "attention_bias_not_passed": (
        "you did not pass bias to attention; bias=False applies to both sublayers",
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "second_residual_from_start": (
        "you added the feed-forward layer's output to the block's input; add it to the stream "
        "after attention was added",
        "slides, pages 4 and 5; session, knowledge point 5",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "feed_forward_reads_attention": (
        "your feed-forward layer reads attention's output alone; it reads the stream after it was "
        "added",
        "session, knowledge point 5; slides, pages 17 and 18",
        ("pre", "post", "none", "pre_and_none"),
    ),
    "dropped_after_the_norm": (
        'with "post", you applied dropout after the norm; apply it to the sublayer\'s output, '
        "before it is added",
        "session, knowledge point 5",
    ),
    "norm_eps_larger": (
        "you gave the norms an eps of 1e-6; use the default of LayerNorm, 1e-5",
        "slides, page 8; session, knowledge point 5",
    ),
}
# Every value of `norm` may have its own lines, and "pre" and "none" may share theirs.
BRANCHES = {
    "pre": 'with norm="pre"',
    "post": 'with norm="post"',
    "none": 'with norm="none"',
    "pre_and_none": 'with norm="pre" and norm="none"',
}
# The mistakes that are enabled, and the branches that run.
WRONG: frozenset[str] = frozenset()
RUNNING: tuple[str, ...] = ()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG or any(f"{name} in {branch}" in WRONG for branch in RUNNING)


class TransformerBlock(nn.Module):
    """Two sublayers on a residual stream, with layer normalisation before, after or nowhere."""

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float | None = None,
        norm: str | None = None,
        activation: str = "relu",
        bias: bool = True,
    ) -> None:
        super().__init__()
        # None stands for the defaults, which mistakes change.
        if dropout is None:
            dropout = 0.0 if wrong("dropout_default") else 0.1
        if norm is None:
            norm = "post" if wrong("post_by_default") else "pre"
        norms = ("pre", "post", "none")
        if norm not in norms and not wrong("unknown_norm_accepted"):
            raise ValueError(f"norm must be one of {list(norms)}, not {norm!r}")
        self.norm = "pre" if norm == "none" and wrong("none_treated_as_pre") else norm
        if wrong("pre_post_swapped"):
            self.norm = {"pre": "post", "post": "pre"}.get(self.norm, self.norm)

        self.attention = MultiHeadAttention(
            d_model,
            1 if wrong("one_head") else num_heads,
            bias=bias or wrong("attention_bias_not_passed"),
        )
        self.feed_forward = FeedForward(
            d_model,
            4 * d_model if wrong("d_ff_ignored") else d_ff,
            dropout=0.1 if wrong("inner_dropout_not_passed") else dropout,
            activation="relu" if wrong("activation_not_passed") else activation,
            bias=bias or wrong("bias_not_passed"),
        )
        if self.norm != "none" or wrong("norms_kept"):
            eps = 1e-12 if wrong("norm_eps") else 1e-5
            if wrong("norm_eps_larger"):
                eps = 1e-6
            self.norm1 = LayerNorm(d_model, eps)
            self.norm2 = self.norm1 if wrong("norm_shared") else LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(0.1 if wrong("own_dropout_fixed") else dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """Pass `x` (B, T, D) through both sublayers."""
        global RUNNING
        RUNNING = (self.norm,) if self.norm == "post" else (self.norm, "pre_and_none")
        start = x
        if mask is not None and wrong("mask_inverted"):
            mask = ~mask
        if wrong("sublayers_reversed"):
            x = self._feed(x, start)  # (B, T, D)
            x, weights = self._attend(x, start, mask)  # (B, T, D), (B, H, T, T)
        else:
            x, weights = self._attend(x, start, mask)  # (B, T, D), (B, H, T, T)
            x = self._feed(x, start)  # (B, T, D)
        if wrong("float32_result"):
            x = x.float()
        return (x, weights) if wrong("weights_returned") else x

    def _attend(self, x: Tensor, start: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
        """Add what attention finds to the stream (B, T, D); return attention's weights, too."""
        read = self._normalised(start if wrong("parallel_sublayers") else x, "pre", 1)
        attended, weights = self.attention(read, None if wrong("mask_not_passed") else mask)
        self._attended = attended
        if wrong("normalised_residual"):
            x = self._normalised(x, "pre", 1)  # (B, T, D)
        if wrong("attention_not_added"):
            x = torch.zeros_like(x)
        return self._added(x, attended, not wrong("attention_not_dropped"), 1), weights

    def _feed(self, x: Tensor, start: Tensor) -> Tensor:
        """Add what the feed-forward layer makes of the stream (B, T, D) to it."""
        read = self._normalised(start if wrong("parallel_sublayers") else x, "pre", 2)
        if wrong("feed_forward_reads_attention"):
            read = self._normalised(self._dropped(self._attended), "pre", 2)
        fed = self.feed_forward(read)  # (B, T, D)
        if wrong("second_residual_from_start"):
            x = start
        if wrong("normalised_residual"):
            x = self._normalised(x, "pre", 2)  # (B, T, D)
        if wrong("feed_forward_not_added"):
            x = torch.zeros_like(x)
        return self._added(x, fed, not wrong("feed_forward_not_dropped"), 2)

    def _added(self, x: Tensor, added: Tensor, drops: bool, number: int) -> Tensor:
        """Drop from `added` and add it to the stream (B, T, D)."""
        after = self.norm == "post" and wrong("dropped_after_the_norm")
        if drops and not (wrong("stream_dropped") or after):
            added = self._dropped(added)
        if wrong("post_before_the_sum"):
            added = self._normalised(added, "post", number)  # (B, T, D)
        if wrong("residual_detached"):
            x = x.detach()
        if wrong("input_in_place"):
            x += added
        else:
            x = x + added  # (B, T, D)
        if drops and wrong("stream_dropped"):
            x = self._dropped(x)
        if wrong("post_before_the_sum"):
            return x
        left = self._normalised(x, "post", number)
        return self._dropped(left) if after else left

    def _normalised(self, x: Tensor, place: str, number: int) -> Tensor:
        """Normalise `x` (B, T, D) where the block normalises in this place."""
        if place == "pre" and (
            (number == 1 and wrong("attention_not_normalised"))
            or (number == 2 and wrong("feed_forward_not_normalised"))
        ):
            return x
        # An unknown norm that was accepted counts as "pre".
        if self.norm != place and (place == "post" or self.norm in ("post", "none")):
            return x
        first = number == (2 if wrong("norms_exchanged") else 1) or wrong("norm1_used_twice")
        normalised: Tensor = self.norm1(x) if first else self.norm2(x)
        return normalised

    def _dropped(self, x: Tensor) -> Tensor:
        """Drop elements of `x` (B, T, D) in training."""
        if wrong("dropped_in_evaluation"):
            return nn.functional.dropout(x, self.dropout.p)
        return self.dropout(x)
