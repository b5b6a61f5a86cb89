"""What is told of an exception: the built-in classes that it is."""

import builtins
import io
from pathlib import Path

import pytest

from autograder.api.answer import Answer, CheckFailed, Question
from autograder.api.executor import describe
from autograder.api.expect import Expect
from autograder.api.likeness import raised_wrongly
from autograder.api.messages import ERROR_KINDS, Reply, Request, StudentError
from autograder.judge.reference import import_apart
from tests.asking import asks


class Unknown(LookupError, ValueError):
    """What is a ValueError by its second base."""


class ValueWarning(UserWarning):
    """A class of the student's."""


def described(error: BaseException) -> StudentError:
    return describe(error, "call", "/nowhere")


@pytest.mark.parametrize(
    ("error", "kind", "caught", "not_caught"),
    [
        (ValueError(), "ValueError", "ValueError", "TypeError"),
        (UnicodeError(), "UnicodeError", "ValueError", "LookupError"),
        (UnicodeDecodeError("a", b"", 0, 1, "b"), "UnicodeError", "ValueError", "OSError"),
        (io.UnsupportedOperation(), "OSError", "ValueError", "IndexError"),
        (Unknown(), "LookupError", "ValueError", "KeyError"),
        (OverflowError(), "OverflowError", "ArithmeticError", "ValueError"),
        (ValueWarning(), "UserWarning", "Warning", "ValueError"),
        (Exception(), "Exception", "Exception", "ValueError"),
    ],
)
def test_an_exception_is_all_that_would_catch_it(
    error: Exception, kind: str, caught: str, not_caught: str
) -> None:
    found = described(error)
    assert found.kind == kind
    assert found.is_a(kind)
    assert found.is_a(caught)
    assert not found.is_a(not_caught)
    assert isinstance(error, getattr(builtins, caught))


def test_what_may_be_raised_may_be_raised_as_any_class_of_it() -> None:
    expect = Expect()
    answer = Answer(Reply(error=described(Unknown())), Question("f", ()), cotangent=False)
    expect.raises(answer, "ValueError")
    with pytest.raises(CheckFailed, match="must raise KeyError or TypeError, but raised Lookup"):
        expect.raises(answer, "KeyError", "TypeError")


def test_a_more_special_exception_than_the_right_one_is_right() -> None:
    special, general = (Reply(error=described(e)) for e in (Unknown(), ValueError()))
    assert not raised_wrongly(special, general)
    assert raised_wrongly(general, special)


def test_every_built_in_exception_that_takes_a_text_has_its_name() -> None:
    for name, found in vars(builtins).items():
        if isinstance(found, type) and issubclass(found, Exception) and not name.startswith("_"):
            try:
                error = found("text")
            except TypeError:
                continue
            assert error.__class__.__name__ in ERROR_KINDS


def test_an_exit_while_an_answer_is_looked_at_ends_the_question_alone(tmp_path: Path) -> None:
    (tmp_path / "leaving.py").write_text(
        "class Gone(list):\n    def __iter__(self): raise SystemExit\n\n\ndef f(): return Gone()\n"
    )
    executor = import_apart(tmp_path, "leaving")
    error = executor.perform(Request([asks("f")])).error
    assert error is not None
    assert error.kind == "SystemExit"
    assert isinstance(executor.raised, SystemExit)
