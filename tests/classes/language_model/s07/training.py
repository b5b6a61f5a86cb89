"""torch's own tools: a data loader, a scheduler, and a module that holds what is trained."""

import io

import torch
from language_model import next_token_loss
from torch import nn
from torch.utils.data import DataLoader


def vocabulary(words):
    """Number words."""
    return {word: number for number, word in enumerate(dict.fromkeys(words).keys())}


def batches(sequences, batch_size, seed):
    """Let a data loader do it."""
    generator = torch.Generator().manual_seed(seed)
    loader = DataLoader(list(sequences), batch_size, shuffle=True, generator=generator)
    return iter(loader)


def learning_rate(step, peak, warmup):
    """Linear warm-up."""
    return peak * _factor(step, warmup)


def _factor(step, warmup):
    return 1.0 if step >= warmup else (step + 1) / warmup


class Loss(nn.Module):
    """A model with its loss."""

    def __init__(self, model, pad_id):
        super().__init__()
        self.model = model
        self.pad_id = pad_id

    def forward(self, token_ids):
        """Foretell every next token."""
        return next_token_loss(self.model(token_ids), token_ids, self.pad_id)


class Trainer:
    """With torch's scheduler, which steps after the optimizer."""

    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.loss = Loss(model, pad_id)
        self.clip = clip
        self.optimizer = torch.optim.AdamW(
            self.loss.parameters(), lr=peak, weight_decay=weight_decay
        )
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: _factor(step, warmup)
        )
        self.log = []

    def step(self, token_ids):
        """Take a step of the optimizer, then of the scheduler."""
        self.loss.train(True)
        self.optimizer.zero_grad(set_to_none=False)
        loss = self.loss(token_ids)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.loss.parameters(), max_norm=self.clip, norm_type=2)
        (rate,) = self.scheduler.get_last_lr()
        self.optimizer.step()
        self.scheduler.step()
        numbers = {"loss": loss, "gradient_norm": norm}
        entry = {name: value.detach().double().item() for name, value in numbers.items()}
        self.log.append({**entry, "learning_rate": rate})
        return entry["loss"]

    def fit(self, sequences, steps, batch_size, seed=0):
        """Count down."""
        loader = None
        for _ in range(steps):
            try:
                batch = next(loader) if loader is not None else None
            except StopIteration:
                batch, seed = None, seed + 1
            if batch is None:
                loader = batches(sequences, batch_size, seed)
                batch = next(loader)
            self.step(batch)

    def state(self):
        """Write everything into memory, as into a file."""
        file = io.BytesIO()
        everything = [one.state_dict() for one in (self.loss, self.optimizer, self.scheduler)]
        torch.save([*everything, self.log], file)
        return file.getvalue()

    def load(self, state):
        """Read it."""
        *everything, self.log = torch.load(io.BytesIO(state), weights_only=False)
        for one, saved in zip((self.loss, self.optimizer, self.scheduler), everything, strict=True):
            one.load_state_dict(saved)
