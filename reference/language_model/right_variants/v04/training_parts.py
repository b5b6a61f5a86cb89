"""Helpers of training."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass
class Entry:
    """A line of the log."""

    loss: float
    learning_rate: float
    gradient_norm: float


class Numbering(dict):
    """Gives every word it is asked for a number."""

    def __missing__(self, word: str) -> int:
        self[word] = len(self)
        return self[word]


class Saved:
    """Copies of the states of some things that have one."""

    def __init__(self, **things: Any) -> None:
        self._states = {name: copy.deepcopy(one.state_dict()) for name, one in things.items()}

    def restore(self, **things: Any) -> None:
        """Load a copy of each state."""
        for name, one in things.items():
            one.load_state_dict(copy.deepcopy(self._states[name]))


class Log:
    """A log that has a state."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def state_dict(self) -> list[Entry]:
        """The entries themselves."""
        return self.entries

    def load_state_dict(self, entries: list[Entry]) -> None:
        """Take over some entries."""
        self.entries = entries

    def plain(self) -> list[dict[str, float]]:
        """Dictionaries."""
        return [asdict(entry) for entry in self.entries]


def clipped(parameters: Iterable[nn.Parameter], largest: float) -> float:
    """Scale gradients down, and return their norm before."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([gradient.norm() for gradient in gradients]).norm()
    if norm > largest:
        for gradient in gradients:
            gradient.mul_(largest / norm)
    return norm.item()


def endless(sequences: Tensor, size: int, seed: int, one_pass: Any) -> Iterator[Tensor]:
    """Pass after pass, each with the next seed."""
    while True:
        yield from one_pass(sequences, size, seed)
        seed += 1
