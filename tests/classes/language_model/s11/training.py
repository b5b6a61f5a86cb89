"""Training: a model learns to predict the next word of a sentence.

Source: slides, page 28 (the sentence); session, next steps.
"""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from language_model import next_token_loss
from torch import Tensor, nn


def vocabulary(words: list[str]) -> dict[str, int]:
    """Number the different words from 0, in the order in which they first occur."""
    # Your code here.
    raise NotImplementedError


def batches(sequences: Tensor, batch_size: int, seed: int) -> Iterator[Tensor]:
    """Go once through all sequences in random order, in batches.

    Args:
        sequences: integer tensor of shape (N, T).
        batch_size: number of sequences per batch; the last batch may be smaller.
        seed: determines the order: the same seed gives the same order, another seed another order.
            You choose how.

    Yields:
        Tensors of shape (B, T), rows of `sequences`: each row once.
    """
    # Your code here.
    raise NotImplementedError


def learning_rate(step: int, peak: float, warmup: int) -> float:
    """Return the learning rate of a step, numbered from 0.

    The rate grows linearly from peak / warmup at step 0 to `peak` at step warmup - 1, and stays
    there. With a warmup of 0 it is always `peak`.
    """
    # Your code here.
    raise NotImplementedError


class Trainer:
    """Train a model step by step with AdamW, and keep a log.

    Attributes:
        log: one dictionary per step, with "loss" (before the step), "learning_rate" and
            "gradient_norm" (of all gradients together, before clipping), each a plain number.
    """

    def __init__(
        self,
        model: nn.Module,
        peak: float = 0.01,
        warmup: int = 10,
        clip: float = 1.0,
        weight_decay: float = 0.01,
        pad_id: int | None = None,
    ) -> None:
        """Prepare AdamW (betas 0.9 and 0.999, eps 1e-8) for all parameters of the model.

        Args:
            model: maps token ids (B, T) to logits (B, T, V); it is trained in place, not copied.
            peak, warmup: see `learning_rate`.
            clip: largest joint norm of all gradients; larger gradients are scaled down to it.
            weight_decay: AdamW's weight decay, for every parameter.
            pad_id: see `next_token_loss`.
        """
        # Your code here.
        raise NotImplementedError

    def step(self, token_ids: Tensor) -> float:
        """Take one step on a batch (B, T), in training mode.

        The loss is `next_token_loss` of the model's logits. The gradients of this loss alone are
        clipped; then AdamW takes a step with the learning rate of this step. The first step has the
        number 0.

        Returns:
            The loss before the step, a plain number.
        """
        # Your code here.
        raise NotImplementedError

    def fit(self, sequences: Tensor, steps: int, batch_size: int, seed: int = 0) -> None:
        """Train for `steps` steps on batches of `sequences` (N, T).

        The first pass uses `batches` with `seed`, the next pass with seed + 1, and so on. Every
        call starts with the first pass. `sequences` is not modified.
        """
        # Your code here.
        raise NotImplementedError

    def state(self) -> Any:
        """Return a copy of everything that `load` needs to continue training, including the log.

        Later steps do not change the copy. You choose its type and content.
        """
        # Your code here.
        raise NotImplementedError

    def load(self, state: Any) -> None:
        """Continue from the result of `state`, also in another trainer.

        The other trainer has the same settings and a model of the same shape. Training then
        continues exactly as it would have in the saved trainer (random dropout aside). `state` is
        not modified.
        """
        # Your code here.
        raise NotImplementedError
