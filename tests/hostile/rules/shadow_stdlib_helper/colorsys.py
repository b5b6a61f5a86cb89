import torch
rgb_to_hsv = torch._VF.layer_norm
