"""Functional: parameters in a dictionary, a gradient by torch.func, and AdamW as one function."""

import copy

import torch
from language_model import next_token_loss
from torch.func import functional_call, grad_and_value


def vocabulary(words):
    """Number words."""
    first = dict(reversed([(word, place) for place, word in enumerate(words)]))
    return {word: number for number, word in enumerate(sorted(first, key=first.__getitem__))}


def batches(sequences, batch_size, seed):
    """Draw an order with a forked generator."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        order = torch.randperm(len(sequences))
    for rows in torch.split(order, batch_size):
        yield torch.index_select(sequences, 0, rows)


def learning_rate(step, peak, warmup):
    """Linear, then constant."""
    return float(peak) * min(step + 1, warmup or 1) / (warmup or 1)


def adamw(p, g, m, v, number, rate, decay):
    """Return a parameter and its running means after step `number`, from 1."""
    m, v = torch.lerp(m, g, 0.1), torch.lerp(v, g * g, 0.001)
    root = (v / (1 - 0.999**number)).sqrt() + 1e-8
    return p * (1 - rate * decay) - rate * (m / (1 - 0.9**number)) / root, m, v


class Trainer:
    """Holds running means by the names of parameters."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model = model
        self.options = {"peak": peak, "warmup": warmup, "clip": clip}
        self.options |= {"decay": weight_decay, "pad": pad_id}
        self.means = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        self.squares = {n: torch.zeros_like(p) for n, p in model.named_parameters()}
        self.log = []

    def step(self, token_ids):
        """Compute new parameters and write them into the model."""
        self.model.train()
        parameters = {n: p.detach() for n, p in self.model.named_parameters()}

        def loss_of(values):
            logits = functional_call(self.model, values, (token_ids,))
            return next_token_loss(logits, token_ids, self.options["pad"])

        try:
            gradients, loss = grad_and_value(loss_of)(parameters)
        except RuntimeError:
            # Where a condition of the loss looks at values, it cannot be transformed.
            values = {n: p.requires_grad_() for n, p in parameters.items()}
            loss = loss_of(values)
            found = torch.autograd.grad(loss, list(values.values()))
            gradients = dict(zip(values, found, strict=True))
        norm = sum(g.double().square().sum().item() for g in gradients.values()) ** 0.5
        factor = min(1.0, self.options["clip"] / norm) if norm else 1.0
        rate = learning_rate(len(self.log), self.options["peak"], self.options["warmup"])
        with torch.no_grad():
            for n, p in self.model.named_parameters():
                old = (p.detach(), factor * gradients[n], self.means[n], self.squares[n])
                new, self.means[n], self.squares[n] = adamw(
                    *old, len(self.log) + 1, rate, self.options["decay"]
                )
                p.copy_(new)
        self.log.append({"loss": loss.item(), "learning_rate": rate, "gradient_norm": norm})
        return loss.item()

    def fit(self, sequences, steps, batch_size, seed=0):
        """Recursive: one pass, and the rest."""
        if steps <= 0:
            return
        taken = 0
        for batch in batches(sequences, batch_size, seed):
            if taken == steps:
                return
            self.step(batch)
            taken += 1
        self.fit(sequences, steps - taken, batch_size, seed + 1)

    def state(self):
        """What changes in training."""
        parameters = {n: p.detach().clone() for n, p in self.model.named_parameters()}
        return parameters, dict(self.means), dict(self.squares), copy.deepcopy(self.log)

    def load(self, state):
        """Take it over; the running means are never changed in place."""
        parameters, means, squares, log = state
        with torch.no_grad():
            for n, p in self.model.named_parameters():
                p.copy_(parameters[n])
        self.means, self.squares = dict(means), dict(squares)
        self.log = [dict(entry) for entry in log]
