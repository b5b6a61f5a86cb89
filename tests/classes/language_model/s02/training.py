"""With einsum for the norm, a generator of rates, and chained passes."""

import copy
from itertools import chain, count, islice

import torch
from language_model import next_token_loss


def vocabulary(words):
    """Sort the different words by where they first occur."""
    return {word: n for n, word in enumerate(sorted(set(words), key=words.index))}


def batches(sequences, batch_size, seed):
    """Order the rows by random numbers."""
    drawn = torch.rand(len(sequences), generator=torch.Generator().manual_seed(seed))
    return iter(sequences[drawn.argsort()].split(batch_size))


def learning_rate(step, peak, warmup):
    """The smaller one of a line and a constant."""
    return min(peak, peak * (step + 1) / warmup) if warmup else peak


class Trainer:
    """Keeps the number of steps in its log."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.settings = (peak, warmup, clip, pad_id)
        self.model = model
        self.optimizer = torch.optim.AdamW(
            [{"params": [parameter]} for parameter in model.parameters()],
            lr=peak,
            betas=(0.9, 0.999),
            eps=1e-8,
            weight_decay=weight_decay,
            foreach=False,
        )
        self.log = []

    def step(self, token_ids):
        """Differentiate, clip, step."""
        peak, warmup, clip, pad_id = self.settings
        self.model.train()
        parameters = [p for p in self.model.parameters() if p.requires_grad]
        loss = next_token_loss(self.model(token_ids), token_ids, pad_id)
        gradients = torch.autograd.grad(loss, parameters)
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        norm = torch.einsum("i,i->", flat, flat).sqrt().item()
        factor = 1.0 if norm <= clip else clip / norm
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient * factor
        rate = learning_rate(len(self.log), peak, warmup)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.log += [{"loss": loss.item(), "learning_rate": rate, "gradient_norm": norm}]
        return self.log[-1]["loss"]

    def fit(self, sequences, steps, batch_size, seed=0):
        """Chain the passes and take as many batches as there are steps."""
        passes = (batches(sequences, batch_size, number) for number in count(seed))
        for batch in islice(chain.from_iterable(passes), steps):
            self.step(batch)

    def state(self):
        """Two state_dicts and the log."""
        kept = [self.model.state_dict(), self.optimizer.state_dict(), self.log]
        return copy.deepcopy(kept)

    def load(self, state):
        """Put copies of them in place."""
        kept = copy.deepcopy(state)
        self.log = kept.pop()
        self.optimizer.load_state_dict(kept.pop())
        self.model.load_state_dict(kept.pop())
