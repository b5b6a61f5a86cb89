"""Graded, ordinary tests come to the verdicts of one process, and give nothing to attacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import load_assignment
from autograder.judge.collection import collect
from autograder.judge.ordinary_suite import OrdinaryCheck
from tests.ordinary import COURSE, FORMS, WORKS, hostile, in_one_process, works

pytestmark = pytest.mark.slow

# The others repeat a way, or bring torch along.
_ONCE = ("extended", "fixtures", "functions", "objects", "raising", "unittests")
# A stand-in takes the place of the component that it builds on, where that one is wrong.
_WITH_STAND_INS = {("several", "wrong_figures")}


def graded(
    autograder: Callable[..., Any], form: str, batch: Path, out: Path
) -> dict[str, dict[str, tuple[int, int]]]:
    """Grade a batch; return by work and criterion how many of its cases passed of how many."""
    autograder(
        *("grade", str(batch), "--assignment", form, "--root", str(COURSE)),
        *("--out", str(out), "--sandbox", "tier1"),
    )
    found = {}
    for path in sorted((out / "results").glob("*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        found[result["submission"]] = {
            criterion["id"]: (criterion["passed_cases"], criterion["cases"])
            for component in result["components"].values()
            for criterion in component["criteria"]
        }
    return found


@pytest.mark.parametrize(
    "form",
    [pytest.param(f, marks=[] if f in _ONCE else [pytest.mark.release]) for f in FORMS],
)
def test_verdicts_are_those_of_one_process(
    form: str, tmp_path: Path, autograder: Callable[..., Any]
) -> None:
    found = graded(autograder, form, WORKS / form, tmp_path / "out")
    checks = collect(load_assignment(COURSE, form)).checks.values()
    for work in works(form):
        if work == "stub":
            assert not any(passed for passed, _ in found[work].values())
            continue
        if (form, work) in _WITH_STAND_INS:
            continue
        here = in_one_process(form, WORKS / form / work)
        for check in checks:
            assert isinstance(check, OrdinaryCheck)
            file, _, name = check.node.partition("::")
            part = "hidden" if check.criterion.visibility == "hidden" else "public"
            there = here[f"{part}/{Path(file).name}::{name}"]
            assert found[work][check.criterion.id] == there, (work, check.node)


@pytest.mark.release
def test_nothing_hostile_earns_a_point(tmp_path: Path, autograder: Callable[..., Any]) -> None:
    right = {}
    for number, (place, files, is_right) in enumerate(hostile()):
        name = f"s{number:03}"
        right[name] = is_right, place
        for file, data in files.items():
            path = tmp_path / "batch" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = graded(autograder, "scale", tmp_path / "batch", tmp_path / "out")
    assert found.keys() == right.keys()
    for name, criteria in found.items():
        is_right, place = right[name]
        if not is_right:
            assert not any(passed for passed, _ in criteria.values()), (place, criteria)
