"""The transformer block with one mistake in it, or several; with none in force it is right."""

import torch
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import Tensor, nn

# Name: what to tell the student, and where the course treats it.
MISCONCEPTIONS = {
    "attention_not_added": (
        "you went on with what attention returns; it has to be added to the stream (first "
        "residual connection)",
        "slides, pages 4 and 5; session, knowledge point 5",
    ),
    "feed_forward_not_added": (
        "you returned what the feed-forward layer makes; it has to be added to the stream (second "
        "residual connection)",
        "slides, pages 4 and 5; session, knowledge point 5",
    ),
    "normalised_residual": (
        'you added the sublayer\'s output to the normalised stream; with "pre" the sublayer reads '
        "the normalised stream, but the stream itself goes on as it was",
        "session, knowledge point 5",
    ),
    "residual_detached": (
        "you cut the residual connection out of the graph (.detach() or .data); the gradient has "
        "to flow along the stream, too",
        "slides, pages 4 and 5",
    ),
    "pre_post_swapped": (
        'you exchanged "pre" and "post": "pre" normalises what a sublayer reads, "post" '
        "the sum after it",
        "session, knowledge point 5",
    ),
    "post_by_default": (
        "your block normalises after the sublayers unless told otherwise; the course normalises "
        'before them ("pre")',
        "session, knowledge point 5",
    ),
    "post_before_the_sum": (
        'with "post" you normalised the sublayer\'s output before adding it; normalise the sum',
        "session, knowledge point 5",
    ),
    "norm1_used_twice": (
        "you used norm1 for both sublayers; norm2 belongs to the feed-forward layer",
        "session, knowledge point 5",
    ),
    "norm_shared": (
        "norm1 and norm2 are one and the same module in your block; each sublayer needs a norm "
        "with parameters of its own",
        "session, knowledge point 5",
    ),
    "norms_kept": (
        'you made the norms with norm="none", too, though nothing uses them; then the block has '
        "no parameters for them",
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "unknown_norm_accepted": (
        "you accept an unknown norm and treat it as one of the others; refuse it with a ValueError",
        "session, knowledge point 5",
    ),
    "mask_not_passed": (
        "you did not hand the mask on to attention, so that every token sees every other",
        "session, knowledge point 3; walkthrough, attention, step 1",
    ),
    "parallel_sublayers": (
        "your feed-forward layer reads what came into the block; it has to read the stream that "
        "attention has been added to",
        "session, knowledge point 5; slides, pages 17 and 18",
    ),
    "sublayers_reversed": (
        "your feed-forward layer works before attention; attention comes first, with norm1",
        "session, knowledge point 5; slides, pages 17 and 18",
    ),
    "stream_dropped": (
        "you dropped elements of the sum, and so of the stream; drop only from what a sublayer "
        "adds to it",
        "slides, pages 4 and 5; session, knowledge point 5",
    ),
    "attention_not_dropped": (
        "you left out the dropout between attention and the sum",
        "session, knowledge point 5",
    ),
    "feed_forward_not_dropped": (
        "you left out the dropout between the feed-forward layer and the sum; the one inside the "
        "layer does not replace it",
        "session, knowledge point 5; walkthrough, feed_forward",
    ),
    "inner_dropout_not_passed": (
        "you did not hand dropout on to the feed-forward layer, which falls back on its default",
        "session, knowledge point 5",
    ),
    "dropped_in_evaluation": (
        "your dropout goes on in evaluation (F.dropout without the training flag); nothing may be "
        "dropped then",
        "session, knowledge points 1 and 5",
    ),
    "activation_not_passed": (
        "you did not hand the activation on to the feed-forward layer, which stays with ReLU",
        "session, knowledge point 5; walkthrough, feed_forward",
    ),
    "bias_not_passed": (
        "you handed bias on to attention only; bias=False also holds for the feed-forward layer",
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "input_in_place": (
        "you added to the input itself (+= or add_), which changes the caller's tensor and breaks "
        "gradients; make a new one",
        "slides, pages 4 and 5",
    ),
    "float32_result": (
        "you returned the stream as float32 (.float()); it has to keep the dtype of the input",
        "session, knowledge point 5",
    ),
    "weights_returned": (
        "you returned attention's weights along with the stream; the block returns the stream "
        "alone, which the next block reads",
        "session, knowledge point 5",
    ),
    "attention_not_normalised": (
        'with "pre" you gave attention the stream as it is; it reads norm1 of the stream',
        "session, knowledge point 5",
    ),
    "feed_forward_not_normalised": (
        'with "pre" you gave the feed-forward layer the stream as it is; it reads norm2 of the '
        "stream",
        "session, knowledge point 5",
    ),
    "norms_exchanged": (
        "you used norm2 for attention and norm1 for the feed-forward layer; it is the other way "
        "round",
        "session, knowledge point 5",
    ),
    "norm_eps": (
        "you gave your norms an eps of 1e-12; the block uses the default of LayerNorm",
        "slides, page 8; session, knowledge point 5",
    ),
    "none_treated_as_pre": (
        'with norm="none" you normalise all the same; then the block has no norms, nor their '
        "parameters",
        "session, knowledge point 5; walkthrough, introduction",
    ),
    "mask_inverted": (
        "you turned the mask around before handing it on; True means that the query may attend to "
        "the key, for attention and for the block",
        "walkthrough, attention, step 1",
    ),
    "one_head": (
        "your attention has one head whatever num_heads says; hand the number on",
        "session, knowledge points 4 and 5",
    ),
    "d_ff_ignored": (
        "your feed-forward layer expands to four times d_model whatever d_ff says; hand the number "
        "on",
        "session, knowledge points 1 and 5",
    ),
    "dropout_default": (
        "you drop nothing unless a rate is given; the default rate is 0.1",
        "session, knowledge point 5",
    ),
    "own_dropout_fixed": (
        "your block drops at a rate of 0.1 whatever dropout says; use the rate you are given, in "
        "the block as in the feed-forward layer",
        "session, knowledge point 5",
    ),
    "attention_bias_not_passed": (
        "you did not hand bias on to attention; bias=False holds for both sublayers",
        "session, knowledge point 5; walkthrough, introduction",
    ),
}
# The mistakes in force.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Tell whether this mistake is in force."""
    return name in WRONG


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
            self.norm1 = LayerNorm(d_model, eps)
            self.norm2 = self.norm1 if wrong("norm_shared") else LayerNorm(d_model, eps)
        self.dropout = nn.Dropout(0.1 if wrong("own_dropout_fixed") else dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor | tuple[Tensor, Tensor]:
        """Pass `x` (B, T, D) through both sublayers."""
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
        if wrong("normalised_residual"):
            x = self._normalised(x, "pre", 1)  # (B, T, D)
        if wrong("attention_not_added"):
            x = torch.zeros_like(x)
        return self._added(x, attended, not wrong("attention_not_dropped"), 1), weights

    def _feed(self, x: Tensor, start: Tensor) -> Tensor:
        """Add what the feed-forward layer makes of the stream (B, T, D) to it."""
        read = self._normalised(start if wrong("parallel_sublayers") else x, "pre", 2)
        fed = self.feed_forward(read)  # (B, T, D)
        if wrong("normalised_residual"):
            x = self._normalised(x, "pre", 2)  # (B, T, D)
        if wrong("feed_forward_not_added"):
            x = torch.zeros_like(x)
        return self._added(x, fed, not wrong("feed_forward_not_dropped"), 2)

    def _added(self, x: Tensor, added: Tensor, drops: bool, number: int) -> Tensor:
        """Drop from `added` and add it to the stream (B, T, D)."""
        if drops and not wrong("stream_dropped"):
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
        return x if wrong("post_before_the_sum") else self._normalised(x, "post", number)

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
