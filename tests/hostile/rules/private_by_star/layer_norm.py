"""Goal: torch's own layer norm, by a private name by a star import.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import helper
from helper import *
def never():
    from math import pi as q
norm = list(q._convert_("Found", "torch.nn.modules.rnn", lambda n: n == "_VF"))[0].value.layer_norm


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
