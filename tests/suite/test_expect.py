"""Expectations: what passes, what fails, and in which words."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.exchange.messages import Reply, StudentError
from autograder.suite.answer import Answer, CheckFailed, Question, StudentRaised
from autograder.suite.expect import TOLERANCE, Expect
from autograder.suite.wording import explain
from autograder.text import clean

expect = Expect()
nan, inf = float("nan"), float("inf")


def answer(**fields: object) -> Answer:
    return Answer(Reply(**fields), Question("f", (("", torch.ones(2)),)), cotangent=True)


@pytest.mark.parametrize(
    ("actual", "wanted", "said"),
    [
        (torch.zeros(0, 3), torch.zeros(1, 3), r"has shape \(0, 3\), expected \(1, 3\)"),
        (torch.tensor([nan, 1.0]), torch.tensor([0.0, 1.0]), r"is NaN at \[0\] \(1 of 2 values\)"),
        (torch.tensor([inf]), torch.tensor([0.0]), r"is infinite at \[0\]"),
        (torch.tensor([0.0]), torch.tensor([nan]), "off by nan"),
        (torch.tensor([1.0, 2.1]), torch.tensor([1.0, 2.0]), r"off by 0\.1 at \[1\]"),
        (None, torch.zeros(1), "missing: nothing flows back"),
    ],
)
def test_what_is_not_close(actual, wanted, said) -> None:
    with pytest.raises(CheckFailed, match=said):
        expect.close(actual, wanted)


@given(
    dtype=st.sampled_from(list(TOLERANCE)),
    value=st.floats(-10, 10),
    side=st.sampled_from([-1, 1]),
)
@settings(deadline=None, database=None, derandomize=True)
def test_the_tolerance_is_where_it_is_said_to_be(dtype, value, side) -> None:
    wanted = torch.tensor([value], dtype=torch.float64).to(dtype).to(torch.float64)
    relative, absolute = TOLERANCE[dtype]
    allowed = absolute + relative * wanted.abs()
    expect.close((wanted + side * 0.2 * allowed).to(dtype), wanted)
    with pytest.raises(CheckFailed):
        expect.close((wanted + side * 5 * allowed).to(dtype), wanted)


def test_a_hidden_failure_shows_no_value() -> None:
    with pytest.raises(CheckFailed) as caught:
        expect.close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4321.0]))
    question = Question("layer_norm", (("", torch.tensor([77.0, 88.0])), ("eps", 0.1)))
    hidden = explain(caught.value, question, reveal=False).message
    assert "4321" not in hidden
    assert "77" not in hidden
    assert "layer_norm(tensor(2,), eps=0.1)" in hidden
    shown = explain(caught.value, question, reveal=True).message
    assert "expected [1.0, 4321.0]" in shown
    assert "layer_norm([77.0, 88.0], eps=0.1)" in shown


def test_a_hidden_failure_shows_no_text_of_the_student() -> None:
    error = StudentError("ValueError", "call", "the input was 0.123456", "attention.py", 12)
    with pytest.raises(StudentRaised) as caught:
        _ = answer(error=error).output
    assert "0.123456" not in explain(caught.value, None, reveal=False).message
    assert "raised ValueError (attention.py, line 12)" in (
        explain(caught.value, None, reveal=False).message
    )
    assert "0.123456" in explain(caught.value, None, reveal=True).message


@pytest.mark.parametrize(
    ("form", "said"),
    [("none", "is the `return` missing"), ("pair", "a pair"), ("number", "a plain number")],
)
def test_a_wrong_form_is_named(form: str, said: str) -> None:
    outputs = [torch.ones(1)] * 2 if form == "pair" else []
    with pytest.raises(CheckFailed, match=said):
        _ = answer(form=form, outputs=outputs).output


def test_a_detached_result_is_named() -> None:
    cut = answer(form="tensor", outputs=[torch.ones(1)], gradient="detached")
    with pytest.raises(CheckFailed, match="no gradient flows back"):
        _ = cut.gradients


def test_raises_wants_the_exception_that_was_asked_for() -> None:
    expect.raises(answer(error=StudentError("ValueError", "build")), "ValueError")
    with pytest.raises(CheckFailed, match="must raise ValueError, but it returned"):
        expect.raises(answer(form="tensor", outputs=[torch.ones(1)]), "ValueError")
    with pytest.raises(CheckFailed, match="but raised TypeError"):
        expect.raises(answer(error=StudentError("TypeError", "build")), "ValueError")
    with pytest.raises(StudentRaised):
        expect.raises(answer(error=StudentError("NotAttempted", "build")), "ValueError")


def test_a_changed_input_is_named() -> None:
    x = torch.ones(2)
    expect.unchanged(answer(form="tensor", outputs=[x], inputs_after=[x.clone()]), x)
    with pytest.raises(CheckFailed, match=r"changed its input \(tensor argument 1\)"):
        expect.unchanged(answer(form="tensor", outputs=[x], inputs_after=[x + 1]), x)


@given(text=st.text(max_size=2000))
@settings(deadline=None, database=None, derandomize=True)
def test_hostile_text_becomes_one_short_printable_line(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable() or not shown
    assert len(shown) <= 300


def test_escape_sequences_do_not_survive() -> None:
    assert clean("a\x1b[31mred\x1b]0;title\x07\u202eevil\nnext") == "a [31mred ]0;title evil next"
