"""What a stub raises says that nothing is written; what a student raises is told as that."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from autograder.api.answer import StudentRaised
from autograder.api.component import Component
from autograder.api.executor import Executor
from autograder.api.wording import find

STUB = '''"""A layer."""

SIZE = 3


class Layer:
    """Does it."""

    def __init__(self, kind="relu"):
        """Make it."""
        self.kind = kind
        # Your code here.
        raise NotImplementedError


def double(x):
    """Return twice x."""
    raise NotImplementedError("write this")


def triple(x):
    """Return three times x."""
    if x < 0:
        raise ValueError("below 0")
    # Your code here.
    raise NotImplementedError
'''


@pytest.fixture
def kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ask a text for triple(1), and return the kind of its error and what is said of it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    numbers = iter(range(100))

    def asked(source: str, function: str = "triple", stub: str = STUB) -> tuple[str, str, str]:
        name = f"layer_{tmp_path.name}_{next(numbers)}"
        (tmp_path / f"{name}.py").write_text(source)
        executor = Executor(tmp_path, name, stubs={f"{name}.py": stub})
        answer = Component(executor, lambda answer: None).call(function, 1)
        assert answer.error is not None
        found = find(StudentRaised(answer.error, answer.question), None)
        return answer.error.kind, found.outcome, found.facts[0].replace(name, "layer")

    return asked


@pytest.mark.parametrize("function", ["Layer", "double", "triple"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("# Your code here.", "# What comes here?\n    #\n"),
        ("Return three times x.", "Later."),
        ('    """Return three times x."""\n', ""),
        ("def triple(x):", "def triple(x: int) -> int:"),
        ("SIZE = 3", "import math\n\nSIZE = 4"),
        ("def double", "def quadruple(x):\n    return 4 * x\n\n\ndef double"),
        ('    if x < 0:\n        raise ValueError("below 0")\n', ""),
    ],
    ids=[
        *("untouched", "comment", "docstring", "no docstring", "types", "above"),
        *("a function more", "less than the stub"),
    ],
)
def test_what_is_as_the_stub_has_it_is_not_attempted(kind, function, old, new) -> None:
    found, outcome, said = kind(STUB.replace(old, new), function)
    assert (found, outcome) == ("NotAttempted", "not_attempted")
    assert said.startswith("not written yet (layer.py, line ")


@pytest.mark.parametrize(
    "body",
    [
        '    if x == 1:\n        raise NotImplementedError("1 not supported")\n    return 3 * x\n',
        "    if x == 1:\n        raise NotImplementedError\n    return 3 * x\n",
        "    if x > 1:\n        return 3 * x\n    raise NotImplementedError\n",
        '    raise NotImplementedError("1 not supported")\n',
        "    return helper(x)\n\n\ndef helper(x):\n    raise NotImplementedError\n",
        "    class Own(NotImplementedError): ...\n    raise Own\n",
    ],
    ids=["own words", "a branch", "the rest", "other words", "a helper", "an own class"],
)
def test_what_a_student_raises_is_the_exception_that_it_is(kind, body) -> None:
    head, _ = STUB.split("    if x < 0")
    found, outcome, said = kind(head + body)
    assert (found, outcome) == ("NotImplementedError", "student_error")
    assert said.startswith("raised NotImplementedError (layer.py, line ")
    assert ("not supported" in said) == ("not supported" in body)


def test_another_stub_is_that_of_another_file(kind) -> None:
    assert kind(STUB, stub="")[0] == "NotImplementedError"
    assert kind(STUB, stub="def triple(x):\n    raise NotImplementedError\n")[0] != "NotAttempted"
