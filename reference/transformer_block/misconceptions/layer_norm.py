"""Layer normalisation with mistakes to enable; with none enabled, it is right."""

import math

import torch
from torch import Tensor, nn

# Name: the explanation for students, and its source in the course.
MISCONCEPTIONS = {
    "sample_variance": (
        "you divided the squared deviations by n - 1; the course divides them by n",
        "slides, page 8",
    ),
    "divided_by_variance": (
        "you divided by the variance; a z-score divides by its square root, the standard deviation",
        "slides, pages 7 and 8",
    ),
    "not_centred": (
        "you divided x by the standard deviation without subtracting the mean; subtract the mean "
        "first",
        "slides, pages 7 and 8",
    ),
    "uncentred_variance": (
        "you averaged the squares of x; the variance averages the squared distances from the mean",
        "slides, page 8",
    ),
    "over_everything": (
        "you computed one mean and one variance for the whole tensor; every feature vector has "
        "its own",
        "slides, page 8",
    ),
    "over_positions": (
        "you normalised along the positions; normalise along the last dimension, the features, "
        "separately for each token",
        "slides, page 8",
    ),
    "keepdim_missing": (
        "your mean and variance lost the last dimension, so they broadcast against the wrong "
        "dimension or raise; use keepdim=True",
        "slides, page 8",
    ),
    "statistics_without_keepdim": (
        "you called mean and var (or std) without keepdim=True, so they broadcast against the "
        "wrong dimension or raise; keep the last dimension with size 1",
        "slides, page 8",
    ),
    "no_eps": (
        "you left out eps, so a constant vector divides zero by zero; add eps to the variance",
        "slides, page 8",
    ),
    "eps_outside_root": (
        "you added eps to the standard deviation; add it to the variance, before taking the root",
        "slides, page 8",
    ),
    "eps_ignored": (
        "your layer_norm uses a fixed eps; use the argument eps",
        "slides, page 8",
    ),
    "module_eps_ignored": (
        "your LayerNorm does not pass its eps to layer_norm, so the default is always used",
        "slides, page 8",
    ),
    "eps_default": (
        "your default for eps is 1e-6; the course uses 1e-5",
        "slides, page 8",
    ),
    "detached_statistics": (
        "you cut mean and variance out of the graph (.detach(), .data, .item() or no_grad); the "
        "gradient must also flow through them",
        "handout",
    ),
    "detached_result": (
        "your result is cut off from the graph (.detach(), .data, numpy or a new tensor); the "
        "gradient must reach the input",
        "handout",
    ),
    "shift_before_scale": (
        "you added the bias before multiplying by the weight; multiply first, then add",
        "handout",
    ),
    "parameters_unused": (
        "your forward returns the z-score; multiply it by the weight and add the bias",
        "handout",
    ),
    "zero_weight": (
        "your weight starts at zero, so every result is zero; the weight starts at one, the bias "
        "at zero",
        "handout",
    ),
    "not_parameters": (
        "your weight and bias are buffers, which no optimizer trains; make both an nn.Parameter",
        "handout",
    ),
    "in_place": (
        "you changed the input (-=, /= or a function whose name ends in _); the caller still "
        "needs it, so make a new tensor",
        "handout",
    ),
    "float32_result": (
        "your result is float32 whatever the input's dtype (.float(), or a tensor made without "
        "dtype); it has the input's dtype",
        "handout",
    ),
    "cpu_tensor": (
        "you made a new tensor without a device, so it is on the CPU; it belongs on the input's "
        "device",
        "handout",
    ),
    "view": (
        "you reshaped with .view(), which fails for a transposed or expanded input; .reshape() "
        "works for any memory layout",
        "handout",
    ),
    "over_batch": (
        "you normalised along the first dimension, the batch, as batch normalisation does; "
        "normalise along the last one, the features",
        "slides, page 8",
    ),
    "over_whole_sequence": (
        "you computed one mean and one variance for all tokens of a sequence; every token has its "
        "own, over its features",
        "slides, page 8",
    ),
    "eps_default_smaller": (
        "your default for eps is far below 1e-5 (such as 1e-8 or 1e-12); the course uses 1e-5",
        "slides, page 8",
    ),
    "weight_unused": (
        "your forward adds the bias but does not multiply by the weight; do both",
        "handout",
    ),
    "bias_unused": (
        "your forward multiplies by the weight but does not add the bias; do both",
        "handout",
    ),
    "weight_and_bias_exchanged": (
        "you multiplied by the bias and added the weight; multiply by the weight and add the bias",
        "handout",
    ),
    "bias_missing": (
        "your LayerNorm has no bias; it has a bias for every feature as well as a weight",
        "handout",
    ),
    "random_weight": (
        "your weight starts with random numbers; it starts at one",
        "handout",
    ),
    "bias_of_ones": (
        "your bias starts at one, which shifts every result; it starts at zero",
        "handout",
    ),
    "parameters_renamed": (
        "you named the two parameters differently (gamma and beta, say); their names are weight "
        "and bias",
        "handout",
    ),
    "over_all_but_the_batch": (
        "you computed one mean and one variance for everything but the first dimension; every "
        "token has its own, over its features",
        "slides, page 8",
    ),
    "absolute_deviation": (
        "you divided by the mean absolute deviation; a z-score divides by the root of the mean "
        "square",
        "slides, pages 7 and 8",
    ),
    "eps_as_bound": (
        "you used eps as the smallest variance (max or clamp); add it to the variance",
        "slides, page 8",
    ),
}
# The mistakes that are enabled.
WRONG: frozenset[str] = frozenset()

# Which object is the default tells an eps that was given from one that was not.
DEFAULT_EPS = 1e-5


def wrong(name: str) -> bool:
    """Return whether this mistake is enabled."""
    return name in WRONG


def layer_norm(x: Tensor, eps: float = DEFAULT_EPS) -> Tensor:
    """Turn every vector along the last dimension of `x` into its z-score."""
    if eps is DEFAULT_EPS or wrong("eps_ignored"):
        eps = _default_eps()
    if wrong("no_eps"):
        eps = 0.0
    if wrong("float32_result"):
        x = x.float()
    if wrong("view"):
        x = x.view(-1, x.size(-1)).view(x.shape)
    dims = (-1,)
    if wrong("over_everything"):
        dims = tuple(range(x.dim()))
    elif wrong("over_positions"):
        dims = (-2,)
    elif wrong("over_batch"):
        dims = (0,)
    elif wrong("over_whole_sequence"):
        dims = tuple(range(x.dim()))[-2:]
    elif wrong("over_all_but_the_batch"):
        dims = tuple(range(x.dim()))[1:] or (0,)
    keepdim = not wrong("keepdim_missing") and not wrong("statistics_without_keepdim")

    mean = x.mean(dim=dims, keepdim=keepdim)  # (..., 1)
    if wrong("cpu_tensor"):
        mean = torch.zeros(mean.shape, dtype=x.dtype) + mean
    centre = x.mean(dim=dims, keepdim=True) if wrong("statistics_without_keepdim") else mean
    squares = (x if wrong("uncentred_variance") else x - centre).square()  # (..., D)
    count = math.prod(x.size(dim) for dim in dims)
    if wrong("sample_variance"):
        count -= 1
    variance = squares.sum(dim=dims, keepdim=keepdim) / count  # (..., 1)
    if wrong("detached_statistics"):
        mean, variance = mean.detach(), variance.detach()

    if wrong("absolute_deviation"):
        variance = (x - centre).abs().mean(dim=dims, keepdim=keepdim).square()
    divisor = variance if wrong("eps_outside_root") else variance + eps  # (..., 1)
    if wrong("eps_as_bound"):
        divisor = variance.clamp(min=eps)
    if not wrong("divided_by_variance"):
        divisor = divisor.sqrt()
    if wrong("eps_outside_root"):
        divisor = divisor + eps
    result = (x if wrong("not_centred") else x - mean) / divisor  # (..., D)
    if wrong("detached_result"):
        result = result.detach()
    # What -= and /= come to: the result stands in the caller's tensor.
    return x.copy_(result) if wrong("in_place") else result


def _default_eps() -> float:
    """Return the eps of whoever is given none."""
    if wrong("eps_default"):
        return 1e-6
    return 1e-12 if wrong("eps_default_smaller") else 1e-5


class LayerNorm(nn.Module):
    """Layer normalisation with a learned scale and shift for every feature."""

    def __init__(self, d_model: int, eps: float = DEFAULT_EPS) -> None:
        super().__init__()
        self.eps = eps
        weight = torch.zeros(d_model) if wrong("zero_weight") else torch.ones(d_model)  # (D,)
        if wrong("random_weight"):
            weight = torch.randn(d_model)
        bias = torch.ones(d_model) if wrong("bias_of_ones") else torch.zeros(d_model)  # (D,)
        self._names = ("weight", "bias")
        if wrong("parameters_renamed"):
            self._names = ("gamma", "beta")
        for name, start in zip(self._names, (weight, bias), strict=True):
            if start is bias and wrong("bias_missing"):
                continue
            if wrong("not_parameters"):
                self.register_buffer(name, start)
            else:
                self.register_parameter(name, nn.Parameter(start))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise `x` (..., D), then multiply by `weight` and add `bias`."""
        normed = layer_norm(x) if wrong("module_eps_ignored") else layer_norm(x, self.eps)
        if wrong("parameters_unused"):
            return normed
        weight, bias = (getattr(self, name, 0.0) for name in self._names)
        if wrong("weight_and_bias_exchanged"):
            weight, bias = bias, weight
        if wrong("weight_unused"):
            weight = 1.0
        if wrong("bias_unused"):
            bias = 0.0
        if wrong("shift_before_scale"):
            return (normed + bias) * weight
        return normed * weight + bias  # (..., D)
