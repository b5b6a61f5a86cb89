"""The encoder with mistakes to enable; with none enabled, it is right."""

from itertools import pairwise

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock, causal_mask
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "positions_forgotten": (
        "you left out the positions; add the position's vector to the token's embedding",
        "slides, pages 22 and 23",
        ("forward", "stream"),
    ),
    "embedding_scaled": (
        "you multiplied the token embeddings by sqrt(d_model), as the original paper does; here "
        "they are not scaled",
        "slides, page 23",
        ("forward", "stream"),
    ),
    "embedding_not_redrawn": (
        "your token embeddings start with a deviation of 1 (the default of nn.Embedding); draw "
        "them with 0.02, or an untrained model is sure of wrong words",
        "handout",
    ),
    "blocks_shared": (
        "all entries of blocks are the same block; every block has its own parameters",
        "slides, page 15",
    ),
    "blocks_unregistered": (
        "you keep the blocks in a plain list (say), where torch does not find their parameters; "
        "use nn.ModuleList",
        "slides, page 15",
    ),
    "blocks_read_the_start": (
        "every block reads the sum of the embeddings; it reads the previous block's result",
        "slides, pages 5 and 15",
        ("forward", "stream"),
    ),
    "outer_residual": (
        "you added a block's result to the stream; a block returns the stream with its additions "
        "already",
        "slides, pages 4, 5 and 15",
        ("forward", "stream"),
    ),
    "final_norm_missing": (
        'you returned the last block\'s result; with norm="pre", apply final_norm to it',
        "session, knowledge point 5",
    ),
    "final_norm_with_post": (
        'you made a final norm with norm="post" too; then every block already ends in a norm',
        "session, knowledge point 5",
    ),
    "final_norm_on_stream": (
        "the last entry of your stream is normalised; apply final_norm in forward only",
        "slides, pages 5 and 15",
    ),
    "norm_after_every_block": (
        "you applied final_norm after every block; apply it once, to the last block's result",
        "session, knowledge point 5",
    ),
    "mask_not_passed": (
        "you did not pass the mask to the blocks, so every token attends to every other",
        "session, knowledge point 3; walkthrough, attention, step 1",
        ("forward", "stream"),
    ),
    "mask_first_block_only": (
        "you passed the mask to the first block only; pass it to every block",
        "session, knowledge points 3 and 5",
        ("forward", "stream"),
    ),
    "mask_inverted": (
        "you inverted the mask (~mask); in the provided blocks, True also means that the query "
        "may attend to the key",
        "handout",
    ),
    "causal_always": (
        "your encoder always hides later tokens; only the given mask decides, and None allows "
        "every pair",
        "session, knowledge point 3",
    ),
    "diagonal_written": (
        "you set the diagonal of the caller's mask to True; pass the mask on unchanged",
        "handout",
    ),
    "stream_on_cpu": (
        "you collect the stream in a new tensor on the CPU; it belongs on the device of the "
        "embeddings",
        "handout",
    ),
    "too_long_cut_off": (
        "you cut off the tokens beyond max_len; more than max_len tokens raise ValueError",
        "handout",
    ),
    "tokens_viewed_flat": (
        "your reshaping of the token ids (.view()) fails if they are not contiguous; use "
        ".reshape(), or leave their shape",
        "handout",
    ),
    "norm_not_passed": (
        'you did not pass norm to the blocks, so they use their default, "pre"',
        "session, knowledge point 5",
    ),
    "post_by_default": (
        'your default for norm is "post"; it is "pre"',
        "session, knowledge point 5",
    ),
    "unknown_norm_accepted": (
        "you accept an unknown norm if there are no blocks; check the argument yourself and raise "
        "ValueError",
        "handout",
    ),
    "rate_not_passed": (
        "you did not pass dropout to the blocks, so they use their default",
        "session, knowledge point 5",
    ),
    "embedding_dropped": (
        "you applied dropout to the sum of the embeddings; only the blocks apply dropout",
        "slides, page 23",
    ),
    "stream_without_start": (
        "your stream starts with the first block's result; its first entry is the sum of the "
        "embeddings",
        "slides, pages 5 and 15",
    ),
    "stream_of_changes": (
        "your stream holds the changes made by the blocks; each entry is the whole stream after a "
        "block",
        "slides, pages 5 and 15",
    ),
    "stream_behind_the_batch": (
        "your stream has its entries along dimension 1 (dim=1); its shape is (N + 1, B, T, D), so "
        "stack along dimension 0",
        "slides, pages 5 and 15",
    ),
    "stream_kept": (
        "your stream still holds entries of an earlier call; start every call with an empty list",
        "slides, pages 5 and 15",
    ),
    "stream_detached": (
        "you cut the stream out of the graph between the blocks (.detach(), .data or no_grad); "
        "the gradient must reach the embeddings",
        "handout",
    ),
    "float32_result": (
        "you returned float32 (.float()); the result has the dtype of the parameters",
        "handout",
    ),
}
# Both methods may go through the blocks by themselves.
BRANCHES = {
    "forward": "in forward",
    "stream": "in stream",
}
# The mistakes that are enabled, and the method that runs.
WRONG: frozenset[str] = frozenset()
RUNNING = ""


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG or f"{name} in {RUNNING}" in WRONG


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
        if not wrong("embedding_not_redrawn"):
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
        global RUNNING
        RUNNING = "forward"
        x = self._entries(token_ids, mask)[-1]  # (B, T, D)
        if not (wrong("final_norm_missing") or wrong("norm_after_every_block")):
            x = self.final_norm(x)
        return x.float() if wrong("float32_result") else x

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Stack what stands on the residual stream (N + 1, B, T, D)."""
        global RUNNING
        RUNNING = "stream"
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
        stacked = torch.stack(seen, dim=1 if wrong("stream_behind_the_batch") else 0)
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
