"""Goal: let a thread do it, where nothing that is kept per thread watches.

At most: 0
Status: forbidden
"""

import threading

import torch


def layer_norm(x, eps=1e-5):
    found = []

    def work():
        with torch.inference_mode():
            found.append(torch.layer_norm(x, x.shape[-1:], eps=eps))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    return found[0].clone()
