"""Training, with its helpers in a file of their own."""

from itertools import islice

import torch
from language_model import next_token_loss
from training_parts import Entry, Log, Numbering, Saved, clipped, endless


def vocabulary(words):
    """Number words."""
    numbering = Numbering()
    for word in words:
        numbering[word]
    return dict(numbering)


def batches(sequences, batch_size, seed):
    """Draw an order and cut it."""
    order = torch.randperm(sequences.size(0), generator=torch.Generator().manual_seed(seed + 5))
    return (sequences.index_select(0, rows) for rows in order.split(batch_size))


def learning_rate(step, peak, warmup):
    """A ramp."""
    ramp = 1.0 if warmup == 0 else min((step + 1) / warmup, 1.0)
    return ramp * peak


class Trainer:
    """Made of parts that have a state each."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1.0, weight_decay=weight_decay)
        self.parts = {"model": model, "optimizer": self.optimizer, "log": Log()}
        self.rate = lambda step: learning_rate(step, peak, warmup)
        self.clip = clip
        self.pad_id = pad_id

    @property
    def log(self):
        """The log as it is asked for."""
        return self.parts["log"].plain()

    def step(self, token_ids):
        """Take a step."""
        model, entries = self.parts["model"], self.parts["log"].entries
        model.train()
        model.zero_grad()
        loss = next_token_loss(model(token_ids), token_ids, pad_id=self.pad_id)
        loss.backward()
        norm = clipped(model.parameters(), self.clip)
        for group in self.optimizer.param_groups:
            group.update(lr=self.rate(len(entries)))
        self.optimizer.step()
        entries.append(Entry(loss.item(), self.rate(len(entries)), norm))
        return loss.item()

    def fit(self, sequences, steps, batch_size, seed=0):
        """Take batches of endless passes."""
        for batch in islice(endless(sequences, batch_size, seed, batches), steps):
            self.step(batch)

    def state(self):
        """Save all parts."""
        return Saved(**self.parts)

    def load(self, state):
        """Restore all parts."""
        state.restore(**self.parts)
