"""Your own components together: a language model and what trains it.

Each is imported from your file when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from provided.blocks import causal_mask
from torch import Tensor, nn

if TYPE_CHECKING:
    from training import Trainer


def language_model(vocab_size: int, max_len: int) -> nn.Module:
    """Make your `LanguageModel`: two blocks, 16 features, two heads, no dropout."""
    from language_model import LanguageModel

    return LanguageModel(vocab_size, max_len, 16, 2, 32, 2, dropout=0.0)


def encoder(vocab_size: int, max_len: int, *sizes: int, **options: Any) -> nn.Module:
    """Make your `Encoder`; its further sizes are d_model, num_heads, d_ff and num_layers."""
    from encoder import Encoder

    return Encoder(vocab_size, max_len, *sizes, **options)


def deep_model(vocab_size: int, max_len: int, norm: str) -> nn.Module:
    """Make a language model of your `Encoder` with 12 blocks and this norm, "pre" or "post"."""
    from encoder import Encoder

    class Deep(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder = Encoder(vocab_size, max_len, 16, 2, 32, 12, dropout=0.0, norm=norm)

        def forward(self, token_ids: Tensor) -> Tensor:
            hidden = self.encoder(token_ids, causal_mask(token_ids.shape[1], token_ids.device))
            return hidden @ self.encoder.token_embedding.weight.T

    return Deep()


def trainer(model: nn.Module, **settings: Any) -> Trainer:
    """Make your `Trainer` of a model."""
    from training import Trainer

    return Trainer(model, **settings)
