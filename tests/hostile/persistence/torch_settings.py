"""Goal: change settings of torch so that the next student's right code answers wrongly.

At most: 0
"""

import torch

for change in (
    lambda: torch.set_default_dtype(torch.float64),
    lambda: torch.set_default_device("meta"),
    lambda: torch.set_grad_enabled(False),
    lambda: torch.use_deterministic_algorithms(True),
    lambda: torch.set_flush_denormal(True),
    lambda: torch.set_float32_matmul_precision("medium"),
    lambda: torch.autograd.set_detect_anomaly(True),
    lambda: torch.inference_mode().__enter__(),
    lambda: torch._C._set_grad_enabled(False),
    lambda: torch.set_num_interop_threads(2),
    lambda: torch.set_rng_state(torch.zeros_like(torch.get_rng_state())),
):
    try:
        change()
    except Exception:
        continue


def layer_norm(x, eps=1e-5):
    return x
