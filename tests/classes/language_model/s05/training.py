"""numpy keeps the running means, in float64, and draws the orders."""

import numpy as np
import torch
from language_model import next_token_loss


def vocabulary(words):
    """Let numpy find the different words."""
    different, first = np.unique(np.array(words, dtype=object), return_index=True)
    return {str(word): number for number, word in enumerate(different[np.argsort(first)])}


def batches(sequences, batch_size, seed):
    """Yield rows in numpy's order."""
    order = np.random.default_rng(seed).permutation(len(sequences))
    for start in range(0, len(order), batch_size):
        yield sequences[torch.from_numpy(order[start : start + batch_size])]


def learning_rate(step, peak, warmup):
    """Interpolate."""
    return float(np.interp(step + 1, [0, max(warmup, 1)], [0, peak]))


class Trainer:
    """One long vector of all parameters."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model = model
        self.rates = (peak, warmup)
        self.clip, self.decay, self.pad_id = clip, weight_decay, pad_id
        self.means = np.zeros((2, sum(p.numel() for p in model.parameters())))
        self.log = []

    def _vector(self):
        return np.concatenate(
            [p.detach().double().numpy().ravel() for p in self.model.parameters()]
        )

    def _write(self, vector):
        at = 0
        for p in self.model.parameters():
            part = torch.from_numpy(vector[at : at + p.numel()].copy())
            p.data.copy_(part.reshape(p.shape))
            at += p.numel()

    def step(self, token_ids):
        """Compute the gradient with torch, and the step with numpy."""
        self.model.train()
        self.model.zero_grad()
        loss = next_token_loss(self.model(token_ids), token_ids, self.pad_id)
        loss.backward()
        gradient = np.concatenate(
            [
                (torch.zeros_like(p) if p.grad is None else p.grad).double().numpy().ravel()
                for p in self.model.parameters()
            ]
        )
        norm = float(np.linalg.norm(gradient))
        gradient *= min(1.0, self.clip / (norm + 1e-6))
        rate, number = learning_rate(len(self.log), *self.rates), len(self.log) + 1
        self.means[0] += 0.1 * (gradient - self.means[0])
        self.means[1] += 0.001 * (gradient**2 - self.means[1])
        mean, square = self.means / (1 - np.array([[0.9], [0.999]]) ** number)
        vector = self._vector()
        vector -= rate * self.decay * vector
        self._write(vector - rate * mean / (np.sqrt(square) + 1e-8))
        self.log.append({"loss": loss.item(), "learning_rate": rate, "gradient_norm": norm})
        return self.log[-1]["loss"]

    def fit(self, sequences, steps, batch_size, seed=0):
        """List the batches of a pass; drop those that are too many."""
        while steps:
            passed = list(batches(sequences, batch_size, seed))[:steps]
            for batch in passed:
                self.step(batch)
            steps, seed = steps - len(passed), seed + 1

    def state(self):
        """Vectors and the log."""
        return self._vector(), self.means.copy(), tuple(tuple(e.items()) for e in self.log)

    def load(self, state):
        """Take it over."""
        vector, means, entries = state
        self._write(vector)
        self.means = means.copy()
        self.log = [dict(entry) for entry in entries]
