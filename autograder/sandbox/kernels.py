"""The kernels of torch's operations ask the guard too, whichever way a submission reached them.

The guard stands at public names. A name that somebody finds and nobody listed ends in the same
kernel, and there it is refused. The check there refuses even if a submission disarms the guard. In
a child without files of the grader, nothing may use these operations: their kernels always refuse
(that of softmax within torch's own attention), and the real ones are gone. Only children have this;
where torch is too old for it (`torch.library.get_kernel`, 2.9), the public names and the reader are
all there is.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The operators of each operation in `rules.OPERATIONS`. Those that compute on a processor count,
# and those that pass the work to others.
_OPERATORS = {
    "layer_norm": ("layer_norm", "native_layer_norm"),
    "rms_norm": ("rms_norm", "_fused_rms_norm"),
    "group_norm": ("group_norm", "native_group_norm"),
    "instance_norm": ("instance_norm",),
    "batch_norm": (
        *("batch_norm", "_batch_norm_impl_index", "native_batch_norm", "quantized_batch_norm"),
        *("_native_batch_norm_legit", "_native_batch_norm_legit_functional"),
        *("_native_batch_norm_legit_no_training", "_batch_norm_no_update"),
        *("_batch_norm_with_update", "_batch_norm_with_update_functional"),
        "batch_norm_update_stats",
    ),
    "scaled_dot_product_attention": (
        *("scaled_dot_product_attention", "_scaled_dot_product_attention_math"),
        *("_scaled_dot_product_flash_attention_for_cpu", "_safe_softmax"),
        "_scaled_dot_product_fused_attention_overrideable",
    ),
    "multi_head_attention": ("_native_multi_head_attention",),
    "transformer_encoder_layer": ("_transformer_encoder_layer_fwd",),
}
# Those of their gradients, in which the operations themselves can be computed. What the grader's
# code has computed needs them, too.
_BACKWARD = {
    "layer_norm": ("native_layer_norm_backward",),
    "group_norm": ("native_group_norm_backward",),
    "batch_norm": (
        *("native_batch_norm_backward", "batch_norm_backward"),
        "_batch_norm_impl_index_backward",
    ),
    "scaled_dot_product_attention": (
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        "_scaled_dot_product_fused_attention_overrideable_backward",
    ),
}
# Where an operator may have a kernel of its own. For the last two, which stand for many, the kernel
# that would run is looked up at another key.
_KEYS = {
    "CPU": "CPU",
    "QuantizedCPU": "QuantizedCPU",
    "NestedTensorCPU": "NestedTensorCPU",
    "CompositeExplicitAutograd": "CPU",
    "CompositeImplicitAutograd": "AutogradCPU",
}


# An operation that torch has written out in Python has no kernel: it is seen at work at one that it
# needs, by the function that is running. That is torch's own, in its file.
_WRITTEN_OUT = ("multi_head_attention", "_softmax", "multi_head_attention_forward")


def _names_it(text: bytes) -> bool:
    """Return whether a text names attention of several heads, or a layer that holds one."""
    plain = text.lower().replace(b"_", b"")
    return any(
        word in plain for word in (b"multihead", b"transformerencoder", b"transformerdecoder")
    )


def refusing(
    report: Callable[[str], None], folder: str, free: Mapping[str, bytes]
) -> tuple[Callable[[str], None], list[str]]:
    """Return what refuses an operation to a submission, and a list of what was refused unreported.

    Args:
        report: raises, as the guard's `check` does; if it does not, it was tampered with.
        folder: the submission.
        free: files in it that may use operations, with their texts. What is written out in Python
            they may use if they name it: a call in C may pass for one of theirs.
    """
    # All of it is held by this function: names of a module can be bound to other things.
    frame_at, error, prefix = sys._getframe, RuntimeError, f"{folder}/"
    ours = tuple(prefix + name for name in free)
    writers = tuple(prefix + name for name, text in free.items() if _names_it(text))
    written_out = _WRITTEN_OUT[0]
    unreported: list[str] = []

    def check(name: str) -> None:
        frame = frame_at(1)
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(prefix):
                if file.startswith(writers if name == written_out else ours):
                    return
                break
            frame = frame.f_back  # type: ignore[assignment]
        report(name)
        unreported.append(name)
        raise error(name)

    return check, unreported


@dataclass(frozen=True)
class Kernel:
    """One kernel of a forbidden operation.

    `found` computes it; there is none for another library's kernels: they cannot be had, and are
    of no use but to get around.
    """

    operation: str
    operator: str
    key: str
    found: Any
    backward: bool = False


def find_kernels(forbidden: Collection[str]) -> list[Kernel]:
    """Return the kernels of operations by name; others, as functions and classes, have none."""
    import torch

    get_kernel = getattr(torch.library, "get_kernel", None)
    backward = {op: name for name in forbidden for op in _BACKWARD.get(name, ())}
    wanted = {op: name for name in forbidden for op in _OPERATORS.get(name, ())} | backward
    if get_kernel is None or not wanted:
        return []
    written_out, needed, _ = _WRITTEN_OUT
    if written_out in forbidden:
        wanted[needed] = written_out
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    kernels = []
    for full in torch._C._dispatch_get_all_op_names():
        operator = full.removeprefix("aten::")
        if not (name := wanted.get(operator.partition(".")[0])) or operator == full:
            continue
        has = [key for key in _KEYS if has_kernel(full, key)]
        is_backward = operator.partition(".")[0] in backward
        for key in has:
            # What stands for many is not asked where there is one for this very key.
            if _KEYS[key] == key or _KEYS[key] not in has:
                found = get_kernel(full, _KEYS[key])
                kernels.append(Kernel(name, operator, key, found, is_backward))
        if operator != needed and not is_backward and has_kernel(full, "MkldnnCPU"):
            kernels.append(Kernel(name, operator, "MkldnnCPU", None))
    return kernels


def watch_kernels(
    check: Callable[[str], None], kernels: Sequence[Kernel], folder: str, lends: bool
) -> None:
    """Have kernels call `check` with the operation's name before they compute.

    An operation may be made of others: the outermost is asked about, and those inside are not.

    Args:
        check: raises if the operation is forbidden to the caller.
        kernels: of the operations that are forbidden.
        folder: the submission.
        lends: whether some of its files may use them. If not, nothing computes them any more.
    """
    if not kernels:
        return
    import torch

    _, needed, function = _WRITTEN_OUT
    written_out = {kernel.operation for kernel in kernels} & {_WRITTEN_OUT[0]}
    file, frame_at = torch.nn.functional.__file__, sys._getframe
    missing, error, prefix = NotImplementedError, RuntimeError, f"{folder}/"

    def runs() -> bool:
        frame = frame_at(2)
        while frame is not None:
            if frame.f_code.co_name == function and frame.f_code.co_filename == file:
                return True
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def watched(name: str, operator: str, kernel: Any) -> Callable[..., Any]:
        def inside() -> bool:
            """Whether a checked operation calls this one, without a submission's line between."""
            frame = frame_at(2)
            while frame is not None and not frame.f_code.co_filename.startswith(prefix):
                if frame.f_code is run.__code__:
                    return True
                frame = frame.f_back  # type: ignore[assignment]
            return False

        def run(keys: Any, *args: Any, **kwargs: Any) -> Any:
            if not inside():
                if written_out and runs():
                    check(*written_out)
                elif operator != needed:
                    check(name)
            if kernel is None:
                raise missing(f"{name} is computed by torch's own kernels here")
            return kernel.call_boxed(keys, *args, **kwargs)

        return run

    def refused(name: str) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            check(name)
            raise error(name)

        return run

    library: Any = torch._C._dispatch_library("IMPL", "aten", "", __file__, 0)
    with warnings.catch_warnings():
        # That a kernel is written over, which is meant.
        warnings.simplefilter("ignore")
        for one in kernels:
            if lends or one.operator == needed:
                if one.backward:
                    continue
                run = watched(one.operation, one.operator, one.found)
            else:
                run = refused(one.operation)
            library.impl(one.operator, one.key, run, True)
    # For as long as this process lives, and within nobody's reach: who had it could take them back.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))
    # It computes operations by kernels of its own.
    if hasattr(torch._C, "_jit_to_static_module"):
        del torch._C._jit_to_static_module
