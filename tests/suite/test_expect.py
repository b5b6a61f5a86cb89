"""Expectations: what passes, what fails, and in which words."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.assignment import Assignment
from autograder.exchange.messages import Reply, StudentError
from autograder.suite.answer import Answer, CheckFailed, Question, StudentRaised
from autograder.suite.expect import TOLERANCE, Expect
from autograder.suite.judging import JudgePlugin, run_session
from autograder.suite.patterns import dimension_names
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
        (torch.tensor([nan, 1.0]), torch.ones(2), r"is NaN at \[0\]; 1 of 2 values is NaN"),
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


def failure(check, *args, **options) -> CheckFailed:
    with pytest.raises(CheckFailed) as caught:
        check(*args, **options)
    return caught.value


def test_a_shape_is_told_with_the_names_of_its_dimensions() -> None:
    found = failure(expect.close, torch.ones(2, 4, 3), torch.ones(2, 3, 4), names="B T D")
    assert found.fact == "the result has shape (2, 4, 3), expected (B, T, D) = (2, 3, 4)"
    assert found.hint == "the last two dimensions are swapped"
    found = failure(expect.equal, torch.ones(3), torch.ones(4), names="D")
    assert found.fact == "the result has shape (3,), expected (D,) = (4,)"


def test_names_that_do_not_fit_are_left_out() -> None:
    # They may not where both results are the student's own.
    found = failure(expect.close, torch.ones(2, 1, 3), torch.zeros(2, 1, 3), names="B V")
    assert "at [0, 0, 0]; 6 of 6 values are wrong" in found.fact
    expect.close(torch.ones(2, 1, 3), torch.ones(2, 1, 3), names="B V")


def test_the_names_in_the_suite_fit_the_right_shapes(
    assignment: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, seen = Expect.shape, []

    def strict(self, actual, shape, what="the result", names=""):
        seen.append(names)
        assert not names or len(shape) == 0 or dimension_names(names, len(shape)), (what, names)
        return plain(self, actual, shape, what, names)

    monkeypatch.setattr(Expect, "shape", strict)
    hidden = assignment.secret / "tests"
    served = lambda suite: None  # noqa: E731
    suite = JudgePlugin(assignment.secret, hidden, assignment.totals, assignment.seed, served)
    # The suite is run on the solutions before it is served.
    run_session(suite, [assignment.public / "tests", hidden])
    assert len([names for names in seen if names]) > 100


def test_the_first_nan_in_reading_order_is_told_with_their_number() -> None:
    actual = torch.ones(2, 3)
    actual[0, 2] = actual[1, 0] = nan
    found = failure(expect.close, actual, torch.ones(2, 3), "the output", names="T D")
    assert found.fact == "the output is NaN, first at [0, 2] (T, D); 2 of 6 values are NaN"
    assert "0 / 0" in found.hint


def test_a_pattern_is_shown_by_hidden_checks_too() -> None:
    want = torch.tensor([[0.3, -1.7, 2.9], [4.1, 0.6, -5.2]])
    found = failure(expect.close, want * 2, want)
    hidden = explain(found, None, reveal=False).message
    assert hidden.endswith("hint: every value is the right one times 2 = sqrt(4)")


def test_a_mask_is_compared_with_its_pattern() -> None:
    want = torch.ones(3, 3, dtype=torch.bool).tril()
    assert failure(expect.equal, ~want, want).hint == "True and False are swapped"
    assert "dtype=torch.bool" in failure(expect.equal, want.float(), want).hint


def test_long_results_show_the_row_of_the_worst_place() -> None:
    actual = torch.zeros(9, 3)
    actual[4, 1] = 1.0
    detail = failure(expect.close, actual, torch.zeros(9, 3)).detail
    assert detail == "at [4, :] expected [0.0, 0.0, 0.0]\nat [4, :] returned [0.0, 1.0, 0.0]"


def test_keys_are_told_and_what_the_student_named_is_only_shown_in_public() -> None:
    found = failure(expect.keys, ["query.weight"], ["q_linear.weight"], "the keys")
    assert found.fact == "the keys: missing q_linear.weight; 1 not asked for"
    assert found.hint == "q_linear.weight comes from self.q_linear = ... in __init__"
    assert "query" not in explain(found, None, reveal=False).message
    assert "not asked for: query.weight" in explain(found, None, reveal=True).message
    assert "bias=False" in failure(expect.keys, ["a.bias"], [], "the keys").hint
    assert "persistent=False" in failure(expect.keys, ["table"], [], "the keys").hint
    assert "nn.Parameter" in failure(expect.keys, [], ["weight"], "the keys").hint
    many = failure(expect.keys, [], [f"k{i}" for i in range(9)], "the keys").fact
    assert many == "the keys: missing k0, k1, k2, k3, k4, k5 and 3 more"


def test_another_exception_is_told_with_its_place_and_its_own_words_only_in_public() -> None:
    error = StudentError("TypeError", "build", "value 0.123", "attention.py", 12)
    found = failure(expect.raises, answer(error=error), "ValueError")
    assert found.fact == "it must raise ValueError, but raised TypeError (attention.py, line 12)"
    assert "0.123" not in explain(found, None, reveal=False).message
    assert "it said: value 0.123" in explain(found, None, reveal=True).message
    with pytest.raises(StudentRaised):
        expect.raises(answer(error=StudentError("MissingName", "call", "f")), "ValueError")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The size of tensor a (4) must match the size of tensor b (2)", "keepdim=True"),
        ("mat1 and mat2 shapes cannot be multiplied (4x4 and 6x4)", "print both shapes"),
        ("'Net' object has no attribute 'linear_2'", "spelled as in __init__"),
        ("Boolean value of Tensor with more than one value is ambiguous", "is not None"),
    ],
)
def test_advice_follows_what_torch_says(text: str, said: str) -> None:
    raised = StudentRaised(StudentError("RuntimeError", "call", text), Question("f", ()))
    assert said in explain(raised, None, reveal=True).message.partition("hint: ")[2]
    assert "hint" not in explain(raised, None, reveal=False).message


def test_the_advice_is_for_what_torch_really_says() -> None:
    x = torch.ones(2, 3)
    for wrong in (
        lambda: x - x.mean(-1),
        lambda: x @ x,
        lambda: torch.ones(2, 3, 4) @ torch.ones(2, 3, 4),
        lambda: x.reshape(4, 4),
        lambda: x.T.view(6),
        lambda: x.mean(4),
        lambda: x @ x.T.double(),
        lambda: bool(x > 0),
        lambda: x.frobnicate(),
        lambda: torch.nn.Linear(1),
    ):
        with pytest.raises(Exception) as caught:
            wrong()
        error = StudentError("RuntimeError", "call", str(caught.value))
        assert "hint: " in explain(StudentRaised(error, Question("f", ())), None, True).message


def test_a_transposed_weight_is_told() -> None:
    error = StudentError("StateShape", "load", "linear1.weight; (2, 3); (3, 2)")
    message = explain(StudentRaised(error, Question("f", ())), None, reveal=True).message
    assert "`linear1.weight` has shape (2, 3), expected (3, 2): nn.Linear(a, b)" in message


@given(text=st.text(max_size=2000))
@settings(deadline=None, database=None, derandomize=True)
def test_hostile_text_becomes_one_short_printable_line(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable() or not shown
    assert len(shown) <= 300


def test_escape_sequences_do_not_survive() -> None:
    assert clean("a\x1b[31mred\x1b]0;title\x07\u202eevil\nnext") == "a [31mred ]0;title evil next"
