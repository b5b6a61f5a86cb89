"""Patterns: what is recognised in a wrong result, and above all what is not."""

import math
import re

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from autograder.api.patterns import dimension, pattern, shape_pattern

DTYPES = [torch.float64, torch.float32, torch.bfloat16]
PROPERTY = settings(deadline=None, database=None, derandomize=True, max_examples=150)
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
SEEDS = st.integers(0, 10_000)


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def weights(*shape: int, seed: int = 0) -> torch.Tensor:
    return normal(*shape, seed=seed).softmax(-1)


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (2.0, "every value is the right one times 2"),
        (7.0, "every value is the right one times 7"),
        (0.5, "every value is the right one divided by 2"),
        (math.sqrt(8), "every value is the right one times 2.82843 = sqrt(8)"),
        (math.sqrt(2 / 3), "divided by 1.22474 = sqrt(3/2)"),
        (4 / 3, "4/3; the last dimension has size 4"),
        (math.sqrt(3 / 4), "sqrt(4/3); the last dimension has size 4"),
        (-3.0, "every value is minus the right one times 3"),
        (1.2345678, "every value is the right one times 1.23457"),
        (-1.0, "every value has the opposite sign"),
        (0.0, "every value is 0"),
    ],
)
def test_a_factor_is_named(factor: float, said: str) -> None:
    want = normal(2, 3, 4)
    for dtype in (torch.float64, torch.float32):
        assert pattern((want * factor).to(dtype), want).endswith(said)


def test_a_factor_that_is_nothing_special_gets_no_name() -> None:
    want = normal(2, 3, 4)
    assert pattern(want * 1.2345678, want) == "every value is the right one times 1.23457"
    assert pattern(want * 5.5, want) == "every value is the right one times 5.5"


@given(seed=SEEDS, factor=st.floats(0.1, 20), dtype=st.sampled_from(DTYPES), opposite=st.booleans())
@PROPERTY
def test_a_scaled_copy_is_told_by_its_factor(seed, factor, dtype, opposite) -> None:
    assume(abs(factor - 1) > (0.3 if dtype == torch.bfloat16 else 1e-3))
    want = normal(4, 6, seed=seed)
    found = pattern((-factor * want if opposite else factor * want).to(dtype), want)
    if dtype == torch.bfloat16 and not found:
        return  # too coarse to be sure
    assert found.startswith("every value is ")
    assert ("minus" in found) == opposite
    said = re.search(r"the right one (times|divided by) (?:about )?([\d.]+)", found)
    assert said is not None
    named = float(said[2]) if said[1] == "times" else 1 / float(said[2])
    assert named == pytest.approx(factor, rel=0.06 if dtype == torch.bfloat16 else 1e-4)


@given(seed=SEEDS, amount=st.floats(-9, 9))
@PROPERTY
def test_a_constant_that_was_added_is_told(seed, amount) -> None:
    assume(abs(amount) > 1e-3)
    want = normal(3, 5, seed=seed)
    found = pattern(want + amount, want)
    way = "large" if amount > 0 else "small"
    assert found.startswith(f"every value is too {way} by the same amount, ")
    assert float(found.rpartition(" ")[2]) == pytest.approx(abs(amount), rel=1e-3)


@given(seed=SEEDS, shape=SHAPES, dtype=st.sampled_from(DTYPES))
@PROPERTY
def test_unrelated_tensors_have_no_pattern(seed, shape, dtype) -> None:
    got, want = normal(*shape, seed=seed).to(dtype), normal(*shape, seed=seed + 1)
    assume(bool(((got.double() - want).abs() > 0.2 * (1 + want.abs())).all()))
    assert pattern(got, want) == ""


@given(seed=SEEDS, shape=SHAPES)
@PROPERTY
def test_unrelated_weights_have_no_pattern(seed, shape) -> None:
    shape = (*shape, 2 + seed % 3)
    got, want = weights(*shape, seed=seed), weights(*shape, seed=seed + 1)
    assume(bool(((got - want).abs() > 1e-3).all()))
    assert pattern(got, want) == ""


@given(seed=SEEDS, shape=SHAPES)
@PROPERTY
def test_small_whole_numbers_have_no_pattern_by_chance(seed, shape) -> None:
    generator = torch.Generator().manual_seed(seed)
    got, want = (torch.randint(-2, 3, shape, generator=generator).double() for _ in range(2))
    found = pattern(got, want)
    assert not any(word in found for word in ("order", "places", "transposed", "one place"))


@given(seed=SEEDS, shape=SHAPES, dtype=st.sampled_from(DTYPES), names=st.sampled_from(["", "..."]))
@PROPERTY
def test_right_tensors_have_no_pattern(seed, shape, dtype, names) -> None:
    want = normal(*shape, seed=seed)
    assert pattern(want.to(dtype), want, names) == ""


@pytest.mark.parametrize(
    ("got", "want"),
    [
        ([2.0, 1.0], [1.0, 2.0]),  # every pair of numbers is a permutation of itself
        ([4.0], [2.0]),
        ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0]),  # twice, or one more
        ([0.5, 0.5], [1.0, 1.0]),
        ([-1.0, 1.0], [1.0, -1.0]),  # a sign, or an order
        ([[-0.7, 0.7], [-0.7, 0.7]], [[-1.0, 1.0], [-1.0, 1.0]]),
        ([[1.0, 3.0], [2.0, 4.0]], [[1.0, 2.0], [3.0, 4.0]]),
        ([[0.1, 0.9], [0.3, 0.7]], [[0.9, 0.1], [0.7, 0.3]]),  # softmax of what has a wrong sign
        ([[0.1, 0.9], [0.7, 0.3], [0.4, 0.6]], [[0.9, 0.1], [0.7, 0.3], [0.6, 0.4]]),
        ([[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]),
        ([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    ],
)
def test_what_could_be_chance_is_not_said(got, want) -> None:
    found = pattern(torch.tensor(got), torch.tensor(want))
    assert not found or found.startswith("all wrong values are at"), found


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_has_no_pattern(bad: float) -> None:
    want = normal(3, 3)
    got = want.clone()
    got[0, 1] = bad
    assert pattern(got * 2, want) == ""
    assert pattern(want * 2, got) == ""


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1)])
def test_too_small_a_tensor_has_no_pattern(shape: tuple[int, ...]) -> None:
    for dtype in (*DTYPES, torch.bool, torch.int64):
        assert pattern(torch.ones(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)) == ""


@given(seed=SEEDS, size=st.integers(3, 6), batch=st.integers(1, 3))
@PROPERTY
def test_a_transposed_square_is_told(seed, size, batch) -> None:
    want = normal(batch, size, size, seed=seed)
    said = "it is transposed: the last two dimensions are swapped"
    assert pattern(want.mT, want) == said
    assert pattern(want.mT[0].to(torch.float32), want[0]) == said


@given(seed=SEEDS, dim=st.integers(0, 2), order=st.permutations(range(4)))
@PROPERTY
def test_another_order_is_told_with_its_dimension(seed, dim, order) -> None:
    want = normal(4, 4, 4, seed=seed)
    got = want.index_select(dim, torch.tensor(order))
    found = pattern(got, want, names="B T D")
    away = [i for i in range(4) if order[i] != i]
    if len(away) < (3 if dim == 2 else 2):
        assert "order" not in found
    elif order in ([1, 2, 3, 0], [3, 0, 1, 2]):
        way = "early" if order[0] == 1 else "late"
        assert (
            found
            == f"along {'BTD'[dim]} (dimension {dim}) the right values stand one place "
            + (f"too {way}")
        )
    else:
        at = away[0]
        assert found == (
            f"along {'BTD'[dim]} (dimension {dim}) the right values stand in another order: "
            f"index {at} holds what belongs at index {order[at]}"
        )


def test_swapped_heads_are_told() -> None:
    want = weights(2, 2, 4, 4)
    found = pattern(want.flip(1), want, names="B H T T")
    assert found.startswith("along H (dimension 1) the right values stand in another order")


def test_positions_that_start_at_1_are_told() -> None:
    angles = torch.arange(7.0).unsqueeze(1) / 10 ** torch.arange(4.0)
    table = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
    found = pattern(table[1:], table[:-1], names="T D")
    assert found == "along T (dimension 0) the right values stand one place too early"
    assert pattern(table[:-1], table[1:]).endswith("stand one place too late")


def test_a_reshape_that_should_be_a_transpose_is_told() -> None:
    want = normal(2, 3, 4)
    assert "in other places" in pattern(want.transpose(1, 2).reshape(2, 3, 4), want)


def test_two_weights_that_changed_places_in_their_rows_are_no_rearrangement() -> None:
    # What a wrong sign of the scores makes of rows with two allowed keys.
    scores = normal(5, 4)
    scores[[0, 1, 2, 3, 4], [0, 1, 2, 3, 0]] = scores[[0, 1, 2, 3, 4], [1, 3, 0, 2, 2]] = -math.inf
    flipped = (-scores).masked_fill(scores == -math.inf, -math.inf)
    assert pattern(flipped.softmax(-1), scores.softmax(-1)) == ""


def test_rows_of_two_that_changed_places_are_no_rearrangement() -> None:
    want = weights(5, 2)
    got = torch.where(torch.tensor([[True]] * 2 + [[False]] * 3), want, want.flip(-1))
    assert pattern(got, want) == ""


def test_a_factor_or_an_amount_for_each_row_is_told() -> None:
    want, own = normal(2, 3, 5), normal(2, 3, 1, seed=1).abs() + 0.5
    assert "is right except for a factor, not the same in all rows" in pattern(want * own, want)
    assert "is right except for an amount, not the same in all rows" in pattern(want + own, want)
    assert "along D (dimension 2)" in pattern(want + own, want, names="B T D")


def test_softmax_that_is_too_much_missing_or_along_the_wrong_dimension_is_told() -> None:
    scores = normal(2, 4, 4)
    right, along = scores.softmax(-1), "along the last dimension"
    assert pattern(right, scores) == f"it is the softmax of the right result {along}"
    assert pattern(scores, right) == f"the right result is the softmax of it {along}"
    found = pattern(scores.softmax(-2), right, names="B T T")
    assert found == "the values sum to 1 along T (dimension 1) instead of T (dimension 2)"


def test_negative_values_cut_off_are_told() -> None:
    want = normal(3, 4)
    assert (
        pattern(want.relu(), want)
        == "positive values are right, and every negative one has become 0"
    )


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ((slice(None), 2), "all wrong values are at index 2 of T (dimension 1)"),
        ((1,), "all wrong values are at index 1 of B (dimension 0)"),
        (
            (1, 0),
            "all wrong values are at index 1 of B (dimension 0) and index 0 of T (dimension 1)",
        ),
    ],
)
def test_where_the_wrong_values_are_is_told(at, said) -> None:
    want, got = normal(2, 4, 3), normal(2, 4, 3)
    got[at] += normal(2, 4, 3, seed=1)[at]
    assert pattern(got, want, names="B T D") == said + "; the others are right"


def test_masks_are_told() -> None:
    want = torch.ones(4, 4, dtype=torch.bool).tril()
    assert pattern(want.T, want).startswith("it is transposed")
    assert pattern(~want, want) == "True and False are swapped"
    assert pattern(want | True, want) == "every value is True"
    assert pattern(want & False, want) == "every value is False"
    assert pattern(want.tril(-1), want).endswith("exactly those on the diagonal")
    above = torch.ones(4, 4, dtype=torch.bool).tril(1)
    assert pattern(above, want).endswith("exactly those one place above the diagonal")
    below = torch.ones(4, 4).tril(-2).bool()
    assert pattern(below, want.tril(-1)).endswith("exactly those one place below the diagonal")


@pytest.mark.parametrize(
    ("got", "want", "said"),
    [
        ((2, 3, 4), (2, 4, 3), "the last two dimensions are swapped"),
        ((4, 2, 3), (2, 3, 4), "the dimensions are in another order"),
        ((2, 3, 5), (2, 3, 4), "only D (dimension 2) is wrong: 5, not 4"),
        ((2, 4), (2, 3, 4), "T (dimension 1), of size 3, is missing"),
        ((3, 4), (3, 3, 4), "B (dimension 0) or T (dimension 1), of size 3, is missing"),
        ((2, 3), (2, 3, 1), "D (dimension 2), of size 1, is missing; keepdim=True keeps it"),
        ((1, 2, 3, 4), (2, 3, 4), "one dimension of size 1 is too many: dimension 0"),
        ((1, 1, 2), (1, 2), "one dimension of size 1 is too many"),
        ((2, 6, 2), (2, 3, 4), "divided into other dimensions"),
        ((2, 2, 2), (2, 3, 4), ""),
        ((5,), (2, 3, 4), ""),
        ((0,), (3,), ""),
        ((), (2,), "B (dimension 0), of size 2, is missing"),
    ],
)
def test_shapes_are_told(got, want, said) -> None:
    names = "B T D" if len(want) == 3 else "B"
    found = shape_pattern(got, want, names)
    assert said in found if said else found == ""


@given(got=st.lists(st.integers(0, 4), max_size=5), want=st.lists(st.integers(0, 4), max_size=5))
@PROPERTY
def test_any_two_shapes_are_told_apart_without_an_error(got, want) -> None:
    assert isinstance(shape_pattern(got, want, "... T D"), str)


def test_names_of_dimensions() -> None:
    assert dimension("B T D", 3, 2) == "D (dimension 2)"
    assert dimension("... Tq Tk", 4, 3) == "Tk (dimension 3)"
    assert dimension("... Tq Tk", 4, 0) == "dimension 0"
    assert dimension("... Tq Tk", 2, 0) == "Tq (dimension 0)"
    assert dimension("B T D", 2, 0) == dimension("", 2, 0) == "dimension 0"
    assert dimension("... Tq Tk", 1, 0) == "dimension 0"


def test_zeros_that_nothing_touches_are_no_sign_of_where_it_is_wrong() -> None:
    want = np.array([[-0.05, 0.05, -0.04], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    got = np.array([[-0.02, 0.03, -0.01], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert pattern(got, want, "V V", 1.0) == ""
    want[1:] = got[1:] = [[0.3, 0.1, 0.2], [0.7, -0.4, 0.9]]
    assert "index 0" in pattern(got, want, "V V", 1.0)
