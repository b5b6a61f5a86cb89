"""Stand-in: torch's own embeddings and the provided blocks behind the name of the assignment."""

from itertools import accumulate

import torch
import torch.nn.functional as F
from provided.blocks import TransformerBlock
from torch import Tensor, nn


class Encoder(nn.Module):
    """Two embeddings, a list of blocks and, with norm "pre", `nn.LayerNorm`."""

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        dropout: float = 0.1,
        norm: str = "pre",
    ) -> None:
        super().__init__()
        ends = {"pre": nn.LayerNorm, "post": nn.Identity}
        if norm not in ends:
            raise ValueError(f"norm must be pre or post, not {norm!r}")
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        nn.init.normal_(self.positions.weight, std=0.02)
        options = (d_model, num_heads, d_ff, dropout, norm)
        self.blocks = nn.Sequential(*(TransformerBlock(*options) for _ in range(num_layers)))
        self.final_norm = ends[norm](d_model)

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute a vector (B, T, D) for every token."""
        return self.final_norm(self.stream(token_ids, mask)[-1])

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute the residual stream (N + 1, B, T, D)."""
        length = token_ids.shape[-1]
        if length > self.positions.num_embeddings:
            raise ValueError(f"{length} tokens are too many")
        places = torch.arange(length, device=token_ids.device)
        tables = torch.cat([self.token_embedding.weight, self.positions.weight])
        pairs = (token_ids, (places + self.token_embedding.num_embeddings).expand_as(token_ids))
        start = F.embedding(torch.stack(pairs), tables).sum(0)
        return torch.stack(
            list(accumulate(self.blocks, lambda x, block: block(x, mask), initial=start))
        )
