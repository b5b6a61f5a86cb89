"""What a student hears at home of a mistake, by the numbers that a release carries."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request
from autograder.assignment import Assignment
from autograder.authoring.folders import write_files
from autograder.authoring.known_numbers import of_component
from autograder.authoring.proof import Report, compare_at_home
from autograder.authoring.rows import Row
from autograder.diagnosis.known import KnownMistakes
from autograder.environment import alone
from autograder.judge.collection import collect
from autograder.judge.misconceptions import read
from autograder.judge.reference import import_apart
from autograder.judge.variants import LONGEST_S, at_most
from autograder.sandbox.scratch import temporary_folder


@dataclass(frozen=True)
class _Timed:
    """A component of which no answer takes longer than of a mistake."""

    executor: Executor

    def perform(self, request: Request) -> Reply:
        with at_most(LONGEST_S):
            return self.executor.perform(request)


def compare(assignment: Assignment, rows: Sequence[Row], report: Report) -> None:
    """Compare what grading names in wrong variants with what a student is told at home.

    Args:
        assignment: whose.
        rows: those of its selftest.
        report: on them; gets what is found.

    Raises:
        UsageError, SuiteFault: a suite or the misconceptions are broken.
    """
    with alone():
        homes = {name: AtHome(assignment, name) for name in report.wrong_variants}
        files = {row.id: row.files for row in rows if row.kind == "wrong"}
        compare_at_home(report, lambda row: homes[row.component].told(files[row.id]))


class AtHome:
    """The public checks of a component with its table of known mistakes.

    Args:
        assignment: whose.
        name: the component.

    Raises:
        UsageError, SuiteFault: its suite or its misconceptions are broken.
    """

    def __init__(self, assignment: Assignment, name: str) -> None:
        self._assignment, self._name = assignment, name
        # As a handout carries it.
        self._table = json.loads(json.dumps(of_component(assignment, name)))
        # The examples of a student's run are drawn otherwise than the judge's.
        self._suite = collect(assignment, assignment.seed + 1, only=name)
        self._ids = {one.words: one.id for one in read(assignment, name).values()}

    def told(self, files: Mapping[str, bytes]) -> tuple[set[str], bool] | None:
        """Return the ids of the mistakes that are told, and whether it is one or the other.

        None where no public check fails, so that nobody would ask.

        Args:
            files: a submission of ours, which runs in this process.
        """
        with warnings.catch_warnings(action="ignore"), self._imported(files) as component:
            failed = [
                criterion.id
                for criterion in self._suite.criteria[self._name]
                if criterion.visibility == "public"
                and self._suite.run(criterion, component).failure is not None
            ]
            found = KnownMistakes(self._table).solution(component)
        if not failed:
            return None
        lost = {m["words"] for m in self._table["mistakes"] if {*m["loses"]} & {*failed}}
        return {self._ids[words] for words in found.names & lost}, found.either

    @contextlib.contextmanager
    def _imported(self, files: Mapping[str, bytes]) -> Iterator[_Timed]:
        with temporary_folder() as folder:
            write_files(folder, files)
            program = self._assignment.component(self._name).program
            yield _Timed(import_apart(folder, self._name, self._assignment.public, program))
