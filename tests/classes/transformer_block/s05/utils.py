"""Things that I need in more than one file."""
from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field

import torch

print("utils imported, torch version is", torch.__version__)

VERBOSE = True


@dataclass
class ModelConfig:
    d_model: int
    num_heads: int = 1
    d_ff: int = 0
    dropout: float = 0.0
    bias: bool = True
    eps: float = 1e-5
    extras: dict = field(default_factory=dict)

    @property
    def head_size(self) -> int:
        return self.d_model // self.num_heads


def log(*message):
    if VERBOSE:
        print("[debug]", *message)
        print("[debug]", *message, file=sys.stderr)


def complain(message):
    warnings.warn(message, UserWarning, stacklevel=2)


def masked_softmax(scores, mask=None):
    """softmax over the keys; where mask is False the weight is zero"""
    if mask is not None:
        scores = torch.where(mask, scores, torch.full_like(scores, float("-inf")))
    return torch.nn.functional.softmax(scores, dim=-1)
