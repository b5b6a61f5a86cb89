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

from autograder.assignment import load_assignment
from autograder.suite.component import Component
from autograder.suite.judging import EXAMPLES
from autograder.suite.plugin import component_of
from autograder.suite.reference import ReferenceSession
from autograder.suite.student import StudentPlugin


class FreshPlugin(StudentPlugin):
    """The student's plugin, with the solutions beside the student's modules."""

    def __init__(self, folder: Path, solutions: Path, totals: dict[str, float]) -> None:
        super().__init__(folder, totals)
        self._references = {name: ReferenceSession(solutions, name) for name in totals}
        self._examples = 0

    def pytest_configure(self, config: pytest.Config) -> None:
        super().pytest_configure(config)
        profile = hypothesis.settings(max_examples=EXAMPLES)
        hypothesis.settings.register_profile("gradeformer-fresh", profile)
        hypothesis.settings.load_profile("gradeformer-fresh")

    def begin(self, drawn: dict[str, Any]) -> None:
        super().begin(drawn)
        self._examples += 1
        for reference in self._references.values():
            reference.begin(str(self._examples))

    @pytest.fixture
    def reference(self, request: pytest.FixtureRequest) -> Component:
        return Component(self._references[component_of(request.path)], lambda answer: None)


def pytest_configure(config: pytest.Config) -> None:
    root, name, folder = os.environ["GRADEFORMER_FRESH"].split(":")
    found = load_assignment(Path(root), name)
    plugin = FreshPlugin(Path(folder), found.secret, found.totals)
    config.pluginmanager.register(plugin, "gradeformer")
