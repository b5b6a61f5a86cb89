"""Hypothesis in the student's own run: the same examples every time, the smallest that fails."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest

from autograder.suite.answer import StudentRaised
from autograder.suite.run import Run


def load_profile() -> None:
    """Draw the same examples in every run, and shrink the one that fails."""
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink]
    hypothesis.settings.register_profile(
        "gradeformer-student",
        max_examples=30,
        phases=phases,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.settings.load_profile("gradeformer-student")


class Examples:
    """Begins every test, and every example of a property.

    Attributes:
        unwritten: what the last test ran into that is not written yet, if it was a property's.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self.unwritten: StudentRaised | None = None

    @contextlib.contextmanager
    def beginning(self, item: pytest.Item) -> Iterator[None]:
        """Begin a test; for a property, begin every example it draws."""
        self.unwritten = None
        self._run.begin({})
        handle = getattr(getattr(item, "obj", None), "hypothesis", None)
        if handle is None:
            yield
            return
        inner = handle.inner_test
        fixtures = set(getattr(item, "fixturenames", ()))

        @functools.wraps(inner)
        def noted(*args: Any, **kwargs: Any) -> None:
            self._run.begin({key: value for key, value in kwargs.items() if key not in fixtures})
            try:
                inner(*args, **kwargs)
            except StudentRaised as raised:
                if raised.error.kind != "NotAttempted":
                    raise
                # There is nothing to be made smaller.
                self.unwritten = raised
                pytest.skip("not written yet")

        handle.inner_test = noted
        try:
            yield
        finally:
            handle.inner_test = inner
