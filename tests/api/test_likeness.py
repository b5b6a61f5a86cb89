"""Two replies are the same except for rounding and for what is not compared."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.api.likeness import Comparison, all_alike, same_reply, tolerance_of
from autograder.api.messages import PARTS, Reply, Request, StudentError
from autograder.api.values import ABSENT, OPAQUE
from tests.asking import asks

X = torch.tensor([[0.5, -1.25, 3.0], [2.0, -0.75, 1.5]], dtype=torch.float64)


def near(x: Tensor, share: float) -> Tensor:
    """Return a tensor that is away by this share of its dtype's tolerance, times the largest."""
    absolute = tolerance_of(x.dtype)[1]
    return (x.double() + share * absolute * max(1.0, float(x.double().abs().max()))).to(x.dtype)


def both_ways(one: Reply, other: Reply, **options: Any) -> bool:
    found = same_reply(one, other, **options)
    assert same_reply(other, one, **options) == found
    return found


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_an_output_may_be_off_by_a_few_tolerances_and_a_gradient_by_many(
    dtype: torch.dtype,
) -> None:
    x = X.to(dtype)
    assert both_ways(Reply(value=x), Reply(value=near(x, 2)))
    assert not both_ways(Reply(value=x), Reply(value=near(x, 20)))
    assert both_ways(Reply(input_gradients=[x]), Reply(input_gradients=[near(x, 20)]))
    assert not both_ways(Reply(input_gradients=[x]), Reply(input_gradients=[near(x, 200)]))


def test_bfloat16_has_room_for_rounding_as_it_is() -> None:
    x = X.to(torch.bfloat16)
    assert both_ways(Reply(value=x), Reply(value=near(x, 0.5)))
    assert not both_ways(Reply(value=x), Reply(value=near(x, 3)))
    # Where it adds up, four times as much.
    assert both_ways(Reply(input_gradients=[x]), Reply(input_gradients=[near(x, 3)]))
    assert not both_ways(Reply(input_gradients=[x]), Reply(input_gradients=[near(x, 9)]))


def test_whole_numbers_and_masks_must_be_equal() -> None:
    for one, other in (
        (torch.tensor([1, 2]), torch.tensor([1, 3])),
        (torch.tensor([True, False]), torch.tensor([True, True])),
    ):
        assert both_ways(Reply(value=one), Reply(value=one.clone()))
        assert not both_ways(Reply(value=one), Reply(value=other))


def test_nan_equals_nan_and_nothing_else() -> None:
    bad = X.clone()
    bad[0, 1] = torch.nan
    assert both_ways(Reply(value=bad), Reply(value=bad.clone()))
    assert not both_ways(Reply(value=bad), Reply(value=X))
    infinite = X.clone()
    infinite[0, 1] = torch.inf
    assert both_ways(Reply(value=infinite), Reply(value=infinite.clone()))
    assert not both_ways(Reply(value=infinite), Reply(value=-infinite))
    assert not both_ways(Reply(value=infinite), Reply(value=X))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_least_number_of_a_dtype_stands_for_minus_infinity(dtype: torch.dtype) -> None:
    scores = X.to(dtype)
    least, infinite = scores.clone(), scores.clone()
    least[0, 1], infinite[0, 1] = torch.finfo(dtype).min, -torch.inf
    assert both_ways(Reply(value=least), Reply(value=infinite))
    assert not both_ways(Reply(value=least), Reply(value=-infinite))
    assert not both_ways(Reply(value=least), Reply(value=scores))


def test_a_nan_that_was_made_a_zero_is_beside_the_point() -> None:
    right = torch.tensor([0.0, 1.0])
    compare = Comparison(void=True)
    assert compare.numbers(torch.tensor([0.0, 0.5]), torch.tensor([torch.nan, 0.5]), right) <= 1
    assert compare.voided
    compare = Comparison(void=True)
    assert compare.numbers(torch.tensor([0.0, 1.0]), torch.tensor([torch.nan, 0.5]), right) > 1


@pytest.mark.parametrize("other", [X[:1], X.T, X[None], X[:0]])
def test_another_shape_is_another_answer(other: Tensor) -> None:
    assert not both_ways(Reply(value=X), Reply(value=other))


def test_a_list_and_a_tuple_are_the_same_and_a_longer_one_is_not() -> None:
    assert both_ways(Reply(value=(X, X)), Reply(value=[X, X]))
    assert not both_ways(Reply(value=(X, X)), Reply(value=(X, X, X)))
    assert not both_ways(Reply(value=(X, X)), Reply(value=(X, X + 1)))
    assert not both_ways(Reply(value=[X]), Reply(value=X))
    assert both_ways(Reply(value=([X, 1], None)), Reply(value=[(X, 1), None]))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (None, ABSENT),
        (OPAQUE, ABSENT),
        (1, 1.0),
        (True, 1),
        ("1", 1),
        (0.5, 0.51),
        (3, 4),
        ("a", "b"),
        (X, 1.0),
        (X, None),
    ],
)
def test_values_of_another_kind_are_other_answers(one: object, other: object) -> None:
    assert both_ways(Reply(value=one), Reply(value=one))
    assert not both_ways(Reply(value=one), Reply(value=other))


def test_numbers_may_be_rounded() -> None:
    assert both_ways(Reply(value=0.5), Reply(value=0.5 + 1e-6))
    assert both_ways(Reply(value=float("nan")), Reply(value=float("nan")))


def test_dtypes_count_unless_they_are_not_to() -> None:
    one, other = Reply(value=X), Reply(value=X.float())
    assert not both_ways(one, other)
    assert both_ways(one, other, dtypes=False)
    # The kind of number counts in any case.
    whole = Reply(value=torch.ones(2)), Reply(value=torch.ones(2, dtype=torch.int64))
    assert not both_ways(*whole, dtypes=False)
    # That of a gradient hangs on the inputs alone.
    assert both_ways(Reply(input_gradients=[X]), Reply(input_gradients=[X.float()]))


def test_dtypes_count_only_where_a_floating_point_tensor_goes_in() -> None:
    replies = [Reply(value=X)], [Reply(value=X.float())]
    for argument, counts in ((X, True), (torch.tensor([1, 2]), False), (3, False)):
        request = Request([asks("f", argument)])
        assert all_alike(*replies, [request]) is not counts


def test_every_reply_of_an_answer_must_be_the_same() -> None:
    request = Request([asks("f", X)])
    right, wrong = Reply(value=X), Reply(value=X + 1)
    assert all_alike([right, right], [right, right], [request])
    assert not all_alike([right, right], [right, wrong], [request])
    with pytest.raises(ValueError, match="shorter"):
        all_alike([right, right], [right], [request])


def test_errors_are_the_same_by_their_kind_whatever_they_say_and_wherever_they_happen() -> None:
    one = Reply(error=StudentError("ValueError", "build", "one", "a.py", 1))
    other = Reply(error=StudentError("ValueError", "call", "other", "b.py", 2))
    assert both_ways(one, other)
    assert not both_ways(one, Reply(error=StudentError("TypeError", "build", "one", "a.py", 1)))
    assert not both_ways(one, Reply(value=X))
    assert not both_ways(one, Reply())


def test_whether_gradients_flow_counts() -> None:
    one = Reply(value=X, gradient="computed", input_gradients=[X])
    assert not both_ways(one, Reply(value=X, gradient="detached"))
    assert not both_ways(one, Reply(value=X, gradient="computed", input_gradients=[None]))
    assert not both_ways(one, Reply(value=X, gradient="computed", input_gradients=[X, X]))
    missing = Reply(value=X, gradient="computed", input_gradients=[None])
    assert both_ways(missing, missing)


@pytest.mark.parametrize("name", ["state", "parameters", "parameter_gradients"])
def test_dictionaries_have_the_same_keys_in_any_order(name: str) -> None:
    one = Reply(**{name: {"weight": X, "bias": X[0]}})
    assert both_ways(one, Reply(**{name: {"bias": X[0], "weight": X}}))
    assert not both_ways(one, Reply(**{name: {"weight": X}}))
    assert not both_ways(one, Reply(**{name: {"weight": X, "scale": X[0]}}))
    assert not both_ways(one, Reply(**{name: {"weight": X, "bias": X[1]}}))


@pytest.mark.parametrize("name", PARTS)
def test_every_part_of_a_reply_counts(name: str) -> None:
    held = {"value": X, "tensor": X, "tensors": [X], "named": {"weight": X}}[PARTS[name].holds]
    off = {"value": -X, "tensor": -X, "tensors": [-X], "named": {"weight": -X}}[PARTS[name].holds]
    assert both_ways(Reply(**{name: held}), Reply(**{name: held}))
    assert not both_ways(Reply(**{name: held}), Reply(**{name: off}))
    assert not both_ways(Reply(**{name: held}), Reply())


def draw(seed: int, size: int = 4000, scale: float = 1.0, zeros: float = 0.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    values = scale * torch.randn(size, generator=generator)
    return values * (torch.rand(size, generator=generator) >= zeros)


def test_of_random_draws_only_the_statistics_count() -> None:
    one = Reply(value=draw(1))
    assert not both_ways(one, Reply(value=draw(2)))
    assert both_ways(one, Reply(value=draw(2)), drawn=True)
    assert not both_ways(one, Reply(value=draw(2, scale=2.0)), drawn=True)
    assert not both_ways(one, Reply(value=draw(2) + 1), drawn=True)
    assert not both_ways(one, Reply(value=draw(2, size=4001)), drawn=True)


def test_whole_numbers_that_are_drawn_are_samples_like_others() -> None:
    def words(seed: int, below: int) -> Reply:
        generator = torch.Generator().manual_seed(seed)
        return Reply(value=torch.randint(0, below, (2000, 1), generator=generator))

    assert not both_ways(words(1, 5), words(2, 5))
    assert both_ways(words(1, 5), words(2, 5), drawn=True)
    assert not both_ways(words(1, 5), words(2, 6), drawn=True)
    assert not both_ways(words(1, 5), Reply(value=words(2, 5).value.int()), drawn=True)


def test_the_share_of_zeros_tells_one_dropout_from_another() -> None:
    one = Reply(value=draw(1, zeros=0.5))
    assert both_ways(one, Reply(value=draw(2, zeros=0.5)), drawn=True)
    assert not both_ways(one, Reply(value=draw(2, zeros=0.1, scale=0.75)), drawn=True)


def test_few_random_draws_say_nothing() -> None:
    assert both_ways(
        Reply(value=draw(1, size=9)), Reply(value=draw(2, size=9, scale=5)), drawn=True
    )


def test_what_does_not_hang_on_draws_is_compared_in_any_case() -> None:
    for name in ("inputs_after", "given"):
        values = [[draw(1)], [draw(2)]] if name == "inputs_after" else [draw(1), draw(2)]
        one, other = (Reply(**{name: value}) for value in values)
        assert both_ways(one, one, drawn=True)
        assert not both_ways(one, other, drawn=True)


def test_a_tensor_without_values_stands_for_any_draw_of_its_shape() -> None:
    shape = Reply(value=X.to("meta"))
    assert both_ways(shape, Reply(value=X), drawn=True)
    assert not both_ways(shape, Reply(value=X[:1]), drawn=True)
    assert not both_ways(shape, Reply(value=X))
    assert both_ways(shape, Reply(value=X.to("meta")))


def test_comparing_changes_nothing() -> None:
    one, other = Reply(value=X.clone()), Reply(value=X.clone())
    both_ways(one, other)
    both_ways(one, other, drawn=True)
    assert torch.equal(one.value, X)
    assert torch.equal(other.value, X)
