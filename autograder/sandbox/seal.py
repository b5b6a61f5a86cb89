"""Seal forbidden kernels: their machine code is overwritten by an end of the process.

The guard in Python refuses a forbidden operation first, with file and line. What goes past it, by
whatever door, comes to these functions of torch's library in the end. The first of them that is
reached ends the child with an exit code that names the operation. A sealed child can make no memory
executable (see `policy`), so that it cannot put back what was there.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from autograder.exchange.kernels import FORBIDDEN
from autograder.sandbox.symbols import functions

_LIBRARY = "libtorch_cpu.so"
_EXIT = 160
_PAGE = os.sysconf("SC_PAGE_SIZE")
_NEAR = 16 * _PAGE
_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
# What the names of an operation's functions hold.
_WORDS = {
    "layer_norm": (b"layer_norm", b"LayerNorm"),
    "rms_norm": (b"rms_norm", b"RMSNorm", b"RmsNorm", b"CrossMapLRN2d", b"local_response_norm"),
    "group_norm": (b"group_norm", b"GroupNorm"),
    "instance_norm": (b"instance_norm", b"InstanceNorm"),
    "batch_norm": (b"batch_norm", b"BatchNorm", b"batchnorm"),
    "scaled_dot_product_attention": (b"scaled_dot_product", b"flash_attention", b"sdpa"),
    "multi_head_attention": (
        *(b"multi_head_attention", b"MultiHeadAttention", b"MultiheadAttention"),
        b"bias_rescale_qkv",
    ),
    "transformer_encoder_layer": (b"transformer_encoder_layer", b"TransformerEncoderLayer"),
}
_STARTS = (
    *(b"_ZN2at6native", b"_ZNK2at6native", b"_ZN5torch", b"_ZNK5torch"),
    *(b"_ZN4dnnl", b"_ZNK4dnnl", b"dnnl_layer", b"dnnl_group", b"dnnl_batch"),
)
# Where they compute. What only leads there, past which the guard refuses, is left as it is.
_PLACES = re.compile(
    # torch's own;
    rb"^_ZNK?2at6native"
    # what torch's interface for C++ and its fuser compose;
    rb"|^_ZNK?5torch2nn.*(forward|detail)|^_ZN5torch3jit11tensorexpr\d+compute"
    # oneDNN's.
    rb"|^dnnl_\w+_forward_primitive_desc_create|^_ZNK?4dnnl4impl3cpu.*execute"
)
# Nor parts of a function, given to threads or seldom run: only what is whole can be called.
_NOT = re.compile(
    rb"ackward|_bwd|^_ZN2at6native12DispatchStub|\.cold|_omp_fn"
    # These only call the operation's kernel, by way of the guard, which knows the line.
    rb"|^_ZN2at6native(17layer_norm_symint|10group_norm|10batch_norm|28scaled_dot_product_attention)E"
)


def can_seal() -> bool:
    """Tell whether kernels can be sealed on a machine like this one."""
    return sys.platform == "linux" and os.uname().machine == "x86_64"


def exit_code(operation: str) -> int:
    """Return what a child ends with that reached a sealed kernel of an operation."""
    return _EXIT + FORBIDDEN.index(operation)


def sealed_operation(code: int) -> str:
    """Return the operation that a child ended over, empty if its end was another."""
    number = code - _EXIT
    return FORBIDDEN[number] if 0 <= number < len(FORBIDDEN) else ""


@dataclass(frozen=True)
class _Kernel:
    operations: tuple[str, ...]
    address: int
    sealed: bytes
    original: bytes


class Seals:
    """The functions of every operation that can be forbidden, in this process.

    Raises:
        OSError, ValueError: they cannot be sealed here; the message says why.
    """

    def __init__(self) -> None:
        if not can_seal():
            raise ValueError("only Linux on x86-64 is known")
        path, start, end = _mapped()
        self._kernels: list[_Kernel] = []
        self._places: dict[str, int] = {}
        for function in functions(Path(path), _STARTS, sum(_WORDS.values(), ())):
            name = function.name
            if not _PLACES.search(name) or _NOT.search(name):
                continue
            operations = tuple(o for o, words in _WORDS.items() if any(w in name for w in words))
            address = start + function.offset
            sealed = _ending(exit_code(operations[0]), address, function.size)
            if not sealed or address + function.size > end:
                continue
            original = ctypes.string_at(address, len(sealed))
            self._kernels.append(_Kernel(operations, address, sealed, original))
            if name.startswith(b"_ZN2at6native") and b"12_GLOBAL__N_1" not in name:
                self._places.setdefault(operations[0], address)
        self._sealed: frozenset[str] = frozenset()
        missing = set(FORBIDDEN).difference(self._places)
        if missing:
            raise ValueError(f"{path} names no function of {', '.join(sorted(missing))}")

    def set(self, operations: Collection[str]) -> None:
        """Seal exactly these from now on, in this process and those that it forks."""
        if self._sealed == frozenset(operations):
            return
        changed = []
        for kernel in self._kernels:
            before = not self._sealed.isdisjoint(kernel.operations)
            after = any(operation in operations for operation in kernel.operations)
            if before != after:
                changed.append((kernel.address, kernel.sealed if after else kernel.original))
        self._sealed = frozenset(operations)
        _write(changed)

    def reach(self, operation: str) -> None:
        """Call a kernel by its address: it does not return where it is sealed."""
        ctypes.CFUNCTYPE(None)(self._places[operation])()


def _mapped() -> tuple[str, int, int]:
    """Return the path of torch's library, where it begins and where its code ends."""
    begin = end = 0
    path = ""
    with open("/proc/self/maps") as maps:
        for line in maps:
            span, mode, _, _, _, *name = line.split(maxsplit=5)
            if "w" in mode and "x" in mode:
                raise ValueError("a package of the children holds machine code that it can write")
            if name and os.path.basename(name[0].strip()) == _LIBRARY:
                low, high = (int(part, 16) for part in span.split("-"))
                path, begin = name[0].strip(), begin or low
                if "x" in mode:
                    end = high
    if not end:
        raise ValueError(f"{_LIBRARY} is not loaded")
    return path, begin, end


def _ending(code: int, address: int, size: int) -> bytes:
    """Return machine code that ends the process wherever it is entered, for a function's begin.

    It goes on to the end of a page: every fork pays for each page that was written to.
    """
    # mov edi, code; mov eax, exit_group; syscall
    end = b"\xbf" + code.to_bytes(4, "little") + b"\xb8\xe7\x00\x00\x00" + b"\x0f\x05"
    room = min(size, max(len(end), _PAGE - address % _PAGE))
    return b"\x90" * (room - len(end)) + end if size >= len(end) else b""


def _write(changes: list[tuple[int, bytes]]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    # Neighbours together: each stretch costs every fork its own entry among the mappings.
    stretches: list[tuple[int, int, list[tuple[int, bytes]]]] = []
    for address, code in changes:
        low = address - address % _PAGE
        high = -(-(address + len(code)) // _PAGE) * _PAGE
        if stretches and low <= stretches[-1][1] + _NEAR:
            begin, end, parts = stretches[-1]
            stretches[-1] = (begin, max(end, high), parts)
            parts.append((address, code))
        else:
            stretches.append((low, high, [(address, code)]))
    for begin, end, parts in stretches:
        place, size = ctypes.c_void_p(begin), ctypes.c_size_t(end - begin)
        writing = _PROT_READ | _PROT_WRITE | _PROT_EXEC
        for mode in (writing, _PROT_READ | _PROT_EXEC):
            if libc.mprotect(place, size, mode):
                raise OSError(ctypes.get_errno(), "the machine code of kernels cannot be changed")
            if mode == writing:
                for address, code in parts:
                    ctypes.memmove(address, code, len(code))
