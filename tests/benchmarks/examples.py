"""How many examples of every property it takes to catch what the suites catch.

    python -m tests.benchmarks.examples ASSIGNMENT [--seeds N] [--mutants N] [--component NAME ...]

Grades all misconceptions, wrong variants and mutants with the suites of several seeds, as many
examples as there can be, and notes on which example, counted from 1, every property was lost first.
Then it proposes `examples=` for the marks: as few requests as possible, such that under every seed
whatever loses points still loses some, and at least the share `--keep` of what it loses now.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from autograder.api.component import Session
from autograder.api.criterion import EXAMPLES, Criterion, criterion_of
from autograder.assignment import Assignment, load_assignment
from autograder.authoring.rows import Row, rows_of
from autograder.judge import collection
from autograder.judge.cache import Cache
from autograder.judge.component import Judge, all_forbidden, largest_budget
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.reference import workplace
from autograder.judge.submission import grade_submission
from autograder.judge.suite import Attempt, Suite
from autograder.sandbox.tiers import open_sandbox

ROOT = Path(__file__).resolve().parents[2]
WRONG = ("misconception", "wrong", "mutant")
# The first example is the smallest there is: what is right for small ones alone would pass it.
LEAST = 2
# By criterion the first example that it was lost on; 0 where nothing is drawn.
Lost = dict[str, int]


def lost_by_rows(assignment: Assignment, rows: list[Row], seed: int) -> dict[str, Lost]:
    """Grade the rows with the suite of a seed; return what each row loses."""
    lost: dict[str, Lost] = {}
    with contextlib.ExitStack() as stack:
        stack.enter_context(workplace(assignment))
        sandbox, _ = open_sandbox(
            *("auto", largest_budget(assignment), all_forbidden(assignment), []),
            assignment.packages,
        )
        stack.callback(sandbox.close)
        with mock.patch.object(collection, "criterion_of", of_all_examples):
            # Nothing is kept: it would be taken for what the marks say.
            suite = collection.collect(assignment, seed, cache=Cache(None))
        own: Lost = {}
        watch(suite, own)
        diagnoser = Diagnoser(assignment, suite.public_plans(), False)
        judge = Judge(assignment, suite, sandbox, diagnoser, assignment.provided())
        for row in rows:
            own.clear()
            results = grade_submission(judge, row.files, only=row.only, diagnose=False)
            for result in results.values():
                for criterion in result.criteria:
                    if not criterion.passed:
                        # It was not run: what came before is why.
                        own.setdefault(criterion.id, 0)
            lost[row.id] = dict(own)
    return lost


def of_all_examples(item: pytest.Item, visibility: str) -> Criterion:
    """Read a test's criterion, as if its mark did not say how many examples are asked."""
    return replace(criterion_of(item, visibility), examples=EXAMPLES)


def watch(suite: Suite, own: Lost) -> None:
    """Note in `own` on which example every criterion is lost."""
    plain = suite.run

    def run(criterion: Criterion, session: Session) -> Attempt:
        attempt = plain(criterion, session)
        if attempt.failure is not None:
            cases = {case.name: case for case in suite.checks[criterion.id].cases}
            drawn = cases[attempt.case].examples
            at = 1 + drawn.index(dict(attempt.drawn)) if drawn else 0
            own[criterion.id] = min(at, EXAMPLES)
        return attempt

    suite.run = run  # type: ignore[method-assign]


def chosen(
    requests: Mapping[str, int], points: Mapping[str, float], rows: list[Lost], keep: float
) -> dict[str, int]:
    """Choose how many examples every property is asked, so that all rows lose enough.

    Args:
        requests: of every property with all its examples.
        points: what every criterion is worth.
        rows: what every wrong submission lost.
        keep: the share of it that it must still lose.
    """

    def loses(row: Lost, examples: Mapping[str, int]) -> float:
        return sum(points[c] for c, at in row.items() if at <= examples.get(c, EXAMPLES))

    whole = [loses(row, {}) for row in rows]
    by: dict[str, list[int]] = {name: [] for name in requests}
    for number, row in enumerate(rows):
        for name in row:
            if name in requests:
                by[name].append(number)
    found = {name: max([rows[n][name] for n in by[name]] + [LEAST]) for name in requests}
    while True:
        gains: list[tuple[int, str]] = []
        for name in requests:
            fewer = {**found, name: found[name] - 1}
            if fewer[name] >= LEAST and all(
                loses(rows[n], fewer) >= max(keep * whole[n], 1e-9) - 1e-12 for n in by[name]
            ):
                gains.append((requests[name], name))
        if not gains:
            return found
        found[max(gains)[1]] -= 1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("assignment")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="what is added to the first seed")
    parser.add_argument("--mutants", type=int, default=-1)
    parser.add_argument("--component", action="append", default=[])
    parser.add_argument("--keep", type=float, default=0.7)
    parser.add_argument("--known", type=Path, nargs="*", default=[], help="what --json wrote")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    assignment = load_assignment(ROOT, options.assignment)
    mutants = None if options.mutants < 0 else options.mutants
    rows = rows_of(assignment, 0, mutants, options.component, WRONG)
    rows = [replace(row, only=(row.component,)) for row in rows if row.kind in WRONG]
    found: dict[str, dict[str, Lost]] = {}
    for path in options.known:
        found |= json.loads(path.read_text())
    for number in range(options.first, options.first + options.seeds):
        seed = assignment.seed + number
        print(f"seed {seed}: {len(rows)} submissions", file=sys.stderr, flush=True)
        found[str(seed)] = lost_by_rows(assignment, rows, seed)
    if options.json:
        options.json.write_text(json.dumps(found))
    show(assignment, found, options.keep)


def show(assignment: Assignment, found: Mapping[str, Mapping[str, Lost]], keep: float) -> None:
    """Print on which examples properties were lost, and what to write into their marks."""
    suite = collection.collect(assignment)
    every = {c.id: c for criteria in suite.criteria.values() for c in criteria}
    asked = {name: len(suite.plans[name]) for name in every}
    requests = {
        name: asked[name] * EXAMPLES // criterion.examples
        for name, criterion in every.items()
        if suite.checks[name].is_property
    }
    points = {name: criterion.points for name, criterion in every.items()}
    rows = [
        {name: at if name in requests else 0 for name, at in own.items() if name in points}
        for lost in found.values()
        for own in lost.values()
    ]
    rows = [row for row in rows if row]
    examples = chosen(requests, points, rows, keep)
    for name, few in examples.items():
        counts = Counter(row[name] for row in rows if name in row)
        shown = "  ".join(f"{at}: {counts[at]}" for at in sorted(counts))
        print(f"{name:<52} examples={few}   lost on {shown}")
    others = sum(count for name, count in asked.items() if name not in requests)
    all_asked = others + sum(one.requests for one in requests.values())
    fewer = others + sum(one.requests * examples[name] / EXAMPLES for name, one in requests.items())
    print(f"{len(found)} seeds, {len(rows)} submissions that lose points")
    print(f"requests: {all_asked} with {EXAMPLES} examples each, {fewer:.0f} with these: ", end="")
    print(f"{1 - fewer / all_asked:.0%} less")


if __name__ == "__main__":
    main()
