"""Turn what went wrong in a check into words for the student."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.exchange.kernels import KERNELS
from autograder.exchange.messages import ForbiddenUse, StudentError
from autograder.suite.answer import CheckFailed, Question, StudentRaised
from autograder.text import clean

_PRODUCT = (
    "print both shapes: in a @ b, the last size of a must equal the last but one of b; "
    "nn.Linear(n, m) takes n features"
)
_IN_PLACE = "operations that end in _ and += write over what is still needed: write x = x + y"
_SIGNATURE = "compare the arguments with those of the stub"
# What torch and Python say, and what a student can do about it.
_ADVICE = {
    "must match the size of tensor": "print both shapes; a mean or sum keeps its dimension, and "
    "fits back onto its input, with keepdim=True",
    "shapes cannot be multiplied": _PRODUCT,
    "Expected size for first two dimensions": _PRODUCT,
    "is invalid for input of size": "print the shape before this line; the new sizes must "
    "multiply to the number of values there are",
    "view size is not compatible": "after a transpose, use reshape instead of view",
    "Dimension out of range": "print the shape; dimensions count from 0, or from -1 at the end",
    "to have the same dtype": "two dtypes meet: make new tensors with dtype=x.dtype",
    "Boolean value of Tensor": "write `if mask is not None`, not `if mask`",
    "before Module.__init__() call": "call super().__init__() first",
    "modified by an inplace operation": _IN_PLACE,
    "leaf Variable that requires grad": _IN_PLACE,
    "positional argument": _SIGNATURE,
    "unexpected keyword argument": _SIGNATURE,
    "object has no attribute": "is it spelled as in __init__, and assigned to self there?",
}


@dataclass(frozen=True)
class Finding:
    """What one check found: `outcome` is failed, student_error or not_attempted.

    `facts` say what is wrong, `hints` what to do about it.
    """

    outcome: str
    facts: Sequence[str]
    hints: Sequence[str] = ()

    @property
    def message(self) -> str:
        """All of it, a line each."""
        return "\n".join(lines_of(self.facts, self.hints))


def lines_of(facts: Sequence[str], hints: Sequence[str]) -> list[str]:
    """Return facts and hints as lines of a message; a fact may have several."""
    lines = [line for fact in facts for line in fact.splitlines()]
    return lines + [f"hint: {hint}" for hint in hints]


def find(failure: BaseException, question: Question | None) -> Finding:
    """Say what a failed check means.

    Args:
        failure: what the test raised.
        question: the last call made, used where the failure names none.
    """
    if isinstance(failure, StudentRaised):
        outcome = "not_attempted" if failure.error.kind == "NotAttempted" else "student_error"
        facts = [error_words(failure.error)]
        if outcome == "student_error" and failure.error.phase != "import":
            facts.append("in " + failure.question.text(values=True))
        advice = [advice for said, advice in _ADVICE.items() if said in failure.error.text]
        return Finding(outcome, facts, advice[:1] if outcome == "student_error" else [])
    if isinstance(failure, CheckFailed):
        asked = failure.question or question
        facts = [failure.fact]
        if asked is not None:
            facts.append("in " + asked.text(values=True))
        if failure.detail:
            facts.append(failure.detail)
        return Finding("failed", facts, [failure.hint] if failure.hint else [])
    # The test itself stumbled over the answer, which passes with a right component.
    return Finding("failed", ["the answer has a form that this check could not read"])


def error_words(error: StudentError) -> str:
    """Describe an exception of the student's code in one line."""
    where = place(error.file, error.line)
    text = clean(error.text)
    said = f": {text}" if text else ""
    match error.kind:
        case "NotAttempted":
            return f"not written yet{where}"
        case "MissingName":
            return f"the file has no `{text}`"
        case "StateKeys":
            found = clean(", ".join(error.found)) or "no keys"
            return f"the state_dict has no key `{clean(error.key)}` (it has: {found})"
        case "StateShape":
            turned = error.shape[::-1] == error.wanted
            why = ": nn.Linear(a, b) has a weight (b, a)" if turned else ""
            key = clean(error.key)
            return f"the parameter `{key}` has shape {error.shape}, expected {error.wanted}{why}"
        case "DeviceMismatch":
            return f"tensors on different devices were mixed{where}: make new ones on x.device"
        case "Forbidden":
            return f"{_use_words(text, where)}; a file that does so scores 0"
    if error.phase == "import":
        return f"the file could not be imported: {error.kind}{where}{said}"
    doing = {"backward": " while gradients were computed", "build": " when it was built"}
    return f"raised {error.kind}{doing.get(error.phase, '')}{where}{said}"


def forbidden_words(use: ForbiddenUse) -> str:
    """Name something forbidden and the line that used it."""
    return _use_words(use.operation, place(use.file, use.line))


def _use_words(name: str, where: str) -> str:
    if not name:
        return f"something forbidden was used{where}"
    if name in KERNELS:
        return (
            f"torch's {name} was called{where}: it does the exercise "
            "and is not allowed; write it out yourself"
        )
    how = "called" if "." in name else "imported"
    how = how if name.replace(".", "").replace("_", "").isalnum() else "used"
    return f"{name} was {how}{where}: it is not allowed in this component"


def place(file: str, line: int) -> str:
    """Write " (file.py, line 3)", or nothing where the place is unknown."""
    return f" ({clean(file, 80)}, line {line})" if file else ""
