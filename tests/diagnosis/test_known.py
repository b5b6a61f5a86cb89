"""A student's own run names a mistake by the numbers that travel with a release, or names none."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import Reset
from autograder.diagnosis.known import KnownMistakes
from autograder.diagnosis.table import Known, read_known, read_question, write_known, write_question
from tests.asking import asks

Double = Callable[[Tensor], Tensor]
# Of a component `double`, by number; the words of a mistake are its name.
INPUTS = [torch.tensor([n, n / 2, -n]) for n in (1.0, 3.0, 15.0)]
MISTAKES: dict[str, Double] = {
    "three times": lambda x: 3 * x,
    "three times if small": lambda x: 3 * x if float(x.max()) < 2 else 2 * x,
    "cut at 20": lambda x: (2 * x).clamp(max=20),
    "sign lost": lambda x: (2 * x).abs(),
}


def right(x: Tensor) -> Tensor:
    return 2 * x


def both(x: Tensor) -> Tensor:
    return (3 * x).clamp(max=20)


def request(x: Tensor) -> Request:
    return Request([Reset(), asks("double", x)])


def answer(function: Double, x: Tensor) -> dict[str, Any]:
    return write_known(Known([Reply(value=function(x))]))


def table() -> dict[str, Any]:
    return {
        "questions": [
            {"asks": write_question([request(x)]), "slack": {}, "right": answer(right, x)}
            | {"free": False}
            for x in INPUTS
        ],
        "mistakes": [
            {
                "words": name,
                "branch": False,
                "loses": ["double.large"] if name == "cut at 20" else ["double.works"],
                "answers": {
                    str(number): answer(function, x)
                    for number, x in enumerate(INPUTS)
                    if not torch.equal(function(x), right(x))
                },
            }
            for name, function in MISTAKES.items()
        ],
        # What the others answer together is not known.
        "pairs": [
            {"of": [one, other], "as": {}}
            | {"answers": {"2": answer(both, INPUTS[2])} if (one, other) == (0, 2) else {}}
            for one, other in itertools.combinations(range(len(MISTAKES)), 2)
        ],
        "apart": [],
    }


class Student:
    """A student's component that is asked in its own process."""

    def __init__(self, function: Double) -> None:
        self.function = function

    def perform(self, asked: Request) -> Reply:
        (x,) = asked.tensors()
        try:
            return Reply(value=self.function(x))
        except ValueError:
            return Reply(error=StudentError("ValueError", "call"))


def raises(x: Tensor) -> Tensor:
    raise ValueError


@pytest.mark.parametrize(
    ("student", "works", "large"),
    [
        (lambda x: x + x + x, ["three times"], []),
        (MISTAKES["three times if small"], ["three times if small"], []),
        (MISTAKES["cut at 20"], [], ["cut at 20"]),
        # Each criterion is told of the mistakes that lose it.
        (both, ["three times"], ["cut at 20"]),
        # One known mistake, and where it does not show something that is in no table.
        (lambda x: 3 * x if float(x.max()) < 2 else 7 * x, [], []),
        (lambda x: x + x, [], []),
        (lambda x: 7 * x, [], []),
        (lambda x: x * torch.nan, [], []),
        (raises, [], []),
    ],
)
def test_what_is_named(student: Double, works: list[str], large: list[str]) -> None:
    found, session = KnownMistakes(table()), Student(student)
    assert found.causes("double.works", session) == works
    assert found.causes("double.large", session) == large


def test_what_is_right_but_for_rounding_speaks_against_no_mistake_that_does_not_show_there() -> (
    None
):
    # A twentieth more off than marks allow where the mistake does not show.
    student = Student(lambda x: 3 * x if float(x.max()) < 2 else 2.000168 * x)
    assert KnownMistakes(table()).causes("double.works", student) == ["three times if small"]


def test_what_is_lost_by_two_mistakes_names_them_in_one_text() -> None:
    plain = table()
    plain["mistakes"][2]["loses"].append("double.works")
    found = KnownMistakes(plain).causes("double.works", Student(both))
    assert found == ["both of these: three times; and cut at 20"]


def test_mistakes_that_answer_alike_are_told_as_one_or_the_other() -> None:
    plain = table()
    plain["mistakes"].append(plain["mistakes"][0] | {"words": "thrice"})
    found = KnownMistakes(plain).causes("double.works", Student(lambda x: 3 * x))
    assert found == ["three times", "thrice"]


def test_a_mistake_in_one_branch_is_tried_where_no_other_fits() -> None:
    plain = table()
    plain["mistakes"][2] |= {"branch": True}
    plain["pairs"] = [pair for pair in plain["pairs"] if 2 not in pair["of"]]
    name = plain["mistakes"][2]["words"]
    found = KnownMistakes(plain).causes(plain["mistakes"][2]["loses"][0], Student(MISTAKES[name]))
    assert found == [name]
    # Together with others it is not tried.
    assert KnownMistakes(plain).causes("double.works", Student(both)) != [
        "three times; and " + name
    ]


def test_a_component_is_asked_once() -> None:
    asked: list[Request] = []

    class Noted(Student):
        def perform(self, request: Request) -> Reply:
            asked.append(request)
            return super().perform(request)

    found, session = KnownMistakes(table()), Noted(both)
    for _ in range(2):
        found.causes("double.works", session)
    assert len(asked) == len(INPUTS)


X = torch.arange(1.0, 33.0)


def dropped(x: Tensor, scale: float = 2.0, flipped: bool = False) -> Tensor:
    """Drop half of the values; `flipped` is another machine, which draws otherwise."""
    torch.manual_seed(7)
    kept = torch.rand(len(x)) < 0.5
    return x * (~kept if flipped else kept) * scale


DROPPING: dict[str, Double] = {
    "not scaled": lambda x: dropped(x, scale=1.0),
    "never dropped": lambda x: x,
}


def drawn_table() -> dict[str, Any]:
    def drawn(function: Double) -> dict[str, Any]:
        return write_known(Known([Reply(value=function(X))], drawn=True))

    return {
        "questions": [
            {"asks": write_question([request(X)]), "slack": {}, "right": drawn(dropped)}
            | {"free": False}
        ],
        "mistakes": [
            {"words": name, "branch": False, "loses": ["double.works"]}
            | {"answers": {"0": drawn(function)}}
            for name, function in DROPPING.items()
        ],
        "pairs": [{"of": [0, 1], "as": {}, "answers": {}}],
        "apart": [],
    }


@pytest.mark.parametrize(
    ("student", "named"),
    [
        *((function, [name]) for name, function in DROPPING.items()),
        (dropped, []),
        # Where torch draws otherwise, nothing tells a mistake from another draw of what is right.
        (lambda x: dropped(x, flipped=True), []),
        (lambda x: dropped(x, scale=1.0, flipped=True), []),
        (lambda x: dropped(x, scale=3.0), []),
    ],
)
def test_what_is_drawn_is_named_where_the_same_is_drawn(student: Double, named: list[str]) -> None:
    assert KnownMistakes(drawn_table()).causes("double.works", Student(student)) == named


def by_hand(rate: float, scale: float, seed: int) -> Double:
    """Drop values with a generator of one's own, which draws other ones each time."""
    seeds = itertools.count(seed)

    def drop(x: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(next(seeds))
        return x * (torch.rand(len(x), generator=generator) >= rate) * scale

    return drop


RATES = {"not scaled": (0.5, 1.0), "a rate of 0.1": (0.1, 1 / 0.9)}


@pytest.mark.parametrize(
    ("student", "named"),
    [
        *((by_hand(*drawn, 100), [name]) for name, drawn in RATES.items()),
        (by_hand(0.5, 2.0, 100), []),
        (by_hand(0.3, 1 / 0.7, 100), []),
        (by_hand(0.5, 3.0, 100), []),
        # The same however it is asked: it was not drawn.
        (lambda x: by_hand(0.1, 1 / 0.9, 100)(x), []),
    ],
)
def test_what_is_drawn_otherwise_is_named_by_its_distribution(
    student: Double, named: list[str]
) -> None:
    x = torch.arange(1.0, 801.0)

    def drawn(rate: float, scale: float) -> dict[str, Any]:
        known = Known([Reply(value=by_hand(rate, scale, 1)(x))], drawn=True)
        written: dict[str, Any] = json.loads(json.dumps(write_known(known)))
        assert len(str(written)) < 1000
        return written

    plain = {
        "questions": [
            {"asks": write_question([request(x)]), "slack": {}, "right": drawn(0.5, 2.0)}
            | {"free": False}
        ],
        "mistakes": [
            {"words": name, "branch": False, "loses": ["double.works"]}
            | {"answers": {"0": drawn(*rate)}}
            for name, rate in RATES.items()
        ],
        "pairs": [{"of": [0, 1], "as": {}, "answers": {}}],
        "apart": [],
    }

    class Asked(Student):
        def perform(self, asked: Request) -> Reply:
            # Long questions are written short.
            return Reply(value=self.function(x))

    assert KnownMistakes(plain).causes("double.works", Asked(student)) == named


def test_a_draw_where_nothing_is_to_be_drawn_is_named_by_its_form() -> None:
    plain = table()
    always = write_known(Known([Reply(value=torch.zeros(3))], drawn=True))
    plain["mistakes"].append(
        {"words": "always drawn", "branch": False, "loses": ["double.works"]}
        | {"answers": {str(number): always for number in range(len(INPUTS))}}
    )
    plain["pairs"] += [{"of": [one, 4], "as": {}, "answers": {}} for one in range(4)]
    draws = itertools.count(1)
    found = KnownMistakes(plain).causes("double.works", Student(lambda x: 100 * x + next(draws)))
    assert found == ["always drawn"]
    # What is the same however it is asked was not drawn.
    assert KnownMistakes(plain).causes("double.works", Student(lambda x: 100 * x)) == []


def test_an_exception_of_a_mistake_says_nothing_by_itself() -> None:
    plain = table()
    error = Reply(error=StudentError("ValueError", "call"))
    first = plain["mistakes"][0]
    first["answers"]["1"] = write_known(Known([error], raised=True))

    def raising(at: float) -> Double:
        return lambda x: raises(x) if float(x[0]) == at else 3 * x

    assert KnownMistakes(plain).causes("double.works", Student(raising(3.0))) == ["three times"]
    assert KnownMistakes(plain).causes("double.works", Student(raising(1.0))) == []
    # Where there is nothing else, it must be raised in these questions and in no other.
    first["answers"] = {"1": first["answers"]["1"]}
    at_three = Student(lambda x: raises(x) if float(x[0]) == 3.0 else 2 * x)
    assert KnownMistakes(plain).causes("double.works", at_three) == ["three times"]
    at_one = Student(lambda x: raises(x) if float(x[0]) == 1.0 else 2 * x)
    assert KnownMistakes(plain).causes("double.works", at_one) == []
    first["answers"] = {str(number): first["answers"]["1"] for number in range(len(INPUTS))}
    assert KnownMistakes(plain).causes("double.works", Student(raises)) == []


def test_two_mistakes_that_are_known_nowhere_together_are_not_named() -> None:
    plain = table()
    plain["pairs"] = [{**pair, "answers": {}} for pair in plain["pairs"]]
    # In the first question the one shows alone, in the last one both do.
    assert KnownMistakes(plain).causes("double.works", Student(both)) == []


def test_long_questions_are_written_short_and_read_as_they_were_asked() -> None:
    ids = torch.arange(200)
    turned, meta = torch.randn(50, 40).mT, torch.empty(3, 4, device="meta")
    for tensor in (torch.randn(40, 50), turned, ids, ids > 3, meta):
        (read,) = read_question(write_question([request(tensor)]))
        (again,) = read.tensors()
        assert again.is_contiguous() == tensor.is_contiguous()
        assert (again.shape, again.dtype, again.device) == (
            tensor.shape,
            tensor.dtype,
            tensor.device,
        )
        if not tensor.is_floating_point():
            assert torch.equal(again, tensor)
        # What a release answers and what a student's run asks is the same.
        assert write_question([read]) == write_question([request(tensor)])
    assert len(str(write_question([request(torch.randn(200, 300))]))) < 2_000


def test_what_is_as_it_is_right_is_not_repeated_and_read_from_there() -> None:
    right = Known([Reply(value=X), Reply(error=StudentError("ValueError", "call"))])
    wrong = Known([Reply(value=X), Reply(value=2 * X, inputs_after=[X])])
    beside = write_known(right)
    written = write_known(wrong, beside)
    assert len(str(written)) < len(str(write_known(wrong)))
    read = read_known(json.loads(json.dumps(written)), read_known(beside))
    assert write_known(read) == write_known(wrong)
    two = [Known([Reply(value=value)]) for value in (2, 2.0)]
    assert (
        type(read_known(write_known(two[1], write_known(two[0])), two[0]).replies[0].value) is float
    )
    assert read_known(json.loads(json.dumps(beside))).replies[1].error == right.replies[1].error


def test_two_that_cannot_be_in_one_component_are_never_told() -> None:
    plain = table()
    words = [mistake["words"] for mistake in plain["mistakes"]]
    told = KnownMistakes(plain).solution(Student(both)).names
    assert len(told) == 2
    plain["apart"] = [sorted(map(words.index, told))]
    assert KnownMistakes(plain).solution(Student(both)).names != told
