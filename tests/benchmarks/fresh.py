"""A pytest plugin: both suites on the modules of a folder, all in one ordinary pytest process.

What grading would be without the machine: no sandbox, no kept answers, Hypothesis in every run.

    GRADEFORMER_FRESH=<root>:<assignment>:<folder> pytest -p tests.benchmarks.fresh <suites>
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from autograder.api.component import Component
from autograder.api.criterion import EXAMPLES, component_of
from autograder.api.run import Run
from autograder.assignment import load_assignment
from autograder.judge.reference import ReferenceSession, import_apart
from autograder.student.local import Terms
from autograder.student.plugin import Examples, StudentPlugin


class FreshRun(Run):
    """A run whose references begin every example when it does."""

    references: dict[str, ReferenceSession]
    examples = 0

    def begin(self, drawn: dict[str, Any]) -> None:
        super().begin(drawn)
        self.examples += 1
        for reference in self.references.values():
            reference.begin(str(self.examples))


class FreshPlugin(StudentPlugin):
    """The student's plugin, with the solutions beside the student's modules."""

    def __init__(self, folder: Path, solutions: Path, terms: dict[str, Terms]) -> None:
        super().__init__(folder, terms)
        self._run = FreshRun(self.session)
        self._examples = Examples(self._run)
        self._run.references = {
            name: ReferenceSession(import_apart(solutions, name)) for name in terms
        }

    def pytest_configure(self, config: pytest.Config) -> None:
        super().pytest_configure(config)
        hypothesis.settings.register_profile("gradeformer-fresh", max_examples=EXAMPLES)
        hypothesis.settings.load_profile("gradeformer-fresh")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        super().pytest_collection_modifyitems(items)
        for item in items:
            function, examples = getattr(item, "obj"), self._criteria[item.nodeid].examples  # noqa: B009
            if hasattr(function, "hypothesis") and examples != EXAMPLES:
                hypothesis.settings(max_examples=examples)(function)

    @pytest.fixture
    def reference(self, request: pytest.FixtureRequest) -> Component:
        return Component(self._run.references[component_of(request.path)], lambda answer: None)


def pytest_configure(config: pytest.Config) -> None:
    root, name, folder = os.environ["GRADEFORMER_FRESH"].split(":")
    found = load_assignment(Path(root), name)
    terms = {
        spec.name: Terms(spec.points, spec.rules.rules(), spec.program, tuple(spec.uses))
        for spec in found.components
    }
    plugin = FreshPlugin(Path(folder), found.secret, terms)
    config.pluginmanager.register(plugin, "gradeformer")
