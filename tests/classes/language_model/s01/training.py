"""Short and plain."""

from copy import deepcopy

import torch
from language_model import next_token_loss
from torch.nn.utils import clip_grad_norm_


def vocabulary(words):
    """Number words."""
    numbers = {}
    for word in words:
        numbers.setdefault(word, len(numbers))
    return numbers


def batches(sequences, batch_size, seed):
    """Shuffle, then cut."""
    g = torch.Generator()
    g.manual_seed(seed)
    shuffled = sequences[torch.randperm(len(sequences), generator=g)]
    for start in range(0, len(shuffled), batch_size):
        yield shuffled[start : start + batch_size]


def learning_rate(step, peak, warmup):
    """Warm up, then stay."""
    return peak * (step + 1) / warmup if step < warmup else peak


class Trainer:
    """AdamW with a log."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model = model
        self.peak = peak
        self.warmup = warmup
        self.clip = clip
        self.pad_id = pad_id
        self.optimizer = torch.optim.AdamW(model.parameters(), weight_decay=weight_decay)
        self.log = []

    def step(self, token_ids):
        """One step."""
        lr = learning_rate(len(self.log), self.peak, self.warmup)
        self.optimizer.param_groups[0]["lr"] = lr
        self.model.train()
        loss = next_token_loss(self.model(token_ids), token_ids, self.pad_id)
        loss.backward()
        norm = clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.log.append({"loss": float(loss), "learning_rate": lr, "gradient_norm": float(norm)})
        return float(loss)

    def fit(self, sequences, steps, batch_size, seed=0):
        """Pass after pass."""
        taken = 0
        while taken < steps:
            for batch in batches(sequences, batch_size, seed):
                if taken < steps:
                    self.step(batch)
                    taken += 1
            seed += 1

    def state(self):
        """A copy of everything."""
        return deepcopy((self.model.state_dict(), self.optimizer.state_dict(), self.log))

    def load(self, state):
        """Copy everything back."""
        model, optimizer, self.log = deepcopy(state)
        self.model.load_state_dict(model)
        self.optimizer.load_state_dict(optimizer)
