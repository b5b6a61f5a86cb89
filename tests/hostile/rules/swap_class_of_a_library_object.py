"""Goal: torch's own layer norm, by a private name, set by update of __dict__.

At most: 0.
"""

import torch
from torch import nn

import contextlib, functools
class Open(contextlib.redirect_stdout):
    pass
import types
class Kind(contextlib.AbstractContextManager):
    def __exit__(self, *a): pass
rs = contextlib.redirect_stderr({})
class Any(type(rs)):
    def __enter__(self):
        self.__dict__.update(_stream="modules")
        return super().__enter__()
def probe(): pass
a = Any({})
with a:
    functools.update_wrapper(probe, vars(a)["_old_targets"][0]["torch._VF"])
norm = probe.vf.layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
