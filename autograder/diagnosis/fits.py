"""How near the answers of one component are to those of known mistakes, question by question."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from autograder.api.likeness import CLEARLY, Comparison, all_alike, raised_wrongly, same_tensor
from autograder.api.messages import Reply, Request
from autograder.api.operations import entries_of
from autograder.diagnosis.table import RIGHT, Known, Names, Question, sampled, with_drawn

# Puts requests to the component; None if it is gone.
Ask = Callable[[Sequence[Request]], Sequence[Reply] | None]

# How many more times a component draws where of an answer only the distribution is known.
_DRAWS = 3


@dataclass(frozen=True, eq=False)
class Example:
    """One example of a criterion: what was asked, and what the component answered.

    `free` says that right work may answer otherwise than the solution.
    """

    criterion: str
    passed: bool
    requests: Sequence[Request]
    replies: Sequence[Reply]
    free: bool = False

    @cached_property
    def entries(self) -> frozenset[str]:
        """The names of the component's functions and classes that were asked."""
        return frozenset().union(*(entries_of(request.ops) for request in self.requests))


def examples_of(requests: Sequence[Request]) -> list[list[int]]:
    """Group the indexes of a criterion's requests by example; each reset begins a new one."""
    parts: list[list[int]] = []
    for index, request in enumerate(requests):
        if not parts or request.resets:
            parts.append([])
        parts[-1].append(index)
    return parts


def examples_in(
    criterion: str, passed: bool, heard: Sequence[tuple[Request, Reply]], free: bool = False
) -> list[Example]:
    """Return the examples of a criterion, of all that was asked and answered for it."""
    return [
        Example(
            criterion,
            passed,
            tuple(heard[index][0] for index in part),
            tuple(heard[index][1] for index in part),
            free,
        )
        for part in examples_of([request for request, _ in heard])
    ]


@dataclass(frozen=True)
class Fit:
    """How far apart two answers are, as `Comparison` counts it: up to 1 they may be the same.

    Attributes:
        exact: value by value.
        drawn: as samples, where both depend on random draws.
        voided: whether something was not compared, because what the mistakes make is no number or
            is not known.
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
        """Whether they are the same as samples only."""
        return self.exact > 1 >= self.drawn


@dataclass(frozen=True)
class Mistakes:
    """The mistakes of one component that a search tries, and how well their answers are known.

    Attributes:
        names: the mistakes.
        in_branches: the same in one branch of the code alone.
        can_be: returns whether two mistakes can be in one component.
        together: returns an answer to a question that the question itself does not hold, mostly of
            two mistakes together; None where it is not known.
        rounding: a distance that may be due to rounding alone, as a share of the tolerance.
        sampled: whether of answers there are samples alone.
        most: for how many short questions `together` may be asked.
    """

    names: Sequence[str]
    in_branches: Sequence[str]
    can_be: Callable[[Names], bool]
    together: Callable[[Names, Question], Known | None]
    rounding: float
    sampled: bool = False
    most: float = math.inf


class Fits:
    """How near the answers of one component are to those of its mistakes; each is measured once.

    Args:
        mistakes: what is tried.
        asked: what the component was asked and answered, with the questions of the table.
        ask: puts further requests to the component.
    """

    def __init__(self, mistakes: Mistakes, asked: Mapping[Example, Question], ask: Ask) -> None:
        self.mistakes = mistakes
        self.questions = dict(asked)
        self.ask = ask
        self._spent = 0
        self._together: dict[tuple[Names, Question], Known | None] = {}
        self._fits: dict[tuple[Names, Example], Fit] = {}
        # By the identity of what is answered: many mistakes give equal answers.
        self._of_known: dict[tuple[int, Example], Fit] = {}
        self._again: dict[Question, list[Sequence[Reply]]] = {}

    @property
    def exhausted(self) -> bool:
        """Whether a diagnosis has cost as much as it may."""
        return self._spent > self.mistakes.most

    def known(self, names: Names, question: Question) -> Known | None:
        """Return what mistakes answer to a question; None where that is not known."""
        if not names:
            return question.right

        if question.complete and len(names) == 1:
            (name,) = names
            return question.wrong.get(name, question.right)

        key = names, question
        if key not in self._together:
            self._spent += question.cost
            self._together[key] = self.mistakes.together(names, question)
        return self._together[key]

    def right(self, example: Example) -> Sequence[Reply]:
        """Return the right answer."""
        return self.questions[example].right.replies

    def draws(self, example: Example) -> bool:
        """Return whether the right answer depends on random draws."""
        return self.questions[example].right.drawn

    def shows(self, names: Names, example: Example) -> bool:
        """Return whether the mistakes make another answer than the right one, other draws aside."""
        question = self.questions[example]
        known = self.known(names, question)
        # It is unknown only of two that both show.
        return known is None or (known is not question.right and known.shows)

    def raises(self, names: Names, example: Example) -> bool:
        """Return whether the mistakes end in an exception, and not the right one."""
        known = self.known(names, self.questions[example])
        return known is not None and any(map(raised_wrongly, known.replies, self.right(example)))

    def unlike_right_draws(self, example: Example) -> bool:
        """Return whether the component's answer is surely no other draw of the right one."""
        fit = self.fit(RIGHT, example)
        # Where nothing is drawn that is right, numbers tell.
        return fit.drawn > 1 if self.draws(example) else fit.exact >= CLEARLY

    def fit(self, names: Names, example: Example) -> Fit:
        """Return how near the answer with these mistakes is to the component's."""
        key = names, example
        if key not in self._fits:
            self._fits[key] = self.measured(names, example)
        return self._fits[key]

    def measured(self, names: Names, example: Example) -> Fit:
        """Measure how near the answer with these mistakes is to the component's."""
        known = self.known(names, self.questions[example])
        assert known is not None
        fit = self.to_known(known, example)
        if fit.to_the_draw and not self.may_be_another_draw(names, example):
            return Fit(fit.exact)
        return fit

    def may_be_another_draw(self, names: Names, example: Example) -> bool:
        """Return whether a fitting sample is evidence for these mistakes.

        What two mistakes make of a sample, others may make of it, too: one has to fit alone.
        """
        halves = [frozenset([name]) for name in names] if len(names) > 1 else []
        return not halves or any(self.fit(half, example).holds for half in halves)

    def to_known(self, known: Known, example: Example) -> Fit:
        """Return how near an answer is to the component's, as values and as samples."""
        key = id(known), example
        if key not in self._of_known:
            fit = self.by_value(known, example)
            if fit.exact > 1 and (known.again or known.distributed):
                fit = replace(fit, drawn=self._as_samples(known, example))
            self._of_known[key] = fit
        return self._of_known[key]

    def by_value(self, known: Known, example: Example) -> Fit:
        """Return how near an answer is to the component's, value by value."""
        question = self.questions[example]
        mine, right = example.replies, question.right.replies
        if self.mistakes.sampled:
            mine, right = sampled(mine, known.kept), sampled(right, known.kept)

        wrong = known is not question.right
        compare = Comparison(question.slack, void=wrong and not example.passed)
        far = compare.replies(mine, known.replies, question.requests, right if wrong else None)
        return Fit(far, voided=compare.voided)

    def _as_samples(self, known: Known, example: Example) -> float:
        """Return how far an answer is from the component's as a sample.

        It is infinitely far if the component draws nothing, or has right what the answer has by
        chance.
        """
        question = self.questions[example]
        if not known.distributed:
            compare = Comparison(drawn=True, enough=1.0)
            far = compare.replies(example.replies, known.replies, question.requests, known.again)
            may_be = far <= 1 and self._component_draws(example)
            return far if may_be and not _keeps_a_part(known, question, example) else math.inf

        if not self._component_draws(example):
            return math.inf
        # What follows from few drawn numbers, as from weights, is another sample with each draw.
        drawn = [example.replies, *self._drawn_again(question)]

        def apart(one: Sequence[Reply], other: Sequence[Reply]) -> float:
            mine = list(map(with_drawn, sampled(one, known.kept), one))
            compare = Comparison(question.slack, drawn=True, enough=1.0)
            return compare.replies(known.distributed, mine, question.requests, other)

        return min(itertools.starmap(apart, itertools.pairwise(drawn)))

    def _component_draws(self, example: Example) -> bool:
        """Return whether the component answers otherwise with other seeds."""
        question = self.questions[example]
        again = self._drawn_again(question)
        # Of one that is gone it is not known; it may draw where that is right.
        if not again:
            return question.right.drawn
        return not all_alike(example.replies, again[0], question.requests)

    def _drawn_again(self, question: Question) -> list[Sequence[Reply]]:
        """Return what the component answers with other seeds; nothing if it is gone."""
        if question not in self._again:
            requests, found = question.requests, list[Sequence[Reply]]()
            for _ in range(_DRAWS if self.mistakes.sampled else 1):
                requests = [request.reseeded() for request in requests]
                replies = self.ask(requests)
                if replies is not None:
                    found.append(replies)
            self._again[question] = found
        return self._again[question]


def _keeps_a_part(known: Known, question: Question, example: Example) -> bool:
    """Return whether the component has a tensor right that an answer has by chance."""
    drawn = known.replies, known.again
    for mine, right, *others in zip(example.replies, question.right.replies, *drawn, strict=True):
        tensors = [list(reply.tensors()) for reply in (mine, right, *others)]
        if len(set(map(len, tensors))) == 1:
            for one, other, first, second in zip(*tensors, strict=True):
                if same_tensor(one, other) and not same_tensor(first, second):
                    return True
    return False
