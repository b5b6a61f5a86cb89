"""Turn what went wrong in a check into words for the student."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.api.answer import CheckFailed, Question, StudentRaised
from autograder.api.messages import StudentError
from autograder.rules.forbidden import OPERATIONS, ForbiddenUse
from autograder.rules.guard import NO_PROCESSES
from autograder.text import clean

CUT = (
    "compute with the tensor itself, not with a copy; .detach(), .data, .item(), numpy, no_grad "
    "and torch.tensor(...) stop gradients"
)
NAN = (
    "NaN comes from 0 / 0, inf / inf, inf - inf, 0 * inf, the root or log of a negative number, or "
    "a softmax over nothing but -inf"
)
INFINITE = (
    "look for exp of a large number, a division by 0, the log of 0, and an infinity that was put "
    "in and is still there"
)
DEVICES = (
    "make new tensors on the input's device, as in torch.zeros(..., device=x.device), and bring "
    "kept ones there by .to(x.device)"
)
_OTHER_DTYPE = (
    "look at .float(), .double(), .to(...), and at new tensors, which are float32 unless dtype= "
    "says otherwise"
)
_WHOLE_NUMBERS = (
    "whole numbers come from argmax, the indices of max and topk, arange, //, .long() and tensors "
    "made of whole numbers"
)
_TRUTH = "True and False come from comparisons (==, <=), and from dtype=torch.bool"
OTHER_KIND = "look at .half(), .to(...), comparisons, and at the dtype= of new tensors"
BOOLEAN = "comparisons (==, <=) make True and False, and so does dtype=torch.bool"


def other_dtype(actual: str, wanted: str) -> str:
    """Say where numbers of a dtype come from that is not the one wanted, which is not boolean."""
    if actual == "bool":
        return _TRUTH
    if "float" in wanted and "int" in actual:
        return _WHOLE_NUMBERS
    return _OTHER_DTYPE


_PRODUCT = (
    "print both shapes: in a @ b, the last size of a must equal the last but one of b; "
    "nn.Linear(n, m) takes n features"
)
_IN_PLACE = "operations that end in _ and += write over what is still needed: write x = x + y"
_SIGNATURE = "compare the arguments of the call with those of the definition"
# What torch and Python say, as a pattern, and what a student can do about it: no more than is true
# wherever it is said.
_ADVICE = {
    NO_PROCESSES: "nothing that starts a process works in grading: several of them, subprocess, "
    "and multiprocessing with its locks and values",
    r"^MemoryError|can't allocate memory|Cannot allocate memory": (
        "grading bounds the memory; at home pytest's first lines name the limit"
    ),
    r"CUDA|NVIDIA": f"no GPU is visible here or in grading; {DEVICES}",
    r"must match the (existing )?size|not broadcastable|cannot be broadcast": (
        "print both shapes: counted from the last, two sizes must be equal or one of them 1, which "
        "unsqueeze puts in and keepdim=True leaves"
    ),
    r"shapes cannot be multiplied": _PRODUCT,
    r"Expected size for first two dimensions": _PRODUCT,
    r"is invalid for input of size": "print the shape before this line; the new sizes must "
    "multiply to the number of values there are",
    r"view size is not compatible": "reshape does what view cannot here: the values do not lie in "
    "this order in memory",
    r"Dimension out of range": "print the shape; dimensions count from 0, or from -1 at the end",
    r"to have the same dtype|expected scalar type": "two dtypes meet: print both; new tensors have "
    "the one that dtype= says",
    r"Boolean value of Tensor": "`if` needs one True or False: ask `x is not None` of what may be "
    "missing, and .any() or .all() of values",
    r"before Module.__init__\(\) call": "call super().__init__() first",
    r"modified by an inplace operation": _IN_PLACE,
    r"leaf Variable that requires grad": _IN_PLACE,
    r"written-to tensor": "operations that end in _ and += cannot write into an expanded tensor, "
    "whose values share their memory: make a new one, as in x = x + y",
    r"unsupported ScalarType BFloat16|Can't call numpy\(\)": "numpy knows neither gradients nor "
    "bfloat16: torch has the same functions, and no .detach() is needed for them",
    r"positional argument": _SIGNATURE,
    r"unexpected keyword argument": _SIGNATURE,
    r"NoneType": "something is None here: an argument that was left out, or what a "
    "function gave that has no `return`",
    r"maximum recursion depth": "a function calls itself here, and nothing ends it",
    r"Sizes of tensors must match": "print the shapes: all sizes must be equal but that of the "
    "dimension along which they are joined",
    r"'(tuple|list)' object has no attribute|must be Tensor, not (tuple|list)": (
        "this is several things in one: take apart what you need, as in a, b = ..."
    ),
    r"'(Tensor|int|float|str|bool|dict)' object has no attribute": "print its type: is it what you "
    "think it is, and is the attribute spelled right?",
    r"object has no attribute": "is it spelled as in __init__, and assigned to self there?",
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
            facts.append(failure.question.words())
        said = f"{failure.error.kind}: {failure.error.text}"
        if failure.error.kind == "DeviceMismatch":
            return Finding(outcome, facts, [DEVICES])
        advice = [advice for pattern, advice in _ADVICE.items() if re.search(pattern, said)]
        return Finding(outcome, facts, advice[:1] if outcome == "student_error" else [])
    if isinstance(failure, CheckFailed):
        asked = failure.question or question
        facts = [failure.fact]
        if asked is not None:
            facts.append(asked.words())
        if failure.detail:
            facts.append(failure.detail)
        return Finding("failed", facts, [failure.hint] if failure.hint else [])
    # The test itself stumbled over the answer, which passes with a right component.
    facts = ["the answer has a form that this check could not read"]
    return Finding("failed", facts if question is None else [*facts, question.words()])


def first_cause(error: BaseException) -> BaseException:
    """Return what began an exception: pytest wraps what a file raises."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


_NOT_IN_FILE = re.compile(r"cannot import name '(\w{1,80})' from '(\w{1,80})'")


def import_words(error: BaseException) -> str:
    """Say in a sentence why a test file could not import what it is about."""
    error = first_cause(error)
    found = _NOT_IN_FILE.search(str(error))
    if isinstance(error, ImportError) and found is not None:
        return f"{found[2]}.py has no `{found[1]}`"
    return f"{type(error).__name__}: {clean(str(error))}"


def error_words(error: StudentError) -> str:
    """Describe an exception of the student's code in one line."""
    where = place(error.file, error.line)
    text = clean(error.text)
    said = f": {text}" if text else ""
    match error.kind:
        case "NotAttempted":
            return f"not written yet{where}"
        case "MissingName":
            owner = f"an object of `{clean(error.key)}`" if error.key else "the file"
            return f"{owner} has no `{text}`"
        case "StateKeys":
            found = clean(", ".join(error.found)) or "no keys"
            return f"the state_dict has no key `{clean(error.key)}` (it has: {found})"
        case "StateShape":
            turned = error.shape[::-1] == error.wanted
            why = ": nn.Linear(a, b) has a weight (b, a)" if turned else ""
            key = clean(error.key)
            return f"the parameter `{key}` has shape {error.shape}, expected {error.wanted}{why}"
        case "DeviceMismatch":
            return f"tensors on different devices were mixed{where}"
        case "Forbidden":
            return f"{_use_words(text, where)}; the component scores 0"
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
    if name in OPERATIONS:
        return (
            f"torch's {name} was called{where}: it is the exercise "
            "and not allowed; write it out yourself"
        )
    how = "called" if "." in name else "imported"
    how = how if name.replace(".", "").replace("_", "").isalnum() else "used"
    return f"{name} was {how}{where}: it is not allowed in this component"


def place(file: str, line: int) -> str:
    """Write " (file.py, line 3)", or nothing where the place is unknown."""
    return f" ({clean(file, 80)}, line {line})" if file else ""
