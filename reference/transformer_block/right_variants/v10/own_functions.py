"""Operations with a backward written by hand."""

import math

import torch
from torch.autograd import Function


def wide(t):
    """Compute in at least float32."""
    return t if t.dtype == torch.float64 else t.float()


class ZScore(Function):
    """Z-score over the last dimension."""

    @staticmethod
    def forward(ctx, x, eps):
        """Save the result and the inverse deviation: nothing more is needed."""
        centred = wide(x) - wide(x).mean(-1, keepdim=True)
        inverse = torch.rsqrt(centred.square().mean(-1, keepdim=True) + eps)
        z = centred * inverse
        ctx.save_for_backward(z, inverse)
        ctx.dtype = x.dtype
        return z.to(x.dtype)

    @staticmethod
    def backward(ctx, grad):
        """Take the parts along 1 and along z out of the gradient."""
        z, inverse = ctx.saved_tensors
        grad = wide(grad)
        along_one = grad.mean(-1, keepdim=True)
        along_z = (grad * z).mean(-1, keepdim=True)
        return ((grad - along_one - z * along_z) * inverse).to(ctx.dtype), None


class ScaleAndShift(Function):
    """z * weight + bias, weight and bias for the last dimension."""

    @staticmethod
    def forward(ctx, z, weight, bias):
        """Keep what the products need."""
        ctx.save_for_backward(z, weight)
        return z * weight + bias

    @staticmethod
    def backward(ctx, grad):
        """Sum over everything but the last dimension for the parameters."""
        z, weight = ctx.saved_tensors
        rows = grad.reshape(-1, grad.shape[-1])
        grad_z = grad * weight if ctx.needs_input_grad[0] else None
        grad_weight = (rows * z.reshape(rows.shape)).sum(0) if ctx.needs_input_grad[1] else None
        grad_bias = rows.sum(0) if ctx.needs_input_grad[2] else None
        return grad_z, grad_weight, grad_bias


class ReluLookup(Function):
    """relu(x keys^T) values."""

    @staticmethod
    def forward(ctx, x, keys, values):
        """Keep the activations, they are zero where nothing fired."""
        fired = torch.matmul(x, keys.t()).clamp_(min=0)
        ctx.save_for_backward(x, keys, values, fired)
        return torch.matmul(fired, values)

    @staticmethod
    def backward(ctx, grad):
        """Go back through the values, the relu and the keys."""
        x, keys, values, fired = ctx.saved_tensors
        grad_fired = torch.matmul(grad, values.t()) * (fired > 0)
        flat, flat_fired = x.reshape(-1, x.shape[-1]), fired.reshape(-1, fired.shape[-1])
        flat_grad = grad.reshape(-1, grad.shape[-1])
        grad_keys = grad_fired.reshape(flat_fired.shape).t() @ flat
        return torch.matmul(grad_fired, keys), grad_keys, flat_fired.t() @ flat_grad


class MaskedSoftmax(Function):
    """Softmax over the last dimension, zero where the mask is False."""

    @staticmethod
    def forward(scores, mask):
        """Return the probabilities."""
        exact = wide(scores)
        if mask is not None:
            exact = exact.masked_fill(~mask, -math.inf)
        top = exact.amax(-1, keepdim=True).clamp(min=torch.finfo(exact.dtype).min)
        powers = torch.exp(exact - top)
        return (powers / powers.sum(-1, keepdim=True)).to(scores.dtype)

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Save the output only."""
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        """Compute p * (g - <g, p>)."""
        (p,) = ctx.saved_tensors
        grad, exact = wide(grad), wide(p)
        inner = (grad * exact).sum(-1, keepdim=True)
        return (exact * (grad - inner)).to(p.dtype), None


class Gelu(Function):
    """x * Phi(x), Phi being the distribution function of the normal distribution."""

    @staticmethod
    def forward(ctx, x):
        """Use the error function."""
        ctx.save_for_backward(x)
        return (wide(x) * Gelu.phi(wide(x))).to(x.dtype)

    @staticmethod
    def phi(x):
        """Compute Phi."""
        return 0.5 * torch.erfc(-x * math.sqrt(0.5))

    @staticmethod
    def backward(ctx, grad):
        """Apply the product rule."""
        (x,) = ctx.saved_tensors
        exact = wide(x)
        density = torch.exp(-0.5 * exact * exact) / math.sqrt(2 * math.pi)
        return (wide(grad) * (Gelu.phi(exact) + exact * density)).to(x.dtype)


class Relu(Function):
    """max(x, 0)."""

    @staticmethod
    @torch.no_grad()
    def forward(ctx, x):
        """Remember where x is positive."""
        positive = x > 0
        ctx.save_for_backward(positive)
        return torch.where(positive, x, torch.zeros_like(x))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        """Let the gradient through there."""
        return grad.masked_fill(~ctx.saved_tensors[0], 0)
