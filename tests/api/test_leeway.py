"""What two answers may differ in and still be one mistake: tolerance, draws, names, devices."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from autograder.api.likeness import Comparison
from autograder.api.messages import Reply, Request, StudentError
from autograder.diagnosis.table import Known, read_known, sampled, write_known
from autograder.judge.suite import Suite
from tests.asking import asks

X = torch.tensor([[0.5, -1.25, 3.0], [2.0, -0.75, 1.5]])
ASKED = [Request([asks("f", X)])]


def apart(compare: Comparison, one: Reply, other: Reply, third: Reply | None = None) -> float:
    return compare.replies([one], [other], ASKED, None if third is None else [third])


def test_the_tolerance_of_a_question_is_the_one_that_counts() -> None:
    off = Reply(value=X + 1e-3)
    assert apart(Comparison(), off, Reply(value=X)) > 1
    assert apart(Comparison({"float32": 100.0}), off, Reply(value=X)) < 1
    # That of another fineness is none.
    assert apart(Comparison({"bfloat16": 100.0}), off, Reply(value=X)) > 1


def test_the_tolerance_is_noted_while_the_solution_is_graded(suite: Suite) -> None:
    plan = suite.plans["positional_encoding.encoding"]
    # 512 positions are compared with 1 + 512 / 50 times the usual tolerance.
    assert {planned.slack["float32"] for planned in plan} == {11.24}
    shapes = suite.plans["feed_forward.session_shapes"]
    assert [dict(planned.slack) for planned in shapes] == [{}]


def dropped(seed: int, size: int, rate: float) -> Reply:
    values = torch.randn(size, generator=torch.Generator().manual_seed(1)).abs() + 1
    keep = torch.rand(size, generator=torch.Generator().manual_seed(seed)) >= rate
    return Reply(value=values * keep / (1 - rate))


@pytest.mark.parametrize(("size", "told"), [(9, False), (200, False), (4000, True)])
def test_samples_part_only_where_they_are_large_enough(size: int, told: bool) -> None:
    for seed in range(20):
        one = dropped(seed, size, 0.1)
        other = dropped(seed + 50, size, 0.0), dropped(seed + 90, size, 0.0)
        assert (apart(Comparison(drawn=True), one, *other) > 1) is told
        like = dropped(seed + 50, size, 0.1), dropped(seed + 90, size, 0.1)
        assert apart(Comparison(drawn=True), one, *like) < 1


def test_where_a_mistake_makes_no_number_any_wrong_one_will_do() -> None:
    nothing = X.clone()
    nothing[0] = math.nan
    wrong = X.clone()
    wrong[0] += 1
    compare = Comparison(void=True)
    assert apart(compare, Reply(value=wrong), Reply(value=nothing), Reply(value=X)) == 0
    assert compare.voided
    # A right one will not.
    compare = Comparison(void=True)
    assert apart(compare, Reply(value=X), Reply(value=nothing), Reply(value=X)) == math.inf
    assert not compare.voided


def state(**entries: Tensor) -> Reply:
    return Reply(state=dict(entries))


def test_another_name_is_one_mistake_whatever_it_is() -> None:
    right = state(weight=X)
    assert apart(Comparison(), state(w=X), state(gamma=X[0]), right) == 0
    assert apart(Comparison(), state(w=X), right, right) == math.inf
    assert apart(Comparison(), state(w=X, weight=X), state(gamma=X), right) == math.inf


def test_what_is_computed_from_coarse_numbers_may_be_off_in_any_dtype() -> None:
    near, far = X + 1e-3, X + 1
    right = Reply(value=X.to(torch.bfloat16))
    assert apart(Comparison(), Reply(value=near), Reply(value=X), right) <= 1
    assert apart(Comparison(), Reply(value=far), Reply(value=X), right) > 1
    # Where the right answer is as fine, it may not.
    assert apart(Comparison(), Reply(value=near), Reply(value=X), Reply(value=X + 2)) > 1


def test_leaving_a_device_is_one_mistake_whatever_comes_of_it() -> None:
    right, left = Reply(value=X.to("meta")), Reply(value=X)
    clash = Reply(error=StudentError("DeviceMismatch", "call"))
    other = Reply(error=StudentError("ValueError", "call"))
    assert apart(Comparison(), clash, left, right) == 0
    assert apart(Comparison(), other, left, right) == math.inf
    assert apart(Comparison(), right, left, right) == math.inf


def test_changing_an_argument_is_one_mistake_whatever_it_holds_then() -> None:
    def after(tensor: Tensor) -> Reply:
        return Reply(value=X, inputs_after=[tensor])

    right = after(X)
    assert apart(Comparison(), after(2 * X), after(X.T), right) == 0
    assert apart(Comparison(), after(X), after(X.T), right) == math.inf
    # Where it is right to change it, it matters to what.
    assert apart(Comparison(), after(2 * X), after(3 * X), after(4 * X)) > 1


def test_a_sample_is_read_as_it_was_written() -> None:
    reply = Reply(value=torch.randn(7, 9), state={"w": X})
    known = Known([reply])
    written = write_known(known)
    [read] = read_known(written).replies
    [mine] = sampled([reply], known.kept)
    assert int((~mine.value.isnan()).sum()) == 12
    assert torch.allclose(mine.value, read.value, 1e-5, 1e-5, equal_nan=True)
    assert torch.equal(read.state["w"], X)
