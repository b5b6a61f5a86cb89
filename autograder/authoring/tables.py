"""The tables of known mistakes that a release carries, computed side by side."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from typing import Any

from autograder.assignment import Assignment
from autograder.grading.workers import cores
from autograder.judge.misconceptions import read


def table(
    assignment: Assignment, tell: Callable[[str], None] = lambda words: None
) -> dict[str, Any]:
    """Compute the table of one assignment; arguments and errors as for `Tables`."""
    with Tables([assignment], tell) as tables:
        return tables(assignment)


class Tables:
    """Tables of known mistakes, computed in processes of their own from when this is entered.

    This process has other things to do meanwhile, and need not import torch. Few components are
    computed here instead, when they are asked for: a process imports torch first, which takes as
    long as a small component.

    Args:
        assignments: whose.
        tell: is told what is being done.
    """

    def __init__(self, assignments: Sequence[Assignment], tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._names = [(one, name) for one in assignments for name in one.totals]
        self._pool: ProcessPoolExecutor | None = None
        self._starting = threading.Thread()
        self._processes: set[multiprocessing.process.BaseProcess] = set()
        self._begun: dict[tuple[str, str], Future[dict[str, Any]]] = {}

    def __enter__(self) -> Tables:
        """Begin."""
        side_by_side = min(cores(), len(self._names) // 2)
        if side_by_side > 1:
            # No fork of this process, which may have threads.
            fresh = "forkserver" in multiprocessing.get_all_start_methods()
            context = multiprocessing.get_context("forkserver" if fresh else "spawn")
            context.set_forkserver_preload(["autograder.authoring.known_numbers"])
            self._pool = ProcessPoolExecutor(side_by_side, context)
            # The most work first, so that none is left with it alone.
            order = sorted(self._names, key=lambda one: _work(*one), reverse=True)
            # The first process comes only when the fork server has imported torch.
            self._starting = threading.Thread(target=self._start, args=(self._pool, order))
            self._starting.start()
        return self

    def _start(self, pool: ProcessPoolExecutor, order: Sequence[tuple[Assignment, str]]) -> None:
        before = {*multiprocessing.active_children()}
        for assignment, name in order:
            self._begun[assignment.name, name] = pool.submit(_table_of, assignment, name)
        self._processes = {*multiprocessing.active_children()} - before

    def __exit__(self, *raised: object) -> None:
        """End; what is still being computed is not waited for."""
        if self._pool is not None:
            self._starting.join()
            for process in self._processes:
                process.terminate()
            self._pool.shutdown(cancel_futures=True)

    def __call__(self, assignment: Assignment) -> dict[str, Any]:
        """Return the table of an assignment, as plain data by component, once it is there.

        Raises:
            UsageError: the suite or the misconceptions are broken.
        """
        if self._pool is None:
            found = {}
            for name in assignment.totals:
                self._tell(f"computing what the known mistakes answer: {name}")
                found[name] = _table_of(assignment, name)
            return found
        self._starting.join()
        begun = {name: self._begun[assignment.name, name] for name in assignment.totals}
        for number, done in enumerate(as_completed(begun.values()), 1):
            # A broken suite ends all.
            done.result()
            self._tell(f"what the known mistakes answer: {number} of {len(begun)} components")
        return {name: done.result() for name, done in begun.items()}


def _work(assignment: Assignment, name: str) -> int:
    """Estimate how long a table takes: each mistake meets each other, in all that is built on."""
    mistakes = len(read(assignment, name))
    return mistakes * (1 + len(assignment.component(name).uses))


def _table_of(assignment: Assignment, name: str) -> dict[str, Any]:
    # Here and not above: it brings torch along.
    from autograder.authoring.known_numbers import of_component

    return of_component(assignment, name)
