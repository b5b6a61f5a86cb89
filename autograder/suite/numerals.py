"""Which kinds of numbers may stand for which: nothing is lost before a comparison.

A comparison takes place in float64. What a number loses on its way there would count as right: an
imaginary part, the digits that float16 never had, the truth of a boolean.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.messages import Request
from autograder.exchange.operations import Build, Call, Move
from autograder.exchange.values import DTYPE_NAMES, DTYPES, Value
from autograder.suite.advice import OTHER_KIND
from autograder.suite.answer import CheckFailed

# Fewer digits than a criterion asks for unless it says so.
HALF = (torch.float16, torch.bfloat16)


def readable(tensor: Tensor, what: str) -> None:
    """Expect a tensor that holds its values as plain numbers.

    Raises:
        CheckFailed: it is sparse, quantised, of another odd dtype, or has no values at all.
    """
    if tensor.layout is not torch.strided:
        raise CheckFailed(
            f"{what} is a tensor of {tensor.dtype} with layout {tensor.layout}, expected a dense "
            "one",
            hint="return a plain tensor: x.to_dense()",
        )
    if tensor.dtype not in DTYPE_NAMES:
        raise CheckFailed(
            f"{what} has dtype {tensor.dtype}, expected plain numbers", hint=OTHER_KIND
        )
    if tensor.is_meta:
        raise CheckFailed(f"{what} is on device meta, where there are no values")


def comparable(
    actual: Tensor,
    expected: Tensor,
    what: str,
    like: Tensor | None,
    coarse: Collection[torch.dtype],
) -> None:
    """Expect numbers of a kind that loses nothing when they are compared.

    Real numbers are compared with real ones, whole or not, complex with complex, booleans with
    booleans. Half precision is right where `like` or `expected` has it, or what was asked.

    Args:
        actual: what came back.
        expected: the right values, in their own dtype.
        what: names the tensor.
        like: has the dtype that was asked for, if any was.
        coarse: the dtypes of half precision that the question itself holds.

    Raises:
        CheckFailed: they are of another kind; the message names the dtype.
    """
    readable(actual, what)
    asked = {expected.dtype, *coarse} if like is None else {expected.dtype, like.dtype}
    wanted = ""
    if kind_of(actual.dtype) != kind_of(expected.dtype):
        wanted = _KINDS[kind_of(expected.dtype)]
    elif actual.dtype in HALF and actual.dtype not in asked:
        wanted = "at least float32"
    if wanted:
        raise CheckFailed(f"{what} has dtype {actual.dtype}, expected {wanted}", hint=OTHER_KIND)


def comparable_arrays(dtype: np.dtype[Any], right: np.dtype[Any], what: str) -> None:
    """Expect an array's dtype to be of the right one's kind, and half only where that is.

    Raises:
        CheckFailed: it is another; the message names it.
    """
    coarse = dtype == np.float16 and right != np.float16
    if dtype.kind != right.kind or coarse:
        raise CheckFailed(
            f"{what} has dtype {dtype}, expected {right}",
            hint="look at what dtype the numbers had that it is made of",
        )


def same_kinds(value: Value, right: Value) -> None:
    """Expect numbers of the right answer's kinds in an answer, whatever is read of it then.

    A test may compare gradients alone, or one answer with another of the same component: neither
    tells that all of them are complex.

    Args:
        value: what came back, of any form.
        right: the right answer to the same question.

    Raises:
        CheckFailed: a tensor, an array or a number of it is of another kind.
    """
    if isinstance(value, list | tuple) and isinstance(right, list | tuple):
        for mine, theirs in zip(value, right, strict=False):
            same_kinds(mine, theirs)
    elif isinstance(value, dict) and isinstance(right, dict):
        for key in value.keys() & right.keys():
            same_kinds(value[key], right[key])
    else:
        mine, theirs = _dtype_of(value), _dtype_of(right)
        coarse = mine in HALF and theirs not in HALF
        # Numbers in place of truth lose nothing; whoever asks for truth says so.
        odd = mine and theirs and mine != theirs and kind_of(mine) in ("complex", "boolean")
        if mine and theirs and (coarse or (odd and kind_of(mine) != kind_of(theirs))):
            wanted = "at least float32" if coarse else _KINDS[kind_of(theirs)]
            raise CheckFailed(f"the result has dtype {mine}, expected {wanted}", hint=OTHER_KIND)


def _dtype_of(value: Value) -> torch.dtype | None:
    """Return the dtype of a tensor, an array or a number; None where it has none."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, np.ndarray):
        return DTYPES.get(value.dtype.name)
    # True and 1 are told apart by whoever reads them.
    plain = {complex: torch.complex128, float: torch.float64}
    return plain.get(type(value))


def in_float64(tensor: Tensor) -> Tensor:
    """Return the values in float64; of complex numbers both parts, in one more dimension."""
    if tensor.is_complex():
        return torch.view_as_real(tensor.to(torch.complex128).resolve_conj())
    return tensor.to(torch.float64)


def kind_of(dtype: torch.dtype) -> str:
    """Return whether numbers of a dtype are complex, boolean or real."""
    return "complex" if dtype.is_complex else "boolean" if dtype is torch.bool else "real"


_KINDS = {"complex": "complex numbers", "boolean": "torch.bool", "real": "real numbers"}


def coarse_in(request: Request) -> set[torch.dtype]:
    """Return the dtypes of half precision that a request holds, in tensors or by name."""
    found = {tensor.dtype for tensor in request.tensors()}
    for op in request.ops:
        if isinstance(op, Move) and op.dtype is not None:
            found.add(DTYPES[op.dtype])
        given = (*op.args, *op.kwargs.values()) if isinstance(op, Build | Call) else ()
        found |= {value for value in given if isinstance(value, torch.dtype)}
    return found.intersection(HALF)
