"""Training with torch's optimizer."""
import torch
import torch.nn as nn
from language_model import next_token_loss


def vocabulary(words):
    vocab = {}
    for w in words:
        if w not in vocab:
            vocab[w] = len(vocab)
    return vocab


def batches(sequences, batch_size, seed):
    g = torch.Generator()
    g.manual_seed(seed)
    perm = torch.randperm(sequences.shape[0], generator=g)
    for i in range(0, len(perm), batch_size):
        yield sequences[perm[i : i + batch_size]]


def learning_rate(step, peak, warmup):
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak


class Trainer:
    def __init__(self, model, peak=0.01, warmup=10, clip=1.0, weight_decay=0.01, pad_id=None):
        self.model = model
        self.peak = peak
        self.warmup = warmup
        self.clip = clip
        self.pad_id = pad_id
        self.opt = torch.optim.AdamW(model.parameters(), lr=peak, weight_decay=weight_decay)
        self.log = []
        self.n = 0

    def step(self, token_ids):
        self.model.train()
        lr = learning_rate(self.n, self.peak, self.warmup)
        self.opt.param_groups[0]["lr"] = lr
        self.opt.zero_grad()
        loss = next_token_loss(self.model(token_ids), token_ids, pad_id=self.pad_id)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.opt.step()
        self.n += 1
        self.log.append(
            {"loss": loss.item(), "learning_rate": lr, "gradient_norm": norm.item()}
        )
        return loss.item()

    def fit(self, sequences, steps, batch_size, seed=0):
        done = 0
        epoch = 0
        while done < steps:
            for batch in batches(sequences, batch_size, seed + epoch):
                if done == steps:
                    break
                self.step(batch)
                done += 1
            epoch += 1

    def state(self):
        model = {k: v.clone() for k, v in self.model.state_dict().items()}
        opt = {
            i: {k: v.clone() for k, v in s.items()} for i, s in self.opt.state_dict()["state"].items()
        }
        return {"model": model, "opt": opt, "n": self.n, "log": [dict(e) for e in self.log]}

    def load(self, state):
        self.model.load_state_dict(state["model"])
        groups = self.opt.state_dict()["param_groups"]
        opt = {i: {k: v.clone() for k, v in s.items()} for i, s in state["opt"].items()}
        self.opt.load_state_dict({"state": opt, "param_groups": groups})
        self.n = state["n"]
        self.log = [dict(e) for e in state["log"]]
