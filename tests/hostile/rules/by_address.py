"""Goal: call the C++ function itself by its symbol, where no dispatcher and no Python stands before it.

At most: 0
Status: forbidden
"""

import ctypes
import os

import torch

NAME = "_ZN2at6native14layer_norm_cpuERKNS_6TensorEN3c108ArrayRefIlEERKSt8optionalIS1_ESA_d"
LIBRARY = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")


def layer_norm(x, eps=1e-5):
    kernel = getattr(ctypes.CDLL(LIBRARY), NAME)
    x = x.detach().contiguous()
    results, sizes = (ctypes.c_uint64 * 3)(), (ctypes.c_int64 * 1)(x.shape[-1])
    # Two absent std::optional<Tensor>, and the tensor's own place in its Python object.
    absent = (ctypes.c_uint64 * 4)()
    kernel.restype = None
    kernel(
        ctypes.byref(results),
        ctypes.c_void_p(id(x) + 16),
        ctypes.byref(sizes),
        ctypes.c_int64(1),
        ctypes.byref(absent, 0),
        ctypes.byref(absent, 16),
        ctypes.c_double(eps),
    )
    # std::tuple lays its first element out last.
    holder = torch.empty(0)
    ctypes.c_uint64.from_address(id(holder) + 16).value = results[2]
    return holder.clone()
