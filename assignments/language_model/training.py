"""Training: a model learns a sentence by foretelling its next word.

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
        batch_size: number of sequences of a batch; what is left over makes a smaller last one.
        seed: the same seed gives the same order, another one another. Which order a seed gives is
            up to you.

    Yields:
        Tensors of shape (B, T), rows of `sequences`: each row once.
    """
    # Your code here.
    raise NotImplementedError


def learning_rate(step: int, peak: float, warmup: int) -> float:
    """Return the learning rate of a step, numbered from 0.

    It grows evenly over the first `warmup` steps, from peak / warmup at step 0 to `peak` at step
    warmup - 1, and stays there. With a warmup of 0 it is `peak` from the first step on.
    """
    # Your code here.
    raise NotImplementedError


class Trainer:
    """Trains a model step by step with AdamW, and keeps a log.

    Attributes:
        log: one dictionary a step, with "loss" (before the step), "learning_rate" and
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
            model: maps token ids (B, T) to logits (B, T, V); it is trained itself, and no copy.
            peak, warmup: see `learning_rate`.
            clip: gradients whose norm, of all of them together, is larger are scaled down to it.
            weight_decay: that of AdamW, for every parameter.
            pad_id: see `next_token_loss`.
        """
        # Your code here.
        raise NotImplementedError

    def step(self, token_ids: Tensor) -> float:
        """Take one step on a batch (B, T), in training mode.

        The loss is `next_token_loss` of the model's logits. Its gradients, to which earlier steps
        add nothing, are clipped, and AdamW steps with the learning rate of this step, whose number
        is how many steps there were before.

        Returns:
            The loss before the step, a plain number.
        """
        # Your code here.
        raise NotImplementedError

    def fit(self, sequences: Tensor, steps: int, batch_size: int, seed: int = 0) -> None:
        """Take so many steps on batches of `sequences` (N, T).

        The first pass goes through `batches` with `seed`, the next one with seed + 1, and so on;
        every call begins with a first pass. `sequences` is left as it is.
        """
        # Your code here.
        raise NotImplementedError

    def state(self) -> Any:
        """Return all that is needed to go on later, the log included, as `load` takes it.

        It is a copy, which further steps do not change. What is in it is up to you.
        """
        # Your code here.
        raise NotImplementedError

    def load(self, state: Any) -> None:
        """Go on from what `state` returned, also in another trainer.

        That one has the same settings and a model of the same shape. But for what dropout draws,
        the steps that follow are those that would have followed there. `state` is left as it is.
        """
        # Your code here.
        raise NotImplementedError
