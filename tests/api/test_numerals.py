"""An answer of another kind of number is none that is compared: nothing is lost on the way."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from autograder.api.answer import CheckFailed
from autograder.api.expect import Expect
from autograder.api.lazy import name_of
from autograder.api.likeness import same_kinds
from autograder.api.values import Opaque, Unsendable, answered

expect = Expect()
VALUES = torch.tensor([0.5, 1.0])
with warnings.catch_warnings():
    # They are on their way out of torch, and there for now.
    warnings.simplefilter("ignore")
    QUANTISED = torch.quantize_per_tensor(VALUES, 0.5, 0, torch.qint8)


class Own(Tensor):
    """A tensor of a class of the student's own."""


@pytest.mark.parametrize(
    "actual, named",
    [
        (torch.complex(VALUES, torch.full((2,), 1e6)), "torch.complex64"),
        (torch.complex(VALUES, torch.zeros(2)).to(torch.complex128), "torch.complex128"),
        (torch.complex(VALUES, torch.ones(2)).conj(), "torch.complex64"),
        (VALUES.half(), "torch.float16"),
        (VALUES.to(torch.bfloat16), "torch.bfloat16"),
        (VALUES.to_sparse(), "torch.float32"),
        (QUANTISED, "torch.qint8"),
    ],
    ids=["complex64", "complex128", "conj", "float16", "bfloat16", "sparse", "quantised"],
)
def test_another_kind_of_number_fails_and_is_named(actual: Tensor, named: str) -> None:
    # What is asked holds no half precision.
    for check in (Expect(coarse=()).close, Expect(coarse=()).same):
        with pytest.raises(CheckFailed, match=named):
            check(actual, VALUES)


def test_true_is_not_one() -> None:
    with pytest.raises(CheckFailed, match=r"dtype torch\.bool, expected real numbers"):
        expect.close(torch.tensor([True, False]), [1.0, 0.0])
    with pytest.raises(CheckFailed, match=r"dtype torch\.float32, expected torch\.bool"):
        expect.close(torch.tensor([1.0, 0.0]), [True, False])
    expect.close(torch.tensor([True, False]), [True, False])


def test_both_parts_of_a_complex_number_count() -> None:
    right = torch.tensor([1 + 2j])
    expect.close(torch.tensor([1 - 2j]).conj(), right)
    with pytest.raises(CheckFailed, match="off by 1"):
        expect.close(torch.tensor([1 + 3j]), right)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_right_where_it_is_asked_for(dtype: torch.dtype) -> None:
    half = VALUES.to(dtype)
    Expect(coarse=()).close(half, VALUES, like=half)
    Expect(coarse=()).close(half, half)
    Expect(coarse={name_of(dtype)}).close(half, VALUES)
    with pytest.raises(CheckFailed, match=str(dtype)):
        Expect(coarse={name_of(dtype)}).close(half, VALUES, like=VALUES)


def test_whole_numbers_and_views_are_numbers() -> None:
    expect.close(torch.tensor([1, 2]), [1.0, 2.0])
    expect.close(torch._neg_view(torch.tensor([-1.0])), [1.0])
    expect.close(nn.Parameter(VALUES).detach(), VALUES)
    expect.close(torch.tensor(0.5), 0.5)


def test_what_has_no_values_is_not_compared() -> None:
    with pytest.raises(CheckFailed, match="on device meta"):
        expect.close(torch.empty(2, device="meta"), VALUES)


@pytest.mark.parametrize(
    "value, right, named",
    [
        (np.array([0.5], dtype=np.float16), np.array([0.5]), "float16, expected float64"),
        (np.array([0.5 + 9j]), np.array([0.5]), "complex128, expected float64"),
        (np.array(0.5, dtype=np.float16), 0.5, "float16, expected float64"),
        ({"a": [np.array(0.5, dtype=np.float16)]}, {"a": [0.5]}, "float16"),
        ([torch.tensor([True])], [torch.tensor([1.0])], "torch.bool"),
        ((VALUES.half(),), (VALUES,), "torch.float16"),
        (0.5 + 1j, 0.5, "a complex number"),
        (np.array(0.5 + 1j), 0.5, "a numpy number of complex128"),
    ],
    ids=repr,
)
def test_parts_of_a_value_are_as_strict(value: Any, right: Any, named: str) -> None:
    with pytest.raises(CheckFailed, match=named):
        expect.same(value, right)


def test_a_wide_number_is_not_narrowed_to_a_narrow_one() -> None:
    # As float32 both would be infinite.
    with np.errstate(over="ignore"):
        infinite = np.array([1e300]).astype(np.float32)
    with pytest.raises(CheckFailed, match="infinite"):
        expect.same(infinite, np.array([1e300]))


@pytest.mark.parametrize("odd", [VALUES.to_sparse(), QUANTISED], ids=["sparse", "quantised"])
def test_a_tensor_without_plain_values_is_told_so(odd: Tensor) -> None:
    for value in (odd, [odd], {"a": odd}):
        with pytest.raises(Unsendable, match=str(odd.dtype)):
            answered(value)


@pytest.mark.parametrize(
    "value, right, named",
    [
        (VALUES + 1j, VALUES, "torch.complex64, expected real numbers"),
        ((VALUES, VALUES.half()), (VALUES, VALUES), "torch.float16, expected at least float32"),
        ({"a": [np.array([1j])]}, {"a": [np.array([1.0])]}, "torch.complex128"),
        (VALUES > 0, VALUES, "torch.bool, expected real numbers"),
        (1j, 1.0, "torch.complex128"),
    ],
    ids=["complex", "half", "nested", "boolean", "plain"],
)
def test_an_answer_is_of_the_right_kinds_whatever_is_read_of_it(
    value: Any, right: Any, named: str
) -> None:
    with pytest.raises(CheckFailed, match=named):
        same_kinds(value, [right])
    same_kinds(right, [right])


@pytest.mark.parametrize(
    "value, right",
    [
        (VALUES.double(), VALUES),
        (VALUES.half(), VALUES.to(torch.bfloat16)),
        (VALUES, VALUES > 0),
        ("text", VALUES),
        (None, VALUES + 1j),
    ],
    ids=["width", "half", "numbers for truth", "text", "nothing"],
)
def test_of_forms_and_widths_the_test_itself_speaks(value: Any, right: Any) -> None:
    same_kinds(value, [right])


def test_no_mask_and_no_odd_width_is_dropped() -> None:
    other = Opaque("a numpy array of another dtype")
    assert answered(np.ma.masked_array([1.0, 2.0], mask=[True, False])) == Opaque("a masked array")
    assert answered([np.array([1.0], dtype=np.longdouble)]) == [other]
    assert answered(np.array([1.0], dtype=object)) == other


def test_a_subclass_is_compared_by_its_values() -> None:
    plain = answered(VALUES.as_subclass(Own))
    assert type(plain) is Tensor
    expect.close(plain, VALUES)
