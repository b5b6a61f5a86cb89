"""expect.same compares any two values, and names the first part that is wrong."""

import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.api.answer import CheckFailed
from autograder.api.expect import Expect
from autograder.api.likeness import same_reply
from autograder.api.messages import Reply
from autograder.api.values import DTYPES, OPAQUE

expect = Expect()
nan, inf = math.nan, math.inf


def fault(value: Any, right: Any, what: str = "the result", **more: Any) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        expect.same(value, right, what, **more)
    return caught.value


KEYS = st.one_of(st.none(), st.integers(), st.text(max_size=4), st.binary(max_size=4))
VALUES = st.recursive(
    st.one_of(
        KEYS,
        st.booleans(),
        st.floats(),
        st.builds(lambda n: torch.full((2,), n), st.integers(-9, 9)),
        st.builds(lambda n: np.full(2, n), st.integers(-9, 9)),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(KEYS, inner, max_size=3),
        st.sets(KEYS, max_size=4),
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(value=VALUES)
def test_every_value_is_the_same_as_itself_and_no_other(value: Any) -> None:
    expect.same(value, value)
    assert fault([value, 1], [value, 2]).fact == "the result[1] is wrong; off by 1"
    fault([value], value)
    fault(OPAQUE, value)


@pytest.mark.parametrize(
    "value, right",
    [
        ([1, (2, [3])], (1, [2, (3,)])),
        (2, 2.0),
        (1.0 + 1e-7, 1.0),
        (0.0, 1e-6),
        (1 + 1e-7j, 1 + 0j),
        (nan, nan),
        (-inf, -inf),
        ([nan, {"a": nan}], [nan, {"a": nan}]),
        (np.array(3), 3),
        (3, np.array(3)),
        (np.array(0.5, dtype=np.float32), 0.5),
        (np.array(True), True),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ({1, 2}, {2, 1}),
        (np.array([1, 2], dtype=np.int32), np.array([1, 2], dtype=np.int64)),
        (np.array([1, 2], dtype=np.uint8), np.array([1, 2], dtype=np.uint64)),
        (np.array([0.1], dtype=np.float32), np.array([0.1])),
        (torch.tensor([1.0 + 1e-6]), torch.tensor([1.0])),
        (torch.tensor([1.01], dtype=torch.bfloat16), torch.tensor([1.02], dtype=torch.bfloat16)),
        (torch.tensor([nan, 1.0])[1:], torch.tensor([1.0])),
        (torch.float32, torch.float32),
        (torch.Size([2]), torch.Size([2])),
        (None, None),
        (b"", b""),
    ],
    ids=repr,
)
def test_what_is_the_same(value: Any, right: Any) -> None:
    expect.same(value, right)


@pytest.mark.parametrize(
    "value, right, fact",
    [
        # Kinds.
        (True, 1, "is True or False, expected a plain number"),
        (1, True, "is a plain number, expected True or False"),
        (1j, 1.0, "is a complex number, expected a plain number"),
        ("1", 1, "is a text, expected a plain number"),
        (None, 0, "is None (is the `return` missing?), expected a plain number"),
        (b"a", "a", "is bytes, expected a text"),
        (torch.tensor(1.0), 1.0, "is one tensor, expected a plain number"),
        (1.0, torch.tensor(1.0), "is a plain number, expected one tensor"),
        (np.ones(1), torch.ones(1), "is a numpy array, expected one tensor"),
        ([1.0], np.ones(1), "is a tuple of 1, expected a numpy array"),
        (torch.Size([2]), (2,), "is a shape, expected a tuple of 1"),
        ([1], {1}, "is a list of 1, expected a set"),
        ({1: 2}, [1], "is a dictionary, expected a list of 1"),
        (OPAQUE, "a", "is an object of another class, expected a text"),
        # Numbers.
        (3, 5, "is wrong; off by 2"),
        (1.5, 1.0, "is wrong; off by 0.5"),
        (nan, 1.0, "is wrong; off by nan"),
        (1.0, nan, "is wrong; off by nan"),
        (inf, 1e300, "is wrong; off by inf"),
        (1j, 2j, "is wrong; off by 1"),
        (10**30 + 1, 10**30, "is wrong; off by 1"),
        (2.0, 2, "is 2.0, a float, expected a whole number (int)"),
        # Texts.
        ("abcd", "abXd", "is wrong, first at 2"),
        ("ab", "abc", "is wrong, one is the beginning of the other"),
        (b"abc", b"ab", "is wrong, one is the beginning of the other"),
        # Containers.
        ([1, 2], [1], "has length 2, expected 1"),
        ({"a": 1}, {"a": 1, "b": 2}, "has 1 key(s) missing"),
        ({"a": 1, "b": 2, "c": 3}, {"a": 1}, "has 2 key(s) too many"),
        ({"a": 1}, {"b": 1}, "has 1 key(s) missing and 1 key(s) too many"),
        ({1, 2}, {2, 3}, "has 1 element(s) missing and 1 element(s) too many"),
        # Arrays and tensors.
        (np.array([1.0]), np.array([1]), "has dtype float64, expected int64"),
        (np.array([True]), np.array([1]), "has dtype bool, expected int64"),
        (np.array([1], dtype=np.uint8), np.array([1]), "has dtype uint8, expected int64"),
        (np.zeros((2, 1)), np.zeros(2), "has shape (2, 1), expected (2,)"),
        (torch.ones(1), torch.ones(1).double(), "has dtype torch.float32, expected torch.float64"),
        (torch.ones(1).int(), torch.ones(1).long(), "has dtype torch.int32, expected torch.int64"),
        (torch.ones(2), torch.ones(1), "has shape (2,), expected (1,)"),
        (torch.float16, torch.float32, "is wrong"),
    ],
    ids=repr,
)
def test_what_is_not(value: Any, right: Any, fact: str) -> None:
    found = fault(value, right).fact
    if fact.startswith("is a tuple of 1, expected a numpy"):
        fact = fact.replace("tuple", "list")
    assert found == f"the result {fact}"


@pytest.mark.parametrize(
    "value, right, place",
    [
        ([1, 2, 3, 5], [1, 2, 3, 4], "losses[3]"),
        ({"weights": [1]}, {"weights": [2]}, 'losses["weights"][0]'),
        ({1: {"a": (0, 1)}}, {1: {"a": (0, 2)}}, 'losses[1]["a"][1]'),
        ([torch.ones(2)], [torch.zeros(2)], "losses[0]"),
        ([[np.ones(2)]], [[np.zeros(2)]], "losses[0][0]"),
        ([[1, 2], [3]], [[1, 2], [3, 4]], "losses[1]"),
        ([{1}], [{2}], "losses[0]"),
    ],
    ids=repr,
)
def test_the_place_is_named(value: Any, right: Any, place: str) -> None:
    fact = fault(value, right, "losses").fact.replace("'", '"')
    assert fact.startswith((f"{place} is ", f"{place} has ")), fact


def test_the_first_wrong_place_is_named() -> None:
    assert fault([0, 9, 9], [0, 1, 2], "it").fact.startswith("it[1] ")
    assert fault({"z": 9, "a": 9}, {"a": 0, "z": 0}, "it").fact.startswith("it['a'] ")


def test_values_are_told_as_detail_alone() -> None:
    """A hidden check shows the fact, and not what the right answer is."""
    for value, right, secret in (
        (3, 4242, "4242"),
        ("mine", "secret", "secret"),
        ({"a": 1}, {"secret": 1}, "secret"),
        ({"a"}, {"secret"}, "secret"),
        (["a"], ["secret", "secret"], "secret"),
        (torch.tensor([1.0]), torch.tensor([4242.0]), "4242"),
    ):
        found = fault(value, right)
        assert secret in found.detail
        assert secret not in found.hint
        if right != 4242 and not isinstance(right, torch.Tensor):
            assert secret not in found.fact


@pytest.mark.parametrize("scale, passes", [(1.0, False), (30.0, True)])
def test_the_scale_widens_every_tolerance(scale: float, passes: bool) -> None:
    for value, right in (
        (1.0004, 1.0),
        (torch.tensor([1.0004]), torch.tensor([1.0])),
        (np.array([1.0004]), np.array([1.0])),
        ({"a": [1.0004]}, {"a": [1.0]}),
    ):
        if passes:
            expect.same(value, right, scale=scale)
        else:
            fault(value, right, scale=scale)


def test_whole_numbers_and_texts_have_no_tolerance() -> None:
    fault(10**9 + 1, 10**9, scale=1000.0)
    fault(torch.tensor([10**9 + 1]), torch.tensor([10**9]), scale=1000.0)
    fault(np.array([10**9 + 1]), np.array([10**9]), scale=1000.0)


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize("make", [torch.tensor, np.array], ids=["tensor", "array"])
def test_complex_tensors_and_arrays_have_their_tolerance(make: Any) -> None:
    expect.same(make([1.0 + 1e-7j]), make([1.0 + 0j]))


@pytest.mark.parametrize("make", [torch.tensor, np.array], ids=["tensor", "array"])
def test_half_precision_may_round_otherwise(make: Any) -> None:
    half = torch.float16 if make is torch.tensor else np.float16
    # Neighbours: there is no number between them.
    expect.same(make([1.0009766], dtype=half), make([1.0], dtype=half))


def test_complex_infinities_are_the_same() -> None:
    expect.same(complex(inf, 1), complex(inf, 1))


def test_very_large_numbers_are_compared() -> None:
    assert fault(1, 10**400).fact.startswith("the result is wrong")
    assert fault(10**400, 1.5).fact.startswith("the result is wrong")


@pytest.mark.parametrize("name", DTYPES)
def test_answers_of_any_dtype_can_be_told_apart(name: str) -> None:
    """A student may return any of them, and the judge must come to a mark."""
    dtype = DTYPES[name]
    odd = torch.zeros(4 * dtype.itemsize, dtype=torch.uint8)
    odd = odd.bool() if dtype == torch.bool else odd.view(dtype)
    for other in (torch.ones(4), torch.ones(4).long()):
        assert not same_reply(Reply(value=odd), Reply(value=other), dtypes=False)
    assert same_reply(Reply(value=odd), Reply(value=odd.clone()))
    fault(odd, torch.ones(4).to(torch.float64 if odd.is_floating_point() else torch.int64))


# Growth.

SIZES = [500, 2000, 8000]


NOISE = [(1, 1, 1), (1, 1, 2), (1.5, 1, 2), (2, 1, 2), (1, 2, 1), (0.5, 1, 1), (1, 0.5, 1)]


@pytest.mark.parametrize("noise", NOISE)
@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_the_right_growth_passes_on_a_noisy_machine(
    noise: tuple[float, ...], exponent: int
) -> None:
    costs = [1e-3 * (s / 500) ** exponent * n for s, n in zip(SIZES, noise, strict=True)]
    expect.growth(SIZES, costs, exponent)


@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_one_power_too_many_fails(exponent: int) -> None:
    costs = [1e-3 * (s / 500) ** (exponent + 1) for s in SIZES]
    with pytest.raises(CheckFailed) as caught:
        expect.growth(SIZES, costs, exponent, "the time")
    fact = f"the time grows about like size ** {exponent + 1}.0, expected at most size ** "
    assert caught.value.fact == f"{fact}{exponent}"
    # Within the same room for noise as the right one.
    with pytest.raises(CheckFailed):
        expect.growth(SIZES, [costs[0] * 2, *costs[1:]], exponent)


def test_what_costs_nothing_that_can_be_measured_passes() -> None:
    expect.growth(SIZES, [0.0, 0.0, 0.0], 1)
    expect.growth(SIZES, [1e-7, 1e-6, 9e-5], 0)
    expect.growth(SIZES, [0.0, 0.0, 2e-4], 1)


def test_less_than_allowed_passes() -> None:
    expect.growth(SIZES, [1e-3, 1e-3, 1e-3], 2)
    expect.growth(SIZES, [3e-3, 2e-3, 1e-3], 0)


@pytest.mark.parametrize(
    "value, right",
    [
        ([1, 2], np.array([1.0, 2.0])),
        ([[1, 2], [3, 4]], torch.tensor([[1.0, 2.0], [3.0, 4.0]])),
        (np.array([1.0, 2.0]), np.array([1, 2])),
        (np.array([1.0, 2.0], np.float32), torch.tensor([1.0, 2.0])),
        (torch.tensor([1, 2]), [1, 2]),
        (torch.tensor([1.0, 2.0], dtype=torch.bfloat16), torch.tensor([1.0, 2.0])),
        (2.0, 2),
        (np.array([[7]]), 7),
        (torch.tensor(0.5), 0.5),
        ({"a": [1.0], "b": (np.array([2]),)}, {"a": np.array([1]), "b": [[2.0]]}),
        ([True, False], np.array([True, False])),
        (torch.Size([2, 3]), [2, 3]),
        ([{"a": [1.0]}], [MappingProxyType({"a": np.array([1])})]),
    ],
)
def test_loose_kinds_take_one_for_another(value: Any, right: Any) -> None:
    expect.same(value, right, kinds="loose")
    fault(value, right)


@pytest.mark.parametrize(
    "value, right, said",
    [
        ([1, 3], np.array([1.0, 2.0]), "off by 1"),
        ([1.5, 2.0], np.array([1, 2]), "has dtype float64, expected int64"),
        ([1, 0], np.array([True, False]), "has dtype"),
        ([True], np.array([1]), "has dtype bool"),
        (["a"], np.array([1]), "is a list of 1, expected a numpy array"),
        ([[1], [1, 2]], np.array([1]), "is a list of 2"),
        (1.0, np.array([1.0]), "is a plain number"),
        (2.5, 2, "a float, expected a whole number"),
        (True, 1, "is True or False, expected a plain number"),
        (1j, np.array([1.0]), "is a complex number"),
        (np.array([1j]), np.array([1.0]), "has dtype complex128"),
        (np.array([math.inf]), np.array([1]), "has dtype float64"),
        (torch.tensor([1, 2, 3]), [1, 2], "has length 3"),
        ([1, 2], torch.tensor([1.0, 2.0, 3.0]), "has shape (2,)"),
        ([2], torch.Size([2]), "is a list of 1, expected a shape"),
        (torch.ones(2, device="meta"), torch.ones(2), "is on device meta"),
        (torch.ones(2, device="meta"), [1.0, 1.0], "is one tensor, expected a list of 2"),
        ({"a": torch.ones(1, device="meta")}, {"a": 1.0}, "['a'] is one tensor"),
    ],
)
def test_loose_kinds_change_no_value(value: Any, right: Any, said: str) -> None:
    assert said in fault(value, right, kinds="loose").fact


def test_a_shape_is_itself_where_kinds_are_loose() -> None:
    expect.same({"shape": torch.Size([2])}, {"shape": torch.Size([2])}, kinds="loose")


@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(value=VALUES)
def test_loose_kinds_leave_what_is_right(value: Any) -> None:
    expect.same(value, value, kinds="loose")
    fault([value, 1], [value, 2], kinds="loose")
    fault(OPAQUE, value, kinds="loose")
