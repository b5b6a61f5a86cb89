"""Sources of components, right and wrong, that no rewording of a solution can change."""

FORWARD = "layer_norm(x, self.eps) * self.weight + self.bias"
MODULE = f"""\
class LayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return {FORWARD}
"""


def norm(body: str, module: str = MODULE) -> str:
    """Return a file of layer_norm; `body` is what its function does, a line each, indented."""
    head = "import torch\nfrom torch import nn\n\n\ndef layer_norm(x, eps=1e-5):\n"
    return f"{head}{body.rstrip()}\n\n\n{module}"


def by_variance(variance: str, before: str = "", module: str = MODULE) -> str:
    """Return a file that divides by the root of this expression of `deviation`."""
    return norm(
        f"{before}    deviation = x - x.mean(dim=-1, keepdim=True)\n"
        f"    variance = {variance}\n"
        "    return deviation / torch.sqrt(variance + eps)\n",
        module,
    )


SQUARES = "deviation.square().mean(dim=-1, keepdim=True)"
RIGHT = by_variance(SQUARES)
WRONG = by_variance("deviation.abs().mean(dim=-1, keepdim=True)")
# Wrong by so little that only the values tell.
BIASED = by_variance("deviation.square().add(1e-3).mean(dim=-1, keepdim=True)")
DOUBLED = by_variance(SQUARES, module=MODULE.replace(FORWARD, f"2 * ({FORWARD})"))
SAMPLE = by_variance("x.var(dim=-1, keepdim=True)")
STUB = norm("    raise NotImplementedError\n")
HANGS = by_variance(SQUARES, "    while True:\n        pass\n")

_BLOCK = """\
from feed_forward import FeedForward
from layer_norm import LayerNorm
from multi_head_attention import MultiHeadAttention
from torch import nn
{before}

class TransformerBlock(nn.Module):
    def __init__(
        self, d_model, num_heads, d_ff, dropout=0.1, norm="pre", activation="relu", bias=True
    ):
        super().__init__()
        if norm not in ("pre", "post", "none"):
            raise ValueError(norm)
        self.norm = norm
        self.attention = MultiHeadAttention(d_model, num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model, d_ff, dropout, activation, bias)
        self.norm1 = nn.Identity() if norm == "none" else LayerNorm(d_model)
        self.norm2 = nn.Identity() if norm == "none" else LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        if self.norm == "post":
            x = self.norm1({residual} + self.dropout(self.attention(x, mask)[0]))
            return {second}(x + self.dropout(self.feed_forward(x)))
        x = {residual} + self.dropout(self.attention(self.norm1(x), mask)[0])
        return x + self.dropout(self.feed_forward({second}(x)))
"""


def block(before: str = "", residual: str = "x", second: str = "self.norm2") -> str:
    """Return a file of transformer_block; right, unless something else is put in its places."""
    return _BLOCK.format(before=before, residual=residual, second=second)
