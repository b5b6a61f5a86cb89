"""AdamW by hand."""

import copy
import math
import random

import torch
from language_model import next_token_loss


def vocabulary(words):
    return {word: number for number, word in enumerate(sorted(set(words), key=words.index))}


def batches(sequences, batch_size, seed):
    order = list(range(len(sequences)))
    random.Random(seed).shuffle(order)
    while order:
        yield torch.stack([sequences[i] for i in order[:batch_size]])
        order = order[batch_size:]


def learning_rate(step, peak, warmup):
    return peak * min(1.0, (step + 1) / max(warmup, 1))


class Trainer:
    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model, self.pad_id, self.log = model, pad_id, []
        self.peak, self.warmup, self.clip, self.decay = peak, warmup, clip, weight_decay
        self.m = [torch.zeros_like(p) for p in model.parameters()]
        self.v = [torch.zeros_like(p) for p in model.parameters()]

    def gradients(self, token_ids):
        loss = next_token_loss(self.model(token_ids), token_ids, self.pad_id)
        return loss, torch.autograd.grad(loss, list(self.model.parameters()))

    def step(self, token_ids):
        self.model.train()
        loss, grads = self.gradients(token_ids)
        norm = math.sqrt(sum(g.double().square().sum().item() for g in grads))
        if norm > self.clip:
            grads = [g * (self.clip / norm) for g in grads]
        lr = learning_rate(len(self.log), self.peak, self.warmup)
        t = len(self.log) + 1
        with torch.no_grad():
            for p, g, m, v in zip(self.model.parameters(), grads, self.m, self.v):
                p -= lr * self.decay * p
                m += (1 - 0.9) * (g - m)
                v += (1 - 0.999) * (g * g - v)
                p -= lr * (m / (1 - 0.9**t)) / ((v / (1 - 0.999**t)).sqrt() + 1e-8)
        entry = dict(loss=loss.item(), learning_rate=lr, gradient_norm=norm)
        self.log.append(entry)
        return entry["loss"]

    def fit(self, sequences, steps, batch_size, seed=0):
        source = iter(())
        for number in range(steps):
            batch = next(source, None)
            if batch is None:
                source = batches(sequences, batch_size, seed)
                seed += 1
                batch = next(source)
            self.step(batch)

    def state(self):
        kept = (list(self.model.parameters()), self.m, self.v, self.log)
        return copy.deepcopy(kept)

    def load(self, state):
        parameters, self.m, self.v, self.log = copy.deepcopy(state)
        with torch.no_grad():
            for p, q in zip(self.model.parameters(), parameters):
                p.copy_(q)
