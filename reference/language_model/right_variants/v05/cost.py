"""With modules: their own shapes say what they cost."""

import encoder
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode


class Counted(nn.Module):
    """Layers on the meta device, which have shapes and no numbers."""

    def __init__(self, *sizes):
        super().__init__()
        with torch.device("meta"):
            self.layers = nn.ModuleList(nn.Linear(i, o, bias=False) for i, o in sizes)

    def forward(self, n):
        """Multiply out what n tokens take."""
        return n * sum(layer.in_features * layer.out_features for layer in self.layers)


def projection_cost(n: int, d: int) -> int:
    """Count four layers."""
    return Counted((d, d), (d, d), (d, d), (d, d))(n)


def attention_cost(n: int, d: int) -> int:
    """Count keys and values as if they were layers."""
    return Counted((d, n), (n, d))(n)


def feed_forward_cost(n: int, d: int, f: int) -> int:
    """Count two layers."""
    return Counted((d, f), (f, d))(n)


def encoder_cost(n: int, d: int, f: int, layers: int) -> int:
    """Count all blocks."""
    parts = (projection_cost(n, d), attention_cost(n, d), feed_forward_cost(n, d, f))
    return sum(sum(parts) for _ in range(layers))


def meeting_length(d: int, f: int) -> int:
    """Divide what a token costs by what a pair costs."""
    token = projection_cost(1, d) + feed_forward_cost(1, d, f)
    pair = attention_cost(1, d)
    length, left = divmod(token, pair)
    return length + bool(left)


class Counter(FlopCounterMode):
    """A counter that shows nothing."""

    def __init__(self):
        super().__init__(display=False)


def counted_cost(encoder: "encoder.Encoder", n: int) -> int:
    """Count with no graph kept."""
    with Counter() as counter, torch.inference_mode():
        encoder(torch.ones(1, n, dtype=torch.long))
    return int(counter.get_total_flops()) // 2
