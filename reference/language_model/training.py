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
    ### BEGIN SOLUTION
    return {word: number for number, word in enumerate(dict.fromkeys(words))}
    ### END SOLUTION


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
    ### BEGIN SOLUTION
    order = torch.randperm(len(sequences), generator=torch.Generator().manual_seed(seed))
    for rows in order.split(batch_size):
        yield sequences[rows]
    ### END SOLUTION


def learning_rate(step: int, peak: float, warmup: int) -> float:
    """Return the learning rate of a step, numbered from 0.

    It grows evenly over the first `warmup` steps, from peak / warmup at step 0 to `peak` at step
    warmup - 1, and stays there. With a warmup of 0 it is `peak` from the first step on.
    """
    ### BEGIN SOLUTION
    return peak * min(1.0, (step + 1) / max(1, warmup))
    ### END SOLUTION


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
        ### BEGIN SOLUTION
        self.model = model
        self.peak, self.warmup, self.clip, self.pad_id = peak, warmup, clip, pad_id
        # equivalent: `lr=peak, -> nothing`: every step sets its own rate before it
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=weight_decay)
        self.log: list[dict[str, float]] = []
        ### END SOLUTION

    def step(self, token_ids: Tensor) -> float:
        """Take one step on a batch (B, T), in training mode.

        The loss is `next_token_loss` of the model's logits. Its gradients, to which earlier steps
        add nothing, are clipped, and AdamW steps with the learning rate of this step, whose number
        is how many steps there were before.

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
        """Take so many steps on batches of `sequences` (N, T).

        The first pass goes through `batches` with `seed`, the next one with seed + 1, and so on;
        every call begins with a first pass. `sequences` is left as it is.
        """
        ### BEGIN SOLUTION
        left = steps
        # equivalent: `> -> >=`, `0 -> -1`: where nothing is left, the loop ends before a step
        while left > 0:
            for batch in batches(sequences, batch_size, seed):
                if left == 0:
                    return
                self.step(batch)
                left -= 1
            seed += 1
        ### END SOLUTION

    def state(self) -> Any:
        """Return all that is needed to go on later, the log included, as `load` takes it.

        It is a copy, which further steps do not change. What is in it is up to you.
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
        """Go on from what `state` returned, also in another trainer.

        That one has the same settings and a model of the same shape. But for what dropout draws,
        the steps that follow are those that would have followed there. `state` is left as it is.
        """
        ### BEGIN SOLUTION
        state = copy.deepcopy(state)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.log = state["log"]
        ### END SOLUTION
