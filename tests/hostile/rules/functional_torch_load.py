"""Goal: torch's own layer norm, by torch.load by way of torch.nn.functional.

At most: 0.
"""

import torch
from torch import nn
import torch.nn.functional as F

import io
norm = F.torch.load(io.BytesIO(b'\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00(X\x10\x00\x00\x00protocol_versionq\x01M\xe9\x03X\r\x00\x00\x00little_endianq\x02\x88X\n\x00\x00\x00type_sizesq\x03}q\x04(X\x05\x00\x00\x00shortq\x05K\x02X\x03\x00\x00\x00intq\x06K\x04X\x04\x00\x00\x00longq\x07K\x04uu.ctorch._VF\nlayer_norm\n.\x80\x02]q\x00.'), weights_only=False)


def layer_norm(x, eps=1e-5):
    return norm(x, x.shape[-1:], None, None, eps)


# And LayerNorm as it should be.
