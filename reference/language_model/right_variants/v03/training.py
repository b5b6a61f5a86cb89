"""AdamW in a Python loop over the parameters, and a shuffle of Python's own."""

import math
import random

import torch
from language_model import next_token_loss


def vocabulary(words):
    """Count up with every new word."""
    result = {}
    next_number = 0
    for word in words:
        if word not in result:
            result[word] = next_number
            next_number += 1
    return result


def batches(sequences, batch_size, seed):
    """Collect rows until a batch is full."""
    order = list(range(sequences.shape[0]))
    random.Random(seed).shuffle(order)  # noqa: S311
    batch = []
    for number in order:
        batch.append(sequences[number])
        if len(batch) == batch_size:
            yield torch.stack(batch)
            batch = []
    if batch:
        yield torch.stack(batch)


def learning_rate(step, peak, warmup):
    """Grow, then stay."""
    if warmup == 0:
        return peak
    if step + 1 >= warmup:
        return peak
    return peak / warmup * (step + 1)


class Trainer:
    """Keeps running means for every parameter."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model, self.peak, self.warmup = model, peak, warmup
        self.clip, self.decay, self.pad_id = clip, weight_decay, pad_id
        self.parameters = list(model.parameters())
        self.first = [torch.zeros_like(p) for p in self.parameters]
        self.second = [torch.zeros_like(p) for p in self.parameters]
        self.steps = 0
        self.log = []

    def step(self, token_ids):
        """Update parameter after parameter."""
        self.model.train()
        for p in self.parameters:
            p.grad = None
        loss = next_token_loss(self.model(token_ids), token_ids, self.pad_id)
        loss.backward()
        total = 0.0
        for p in self.parameters:
            if p.grad is not None:
                total += float((p.grad.double() ** 2).sum())
        norm = math.sqrt(total)
        rate = learning_rate(self.steps, self.peak, self.warmup)
        self.steps += 1
        with torch.no_grad():
            for p, m, v in zip(self.parameters, self.first, self.second, strict=True):
                if p.grad is None:
                    continue
                g = p.grad if norm <= self.clip else p.grad * (self.clip / norm)
                m.mul_(0.9).add_(0.1 * g)
                v.mul_(0.999).add_(0.001 * g * g)
                mean = m / (1 - 0.9**self.steps)
                deviation = (v / (1 - 0.999**self.steps)).sqrt()
                p.mul_(1 - rate * self.decay)
                p.sub_(rate * mean / (deviation + 1e-8))
        self.log.append({"loss": loss.item(), "learning_rate": rate, "gradient_norm": norm})
        return loss.item()

    def fit(self, sequences, steps, batch_size, seed=0):
        """Ask for the next batch; begin a new pass where there is none."""
        waiting = batches(sequences, batch_size, seed)
        for _ in range(steps):
            batch = next(waiting, None)
            if batch is None:
                seed += 1
                waiting = batches(sequences, batch_size, seed)
                batch = next(waiting)
            self.step(batch)

    def state(self):
        """Clone everything."""
        return {
            "parameters": [p.detach().clone() for p in self.parameters],
            "first": [m.clone() for m in self.first],
            "second": [v.clone() for v in self.second],
            "log": [dict(entry) for entry in self.log],
        }

    def load(self, state):
        """Copy everything into what is there."""
        with torch.no_grad():
            for p, saved in zip(self.parameters, state["parameters"], strict=True):
                p.copy_(saved)
        for m, saved in zip(self.first, state["first"], strict=True):
            m.copy_(saved)
        for v, saved in zip(self.second, state["second"], strict=True):
            v.copy_(saved)
        self.log = [dict(entry) for entry in state["log"]]
        self.steps = len(self.log)
