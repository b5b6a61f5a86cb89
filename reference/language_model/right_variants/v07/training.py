"""Defensive: settings that are checked, and a state that is what it says."""

from __future__ import annotations

import copy
import logging
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from language_model import next_token_loss
from torch import Tensor, nn

log = logging.getLogger(__name__)


def vocabulary(words: Sequence[str]) -> dict[str, int]:
    """Number words, which have to be words."""
    numbers: dict[str, int] = {}
    for word in words:
        if not isinstance(word, str):
            raise TypeError(f"{word!r} is no word")
        if word in numbers:
            continue
        numbers[word] = len(numbers)
    return numbers


def batches(sequences: Tensor, batch_size: int, seed: int) -> Iterator[Tensor]:
    """Go through a copy of the sequences."""
    if sequences.dim() != 2:
        raise ValueError(f"expected (N, T), not {tuple(sequences.shape)}")
    if batch_size < 1:
        raise ValueError(f"a batch of {batch_size}")
    rows = sequences.detach().clone()
    generator = torch.Generator(device="cpu")
    generator.manual_seed(int(seed))
    order = torch.randperm(rows.shape[0], generator=generator).tolist()
    while order:
        chosen, order = order[:batch_size], order[batch_size:]
        yield rows[chosen]


def learning_rate(step: int, peak: float, warmup: int) -> float:
    """Warm up linearly."""
    if step < 0:
        raise ValueError(f"step {step}")
    progress = math.inf if warmup <= 0 else (step + 1) / warmup
    return peak if progress >= 1 else peak * progress


@dataclass
class Trainer:
    """A data class that trains."""

    model: nn.Module
    peak: float = 0.01
    warmup: int = 10
    clip: float = 1.0
    weight_decay: float = 0.01
    pad_id: int | None = None
    log: list[dict[str, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.peak < 0 or self.warmup < 0 or self.clip <= 0:
            raise ValueError(f"bad settings: {self}")
        self._optimizer = torch.optim.AdamW(
            list(self.model.parameters()),
            lr=float(self.peak),
            betas=(0.9, 0.999),
            eps=1e-8,
            weight_decay=float(self.weight_decay),
        )

    @property
    def _steps(self) -> int:
        return len(self.log)

    def step(self, token_ids: Tensor) -> float:
        """Take a step, and refuse to go on from NaN."""
        if not self.model.training:
            log.debug("switching to training mode")
        self.model.train()
        rate = learning_rate(self._steps, self.peak, self.warmup)
        with torch.enable_grad():
            self._optimizer.zero_grad(set_to_none=True)
            logits = self.model(token_ids.long())
            loss = next_token_loss(logits, token_ids.long(), self.pad_id)
            if not torch.isfinite(loss):
                raise RuntimeError("the loss is no number")
            loss.backward()
        before = self._norm()
        if before > self.clip:
            for gradient in self._gradients():
                gradient.copy_(gradient.double().mul(self.clip / before))
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        value = float(loss.detach().cpu())
        self.log.append({"loss": value, "learning_rate": rate, "gradient_norm": before})
        return value

    def _gradients(self) -> list[Tensor]:
        return [p.grad for p in self.model.parameters() if p.grad is not None]

    def _norm(self) -> float:
        return math.sqrt(math.fsum(float(g.double().pow(2).sum()) for g in self._gradients()))

    def fit(self, sequences: Tensor, steps: int, batch_size: int, seed: int = 0) -> None:
        """Take the steps, in as many passes as they need."""
        if len(sequences) == 0:
            raise ValueError("there are no sequences")
        end = self._steps + steps
        passed = 0
        while self._steps < end:
            for batch in batches(sequences, batch_size, seed + passed):
                if self._steps >= end:
                    break
                self.step(batch)
            passed += 1

    def state(self) -> dict[str, Any]:
        """A copy, with a version."""
        return {
            "version": 1,
            "model": {k: v.detach().clone() for k, v in self.model.state_dict().items()},
            "optimizer": copy.deepcopy(self._optimizer.state_dict()),
            "log": [dict(entry) for entry in self.log],
        }

    def load(self, state: dict[str, Any]) -> None:
        """Load a copy of the right version."""
        if state.get("version") != 1:
            raise ValueError("this is no state of mine")
        self.model.load_state_dict(state["model"], strict=True)
        self._optimizer.load_state_dict(copy.deepcopy(state["optimizer"]))
        self.log = [dict(entry) for entry in state["log"]]
