"""A trainer around torch's AdamW."""

import copy
from collections.abc import Iterator
from typing import Any

import torch
from language_model import next_token_loss
from torch import Tensor, nn


def vocabulary(words: list[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(dict.fromkeys(words))}


def batches(sequences: Tensor, batch_size: int, seed: int) -> Iterator[Tensor]:
    order = torch.randperm(len(sequences), generator=torch.Generator().manual_seed(seed))
    for rows in order.split(batch_size):
        yield sequences[rows]


def learning_rate(step: int, peak: float, warmup: int) -> float:
    return peak * min(1.0, (step + 1) / max(1, warmup))


class Trainer:

    def __init__(
        self,
        model: nn.Module,
        peak: float = 0.01,
        warmup: int = 10,
        clip: float = 1.0,
        weight_decay: float = 0.01,
        pad_id: int | None = None,
    ) -> None:
        self.model = model
        self.peak, self.warmup, self.clip, self.pad_id = peak, warmup, clip, pad_id
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=weight_decay)
        self.log: list[dict[str, float]] = []

    def step(self, token_ids: Tensor) -> float:
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

    def fit(self, sequences: Tensor, steps: int, batch_size: int, seed: int = 0) -> None:
        left = steps
        while left > 0:
            for batch in batches(sequences, batch_size, seed):
                if left == 0:
                    return
                self.step(batch)
                left -= 1
            seed += 1

    def state(self) -> Any:
        return copy.deepcopy(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "log": self.log,
            }
        )

    def load(self, state: Any) -> None:
        state = copy.deepcopy(state)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.log = state["log"]
