"""An answer is read by what it should be; where another kind came, one sentence says so."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch

from autograder.api.answer import Answer, CheckFailed, Question, StudentRaised
from autograder.api.loading import Program
from autograder.api.messages import Reply, StudentError
from autograder.api.values import ABSENT, OPAQUE

QUESTION = Question("f", (("", 2), ("scale", torch.ones(2))))


def answer(value: Any, **more: Any) -> Answer:
    return Answer(Reply(value=value, **more), QUESTION, False)


def refused(read: Any) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        read()
    assert caught.value.question is QUESTION
    return caught.value


KINDS = {
    "none": (None, "None (is the `return` missing?)"),
    "absent": (ABSENT, "None (is the `return` missing?)"),
    "flag": (True, "True or False"),
    "number": (2, "a plain number"),
    "float": (2.5, "a plain number"),
    "complex": (2j, "a complex number"),
    "text": ("abc", "a text"),
    "bytes": (b"abc", "bytes"),
    "empty list": ([], "an empty list"),
    "empty tuple": ((), "an empty tuple"),
    "list": ([1, 2], "a list of 2"),
    "tuple": ((1,), "a tuple of 1"),
    "long": ([1, 2, 3], "a list of 3"),
    "dict": ({"a": 1}, "a dictionary"),
    "set": ({1}, "a set"),
    "tensor": (torch.ones(2), "one tensor"),
    "pair": ((torch.ones(1), torch.ones(1)), "a pair of tensors"),
    "one in a tuple": ((torch.ones(1),), "a tuple or list with one tensor in it"),
    "array": (np.ones(2), "a numpy array"),
    "numpy number": (np.array(2), "a numpy number"),
    "numpy flag": (np.array(True), "a numpy number"),
    "shape": (torch.Size([2]), "a shape"),
    "dtype": (torch.float32, "a dtype"),
    "object": (OPAQUE, "an object of another class"),
}
READERS = {
    "output": (lambda a: a.output, "one tensor", {"tensor"}),
    "array": (lambda a: a.array, "one numpy array", {"array", "numpy number", "numpy flag"}),
    "number": (lambda a: a.number, "one number", {"number", "float", "numpy number"}),
    "flag": (lambda a: a.flag, "True or False", {"flag", "numpy flag"}),
    "text": (lambda a: a.text, "a text", {"text"}),
    "items": (
        lambda a: a.items(),
        "a list or tuple",
        {"list", "tuple", "empty list", "empty tuple", "pair", "one in a tuple", "long", "shape"},
    ),
    "items(2)": (lambda a: a.items(2), "a list or tuple of 2 items", {"list", "pair"}),
    "items(1)": (
        lambda a: a.items(1),
        "a list or tuple of 1 item",
        {"tuple", "one in a tuple", "shape"},
    ),
    "numbers": (
        lambda a: a.numbers(),
        "a list of numbers",
        {"list", "tuple", "empty list", "empty tuple", "long", "shape"},
    ),
    "numbers(3)": (lambda a: a.numbers(3), "a list of 3 numbers", {"long"}),
    "tensors(2)": (
        lambda a: a.tensors("output", "weights"),
        "a pair of tensors (output, weights)",
        {"pair"},
    ),
    "tensors(1)": (
        lambda a: a.tensors("output"),
        "a tuple of one tensor (output)",
        {"one in a tuple"},
    ),
    "tensors(3)": (lambda a: a.tensors("a", "b", "c"), "3 tensors (a, b, c)", set()),
}


@pytest.mark.parametrize("reader, kind", list(itertools.product(READERS, KINDS)))
def test_what_fits_is_read_and_what_does_not_is_named(reader: str, kind: str) -> None:
    read, asked, fitting = READERS[reader]
    value, words = KINDS[kind]
    if kind in fitting:
        read(answer(value))
    else:
        fact = refused(lambda: read(answer(value))).fact
        assert fact == f"it must return {asked}, but returned {words}"


def test_what_is_read() -> None:
    x, y = torch.ones(2), torch.zeros(1)
    assert answer(x).output is x
    assert answer([x, y]).tensors("a", "b") == (x, y)
    assert answer(np.arange(3)).array.tolist() == [0, 1, 2]
    for value in (7, 7.0, np.array(7), np.array(7, dtype=np.float32)):
        assert type(answer(value).number) in (int, float)
        assert answer(value).number == 7
    assert answer(np.array(False)).flag is False
    assert answer("ab").text == "ab"
    assert answer((1, "a")).items() == [1, "a"]
    found = answer((1, np.array(2.5))).numbers(2)
    assert found == [1, 2.5]
    assert list(map(type, found)) == [int, float]
    for value, _ in KINDS.values():
        assert answer(value).value is value


@pytest.mark.parametrize("value", [True, np.array(True), torch.tensor(1.0), "1", None])
def test_what_is_no_number_is_none_among_numbers(value: Any) -> None:
    refused(lambda: answer([1, value]).numbers())
    refused(lambda: answer(value).number)


def test_hints() -> None:
    pair, one = (torch.ones(1), torch.ones(1)), torch.ones(1)
    # Nothing says which of the two it should be.
    assert refused(lambda: answer(pair).output).hint.startswith("return the one tensor alone")
    assert "a comma" in refused(lambda: answer((one,)).output).hint
    assert refused(lambda: answer(one).tensors("a", "b")).hint == "return both: return a, b"
    assert refused(lambda: answer("a").number).hint == ""


def test_what_the_student_raised_comes_first() -> None:
    error = StudentError("ValueError", "call", "no", "a.py", 3)
    broken = answer(ABSENT, error=error)
    readers = [read for read, _, _ in READERS.values()]
    readers += [lambda a: a.value, lambda a: a.program]
    readers += [lambda a: a.seconds, lambda a: a.operations]
    for read in readers:
        with pytest.raises(StudentRaised) as caught:
            read(broken)
        assert caught.value.error is error
        assert caught.value.question is QUESTION
    assert broken.error is error


def test_a_program() -> None:
    program = Program("out", "err", 2, {"a": b"x"})
    assert answer(program.value()).program == program
    near = {**program.value(), "status": "2"}
    for value in ({}, {"output": ""}, near, None, "out"):
        with pytest.raises(ValueError, match="no program was run"):
            _ = answer(value).program


def test_a_cost_that_was_not_asked_for_is_the_tests_fault() -> None:
    for read in (lambda a: a.seconds, lambda a: a.operations):
        with pytest.raises(ValueError, match="asking\\(cost=True\\)"):
            read(answer(1))
    asked = answer(1, seconds=0.25, operations=12)
    assert (asked.seconds, asked.operations) == (0.25, 12)


def test_gradients_that_were_not_asked_for_are_the_tests_fault() -> None:
    for name in ("gradients", "parameter_gradients", "given_gradient"):
        with pytest.raises(ValueError, match="gradients were not asked for"):
            getattr(answer(torch.ones(1)), name)


@pytest.mark.parametrize(
    "gradient, words",
    [("detached", "cut off"), ("wrong shape", "shape is wrong"), ("not asked", "no tensor")],
)
def test_why_there_is_no_gradient(gradient: str, words: str) -> None:
    found = Answer(Reply(value=torch.ones(1), gradient=gradient), QUESTION, True)
    failure = refused(lambda: found.gradients)
    assert words in failure.fact
    # Nothing in the code cuts the graph where a shape or a form is wrong.
    assert bool(failure.hint) == (gradient == "detached")


@pytest.mark.parametrize(
    "value, shown, hidden",
    [
        (3, "f(3)", "f(3)"),
        ("short", "f('short')", "f('short')"),
        ("a text that is a question", "f('a text that is a question')", "f(a text of 25)"),
        ([1, 2], "f([1, 2])", "f(list of 2)"),
        ({"a": 1}, "f({'a': 1})", "f(dict of 1)"),
        ((1,), "f((1,))", "f(tuple of 1)"),
        (torch.tensor([0.5]), "f([0.5])", "f(tensor of shape (1,))"),
        (np.array([[0.12345]]), "f([[0.1235]])", "f(float64 array of shape (1, 1))"),
    ],
)
def test_a_call_in_words(value: Any, shown: str, hidden: str) -> None:
    question = Question("f", (("", value),))
    assert question.text(values=True) == shown
    assert question.text(values=False) == hidden


def test_a_long_call_is_cut() -> None:
    question = Question("f", tuple(("", "x" * 15) for _ in range(90)))
    assert len(question.text(values=True)) <= 200
    assert Question("the next 3 of f()", None).text(values=True) == "the next 3 of f()"
