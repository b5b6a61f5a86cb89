"""Nothing of a hidden question is shown by way of what the kernel keeps for all processes.

One component answers rightly and writes which question it heard first into whatever children have
in common. The next one reads it back, and shows it in messages and a picture; a third cannot be
imported once a hidden question was heard, and says why. What comes of public questions proves that
the ways work.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from typing import Any

import pytest

from autograder.reports.shown import component_page, shown_component
from autograder.results import ComponentResult
from tests.conftest import ROOT, TIERS, make_project
from tests.sandbox.test_hostile import COMPONENTS, HOSTILE, run

pytestmark = pytest.mark.slow
SUBMISSION = HOSTILE / "reading" / "memory_in_common"
# What is heard of a question that the handout has, and of any other.
PUBLIC, HIDDEN = 5, 11
# Others on this machine move the same numbers: what counts is what most copies hear. By chance
# six of nine hear the same one of 16 numbers in one run of 200,000.
COPIES, MOST, SOME = 9, 6, 3
# In the order of the picture's rows, from the last.
LINES = ("pipes", "times", "processes", "blocks", "preadv2", "cachestat", "mincore", "counters")
REFUSED = set(LINES[3:])

Components = dict[str, dict[str, Any]]


@pytest.fixture(scope="module", params=TIERS)
def tier(request: pytest.FixtureRequest) -> str:
    tier: str = request.param
    return tier


@pytest.fixture(scope="module")
def graded(tier: str, tmp_path_factory: pytest.TempPathFactory) -> list[Components]:
    """The components of every copy, by name."""
    folder = tmp_path_factory.mktemp(tier)
    root = make_project(folder / "project", "hostile", COMPONENTS)
    place = root / "assignments" / "hostile"
    shutil.copy(ROOT / "assignments" / "transformer_block" / "tests" / "views.py", place / "tests")
    settings = place / "assignment.toml"
    # The sandbox is tried: what is out of the ordinary runs.
    settings.write_text(settings.read_text().replace("[rules]\n", '[rules]\nreview = "note"\n'))
    for number in range(COPIES):
        copy = shutil.copytree(SUBMISSION, folder / "batch" / f"s{number}")
        # A file is marked as read once a day: every copy has some for itself.
        serial = COPIES * TIERS.index(tier) + number
        lines = (copy / "lines.py").read_text().replace("SERIAL = 0", f"SERIAL = {serial}")
        (copy / "lines.py").write_text(lines)
    batch = [str(folder / "batch"), "--assignment", "hostile", "--root", str(root)]
    command = [sys.executable, "-m", "autograder", "grade", *batch, "--out", str(folder / "out")]
    code, out, error, _ = run([*command, "--sandbox", tier, "--jobs", "1"], 600)
    if code == 2 and "tier" in error:
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {error.strip()}")
    assert code == 0, out + error
    paths = sorted((folder / "out" / "results").iterdir())
    assert len(paths) == COPIES
    return [json.loads(path.read_text())["components"] for path in paths]


def shown(components: Components) -> str:
    """All that a student is shown."""
    results = [ComponentResult.model_validate(component) for component in components.values()]
    unseen = {"usage": True, "criteria": {"__all__": {"outcome"}}}
    texts = [result.model_dump_json(exclude=unseen) for result in results]
    texts += [component_page(shown_component(result, True)) for result in results]
    return "\n".join(texts).replace('\\"', '"').replace("&#34;", '"')


def said(components: Components, line: str) -> set[int | None]:
    """What is said of a line in messages."""
    found = re.findall(r"HEARD ({.*?})", shown(components))
    return {json.loads(numbers)[line] for numbers in found}


def drawn(components: Components, line: str) -> set[int | None]:
    """What the picture says of a line."""
    views = components["attention"]["views"]
    rows = [view["values"][5 - LINES.index(line)] for view in views if view["kind"] == "heatmap"]
    numbers = [sum(int(bit) << at for at, bit in enumerate(row[:4])) for row in rows]
    return {number if row[5] else None for number, row in zip(numbers, rows, strict=True)}


def test_the_work_runs_and_the_writer_is_right(graded: list[Components]) -> None:
    for components in graded:
        assert components["layer_norm"]["score"] == components["layer_norm"]["max_score"]
        assert components["attention"]["status"] == "graded"
        assert said(components, "pipes")
        assert drawn(components, "pipes")


def test_what_is_refused_tells_nothing(graded: list[Components]) -> None:
    for components in graded:
        assert {line for line in REFUSED if said(components, line) != {None}} == set()


@pytest.mark.parametrize("line", [line for line in LINES if line not in REFUSED])
def test_nothing_of_a_hidden_question_is_shown(graded: list[Components], line: str) -> None:
    assert sum(HIDDEN in said(components, line) for components in graded) < MOST
    assert sum(HIDDEN in drawn(components, line) for components in graded) < MOST


def test_of_a_public_question_the_same_line_tells(graded: list[Components]) -> None:
    """The test above could fail."""
    assert sum(PUBLIC in said(components, "pipes") for components in graded) >= SOME
    assert sum(PUBLIC in drawn(components, "pipes") for components in graded) >= SOME


def test_on_the_first_tier_children_have_numbers_of_their_own(
    tier: str, graded: list[Components]
) -> None:
    found = set().union(*(said(components, "processes") for components in graded))
    assert (found == {0}) is (tier == "tier1")


def test_a_later_child_does_not_say_why_it_cannot_be_imported(graded: list[Components]) -> None:
    last = [components["multi_head_attention"] for components in graded]
    heard = [component for component in last if component["status"] == "crashed"]
    # That it heard of a hidden question is its own loss, and all that is told.
    assert len(heard) >= SOME
    assert {component["message"] for component in heard} == {
        "its process died; what came after was not run"
    }
    assert sum("NOT IMPORTED" in shown(components) for components in graded) < MOST
