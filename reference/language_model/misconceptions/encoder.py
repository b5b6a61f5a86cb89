"""The encoder with mistakes to enable; with none enabled, it is right."""

from itertools import pairwise

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock, causal_mask
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "positions_forgotten": (
        "you left the positions out of the stream; add the position's vector to that of the token",
        "slides, pages 22 and 23",
    ),
    "embedding_scaled": (
        "you multiplied the token embeddings by the root of d_model, as the original paper does; "
        "here they go into the sum as they are",
        "slides, page 23",
    ),
    "embedding_redrawn": (
        "you drew the token embeddings with a deviation of 0.02; leave them as nn.Embedding draws "
        "them, with a deviation of 1",
        "slides, page 23",
    ),
    "blocks_shared": (
        "all entries of blocks are one and the same block; every block needs parameters of its own",
        "slides, page 15",
    ),
    "blocks_unregistered": (
        "you keep the blocks where torch does not find them, in a plain list for example; put them "
        "into an nn.ModuleList, or their parameters are none of the encoder's",
        "slides, page 15",
    ),
    "blocks_read_the_start": (
        "every block reads the sum of the embeddings; it has to read what the block before it left",
        "slides, pages 5 and 15",
    ),
    "outer_residual": (
        "you added what a block returns to the stream; a block already returns the stream with "
        "everything added",
        "slides, pages 4, 5 and 15",
    ),
    "final_norm_missing": (
        'you return what the last block leaves as it is; with norm "pre" final_norm has to '
        "normalise it, since no block ends in a norm",
        "session, knowledge point 5",
    ),
    "final_norm_with_post": (
        'you made a final norm with norm "post", too; there every block already ends in a norm',
        "session, knowledge point 5",
    ),
    "final_norm_on_stream": (
        "the last entry of your stream is normalised; final_norm belongs to forward alone, the "
        "stream is what the blocks leave",
        "slides, pages 5 and 15",
    ),
    "norm_after_every_block": (
        "you applied final_norm after every block and went on with that; it stands once, after "
        "the last block, and never on the stream itself",
        "session, knowledge point 5",
    ),
    "mask_not_passed": (
        "you did not hand the mask on to the blocks, so that every token sees every other",
        "session, knowledge point 3; walkthrough, attention, step 1",
    ),
    "mask_first_block_only": (
        "you handed the mask to the first block alone; later blocks then bring in what it hides",
        "session, knowledge points 3 and 5",
    ),
    "mask_inverted": (
        "you turned the mask round (~mask); in the provided blocks, too, True means that the query "
        "may attend to the key",
        "walkthrough, attention, step 1",
    ),
    "causal_always": (
        "your encoder keeps every token from what comes after it, whatever the mask says; the mask "
        "alone decides, and None allows every pair",
        "session, knowledge point 3",
    ),
    "diagonal_written": (
        "you wrote True into the diagonal of the caller's mask; hand it on as it is",
        "walkthrough, attention, step 1",
    ),
    "stream_on_cpu": (
        "you collect the stream in a new tensor on the CPU; it belongs on the device of the "
        "embeddings",
        "slides, pages 5 and 15",
    ),
    "too_long_cut_off": (
        "you cut off the tokens for which there is no position; more than max_len tokens are a "
        "ValueError",
        "slides, page 26",
    ),
    "tokens_viewed_flat": (
        "you flatten the tokens with .view(), which fails where they are not contiguous in "
        "memory; embed them as they are, or take .reshape()",
        "slides, page 23",
    ),
    "norm_not_passed": (
        'you did not hand norm on to the blocks, which stay with "pre"',
        "session, knowledge point 5",
    ),
    "post_by_default": (
        'your blocks normalise after the sublayers unless told otherwise; the default is "pre"',
        "session, knowledge point 5",
    ),
    "unknown_norm_accepted": (
        "an unknown norm raises no ValueError in your encoder when it has no blocks; look at the "
        "argument yourself, since there is no block that would",
        "session, knowledge point 5",
    ),
    "rate_not_passed": (
        "you did not hand dropout on to the blocks, which fall back on their default",
        "session, knowledge point 5",
    ),
    "embedding_dropped": (
        "you dropped elements of the sum of the embeddings; here nothing is dropped but by the "
        "blocks",
        "slides, page 23",
    ),
    "stream_without_start": (
        "your stream begins with what the first block leaves; its first entry is the sum of the "
        "embeddings, before any block",
        "slides, pages 5 and 15",
    ),
    "stream_of_changes": (
        "your stream holds what every block adds; each entry is the whole stream after it",
        "slides, pages 5 and 15",
    ),
    "stream_kept": (
        "your stream still holds what an earlier call left there; begin every call with an empty "
        "list",
        "slides, pages 5 and 15",
    ),
    "stream_detached": (
        "you cut the stream out of the graph between the blocks (.detach(), .data or no_grad); the "
        "gradient has to flow back to the embeddings",
        "slides, pages 4 and 5",
    ),
    "float32_result": (
        "you returned float32 (.float()); the result has the dtype of the parameters",
        "slides, page 15",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


class Encoder(nn.Module):
    """Embeddings of tokens and positions, then a stack of transformer blocks."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
        norm: str | None = None,
    ) -> None:
        super().__init__()
        if norm is None:
            norm = "post" if wrong("post_by_default") else "pre"
        if norm not in ("pre", "post") and not wrong("unknown_norm_accepted"):
            raise ValueError(f"norm must be pre or post, not {norm!r}")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        if wrong("embedding_redrawn"):
            nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        rate = 0.1 if wrong("rate_not_passed") else dropout
        place = "pre" if wrong("norm_not_passed") else norm
        blocks = [
            TransformerBlock(d_model, num_heads, d_ff, rate, place) for _ in range(num_layers)
        ]
        if wrong("blocks_shared"):
            blocks = blocks[:1] * num_layers
        self.blocks = blocks if wrong("blocks_unregistered") else nn.ModuleList(blocks)
        normed = norm == "pre" or wrong("final_norm_with_post")
        self.final_norm = nn.LayerNorm(d_model) if normed else nn.Identity()
        self.rate, self.max_len = dropout, max_len
        self.kept: list[Tensor] = []

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute a vector for every token (B, T, D)."""
        x = self._entries(token_ids, mask)[-1]  # (B, T, D)
        if not (wrong("final_norm_missing") or wrong("norm_after_every_block")):
            x = self.final_norm(x)
        return x.float() if wrong("float32_result") else x

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Stack what stands on the residual stream (N + 1, B, T, D)."""
        seen = self._entries(token_ids, mask)
        if wrong("final_norm_on_stream"):
            seen[-1] = self.final_norm(seen[-1])
        if wrong("stream_of_changes"):
            seen = [seen[0], *(after - before for before, after in pairwise(seen))]
        if wrong("stream_without_start"):
            seen = seen[1:] or seen
        if wrong("stream_kept"):
            self.kept += seen
            seen = self.kept
        stacked = torch.stack(seen)
        if wrong("stream_on_cpu"):
            stacked = torch.zeros(stacked.shape, dtype=stacked.dtype) + stacked
        return stacked.float() if wrong("float32_result") else stacked

    def _entries(self, token_ids: Tensor, mask: Tensor | None) -> list[Tensor]:
        """Compute the entries (B, T, D) of the stream, one after the other."""
        if wrong("too_long_cut_off"):
            token_ids = token_ids[:, : self.max_len]
        mask = self._changed(token_ids, mask)
        start = x = self._start(token_ids)  # (B, T, D)
        seen = [x]
        for number, block in enumerate(self.blocks):
            if wrong("stream_detached"):
                x = x.detach()
            handed = None if number and wrong("mask_first_block_only") else mask
            left = block(start if wrong("blocks_read_the_start") else x, handed)
            x = x + left if wrong("outer_residual") else left
            if wrong("norm_after_every_block"):
                x = self.final_norm(x)
            seen.append(x)
        return seen

    def _start(self, token_ids: Tensor) -> Tensor:
        """Add both embeddings (B, T, D)."""
        flat = token_ids.view(-1) if wrong("tokens_viewed_flat") else token_ids.reshape(-1)
        x = self.token_embedding(flat).unflatten(0, token_ids.shape)  # (B, T, D)
        if wrong("embedding_scaled"):
            x = x * x.size(-1) ** 0.5
        if not wrong("positions_forgotten"):
            x = self.positions(x)  # (B, T, D)
        return nn.functional.dropout(x, self.rate, self.training and wrong("embedding_dropped"))

    def _changed(self, token_ids: Tensor, mask: Tensor | None) -> Tensor | None:
        """Do to the mask what a mistake does."""
        if wrong("mask_not_passed"):
            return None
        length = token_ids.size(1)
        if mask is not None and wrong("mask_inverted"):
            mask = ~mask
        if mask is not None and wrong("diagonal_written"):
            mask.diagonal(dim1=-2, dim2=-1).fill_(True)
        if wrong("causal_always"):
            causal = causal_mask(length, device=token_ids.device)
            mask = causal if mask is None else mask & causal
        return mask
