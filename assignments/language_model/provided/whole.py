"""Your own components together: a language model and what trains it.

Each is imported from your file when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from training import Trainer


def language_model(vocab_size: int, max_len: int) -> nn.Module:
    """Make your `LanguageModel`: two blocks, 16 features, two heads, no dropout."""
    from language_model import LanguageModel

    return LanguageModel(vocab_size, max_len, 16, 2, 32, 2, dropout=0.0)


def trainer(model: nn.Module, **settings: Any) -> Trainer:
    """Make your `Trainer` of a model."""
    from training import Trainer

    return Trainer(model, **settings)
