"""How many hidden features of a feed-forward layer are 0, before and after training.

    python tests/benchmarks/sparsity.py

The workbook of transformer_block says what this prints.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / place / "language_model") for place in ("reference", "assignments")]
WORDS, LENGTH, STEPS = 20, 16, 600


def language(seed: int) -> torch.Tensor:
    """Draw 256 texts; every word follows from the two before it, by a random table."""
    generator = torch.Generator().manual_seed(seed)
    chances = torch.randn(WORDS, WORDS, WORDS, generator=generator).mul(3).softmax(-1)
    texts = torch.randint(0, WORDS, (256, 2), generator=generator)
    while texts.shape[1] < LENGTH:
        following = chances[texts[:, -2], texts[:, -1]]
        drawn = torch.multinomial(following, 1, generator=generator)
        texts = torch.cat([texts, drawn], dim=1)
    return texts


def zeros(model: torch.nn.Module, texts: torch.Tensor) -> str:
    """Return the share of hidden features that relu makes 0, block by block."""
    found: list[str] = []
    for block in model.encoder.blocks:
        block.feed_forward.linear1.register_forward_hook(
            lambda _, __, hidden: found.append(f"{float((hidden <= 0).double().mean()):.1%}")
        )
    model.train(False)(texts)
    for block in model.encoder.blocks:
        block.feed_forward.linear1._forward_hooks.clear()
    return ", ".join(found)


def main() -> None:
    """Train models with two seeds."""
    from language_model import LanguageModel
    from training import Trainer

    for seed in range(2):
        torch.manual_seed(seed)
        model, texts = LanguageModel(WORDS, LENGTH, 32, 4, 128, 2, dropout=0.0), language(seed)
        before = zeros(model, texts)
        Trainer(model, 0.005, 20).fit(texts, STEPS, 32)
        print(f"seed {seed}: {before} before, {zeros(model, texts)} after {STEPS} steps")


if __name__ == "__main__":
    main()
