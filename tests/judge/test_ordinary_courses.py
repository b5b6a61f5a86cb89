"""The courses of ordinary pytest files are what they are meant to be, in one process.

Right work passes every test, however it is written; a stub passes none; wrong work fails some.
"""

import re
import shutil
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.authoring.stubs import drifted
from tests.ordinary import COURSE, FORMS, WORKS, hostile, in_one_process, works

# Words of this framework's own, none of which an ordinary test knows.
VOCABULARY = re.compile(
    r"\b(component\.\w+|expect\.\w+|expect,|component,|make\.|autograder|criterion)"
)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_has_its_works(form: str) -> None:
    assignment = load_assignment(COURSE, form)
    assert drifted(assignment) == []
    names = works(form)
    assert {"other_style", "stub"} < set(names)
    assert all(name.startswith("wrong_") for name in set(names) - {"other_style", "stub"})
    for component in assignment.totals:
        for file, path in assignment.component_files(component, assignment.public).items():
            assert (WORKS / form / "stub" / file).read_bytes() == path.read_bytes()
        for folder in (assignment.public, assignment.secret):
            assert [*(folder / "tests").glob(f"test_{component}*.py")] or (
                assignment.component(component).tests
            )


def test_the_tests_are_ordinary() -> None:
    for path in COURSE.glob("*/*/tests/*.py"):
        text = path.read_text(encoding="utf-8")
        assert not VOCABULARY.search(text), path
        assert path.is_relative_to(COURSE / "reference") or "reference" not in text, path


def test_hostile_answers_say_what_they_try() -> None:
    found = list(hostile())
    assert len(found) >= 60
    assert any(may_earn for _, _, may_earn in found)
    for place, files, _ in found:
        text = files["scale.py"].decode()
        assert text.splitlines()[0].endswith('."""'), place
        compile(text, str(place), "exec")


# Ten processes that load torch take a minute.
_TORCH = [form for form in FORMS if load_assignment(COURSE, form).uses_torch]


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=pytest.mark.release) if form in _TORCH else form for form in FORMS],
)
def test_verdicts_in_one_process(form: str, tmp_path: Path) -> None:
    assignment = load_assignment(COURSE, form)
    right = tmp_path / "right"
    for component in assignment.totals:
        for file, path in assignment.component_files(component, assignment.secret).items():
            (right / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, right / file)
    expected = in_one_process(form, right)
    assert lost(expected) == []
    assert len(expected) >= 7
    for name in works(form):
        found = in_one_process(form, WORKS / form / name)
        assert {test: cases for test, (_, cases) in found.items()} == {
            test: cases for test, (_, cases) in expected.items()
        }
        if name == "other_style":
            assert lost(found) == []
        elif name == "stub":
            assert [test for test, (passed, _) in found.items() if passed] == []
        else:
            assert len(lost(found)) >= 2, name


def lost(found: dict[str, tuple[int, int]]) -> list[str]:
    """Return the tests of which some case did not pass."""
    return [test for test, (passed, cases) in found.items() if passed != cases]
