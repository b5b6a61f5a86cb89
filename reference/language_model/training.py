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
    ### BEGIN SOLUTION
    return {word: number for number, word in enumerate(dict.fromkeys(words))}
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    order = torch.randperm(len(sequences), generator=torch.Generator().manual_seed(seed))
    for rows in order.split(batch_size):
        yield sequences[rows]
    ### END SOLUTION


def learning_rate(step: int, peak: float, warmup: int) -> float:
    """Return the learning rate of a step, numbered from 0.

    The rate grows linearly from peak / warmup at step 0 to `peak` at step warmup - 1, and stays
    there. With a warmup of 0 it is always `peak`.
    """
    ### BEGIN SOLUTION
    return peak * min(1.0, (step + 1) / max(1, warmup))
    ### END SOLUTION


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
        ### BEGIN SOLUTION
        self.model = model
        self.peak, self.warmup, self.clip, self.pad_id = peak, warmup, clip, pad_id
        # equivalent: every step sets its own rate before it
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=weight_decay)
        self.log: list[dict[str, float]] = []
        ### END SOLUTION

    def step(self, token_ids: Tensor) -> float:
        """Take one step on a batch (B, T), in training mode.

        The loss is `next_token_loss` of the model's logits. The gradients of this loss alone are
        clipped; then AdamW takes a step with the learning rate of this step. The first step has the
        number 0.

        Returns:
            The loss before the step, a plain number.
        """
        ### BEGIN SOLUTION
        self.model.train()
        rate = learning_rate(len(self.log), self.peak, self.warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        loss = next_token_loss(self.model(token_ids), token_ids, self.pad_id)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        entry = {"loss": loss.item(), "learning_rate": rate, "gradient_norm": norm.item()}
        self.log.append(entry)
        return entry["loss"]
        ### END SOLUTION

    def fit(self, sequences: Tensor, steps: int, batch_size: int, seed: int = 0) -> None:
        """Train for `steps` steps on batches of `sequences` (N, T).

        The first pass uses `batches` with `seed`, the next pass with seed + 1, and so on. Every
        call starts with the first pass. `sequences` is not modified.
        """
        ### BEGIN SOLUTION
        left = steps
        # equivalent: where nothing is left, the loop ends before a step
        while left > 0:
            for batch in batches(sequences, batch_size, seed):
                if left == 0:
                    return
                self.step(batch)
                left -= 1
            seed += 1
        ### END SOLUTION

    def state(self) -> Any:
        """Return a copy of everything that `load` needs to continue training, including the log.

        Later steps do not change the copy. You choose its type and content.
        """
        ### BEGIN SOLUTION
        return copy.deepcopy(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "log": self.log,
            }
        )
        ### END SOLUTION

    def load(self, state: Any) -> None:
        """Continue from the result of `state`, also in another trainer.

        The other trainer has the same settings and a model of the same shape. Training then
        continues exactly as it would have in the saved trainer (random dropout aside). `state` is
        not modified.
        """
        ### BEGIN SOLUTION
        state = copy.deepcopy(state)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.log = state["log"]
        ### END SOLUTION
