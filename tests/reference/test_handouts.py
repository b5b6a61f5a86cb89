"""The handouts: one text for the parts that they share, and a source for every citation."""

from __future__ import annotations

import re

import pytest

from autograder.assignment import load_assignment
from autograder.judge.misconceptions import read
from tests.conftest import ROOT
from tests.docs.words import FOR_STUDENTS, retired

NAMES = ("transformer_block", "language_model")
# Both handouts have these paragraphs, and each has its own allowed operations, names or state.
OWN = {"What you may use", "What you may not use", "Keep to the public interface"}
OWN |= {"Dtype and device", "Files"}


def handout(name: str) -> str:
    return (ROOT / "assignments" / name / "README.md").read_text("utf-8")


def general(name: str) -> str:
    """Return the part of a handout before its components."""
    return handout(name).partition("\n---\n")[0]


def sections(name: str) -> dict[str, str]:
    found = re.split(r"^## (.*)$", general(name), flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def rules(name: str) -> dict[str, str]:
    """Return the paragraphs of the rules by their bold titles."""
    text = sections(name)["Rules for every component"]
    found = re.split(r"^\*\*([^*]+?)\.?\*\*", text, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def test_both_handouts_have_the_same_sections() -> None:
    first, second = (sections(name) for name in NAMES)
    assert list(first) == list(second)
    assert first["Sources"] == second["Sources"]
    assert first["Set up"] == second["Set up"]
    assert first["In a notebook service"] == second["In a notebook service"]


def test_the_results_of_a_run_are_explained_in_the_same_words() -> None:
    first, second = (
        sections(name)["Run the tests"].partition("Every check has")[2] for name in NAMES
    )
    assert first and first == second


def test_the_rules_that_both_handouts_share_are_one_text() -> None:
    first, second = (rules(name) for name in NAMES)
    shared = [title for title in first if title in second and title not in OWN]
    assert {"Names are part of the task", "Gradients", "Dropout", "Hidden checks"} <= set(shared)
    for title in shared:
        assert first[title].split("These letters")[0] == second[title].split("These letters")[0]


@pytest.mark.parametrize("name", NAMES)
def test_every_source_that_students_read_is_named_in_the_handout(name: str) -> None:
    named = set(re.findall(r"^- \*\*(\w+)\*\*:", sections(name)["Sources"], flags=re.MULTILINE))
    assignment = load_assignment(ROOT, name)
    cited = {
        mistake.source
        for component in assignment.totals
        for mistake in read(assignment, component).values()
    }
    for folder in (assignment.public, assignment.secret):
        for file in (folder / "tests").glob("test_*.py"):
            cited |= set(re.findall(r'(?:source=|SOURCE = )"([^"]+)"', file.read_text("utf-8")))
    first_words = {re.split(r"\W", part)[0] for source in cited for part in source.split("; ")}
    assert first_words <= named | {"handout"}


def texts(name: str) -> dict[str, str]:
    """Return the texts that students read of an assignment, by their places."""
    assignment = load_assignment(ROOT, name)
    found = {"README.md": handout(name)}
    for component in assignment.totals:
        found |= {file.name: file.read_text("utf-8") for file in assignment.public.glob("*.py")}
        for key, mistake in read(assignment, component).items():
            found[f"{component}.{key}"] = mistake.explanation
    for folder in (assignment.public, assignment.secret):
        for file in (folder / "tests").glob("test_*.py"):
            for title in re.findall(r'^    """(.*)', file.read_text("utf-8"), flags=re.MULTILINE):
                found[f"{file.name}: {title}"] = title
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_texts_for_students_use_the_usual_words(name: str) -> None:
    found = [
        f"{place}: {word!r}; the usual word: {usual}"
        for place, text in texts(name).items()
        for _, word, usual in retired(text, FOR_STUDENTS)
    ]
    assert found == []
