"""Turn what went wrong in a check into words for the student."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.exchange.messages import ForbiddenUse, StudentError
from autograder.suite.answer import CheckFailed, Question, StudentRaised
from autograder.text import clean


@dataclass(frozen=True)
class Explanation:
    """What one check found: `outcome` is failed, student_error or not_attempted."""

    outcome: str
    message: str


def explain(failure: BaseException, question: Question | None, reveal: bool) -> Explanation:
    """Say what a failed check means.

    Args:
        failure: what the test raised.
        question: the last call made, used where the failure names none.
        reveal: whether values, calls and the student's own text may be shown.
    """
    if isinstance(failure, StudentRaised):
        outcome = "not_attempted" if failure.error.kind == "NotAttempted" else "student_error"
        lines = [error_words(failure.error, reveal)]
        if outcome == "student_error" and failure.error.phase != "import":
            lines.append("in " + failure.question.text(values=reveal))
        return Explanation(outcome, "\n".join(lines))
    if isinstance(failure, CheckFailed):
        asked = failure.question or question
        lines = [failure.fact]
        if asked is not None:
            lines.append("in " + asked.text(values=reveal))
        if reveal and failure.detail:
            lines.append(failure.detail)
        if failure.hint:
            lines.append("hint: " + failure.hint)
        return Explanation("failed", "\n".join(lines))
    # The test itself stumbled over the answer, which passes with a right component.
    return Explanation("failed", "the answer has a form that this check could not read")


def error_words(error: StudentError, reveal: bool) -> str:
    """Describe an exception of the student's code in one line."""
    where = place(error.file, error.line)
    text = clean(error.text) if reveal else ""
    said = f": {text}" if text else ""
    match error.kind:
        case "NotAttempted":
            return f"not written yet{where}"
        case "MissingName" if reveal:
            return f"the file has no `{text}`"
        case "MissingName":
            return "a function, class or method that the handout asks for does not exist"
        case "StateKeys" if reveal:
            key, _, found = text.partition("; found ")
            return f"the state_dict has no key `{key}` (it has: {found})"
        case "StateKeys":
            return "the state_dict lacks a key that the handout asks for"
        case "StateShape" if reveal and text.count("; ") == 2:
            key, own, wanted = text.split("; ")
            return f"the parameter `{key}` has shape {own}, expected {wanted}"
        case "StateShape":
            return "a parameter has the wrong shape"
        case "DeviceMismatch":
            return f"tensors on different devices were mixed{where}: make new ones on x.device"
        case "Forbidden":
            return (
                f"a forbidden operation was called{where}: {text}".rstrip(": ")
                + "; it does the exercise, and a file that calls it scores 0"
            )
    if error.phase == "import":
        return f"the file could not be imported: {error.kind}{where}{said}"
    doing = {"backward": " while gradients were computed", "build": " when it was built"}
    return f"raised {error.kind}{doing.get(error.phase, '')}{where}{said}"


def forbidden_words(use: ForbiddenUse) -> str:
    """Name a forbidden operation and the line that called it."""
    return (
        f"torch's {use.operation} was called{place(use.file, use.line)}: it does the exercise "
        "and is not allowed; write it out yourself"
    )


def place(file: str, line: int) -> str:
    """Write " (file.py, line 3)", or nothing where the place is unknown."""
    return f" ({clean(file, 80)}, line {line})" if file else ""
