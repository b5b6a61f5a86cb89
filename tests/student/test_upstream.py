"""At home, a check that fails only because of another component is told from one that fails."""

from pathlib import Path

import pytest

from autograder.api.component import Component
from autograder.api.executor import Executor
from autograder.student.local import Terms, Upstream

PROVIDED = "def doubled(x):\n    from double import double\n\n    return double(x)\n"
RIGHT = "def double(x):\n    return 2 * x\n"
USES_LATE = "def four(x):\n    from double import double\n\n    return double(double(x))\n"


def ask(session: Executor) -> None:
    component = Component(session, lambda answer: None)
    assert component.provided("both").call("doubled", 3).value == 6
    assert component.call("four", 1).value == 4


@pytest.mark.parametrize("body", ["return x", "raise ValueError(x)", "raise NotImplementedError"])
def test_modules_that_are_imported_when_they_are_needed_are_the_working_ones(
    tmp_path: Path, body: str
) -> None:
    (tmp_path / "provided").mkdir()
    (tmp_path / "provided/both.py").write_text(PROVIDED)
    (tmp_path / "double.py").write_text(f"def double(x):\n    {body}\n")
    (tmp_path / "quadruple.py").write_text(USES_LATE)
    own = Executor(tmp_path, "quadruple")
    with pytest.raises(Exception):  # noqa: B017 - whatever the broken one raises or answers
        ask(own)
    upstream = Upstream(tmp_path, {"quadruple": Terms(1, uses=("double",))}, {"double": RIGHT})
    assert upstream.guilty("quadruple", ["double"], ask) == ["double"]
    with pytest.raises(Exception):  # noqa: B017 - the student's own is what it was
        ask(own)
