"""The table of known mistakes of a release: what is in it, and what it recognises."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request
from autograder.assignment import Assignment, load_assignment
from autograder.authoring.release import kept_numbers, known_numbers
from autograder.diagnosis.known import KnownMistakes
from autograder.judge.misconceptions import read
from autograder.judge.reference import import_apart
from autograder.judge.variants import Variants, variants_of
from autograder.text import together
from tests import foreign
from tests.conftest import ROOT

# The table of a whole assignment takes most of a minute; test_release.py has a small one, and a
# student's run that names mistakes by it.
pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def known(assignment: Assignment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The table of today as it is read from a release, whatever is kept."""
    return computed(assignment, tmp_path_factory.mktemp("computed"))


def computed(assignment: Assignment, root: Path) -> dict[str, Any]:
    without = shutil.ignore_patterns("*.json.gz", "*variants")
    for part in ("assignments", "reference"):
        shutil.copytree(
            ROOT / part / assignment.name, root / part / assignment.name, ignore=without
        )
    found = known_numbers(load_assignment(root, assignment.name))
    read_again: dict[str, Any] = json.loads(json.dumps(found))
    return read_again


def without_numbers(known: dict[str, Any]) -> dict[str, Any]:
    """Processors may disagree about the last digit."""
    return {
        name: [
            {what: told for what, told in one.items() if what not in ("answers", "loses")}
            for one in plain["mistakes"]
        ]
        for name, plain in known.items()
    }


def lost(known: dict[str, Any]) -> set[tuple[str, str]]:
    """Each mistake of a table with each criterion that it loses."""
    mistakes = [one for plain in known.values() for one in plain["mistakes"]]
    return {(one["words"], criterion) for one in mistakes for criterion in one["loses"]}


def test_the_kept_tables_are_what_is_computed_today(
    assignment: Assignment, known: dict[str, Any], tmp_path: Path
) -> None:
    other = load_assignment(ROOT, "language_model")
    for kept, found in (
        (kept_numbers(assignment), known),
        (kept_numbers(other), computed(other, tmp_path)),
    ):
        assert without_numbers(kept) == without_numbers(found)
        # Where training diverges, the last digit decides what it ends in; all else is exact.
        differ = {criterion for _, criterion in lost(kept) ^ lost(found)}
        assert differ <= {"training.more_than_a_bigram"}


def tensors_in(plain: Any) -> list[list[float]]:
    """Every tensor of a table of known mistakes."""
    if isinstance(plain, list) and plain[:1] == ["tensor"]:
        return plain[3:4]
    parts = plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else []
    return [tensor for part in parts for tensor in tensors_in(part)]


def test_known_mistakes_are_numbers_and_words_only(known: dict[str, Any]) -> None:
    assert sum(map(len, tensors_in(known))) > 1000
    for component, plain in known.items():
        assert set(plain) == {"questions", "mistakes", "pairs", "apart"}
        for mistake in plain["mistakes"]:
            assert set(mistake) == {"words", "branch", "loses", "answers"}
            assert all(name.startswith(f"{component}.") for name in mistake["loses"])
            for word in ("def ", "import ", "return x", "lambda", "self."):
                assert word not in mistake["words"]
        assert all(
            isinstance(number, int | float | bool)
            for values in tensors_in(plain)
            for number in values
        )


class Wrong:
    """A component with some mistakes."""

    def __init__(self, variants: Variants, *names: str) -> None:
        self.variants, self.names = variants, frozenset(names)

    def perform(self, request: Request) -> Reply:
        return self.variants.perform(self.names, request)


def test_nearly_every_mistake_in_the_table_is_recognised_and_right_work_never(
    assignment: Assignment, known: dict[str, Any]
) -> None:
    false, unsaid, shown = [], set(), set()
    for component, plain in known.items():
        mistakes = read(assignment, component)
        variants = variants_of(assignment, component, mistakes)
        for name in (None, *mistakes):
            words = mistakes[name].words if name else ""
            entry = next((m for m in plain["mistakes"] if m["words"] == words), {"loses": []})
            found = KnownMistakes(plain)
            session = Wrong(variants, *([name] if name else []))
            for criterion in {c for m in plain["mistakes"] for c in m["loses"]}:
                causes = found.causes(criterion, session)
                if criterion not in entry["loses"]:
                    false += [(component, name, criterion, causes)] if causes else []
                    continue
                shown.add((component, name))
                # It may stand beside another that these questions cannot tell from it.
                if words not in causes:
                    unsaid.add((component, name))
                    false += [(component, name, criterion, causes)] if causes else []
    assert false == []
    assert len(shown) >= 60
    # Of some there is NaN alone, or other draws, which prove nothing.
    assert len(unsaid) <= 0.1 * len(shown), unsaid


@pytest.fixture
def session(assignment: Assignment, tmp_path: Path):
    """Import a component as a student has it beside the solutions of the others."""

    def of(component: str, source: str) -> Executor:
        for path in assignment.secret.glob("*.py"):
            shutil.copy(path, tmp_path)
        (tmp_path / f"{component}.py").write_text(source)
        return import_apart(tmp_path, component, assignment.public)

    return of


def causes(known: dict[str, Any], component: str, session: Executor) -> set[str]:
    """All that is said of a component, whichever criterion is lost."""
    plain = known[component]
    found = KnownMistakes(plain)
    criteria = {criterion for mistake in plain["mistakes"] for criterion in mistake["loses"]}
    return {words for criterion in sorted(criteria) for words in found.causes(criterion, session)}


def words_of(assignment: Assignment, component: str, names: Sequence[str]) -> list[str]:
    return [found.words for name, found in read(assignment, component).items() if name in names]


@pytest.mark.parametrize("slug", [slug for slug, case in foreign.CASES.items() if case.at_home])
def test_foreign_styles_are_recognised_with_their_names_or_not_at_all(
    assignment: Assignment, known, session, slug: str
) -> None:
    case = foreign.CASES[slug]
    said = causes(known, case.component, session(case.component, case.source))
    if not case.names:
        assert said == set()
    elif len(case.names) == 1:
        assert said == set(words_of(assignment, case.component, case.names))
    else:
        # Both where both lose the criterion, else the one that does.
        assert together(words_of(assignment, case.component, case.names)) in said
        assert all(
            any(w in s for w in words_of(assignment, case.component, case.names)) for s in said
        )


@pytest.mark.parametrize("component", ["attention", "feed_forward", "positional_encoding"])
def test_right_variants_are_said_nothing_of(
    assignment: Assignment, known, tmp_path: Path, component: str
) -> None:
    for folder in sorted((assignment.secret / "right_variants").iterdir()):
        if not (folder / f"{component}.py").is_file():
            continue
        place = tmp_path / folder.name
        shutil.copytree(folder, place)
        assert causes(known, component, import_apart(place, component, assignment.public)) == set()


def test_the_table_keeps_samples_and_not_whole_answers(known: dict[str, Any]) -> None:
    for plain in known.values():
        answers = [
            answer for mistake in plain["mistakes"] for answer in mistake["answers"].values()
        ]
        assert all(len(values) <= 120 for values in tensors_in(answers))
        floats = [v for v in tensors_in(answers) if any(isinstance(n, float) for n in v)]
        assert all(len(values) <= 24 for values in floats)
    # Half of it are pairs, of which there are as many as mistakes by mistakes.
    assert len(gzip.compress(json.dumps(known, separators=(",", ":")).encode())) < 2_000_000


def test_a_finite_number_in_an_inverted_mask_is_no_cause_by_itself(known, session) -> None:
    assert causes(known, "attention", session("attention", foreign.INVERTED)) == set()
