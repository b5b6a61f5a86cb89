"""Classes made of parts of real results: what is put into them is known."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.assignment import Assignment
from autograder.grading import store
from autograder.grading.batch import Batch
from autograder.grading.entries import discover
from autograder.judge.misconceptions import read
from autograder.results import ComponentResult, SubmissionResult

# By component: what was put into it ("" for nothing, "missing"), and what it was graded.
Parts = Mapping[str, Sequence[tuple[str, ComponentResult]]]


def graded_parts(assignment: Assignment, place: Path, jobs: int = 2) -> Parts:
    """Grade each component with every known mistake, solved, and left out.

    One submission has a mistake of each component: they are graded apart. A mistake that is not
    recognised, as on a machine that has no time for it, is left out.
    """
    known = {name: read(assignment, name) for name in assignment.totals}
    columns = {
        name: ["", "missing", *sorted(n for n, one in found.items() if not one.in_branch)]
        for name, found in known.items()
    }
    for number in range(max(map(len, columns.values()))):
        folder = place / "batch" / f"row{number:02d}"
        folder.mkdir(parents=True)
        for name, kinds in columns.items():
            kind = kinds[number] if number < len(kinds) else ""
            path = assignment.secret / f"{name}.py"
            if kind == "missing":
                continue
            source = known[name][kind].wrong if kind else path.read_text(encoding="utf-8")
            (folder / f"{name}.py").write_text(source, encoding="utf-8")
        # A folder with no file at all would be no submission of one.
        (folder / "notes.py").write_text("")
    store.make_writable(place)
    batch = Batch(assignment, place, "none", jobs, True)
    try:
        batch.start()
        results = batch.run(discover(place / "batch", assignment.name).entries, lambda *_: None)
    finally:
        batch.close()
    # Whether the judge knows every mistake is not what pages are tested for.
    return {
        name: [
            (f"{name}.{kind}" if named else kind, result.components[name])
            for kind, result in zip(kinds, results, strict=False)
            for named in (kind not in ("", "missing"),)
            if not named or result.components[name].misconceptions == [f"{name}.{kind}"]
        ]
        for name, kinds in columns.items()
    }


def made_class(
    parts: Parts, number: int, seed: int, assignment: str
) -> tuple[list[SubmissionResult], dict[str, set[str]]]:
    """Make a class of so many, always the same; return it, and whom every mistake was given to."""
    draw = random.Random(seed)
    results = []
    given: dict[str, set[str]] = {}
    for count in range(number):
        name = f"u{count:04d}"
        # Some know more than others: else no criterion would tell anything of the rest.
        skill = draw.random()
        chosen = {}
        for component, known in parts.items():
            place = 0 if draw.random() < skill else draw.randrange(len(known))
            kind, chosen[component] = known[place]
            if "." in kind:
                given.setdefault(kind, set()).add(name)
        results.append(
            SubmissionResult(
                submission=name,
                assignment=assignment,
                status="graded",
                score=sum(part.score for part in chosen.values()),
                max_score=sum(part.max_score for part in chosen.values()),
                components=chosen,
                sandbox="none",
            )
        )
    return results, given
