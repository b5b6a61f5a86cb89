"""Expectations: what passes, what fails, and in which words."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.api.answer import Answer, Asked, CheckFailed, Question, StudentRaised
from autograder.api.expect import Expect
from autograder.api.likeness import tolerance_of
from autograder.api.messages import Reply, StudentError
from autograder.api.patterns import dimension_names
from autograder.api.values import OPAQUE
from autograder.api.wording import find
from autograder.assignment import Assignment
from autograder.judge.reference import import_apart
from autograder.judge.suite import Suite

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
        (
            torch.tensor([0.0]),
            torch.tensor([nan]),
            "compared with another of your results, which is NaN",
        ),
        (torch.tensor([1.0, 2.1]), torch.tensor([1.0, 2.0]), r"off by 0\.1 at \[1\]"),
        (None, torch.zeros(1), "missing: nothing flows back"),
    ],
)
def test_what_is_not_close(actual, wanted, said) -> None:
    with pytest.raises(CheckFailed, match=said):
        expect.close(actual, wanted)


@given(
    dtype=st.sampled_from([torch.float64, torch.float32, torch.bfloat16]),
    value=st.floats(-10, 10),
    side=st.sampled_from([-1, 1]),
)
@settings(deadline=None, database=None, derandomize=True)
def test_the_tolerance_is_where_it_is_said_to_be(dtype, value, side) -> None:
    wanted = torch.tensor([value], dtype=torch.float64).to(dtype).to(torch.float64)
    relative, absolute = tolerance_of(dtype)
    allowed = absolute + relative * wanted.abs()
    expect.close((wanted + side * 0.2 * allowed).to(dtype), wanted)
    with pytest.raises(CheckFailed):
        expect.close((wanted + side * 5 * allowed).to(dtype), wanted)


@pytest.mark.parametrize(
    ("actual", "wanted", "said", "not_said"),
    [
        (torch.int64, torch.float32, "argmax", ".float()"),
        (torch.bool, torch.float32, "comparisons", ".float()"),
        (torch.float64, torch.float32, ".double()", "argmax"),
        (torch.float32, torch.int64, ".float()", "argmax"),
        (torch.float32, torch.bool, "comparisons", "argmax"),
    ],
)
def test_where_another_dtype_comes_from(actual, wanted, said, not_said) -> None:
    with pytest.raises(CheckFailed) as caught:
        expect.dtype(torch.ones(2, dtype=actual), wanted)
    assert said in caught.value.hint
    assert not_said not in caught.value.hint


@pytest.mark.parametrize("shape", [(3,), (5, 7), (40,)])
def test_values_that_differ_are_shown_so_that_it_can_be_seen(shape) -> None:
    right = torch.full(shape, 0.54321)
    wrong = right.clone()
    wrong[(1,) * len(shape)] += 3e-5
    with pytest.raises(CheckFailed) as caught:
        expect.close(wrong, right)
    shown = caught.value.detail
    assert "0.54321" in shown and "0.54324" in shown
    with pytest.raises(CheckFailed) as caught:
        expect.close(right + 1, right)
    assert "1.543" in caught.value.detail


def test_a_failure_names_the_call_that_the_tensor_came_back_from() -> None:
    asked = Asked()
    answers = [
        Answer(Reply(value=torch.zeros(2, 3)), Question("f", (("", number),)), cotangent=False)
        for number in (1, 2)
    ]
    for one in answers:
        asked.note(one)
    looking = Expect(asked=asked)
    first, last = (one.output for one in answers)
    wrong = torch.ones(3)
    for check, number in (
        (lambda: looking.shape(first, (2, 2)), 1),
        (lambda: looking.close(first, last + 1), 1),
        (lambda: looking.close(last[0], wrong), 2),
        (lambda: looking.close(first[1], wrong), 1),
        (lambda: looking.dtype(first, torch.float64), 1),
    ):
        with pytest.raises(CheckFailed) as caught:
            check()
        assert caught.value.question is answers[number - 1].question
    # Of what was made of several nothing is known, nor of what an earlier example asked.
    with pytest.raises(CheckFailed) as caught:
        looking.close(first - last, torch.ones(2, 3))
    assert caught.value.question is None
    asked.clear()
    with pytest.raises(CheckFailed) as caught:
        looking.shape(first, (2, 2))
    assert caught.value.question is None


def test_what_to_look_for_is_said_where_nothing_can_be_seen() -> None:
    with pytest.raises(CheckFailed) as caught:
        expect.close(torch.tensor(3.0), torch.tensor(4.0), hint="look here")
    assert caught.value.hint == "look here"
    right = torch.arange(1.0, 9)
    with pytest.raises(CheckFailed) as caught:
        expect.close(right * 2, right, hint="look here")
    assert caught.value.hint.startswith("every value is the right one times 2")


def test_a_failure_shows_the_call_and_both_values() -> None:
    with pytest.raises(CheckFailed) as caught:
        expect.close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4321.0]))
    question = Question("layer_norm", (("", torch.tensor([77.0, 88.0])), ("eps", 0.1)))
    shown = find(caught.value, question).message
    assert "expected [1.0, 4321.0]" in shown
    assert "layer_norm([77.0, 88.0], eps=0.1)" in shown


def test_an_exception_is_told_with_its_place_and_its_words() -> None:
    error = StudentError("ValueError", "call", "the input was 0.123456", "attention.py", 12)
    with pytest.raises(StudentRaised) as caught:
        _ = answer(error=error).output
    said = "raised ValueError (attention.py, line 12): the input was 0.123456"
    assert said in find(caught.value, None).message


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "is the `return` missing"),
        ((torch.ones(1), torch.ones(1)), "a pair"),
        ([torch.ones(1)], "a tuple or list with one tensor"),
        ((torch.ones(1),) * 3, "a tuple of 3"),
        (1.5, "a plain number"),
        ("text", "a text"),
        (OPAQUE, "an object of another class"),
    ],
)
def test_a_wrong_form_is_named(value: object, said: str) -> None:
    with pytest.raises(CheckFailed, match=said):
        _ = answer(value=value).output


def test_a_detached_result_is_named() -> None:
    cut = answer(value=torch.ones(1), gradient="detached")
    with pytest.raises(CheckFailed, match="no gradient flows back"):
        _ = cut.gradients


def test_raises_wants_the_exception_that_was_asked_for() -> None:
    expect.raises(answer(error=StudentError("ValueError", "build")), "ValueError")
    with pytest.raises(CheckFailed, match="must raise ValueError, but it returned"):
        expect.raises(answer(value=torch.ones(1)), "ValueError")
    with pytest.raises(CheckFailed, match="but raised TypeError"):
        expect.raises(answer(error=StudentError("TypeError", "build")), "ValueError")
    with pytest.raises(StudentRaised):
        expect.raises(answer(error=StudentError("NotAttempted", "build")), "ValueError")


def test_a_changed_input_is_named() -> None:
    x = torch.ones(2)
    expect.unchanged(answer(value=x, inputs_after=[x.clone()]), x)
    with pytest.raises(CheckFailed, match=r"changed its input \(tensor argument 1\)"):
        expect.unchanged(answer(value=x, inputs_after=[x + 1]), x)


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
    assignment: Assignment, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, seen = Expect.shape, []

    def strict(self, actual, shape, what="the result", names=""):
        seen.append(names)
        assert not names or len(shape) == 0 or dimension_names(names, len(shape)), (what, names)
        return plain(self, actual, shape, what, names)

    monkeypatch.setattr(Expect, "shape", strict)
    for component, criteria in suite.criteria.items():
        solution = import_apart(assignment.secret, component)
        for criterion in criteria:
            assert suite.run(criterion, solution).failure is None
    assert len([names for names in seen if names]) > 100


def test_the_first_nan_in_reading_order_is_told_with_their_number() -> None:
    actual = torch.ones(2, 3)
    actual[0, 2] = actual[1, 0] = nan
    found = failure(expect.close, actual, torch.ones(2, 3), "the output", names="T D")
    assert found.fact == "the output is NaN, first at [0, 2] (T, D); 2 of 6 values are NaN"
    assert "0 / 0" in found.hint


def test_a_pattern_is_the_hint() -> None:
    want = torch.tensor([[0.3, -1.7, 2.9], [4.1, 0.6, -5.2]])
    found = failure(expect.close, want * 2, want)
    assert find(found, None).message.endswith("hint: every value is the right one times 2")


def test_a_mask_is_compared_with_its_pattern() -> None:
    want = torch.ones(3, 3, dtype=torch.bool).tril()
    assert failure(expect.equal, ~want, want).hint == "True and False are swapped"
    assert "dtype=torch.bool" in failure(expect.equal, want.float(), want).hint


def test_long_results_show_the_row_of_the_worst_place() -> None:
    actual = torch.zeros(9, 3)
    actual[4, 1] = 1.0
    detail = failure(expect.close, actual, torch.zeros(9, 3)).detail
    assert detail == "at [4, :] expected [0.0, 0.0, 0.0]\nat [4, :] returned [0.0, 1.0, 0.0]"


def test_missing_keys_are_told_and_those_that_are_there() -> None:
    found = failure(expect.keys, ["query.weight"], ["q_linear.weight"], "the keys")
    assert found.fact == "the keys: missing q_linear.weight; 1 not asked for"
    assert found.hint == "q_linear.weight comes from self.q_linear = ... in __init__"
    assert "not asked for: query.weight" in find(found, None).message
    assert "bias=False" in failure(expect.keys, ["a.bias"], [], "the keys").hint
    assert "persistent=False" in failure(expect.keys, ["table"], [], "the keys").hint
    assert "nn.Parameter" in failure(expect.keys, [], ["weight"], "the keys").hint
    many = failure(expect.keys, [], [f"k{i}" for i in range(9)], "the keys").fact
    assert many == "the keys: missing k0, k1, k2, k3, k4, k5 and 3 more"


def test_what_is_said_of_keys_is_what_they_show() -> None:
    def said(actual, expected, learned=None) -> str:
        return failure(expect.keys, actual, expected, "the keys", learned=learned).hint

    # A parameter too many is no buffer, and a buffer is not learned.
    assert "register_buffer" not in said(["weight", "gain"], ["weight"], learned=["weight", "gain"])
    assert "more is learned" in said(["weight", "gain"], ["weight"], learned=["weight", "gain"])
    assert "persistent=False" in said(["weight", "table"], ["weight"], learned=["weight"])
    # A layer without its bias is there: it is no plain tensor.
    bare = said(["q.weight"], ["q.weight", "q.bias"])
    assert bare == "self.q is there, and has no bias; nn.Linear has one unless bias=False"
    assert "plain tensor" not in said(["k.weight"], ["q.weight"])
    assert said([], ["q.weight"]) == "q.weight comes from self.q = ... in __init__"
    # The bias of a norm, say, is not left out by an argument of nn.Linear; nor is one on its own.
    assert "bias=False" not in said(["bias"], [])


def test_only_a_device_is_charged_where_no_shapes_are_given() -> None:
    there, here = torch.ones(2, device="meta"), torch.ones(2)
    for value in (there, (there, there), [there, {"a": there}], None, 1.5):
        expect.follows_device(answer(value=value))
    for value in (here, (there, here), {"a": here}):
        with pytest.raises(CheckFailed, match="is on device cpu, expected meta"):
            expect.follows_device(answer(value=value))
    with pytest.raises(CheckFailed, match="has shape"):
        expect.follows_device(answer(value=there), (3,))
    with pytest.raises(StudentRaised):
        expect.follows_device(answer(error=StudentError("DeviceMismatch", "call")))


def test_another_exception_is_told_with_its_place_and_its_own_words() -> None:
    error = StudentError("TypeError", "build", "value 0.123", "attention.py", 12)
    found = failure(expect.raises, answer(error=error), "ValueError")
    assert found.fact == "it must raise ValueError, but raised TypeError (attention.py, line 12)"
    assert "it said: value 0.123" in find(found, None).message
    with pytest.raises(StudentRaised):
        expect.raises(answer(error=StudentError("MissingName", "call", "f")), "ValueError")


@pytest.mark.parametrize("scale", [1, 3])
@pytest.mark.parametrize(
    ("dtype", "right", "within", "beyond"),
    [
        # Of nothing the absolute part alone is left, beside much the relative part is nearly all.
        (torch.float64, 0.0, 0.9e-5, 1.1e-5),
        (torch.float64, 1000.0, 0.9e-2, 1.1e-2),
        (torch.float32, 0.0, 0.9e-5, 1.1e-5),
        (torch.float32, 1000.0, 0.9e-2, 1.1e-2),
        (torch.bfloat16, 0.0, 3.9e-2, 4.1e-2),
        (torch.bfloat16, 100.0, 4.0, 4.5),
    ],
)
def test_an_answer_may_be_off_by_so_much_and_no_more(
    dtype: torch.dtype, right: float, within: float, beyond: float, scale: int
) -> None:
    expected = torch.tensor([right, 1.0], dtype=dtype)
    for sign in (1, -1):
        off = torch.tensor([sign * scale * within, 0.0], dtype=dtype)
        Expect().close(expected + off, expected, scale=scale)
        off = torch.tensor([sign * scale * beyond, 0.0], dtype=dtype)
        with pytest.raises(CheckFailed, match="the result is off by"):
            Expect().close(expected + off, expected, scale=scale)


def test_half_precision_may_be_off_by_400_times_as_much_and_no_more() -> None:
    right = torch.zeros(2, dtype=torch.float16)
    expect.same(right + 3.9e-3, right)
    with pytest.raises(CheckFailed, match="the result is off by"):
        expect.same(right + 4.1e-3, right)


def test_an_exception_that_is_one_of_those_asked_for_will_do() -> None:
    error = StudentError("UnicodeError", "call", bases=("ValueError",))
    expect.raises(answer(error=error), "KeyError", "ValueError")
    with pytest.raises(CheckFailed, match="it must raise LookupError, but raised UnicodeError"):
        expect.raises(answer(error=error), "LookupError")


@pytest.mark.parametrize("kind", ["ImportError", "ValueError", "Exception"])
def test_what_cannot_be_imported_raises_nothing_that_is_asked_for(kind: str) -> None:
    with pytest.raises(StudentRaised):
        expect.raises(answer(error=StudentError(kind, "import")), kind)
