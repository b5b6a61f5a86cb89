"""The encoder: embeddings of tokens and positions, then blocks that add to the stream.

Source: slides, pages 5, 15, 23 and 31; session, knowledge point 5.
"""

import torch
from learned_positions import LearnedPositionalEmbedding
from provided.blocks import TransformerBlock
from torch import Tensor, nn


class Encoder(nn.Module):
    """Embeddings of tokens and positions, then a stack of transformer blocks.

    Parameters, by their `state_dict` keys:
        token_embedding.weight: (V, D), drawn with mean 0 and standard deviation 0.02.
        positions.weight: (max_len, D), that of `LearnedPositionalEmbedding`.
        blocks.0.*, blocks.1.*, ...: those of the provided `TransformerBlock`.
        final_norm.weight, final_norm.bias: (D), those of `nn.LayerNorm`; only with norm "pre".

    Source: slides, pages 15 and 31; session, knowledge point 5.
    """

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
        """Make the embeddings, the blocks and the final norm.

        Args:
            vocab_size: number of words, V.
            max_len: largest number of tokens of a sequence.
            d_model: number of features of a token, D.
            num_heads: number of attention heads of a block, H.
            d_ff: number of features inside a block's feed-forward layer, F.
            num_layers: number of blocks, N; it may be 0.
            dropout: dropout rate of the blocks; nothing else is dropped.
            norm: the blocks' norm, "pre" or "post".

        Raises:
            ValueError: `norm` is unknown.
        """
        super().__init__()
        ### BEGIN SOLUTION
        if norm not in ("pre", "post"):
            raise ValueError(f'norm must be "pre" or "post", not {norm!r}')
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = LearnedPositionalEmbedding(max_len, d_model)
        self.blocks = nn.ModuleList(
            TransformerBlock(d_model, num_heads, d_ff, dropout, norm) for _ in range(num_layers)
        )
        # With "post" every block ends in a norm, and the last one's is the final one.
        self.final_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        ### END SOLUTION

    def forward(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute a vector for every token.

        Args:
            token_ids: integer tensor of shape (B, T).
            mask: boolean tensor of shape (T, T) or (B, T, T), True where the query may attend to
                the key; the same for every block. None allows every pair.

        Returns:
            Tensor of shape (B, T, D): the last entry of `stream`, with norm "pre" normalised by
            `final_norm`.

        Raises:
            ValueError: T is greater than `max_len`.
        """
        ### BEGIN SOLUTION
        return self.final_norm(self.stream(token_ids, mask)[-1])  # (B, T, D)
        ### END SOLUTION

    def stream(self, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
        """Compute the residual stream before the first block and after every block.

        Args:
            token_ids: integer tensor of shape (B, T).
            mask: as for `forward`.

        Returns:
            Tensor of shape (N + 1, B, T, D): first the sum of both embeddings, then the output of
            every block in order, without the final norm.

        Raises:
            ValueError: T is greater than `max_len`.

        Source: slides, pages 5 and 15 (the residual stream).
        """
        ### BEGIN SOLUTION
        x = self.positions(self.token_embedding(token_ids))  # (B, T, D)
        seen = [x]
        for block in self.blocks:
            x = block(x, mask)  # (B, T, D)
            seen.append(x)
        return torch.stack(seen)  # (N + 1, B, T, D)
        ### END SOLUTION
