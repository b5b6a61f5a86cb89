"""What an instructor reads of two answers and of the call that was made."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import pytest
import torch

from autograder.api.likeness import same_reply
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import Reset
from autograder.api.values import DTYPES, OPAQUE, Handle, Made, Named
from autograder.judge.explain import differences, traced, written_answer, written_call
from autograder.judge.session import UNANSWERED, Planned
from autograder.judge.suite import Attempt
from autograder.sandbox.wire import encode_request
from tests.asking import asks

X = torch.tensor([1.0, 2.0, 3.0])


def answered(*values: object, **parts: object) -> Reply:
    return Reply(value=values[0] if len(values) == 1 else values, **parts)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (asks("Norm", 3, into=1, module=True, kwargs={"eps": 0.1}), "object1 = Norm(3, eps=0.1)"),
        (
            asks("Head", Made("embedding", (X[None],)), into=2, module=True),
            "object2 = Head(nn.Embedding with weight "
            "float32 tensor of shape (1, 3): [[1.0, 2.0, 3.0]])",
        ),
        (
            asks("", {"weight": X, "bias": X[:1]}, of=1, verb="load"),
            "object1.load_state_dict({weight: float32 tensor of shape (3,): [1.0, 2.0, 3.0], "
            "bias: float32 tensor of shape (1,): [1.0]})",
        ),
        (asks("", torch.bfloat16, of=1, verb="to"), "object1.to(bfloat16)"),
        (asks("", None, "meta", of=1, verb="to"), "object1.to(meta)"),
        (asks("", torch.float64, "cpu", of=1, verb="to"), "object1.to(float64, cpu)"),
        (asks("", False, of=1, verb="train"), "object1.train(False)"),
        (
            asks("", X, of=1, verb="write_given"),
            "the embedding given to object1 becomes float32 tensor of shape (3,): [1.0, 2.0, 3.0]",
        ),
        (asks("", of=3, verb="state"), "object3.state_dict()"),
        (asks("f"), "f()"),
        (
            asks("f", X, None, "text", True, 2, kwargs={"eps": 0.5}),
            "f(float32 tensor of shape (3,): [1.0, 2.0, 3.0], None, 'text', True, 2, eps=0.5)",
        ),
        (asks("", 2, of=1), "object1(2)"),
        (asks("join", Handle(2), of=1), "object1.join(object2)"),
        (asks("step", 2, of=1), "object1.step(2)"),
        (asks("f", 1, seed=7), "f(1), after torch.manual_seed(7)"),
        (
            asks("f", 1, cotangent=X),
            "f(1), and gradients of (output * float32 tensor of shape (3,): [1.0, 2.0, 3.0]).sum()",
        ),
        (
            asks("f", torch.ones(2, device="meta")),
            "f(float32 tensor of shape (2,) on meta)",
        ),
        (asks("f", torch.ones(5, 9)), "f(float32 tensor of shape (5, 9))"),
        (asks("f", 3, of=Named("provided.tools")), "tools.f(3)"),
        (asks("f", "x" * 300), f"f('{'x' * 300}')"),
        (asks("walk", 3, of=1, into=2, module=True), "object2 = object1.walk(3)"),
        (asks("weight", of=1, verb="get"), "object1.weight"),
        (asks("", 3, of=1, verb="take"), "the next 3 of object1"),
        (
            asks("", ("-n", "2"), "a b", {"in.txt": b"", "more.txt": b""}, verb="run"),
            "the program('-n', '2', stdin='a b'), with files in.txt, more.txt",
        ),
        (asks("", (), "", {}, verb="run"), "the program()"),
    ],
)
def test_every_operation_is_written_out(operation: object, words: str) -> None:
    assert written_call([Request([operation])]) == [words]


def test_a_reset_is_left_out() -> None:
    assert written_call([Request([Reset(3), asks("f")])]) == ["f()"]
    assert written_call([Request([])]) == []


def test_a_call_of_a_module_comes_with_what_made_it_and_nothing_else() -> None:
    requests = [
        Request(
            [
                Reset(),
                asks("Norm", 3, into=1, module=True),
                asks("", {"weight": X[:1]}, of=1, verb="load"),
                asks("", 1, of=1),
            ]
        ),
        Request([asks("Other", into=2, module=True), asks("", of=2)]),
        Request([asks("f")]),
        Request([asks("", True, of=1, verb="train"), asks("", of=1, verb="state")]),
        Request([asks("", torch.float64, of=1, verb="to"), asks("", 2, of=1)]),
    ]
    assert written_call(requests) == [
        "object1 = Norm(3)",
        "object1.load_state_dict({weight: float32 tensor of shape (1,): [1.0]})",
        "object1.train(True)",
        "object1.to(float64)",
        "object1(2)",
    ]
    # A function hangs on nothing that was made before.
    assert written_call(requests[:3]) == ["f()"]


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        (answered(X), ["output: float32 tensor of shape (3,): [1.0, 2.0, 3.0]"]),
        (
            answered(X[:1], X[1:2]),
            [
                "returned a pair of tensors",
                "output 1: float32 tensor of shape (1,): [1.0]",
                "output 2: float32 tensor of shape (1,): [2.0]",
            ],
        ),
        (answered(None), ["output: none"]),
        (answered(1.5), ["returned a plain number", "output: 1.5"]),
        (answered("text"), ["returned a text", "output: 'text'"]),
        (
            answered("a", "b", "c"),
            ["returned a tuple of 3", "output 1: 'a'", "output 2: 'b'", "output 3: 'c'"],
        ),
        (answered(OPAQUE), ["returned an object of another class", "output: no value"]),
        (Reply(), ["returned None (is the `return` missing?)"]),
        (
            answered(X[:1], gradient="detached"),
            ["output: float32 tensor of shape (1,): [1.0]", "gradients: detached"],
        ),
        (
            answered(X[:1], gradient="computed", input_gradients=[None, X[:1]]),
            [
                "output: float32 tensor of shape (1,): [1.0]",
                "gradient of tensor argument 1: none",
                "gradient of tensor argument 2: float32 tensor of shape (1,): [1.0]",
            ],
        ),
        (
            Reply(state={"weight": X[:1]}, parameters={"weight": X[:1]}, given=X[:1]),
            [
                "state_dict entry weight: float32 tensor of shape (1,): [1.0]",
                "parameter weight: float32 tensor of shape (1,): [1.0]",
                "weight of the given embedding: float32 tensor of shape (1,): [1.0]",
            ],
        ),
        (
            answered(None, inputs_after=[X[:1]]),
            [
                "output: none",
                "tensor argument 1 after the call: float32 tensor of shape (1,): [1.0]",
            ],
        ),
        (
            Reply(error=StudentError("ValueError", "call", "too small", "a.py", 3)),
            ["raised ValueError (a.py, line 3): too small"],
        ),
    ],
)
def test_every_answer_is_written_out(reply: Reply, lines: list[str]) -> None:
    assert written_answer(reply) == lines


def test_a_long_answer_is_cut_with_the_number_of_what_is_left() -> None:
    reply = Reply(state={f"k{number:02}": X[:1] for number in range(20)})
    lines = written_answer(reply)
    assert len(lines) == 13
    assert lines[-1] == "and 8 more"


def differ(mine: object, right: object) -> list[str]:
    return differences(answered(mine), answered(right))


def test_equal_answers_have_no_difference_but_rounding() -> None:
    assert differ(X, X.clone()) == ["output: equal except for rounding (largest error 0)"]
    assert differ(X, X + 1e-6) == ["output: equal except for rounding (largest error 9.54e-07)"]
    assert differ(None, None) == []
    assert differ(1.5, 1.5) == []


def test_where_values_differ_the_worst_place_and_their_number_are_told() -> None:
    right = torch.zeros(2, 3)
    mine = right.clone()
    mine[1, 2], mine[0, 0] = 0.5, 0.25
    assert differ(mine, right) == [
        "output: largest error 0.5 at [1, 2]: answered 0.5, right 0; 2 of 6 values differ"
    ]
    assert differ(torch.tensor(3.0), torch.tensor(1.0)) == [
        "output: largest error 2: answered 3, right 1; 1 of 1 values differ"
    ]


def test_a_nan_is_the_worst_of_all() -> None:
    mine = torch.tensor([9.0, torch.nan, 3.0])
    assert differ(mine, X) == [
        "output: largest error nan at [1]: answered nan, right 2; 2 of 3 values differ"
    ]
    both = torch.tensor([1.0, torch.nan])
    assert differ(both, both.clone()) == ["output: equal except for rounding (largest error 0)"]


def test_what_is_worse_than_rounding_hides_what_is_not() -> None:
    mine, right = answered(X, X + 1), answered(X, X)
    [line] = differences(mine, right)
    assert line.startswith("output 2: largest error 1 ")


def test_another_shape_is_told() -> None:
    assert differ(X, X[None]) == ["output: shape (3,), right (1, 3)"]


def test_another_dtype_is_told_beside_the_values() -> None:
    assert differ(X.double(), X) == [
        "output: dtype float64, right float32; equal except for rounding (largest error 0)"
    ]
    [line] = differ(X.double() + 1, X)
    assert line.startswith("output: dtype float64, right float32; largest error 1 ")


def test_another_device_is_told() -> None:
    assert differ(X.to("meta"), X) == ["output: on meta, right on cpu"]
    assert differ(X.to("meta"), X.double()) == [
        "output: dtype float32, right float64; on meta, right on cpu"
    ]
    assert differ(X.to("meta"), X.to("meta")) == []


def test_another_form_is_told() -> None:
    [form, *rest] = differ(X, (X, X))
    assert form == "form: answered one tensor, right a pair of tensors"
    assert "output: not in the right one" in rest
    assert "output 1: not there" in rest
    assert differ(None, X)[0] == (
        "form: answered None (is the `return` missing?), right one tensor"
    )
    assert differ(1.5, X)[0] == "form: answered a plain number, right one tensor"
    assert differ(3, 4) == ["output: the value is wrong; off by 1: answered 3, right 4"]
    assert differ([[X]], [[X]]) == []
    assert differ({"a": X}, {"a": X + 1})[0].startswith("output: the value['a'] is off by 1")


def test_every_part_of_a_value_that_differs_is_told() -> None:
    assert differ([1, {"a": 2, "b": "x"}, 3], [1, {"a": 5, "b": "x"}, [3]]) == [
        "output 2: the value['a'] is wrong; off by 3: answered 2, right 5",
        "output 3: the value is a plain number, expected a list of 1: answered 3, right [3]",
    ]
    assert differ({"a": 1, "b": [2, 3]}, {"a": 1, "b": [7, 9]}) == [
        "output: the value['b'][0] is wrong; off by 5: answered 2, right 7",
        "output: the value['b'][1] is wrong; off by 6: answered 3, right 9",
    ]


def test_an_object_that_is_right_is_not_compared() -> None:
    assert differ(OPAQUE, OPAQUE) == []
    assert differ(OPAQUE, {"a": OPAQUE, "b": 1}) == []
    assert differ(OPAQUE, 1) == [
        "form: answered an object of another class, right a plain number",
        "output: the value is an object of another class, expected a plain number: "
        "answered no value, right 1",
    ]


def test_an_infinity_is_near_nothing_but_itself() -> None:
    infinite = torch.tensor([1.0, torch.inf])
    [line] = differ(torch.tensor([1.0, 3.0]), infinite)
    assert line.endswith("at [1]: answered 3, right inf; 1 of 2 values differ")
    assert differ(infinite, infinite.clone()) == [
        "output: equal except for rounding (largest error 0)"
    ]


def test_a_gradient_that_is_missing_on_either_side_is_told() -> None:
    mine = answered(None, gradient="computed", input_gradients=[None, X])
    right = answered(None, gradient="computed", input_gradients=[X, None])
    assert differences(mine, right) == [
        "gradient of tensor argument 1: none, but there is a right one",
        "gradient of tensor argument 2: there, but none is right",
    ]
    cut = answered(None, gradient="detached")
    assert differences(cut, right) == [
        "gradients: answered detached, right computed",
        "gradient of tensor argument 1: not there",
        "gradient of tensor argument 2: not there",
    ]


def test_names_that_only_one_side_has_are_told() -> None:
    mine = Reply(state={"weight": X, "scale": X})
    right = Reply(state={"weight": X, "bias": X})
    assert differences(mine, right) == [
        "state_dict entry bias: not there",
        "state_dict entry scale: not in the right one",
    ]


def test_errors_have_no_differences() -> None:
    raised = Reply(error=StudentError("ValueError", "call"))
    assert differences(raised, answered(X)) == []
    assert differences(answered(X), raised) == []


def test_many_differences_are_cut_with_the_number_of_what_is_left() -> None:
    mine = Reply(state={f"k{number:02}": X for number in range(20)})
    right = Reply(state={f"k{number:02}": X + 1 for number in range(20)})
    lines = differences(mine, right)
    assert len(lines) == 13
    assert lines[-1] == "and 8 more"


def test_a_complex_answer_is_compared_whole() -> None:
    [line] = differ(torch.tensor([1 + 2j]), torch.tensor([1 + 0j]))
    assert line.startswith("output: largest error 2 at [0]: answered (1+2j), right (1+0j)")


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_an_answer_of_any_dtype_that_can_be_sent_can_be_compared_and_shown(
    dtype: torch.dtype,
) -> None:
    """Or a student could make the judge stumble, which would be a fault of the grader."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = bytearray(6 * dtype.itemsize)
        tensors = [torch.frombuffer(data, dtype=dtype).reshape(2, 3), torch.ones(2, 3)]
        for mine in tensors:
            for right in tensors:
                same = same_reply(answered(mine), answered(right))
                assert same or mine is not right
                assert differ(mine, right)
        assert written_answer(answered(tensors[0]))


# Which of many calls is shown.


def planned(*answers: tuple[Request, Reply]) -> list[Planned]:
    return [Planned(encode_request(request, 0), request, reply) for request, reply in answers]


def beginning(number: int) -> Request:
    """The first question of an example."""
    return Request([Reset(), asks("f", number)])


NEXT = Request([asks("g")])
PLAN = planned(
    *((beginning(1), answered(1)), (NEXT, answered(10))),
    *((beginning(2), answered(2)), (NEXT, answered(20))),
)


def said(number: int) -> list[str]:
    return written_answer(answered(number))


def tried(asked: Sequence[Planned], outcome: Any) -> Attempt:
    criterion: Any = None
    return Attempt(criterion, outcome=outcome, asked=asked)


def test_an_answer_is_compared_with_that_to_the_same_questions_of_its_example() -> None:
    """The first case ended early, and both examples have a question in common."""
    asked = planned((beginning(1), answered(7)), (beginning(2), answered(2)), (NEXT, answered(10)))
    found = traced(tried(asked, "failed"), PLAN)
    assert found is not None
    assert (found.answer, found.right) == (said(10), said(20))
    assert (found.number, found.of, found.unlike) == (3, 4, 2)


def test_of_what_was_not_planned_nothing_is_known_to_be_right() -> None:
    asked = planned((beginning(1), answered(1)), (Request([asks("g", 1)]), answered(3)))
    found = traced(tried(asked, "failed"), PLAN)
    assert found is not None
    assert (found.answer, found.right, found.differences) == (said(3), None, [])


def test_the_call_that_it_died_over_is_shown_without_an_answer() -> None:
    asked = planned((beginning(1), answered(1)), (NEXT, UNANSWERED), (beginning(2), answered(2)))
    found = traced(tried(asked, "crashed"), PLAN)
    assert found is not None
    assert (found.number, found.call, found.answer) == (2, ["g()"], None)
    assert found.right == said(10)
