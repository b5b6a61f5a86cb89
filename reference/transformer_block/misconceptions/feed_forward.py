"""The feed-forward layer with mistakes to enable; with none enabled, it is right."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "lookup_without_relu": (
        "your memory_lookup has no relu, so keys with a negative match subtract their values; "
        "such keys must contribute nothing",
        "session, knowledge point 1; slides, page 20",
    ),
    "lookup_softmax": (
        "you applied a softmax over the keys, as in attention; the memory applies relu to every "
        "match separately",
        "session, knowledge point 1; slides, page 20",
    ),
    "keys_not_transposed": (
        "you multiplied x by the columns of keys; every key is a row, so use keysᵀ",
        "slides, page 20",
    ),
    "keys_turned_in_place": (
        "you transposed keys in place (.t_() or .transpose_()), which changes the caller's "
        "tensor; use .T",
        "handout",
    ),
    "lookup_float32": (
        "your memory_lookup returns float32 whatever the dtype of x (.float(), or a tensor made "
        "without dtype); the result has the dtype of x",
        "handout",
    ),
    "cpu_tensor": (
        "you add up the values in a new tensor on the CPU; it belongs on the device of x",
        "handout",
    ),
    "activation_missing": (
        "you have no activation between linear1 and linear2, so they act as one linear layer; "
        "apply the activation there",
        "session, knowledge point 1",
    ),
    "activation_last": (
        "you applied the activation after linear2; apply it between the two linear layers",
        "session, knowledge point 1",
    ),
    "gelu_with_tanh": (
        "your gelu is the tanh approximation; use the exact form (with the error function)",
        "handout",
    ),
    "gelu_ignored": (
        'you always use relu; with activation="gelu", use gelu',
        "handout",
    ),
    "any_activation": (
        "you accept an unknown activation and use another one; raise ValueError",
        "handout",
    ),
    "key_error": (
        "an unknown activation raises the KeyError of your dictionary; raise ValueError",
        "handout",
    ),
    "dropout_before_activation": (
        "you applied dropout before the activation; apply it after the activation",
        "session, knowledge point 1",
    ),
    "dropout_last": (
        "you applied dropout to the result of linear2; apply it before linear2",
        "session, knowledge point 1",
    ),
    "dropout_unscaled": (
        "you set values to zero but did not scale the others; multiply them by 1 / (1 - p)",
        "session, knowledge point 1",
    ),
    "keep_probability": (
        "you used dropout as the keep probability; it is the drop probability",
        "session, knowledge point 1",
    ),
    "keep_probability_above_zero": (
        "you used dropout as the keep probability, except for 0; it is the drop probability",
        "session, knowledge point 1",
    ),
    "dropout_default": (
        "your default for dropout is 0; it is 0.1",
        "session, knowledge point 1",
    ),
    "bias_ignored": (
        "your linear layers have a bias even with bias=False; then neither has a bias",
        "session, knowledge point 1",
    ),
    "residual_added": (
        "you added x to the result; the residual connection belongs to the block, not to this "
        "layer",
        "session, knowledge points 1 and 5",
    ),
    "sequence_pooled": (
        "you averaged the tokens before linear1; process every token separately",
        "slides, page 17",
    ),
    "weights_detached": (
        "you used the weights outside the graph (.data or .detach()); the gradient must reach "
        "linear1 and linear2",
        "handout",
    ),
    "view": (
        "you reshaped x with .view(), which fails for a transposed or expanded input; .reshape() "
        "works for any memory layout",
        "handout",
    ),
    "lookup_scaled": (
        "you divided the matches by the square root of the number of features, as in attention; "
        "the memory does not scale them",
        "session, knowledge point 1; slides, page 20",
    ),
    "keys_and_values_exchanged": (
        "you matched x with the values and added up the keys; match x with the keys and add up "
        "the values",
        "slides, pages 20 and 21",
    ),
    "activation_twice": (
        "you applied the activation after linear2 as well; apply it only between the two linear "
        "layers",
        "session, knowledge point 1",
    ),
    "gelu_by_default": (
        'your default activation is gelu; it is "relu"',
        "handout",
    ),
    "gelu_with_sigmoid": (
        "your gelu is the approximation x · sigmoid(1.702 x); use the exact form (with the error "
        "function)",
        "handout",
    ),
    "dropout_missing": (
        "you never apply dropout; in training, apply it between the activation and linear2",
        "session, knowledge point 1",
    ),
    "dropout_always": (
        "you drop values in evaluation mode too (F.dropout does so by default); drop them only in "
        "training",
        "session, knowledge point 1",
    ),
    "dropout_twice": (
        "you applied dropout to the result of linear2 as well; apply it once, before linear2",
        "session, knowledge point 1",
    ),
    "rate_ignored": (
        "you always drop at a rate of 0.1; use the argument dropout",
        "session, knowledge point 1",
    ),
    "second_bias_always": (
        "your linear2 has a bias even with bias=False; then neither layer has a bias",
        "session, knowledge point 1",
    ),
    "bias_never": (
        "your linear layers never have a bias; both have a bias unless bias=False",
        "session, knowledge point 1",
    ),
    "d_ff_ignored": (
        "you always expand to 4 · d_model features; expand to d_ff",
        "session, knowledge point 1",
    ),
    "sequential_keys": (
        "you put the layers into a container, which changes their parameters' names; the layers "
        "are the attributes linear1 and linear2",
        "session, knowledge point 1",
    ),
    "lookup_normalised": (
        "you divided the matches by their sum; the memory adds up the values as much as their "
        "keys match",
        "session, knowledge point 1; slides, page 20",
    ),
    "gelu_without_root": (
        "your gelu has erf(x); it is x · (1 + erf(x / sqrt(2))) / 2",
        "handout",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()

# Which object is the default tells a rate that was given from one that was not.
DEFAULT_DROPOUT = 0.1


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def memory_lookup(x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Look `x` up in a key-value memory: every key that matches adds its value to the result."""
    if wrong("lookup_float32"):
        x, keys, values = x.float(), keys.float(), values.float()
    if wrong("keys_and_values_exchanged"):
        keys, values = values, keys
    if wrong("keys_not_transposed"):
        matches = x @ keys
    elif wrong("keys_turned_in_place"):
        matches = x @ keys.t_()
    else:
        matches = x @ keys.T  # (..., F)
    if wrong("lookup_scaled"):
        matches = matches / math.sqrt(x.size(-1))
    if wrong("lookup_softmax"):
        activations = torch.softmax(matches, dim=-1)
    elif wrong("lookup_without_relu"):
        activations = matches
    else:
        activations = torch.relu(matches)  # (..., F)
    if wrong("lookup_normalised"):
        activations = activations / activations.sum(dim=-1, keepdim=True)
    result = activations @ values  # (..., Dv)
    return torch.zeros(result.shape, dtype=x.dtype) + result if wrong("cpu_tensor") else result


class FeedForward(nn.Module):
    """Expand every token to `d_ff` features, keep those that fire, and contract to `d_model`."""

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        dropout: float = DEFAULT_DROPOUT,
        activation: str | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__()
        # None stands for the default, which a mistake changes.
        if activation is None:
            activation = "gelu" if wrong("gelu_by_default") else "relu"
        activations = {"relu": torch.relu, "gelu": _gelu}
        if wrong("any_activation"):
            self.activation = activations.get(activation, torch.relu)
        elif wrong("key_error") or activation in activations:
            self.activation = activations[activation]
        else:
            raise ValueError(f"activation must be one of {list(activations)}, not {activation!r}")
        if wrong("dropout_default") and dropout is DEFAULT_DROPOUT:
            dropout = 0.0
        kept = wrong("keep_probability_above_zero") and dropout > 0
        self.rate = 1 - dropout if kept or wrong("keep_probability") else dropout
        if wrong("rate_ignored"):
            self.rate = 0.1
        if wrong("dropout_missing"):
            self.rate = 0.0
        bias = (bias or wrong("bias_ignored")) and not wrong("bias_never")
        if wrong("d_ff_ignored"):
            d_ff = 4 * d_model
        linear1 = nn.Linear(d_model, d_ff, bias=bias)
        linear2 = nn.Linear(d_ff, d_model, bias=bias or wrong("second_bias_always"))
        if wrong("sequential_keys"):
            # Activation and dropout stand between them.
            self.net = nn.Sequential(linear1, nn.Identity(), nn.Identity(), linear2)
        else:
            self.linear1, self.linear2 = linear1, linear2

    def forward(self, x: Tensor) -> Tensor:
        """Apply linear1, the activation, dropout and linear2, in this order, to `x` (..., D)."""
        first, last = self._layers()
        tokens = x.view(-1, x.size(-1)).view(x.shape) if wrong("view") else x  # (..., D)
        if wrong("sequence_pooled"):
            tokens = tokens.mean(dim=-2, keepdim=True)
        hidden = _linear(tokens, first)  # (..., F)
        if wrong("dropout_before_activation"):
            hidden = self._drop(hidden)
        if not (wrong("activation_missing") or wrong("activation_last")):
            hidden = self.activation(hidden)
        if not (wrong("dropout_before_activation") or wrong("dropout_last")):
            hidden = self._drop(hidden)
        output = _linear(hidden, last)  # (..., D)
        if wrong("activation_last") or wrong("activation_twice"):
            output = self.activation(output)
        if wrong("dropout_last") or wrong("dropout_twice"):
            output = self._drop(output)
        return x + output if wrong("residual_added") else output

    def _layers(self) -> tuple[nn.Linear, nn.Linear]:
        """Return the two linear layers."""
        return (
            (self.net[0], self.net[3]) if wrong("sequential_keys") else (self.linear1, self.linear2)
        )

    def _drop(self, x: Tensor) -> Tensor:
        """Apply dropout."""
        if wrong("dropout_unscaled") and self.training:
            return x * (torch.rand_like(x) >= self.rate)
        return F.dropout(x, self.rate, training=self.training or wrong("dropout_always"))


def _gelu(x: Tensor) -> Tensor:
    """Apply what "gelu" stands for."""
    if wrong("gelu_with_sigmoid"):
        return x * torch.sigmoid(1.702 * x)
    if wrong("gelu_without_root"):
        return x * (1 + torch.erf(x)) / 2
    if wrong("gelu_ignored"):
        return torch.relu(x)
    return F.gelu(x, approximate="tanh" if wrong("gelu_with_tanh") else "none")


def _linear(x: Tensor, layer: nn.Linear) -> Tensor:
    """Apply a linear layer."""
    if not wrong("weights_detached"):
        return F.linear(x, layer.weight, layer.bias)
    return F.linear(x, layer.weight.detach(), None if layer.bias is None else layer.bias.detach())
