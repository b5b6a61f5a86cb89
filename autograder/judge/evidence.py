"""What a component answered, weighed against what it would have answered with mistakes in force."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from autograder.exchange.messages import Reply, Request
from autograder.exchange.operations import entries_of
from autograder.judge.expected import Expected
from autograder.solutions.variants import RIGHT, Names, reseeded
from autograder.suite.likeness import CLEARLY, Comparison
from autograder.suite.symptoms import raised_wrongly

# Two ways to write the same differ by this share of what marks allow.
ROUNDING = 0.05

Ask = Callable[[Sequence[Request]], Sequence[Reply] | None]


@dataclass(frozen=True, eq=False)
class Example:
    """One example of a criterion with the student's replies, as far as they came.

    `free` says that right work may answer otherwise than the solution.
    """

    criterion: str
    passed: bool
    requests: tuple[Request, ...]
    replies: tuple[Reply, ...]
    free: bool = False

    @cached_property
    def size(self) -> int:
        """How many numbers were asked with."""
        return sum(tensor.numel() for request in self.requests for tensor in request.tensors())

    @cached_property
    def entries(self) -> frozenset[str]:
        """The names of the component's functions and classes that were asked."""
        return frozenset().union(*(entries_of(request.ops) for request in self.requests))


@dataclass(frozen=True)
class Fit:
    """How far apart two answers are, as `Comparison` counts it.

    Attributes:
        exact: value by value.
        drawn: as samples, where both hang on random draws.
        voided: whether the one that was no number was not compared.
    """

    exact: float
    drawn: float = math.inf
    voided: bool = False

    @property
    def holds(self) -> bool:
        """Whether the one may be the other."""
        return min(self.exact, self.drawn) <= 1

    @property
    def to_the_draw(self) -> bool:
        """Whether only samples are alike."""
        return self.exact > 1 >= self.drawn


class Evidence:
    """Weighs examples of one submission for and against mistakes.

    Args:
        expected: what is expected of the component with mistakes.
        ask: puts the requests of an example to the student's component; None if it is gone.
    """

    def __init__(self, expected: Expected, ask: Ask) -> None:
        self.variants = expected.variants
        self._expected = expected
        self._ask = ask
        self._fits: dict[tuple[Names, int], Fit] = {}
        # Most mistakes show in few examples, so that many answer alike. Beside what was compared
        # stands what must stay alive: its identity is in the key.
        self._exact: dict[tuple[int, int, bool], tuple[Sequence[Reply], Fit]] = {}
        self._drawn: dict[tuple[int, int, int], tuple[Sequence[Sequence[Reply]], float]] = {}
        self._drawing: dict[int, bool | None] = {}

    def fit(self, names: Names, example: Example) -> Fit:
        """Return how well the component with these mistakes answers as the student did."""
        key = (names, id(example.requests[0]))
        if key not in self._fits:
            self._fits[key] = self._fit(names, example)
        return self._fits[key]

    def raised(self, example: Example) -> bool:
        """Tell whether there is an exception that is not right."""
        right = self.variants.answer(RIGHT, example.requests[: len(example.replies)])
        pairs = zip(example.replies, right, strict=True)
        return any(raised_wrongly(reply, r) for reply, r in pairs)

    def asks_to_refuse(self, example: Example) -> bool:
        """Tell whether the right answers are exceptions: whatever else comes shows no value."""
        right = self.variants.answer(RIGHT, example.requests[: len(example.replies)])
        return all(reply.error is not None for reply in right)

    def nearer(self, names: Names, example: Example) -> bool:
        """Tell whether the mistakes fit, and the right answer does worse."""
        fit, right = self.fit(names, example), self.fit(RIGHT, example)
        return fit.holds and (fit.to_the_draw or fit.voided or fit.exact < right.exact)

    def clear(self, names: Names, example: Example) -> bool:
        """Tell whether an example speaks for the mistakes: they fit, clearly unlike what is right.

        Samples do so only where they are large enough to part from what is right.
        """
        fit = self.fit(names, example)
        if not fit.holds or fit.voided:
            return False
        if fit.to_the_draw:
            return self._as_samples(RIGHT, example) > 1
        return clearly_nearer(fit, self.fit(RIGHT, example))

    def refutes(self, names: Names, example: Example) -> bool:
        """Tell whether an example speaks against the mistakes.

        It does so unless the answer is theirs, or they do not show there. Where what is right hangs
        on draws, and the answer has a distribution of its own, it does not tell; nor does it where
        the answer is of the student's own choice.
        """
        if self.fit(names, example).holds or not self.shows(names, example):
            return False
        if example.free and not self.fit(RIGHT, example).holds:
            return False
        free = self.variants.drawn(RIGHT, example.requests)
        return not (example.passed and free and not self.fit(RIGHT, example).holds)

    def shows(self, names: Names, example: Example) -> bool:
        """Tell whether the mistakes make another answer than the right one, beside other draws."""
        return self._expected.shows(names, example.requests)

    def showing(self, example: Example) -> Names:
        """Return the mistakes that show in an example by themselves."""
        return self._expected.showing(example.requests)

    def _fit(self, names: Names, example: Example) -> Fit:
        fit = self._by_value(names, example)
        if fit.exact <= 1 or not self.variants.drawn(names, example.requests):
            return fit
        drawn = self._as_samples(names, example)
        if drawn > 1 or not self._draws(example):
            return fit
        # What two mistakes make of a sample together, others may make of it, too.
        halves = [frozenset([name]) for name in names] if len(names) > 1 else []
        if halves and not any(self.fit(half, example).holds for half in halves):
            return fit
        return Fit(fit.exact, drawn)

    def _by_value(self, names: Names, example: Example) -> Fit:
        requests = example.requests
        answer = self.variants.answer(names, requests)
        key = (id(answer), id(requests[0]), bool(names))
        if key not in self._exact:
            right = self.variants.answer(RIGHT, requests) if names else None
            void = bool(names) and not example.passed
            compare = Comparison(self._expected.allowed(requests), void=void)
            exact = compare.replies(example.replies, answer, requests, right)
            self._exact[key] = answer, Fit(exact, voided=compare.voided)
        return self._exact[key][1]

    def _as_samples(self, names: Names, example: Example) -> float:
        requests = example.requests
        answer = self.variants.answer(names, requests)
        again = self.variants.answer(names, requests, redraw=True)
        key = (id(answer), id(again), id(requests[0]))
        if key not in self._drawn:
            compare = Comparison(drawn=True, enough=1.0)
            apart = compare.replies(example.replies, answer, requests, again)
            self._drawn[key] = (answer, again), apart
        return self._drawn[key][1]

    def _draws(self, example: Example) -> bool:
        """Tell whether the student's answer hangs on random draws: ask with other seeds."""
        key = id(example.requests[0])
        if key not in self._drawing:
            again = self._ask([reseeded(request) for request in example.requests])
            self._drawing[key] = (
                None
                if again is None
                else Comparison(enough=1.0).replies(example.replies, again, example.requests) > 1
            )
        found = self._drawing[key]
        # Of one that is gone it is not known; it may draw where that is right.
        return self.variants.drawn(RIGHT, example.requests) if found is None else found


def clearly_nearer(fit: Fit, other: Fit) -> bool:
    """Tell whether one answer is clearly nearer than another."""
    return other.exact >= CLEARLY * max(fit.exact, ROUNDING)
