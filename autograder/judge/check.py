"""A criterion's test as a value: the cases and the examples that it is run on."""

from __future__ import annotations

import contextlib
import copy
import functools
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis.errors import UnsatisfiedAssumption

from autograder.suite.answer import Question, StudentRaised
from autograder.suite.criterion import Criterion
from autograder.suite.wording import find


@dataclass
class Case:
    """One case of a criterion's test; a test without parameters has one.

    Attributes:
        name: what pytest calls it, empty for the only one.
        parameters: what the test was parametrized with.
        examples: what was drawn for a property.
    """

    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Check:
    """A criterion's test, ready to run.

    Attributes:
        function: the test, wrapped by Hypothesis if it is a property.
        fixtures: the names of the fixtures that it takes.
        cases: share the criterion's points.
    """

    criterion: Criterion
    function: Callable[..., object]
    fixtures: tuple[str, ...]
    cases: list[Case] = field(default_factory=list)

    @property
    def is_property(self) -> bool:
        """Whether Hypothesis draws examples for it."""
        return hasattr(self.function, "hypothesis")

    def run(
        self, case: Case, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]
    ) -> None:
        """Run the test; a property on the examples drawn for it, without Hypothesis."""
        arguments = {**{name: given[name] for name in self.fixtures}, **case.parameters}
        if not self.is_property:
            begin({})
            self.function(**arguments)
            return
        inner: Callable[..., object] = getattr(self.function, "hypothesis").inner_test  # noqa: B009
        for drawn in case.examples:
            begin(drawn)
            with contextlib.suppress(UnsatisfiedAssumption):
                inner(**arguments, **drawn)

    def draw(
        self, case: Case, given: Mapping[str, Any], begin: Callable[[dict[str, Any]], None]
    ) -> None:
        """Run the test as Hypothesis does, and keep a copy of the first examples that it draws."""
        if not self.is_property:
            self.run(case, given, begin)
            return
        arguments = {**{name: given[name] for name in self.fixtures}, **case.parameters}
        handle = getattr(self.function, "hypothesis")  # noqa: B009
        inner = handle.inner_test
        # Those of the test's own `@example` come first.
        written = len(getattr(self.function, "hypothesis_explicit_examples", ()))

        @functools.wraps(inner)
        def keep(*args: Any, **kwargs: Any) -> None:
            # Drawn all the same, so that fewer examples are the first of those that more would be.
            if len(case.examples) == written + self.criterion.examples:
                return
            drawn = {name: value for name, value in kwargs.items() if name not in arguments}
            # Before the test could change it.
            case.examples.append(copy.deepcopy(drawn))
            begin(drawn)
            inner(*args, **kwargs)

        handle.inner_test = keep
        try:
            self.function(**arguments)
        finally:
            handle.inner_test = inner


@dataclass(frozen=True)
class Attempt:
    """One run of one criterion's test.

    Attributes:
        failure: what it raised first, or None if it passed.
        question: the last call that was made then.
        drawn: the example it ended on.
        case: the name of the case.
        cases: how many cases there are.
        passed: how many of them passed.
    """

    failure: BaseException | None
    question: Question | None = None
    drawn: Mapping[str, Any] = field(default_factory=dict)
    case: str = ""
    cases: int = 1
    passed: int = 0


def words_of(attempt: Attempt) -> str:
    """Say what a solution ran into, with file and line of its own."""
    failure = attempt.failure
    assert failure is not None
    if isinstance(failure, AssertionError | StudentRaised):
        return "; ".join(find(failure, attempt.question).message.splitlines())
    place = traceback.extract_tb(failure.__traceback__)[-1]
    where = f"{Path(place.filename).name}, line {place.lineno}"
    return f"{type(failure).__name__}: {failure} ({where})"
