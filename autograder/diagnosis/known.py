"""The diagnosis in a student's own run: by the table of numbers that travels with a release."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.api.component import Session
from autograder.api.likeness import CLEARLY, Comparison, Slack, all_alike, raised_wrongly
from autograder.api.messages import Reply, Request
from autograder.diagnosis.search import (
    RIGHT,
    Answers,
    Example,
    Fit,
    Names,
    Once,
    Search,
    Solution,
)
from autograder.diagnosis.table import (
    Known,
    read_known,
    read_question,
    sampled,
    with_drawn,
)
from autograder.text import together

# An answer that is so much more off than marks allow may still be right except for rounding here.
_NEARLY = 1.2
# How many more times a component draws, where it draws otherwise than a known answer.
_DRAWS = 3


class KnownMistakes:
    """The mistakes of one component and the questions that show them.

    Args:
        plain: the component's part of the table; `table.py` says what it holds.
    """

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._plain = plain
        self._found: Solution | None = None

    def causes(self, criterion: str, session: Session) -> list[str]:
        """Return the words of the known mistakes that a failed criterion may be due to.

        Several are one or the other; mistakes that are there together stand in one text.
        """
        found = self.solution(session)
        losing = [
            mistake["words"]
            for mistake in self._plain["mistakes"]
            if mistake["words"] in found.names and criterion in mistake["loses"]
        ]
        return losing if found.either or not losing else [together(losing)]

    def solution(self, session: Session) -> Solution:
        """Return the known mistakes of a component, named by their words."""
        if self._found is None:
            answers = _Tabled(self._plain, session)
            self._found = Search(answers, answers.examples).solve()
            if not self._found.names:
                answers.guess()
                guessed = Search(answers, answers.examples).solve()
                # Half of a pair, or a mistake of one criterion, is less than a guess.
                self._found = guessed if len(guessed.names) == 2 else Solution()
        return self._found


@dataclass(frozen=True)
class KnownTable:
    """The table of a release, which is read when something fails for the first time.

    Attributes:
        path: where it is; a release without known mistakes has none.
    """

    path: Path

    def causes(self, component: str, criterion: str, session: Session) -> list[str]:
        """Return the words of the known mistakes that a component's failure may be due to."""
        found = self._components.get(component)
        return [] if found is None else found.causes(criterion, session)

    @functools.cached_property
    def _components(self) -> dict[str, KnownMistakes]:
        if not self.path.is_file():
            return {}
        table = json.loads(gzip.decompress(self.path.read_bytes()))
        return {name: KnownMistakes(plain) for name, plain in table.items()}


@dataclass(frozen=True)
class _Question:
    """A question of the table, by how much more than usual answers may be off, what is right."""

    number: int
    requests: Sequence[Request]
    slack: Slack
    right: Known

    def exact(self, known: Known, replies: Sequence[Reply]) -> Fit:
        """Return how near a known answer is to a component's, value by value."""
        mine, right = (sampled(some, known.kept) for some in (replies, self.right.replies))
        compare = Comparison(self.slack, void=known is not self.right)
        far = compare.replies(mine, known.replies, self.requests, right)
        return Fit(far, voided=compare.voided)

    def as_samples(self, known: Known, replies: Sequence[Reply], again: Sequence[Reply]) -> float:
        """Return how far a known answer's distribution is from a component's.

        Args:
            known: an answer that is drawn.
            replies: the component's.
            again: the same drawn with other seeds.
        """
        mine = list(map(with_drawn, sampled(replies, known.kept), replies))
        compare = Comparison(self.slack, drawn=True, enough=1.0)
        return compare.replies(known.distributed, mine, self.requests, again)


class _Tabled(Answers):
    """The answers that a table holds; mistakes go by their words.

    Every question counts as a criterion by itself, which is passed with the right answer.

    Attributes:
        examples: the questions, with the component's answers.
    """

    # The table has six digits.
    rounding = 0.15

    def __init__(self, plain: Mapping[str, Any], session: Session) -> None:
        super().__init__()
        rights = [read_known(question["right"]) for question in plain["questions"]]
        self._wrong = {
            mistake["words"]: {
                int(n): read_known(answer, rights[int(n)])
                for n, answer in mistake["answers"].items()
            }
            for mistake in plain["mistakes"]
        }
        words = list(self._wrong)
        branches = {mistake["words"] for mistake in plain["mistakes"] if mistake["branch"]}
        self.names = tuple(one for one in words if one not in branches)
        self.in_branches = tuple(one for one in words if one in branches)
        self._pairs = {
            frozenset(words[place] for place in pair["of"]): pair for pair in plain["pairs"]
        }
        self._apart = {frozenset(words[place] for place in pair) for pair in plain["apart"]}
        self._session = session
        self._questions: dict[Example, _Question] = {}
        self._guessing = False
        for number, written in enumerate(plain["questions"]):
            requests = read_question(written["asks"])
            replies = [session.perform(request) for request in requests]
            question = _Question(number, requests, written["slack"], rights[number])
            passed = self._is_right(question, replies)
            example = Example(str(number), passed, requests, replies, written["free"])
            self._questions[example] = question
        self.examples = tuple(self._questions)

    def guess(self) -> None:
        """From now on, take a pair's answer for unknown where `_may_show_together` holds.

        A mistake that changes nothing by itself may change something together with another.
        """
        self._guessing = True
        self.once = Once()

    def _is_right(self, question: _Question, replies: Sequence[Reply]) -> bool:
        """Return whether an answer may be right: a fitting sample is, unless a mistake gives it."""
        fit = self._fit(question, question.right, replies)
        if not fit.to_the_draw:
            return fit.holds or fit.exact <= _NEARLY
        wrong = (found.get(question.number) for found in self._wrong.values())
        return not any(known and question.exact(known, replies).exact <= 1 for known in wrong)

    def _fit(self, question: _Question, known: Known, replies: Sequence[Reply]) -> Fit:
        fit = question.exact(known, replies)
        if fit.exact <= 1 or not known.distributed:
            return fit
        again = self._again(question)
        if all_alike(replies, again[0], question.requests):
            # The component draws nothing.
            return fit
        # What follows from few drawn numbers, as from weights, is another sample with each draw.
        pairs = itertools.pairwise([replies, *again])
        drawn = min(question.as_samples(known, one, other) for one, other in pairs)
        return replace(fit, drawn=drawn)

    def _again(self, question: _Question) -> Sequence[Sequence[Reply]]:
        """Return what the component answers with other seeds, several times."""

        def asked() -> list[Sequence[Reply]]:
            requests, found = question.requests, list[Sequence[Reply]]()
            for _ in range(_DRAWS):
                requests = [request.reseeded() for request in requests]
                found.append([self._session.perform(request) for request in requests])
            return found

        return self.once("again", [question], asked)

    def shows(self, names: Names, example: Example) -> bool:
        return bool(self._moving(names, example))

    def right(self, example: Example) -> Sequence[Reply]:
        return self._questions[example].right.replies

    def raises(self, names: Names, example: Example) -> bool:
        known = self._known(names, example)
        return known is not None and any(map(raised_wrongly, known.replies, self.right(example)))

    def draws(self, example: Example) -> bool:
        return self._questions[example].right.drawn

    def unlike_right_draws(self, example: Example) -> bool:
        fit = self.fit(RIGHT, example)
        # Where nothing is drawn that is right, numbers tell.
        return fit.drawn > 1 if self.draws(example) else fit.exact >= CLEARLY

    def _moving(self, names: Names, example: Example) -> list[str]:
        """Return those of the mistakes that show by themselves."""
        number = self._questions[example].number
        return [name for name in self._wrong if name in names and number in self._wrong[name]]

    def _known(self, names: Names, example: Example) -> Known | None:
        """Return what mistakes answer to a question; None where that is not known."""
        question = self._questions[example]
        moving = self._moving(names, example)
        if not moving:
            return question.right
        if len(moving) == 1:
            return self._wrong[moving[0]][question.number]
        pair, place = self._pairs[names], str(question.number)
        if place in pair["as"]:
            return self._wrong[moving[pair["as"][place]]][question.number]
        answer = pair["answers"].get(place)
        return None if answer is None else read_known(answer, question.right)

    def measured(self, names: Names, example: Example) -> Fit:
        if names in self._apart:
            return Fit(math.inf)
        question, known = self._questions[example], self._known(names, example)
        if known is None:
            return self._unknown(names)
        if known.drawn and not question.right.drawn and example.passed:
            # A draw is not right by chance.
            return Fit(math.inf)
        fit = self._fit(question, known, example.replies)
        if self._guessing and not fit.holds and self._may_show_together(names, example):
            return self._unknown(names)
        if known.raised and not self._ends_alike(names, raised_wrongly):
            return replace(fit, voided=True)
        if names and fit.to_the_draw and not self._may_be_another_draw(names, example):
            return Fit(fit.exact)
        if names and self._has_no_number(example) and not self._ends_alike(names, _lost_numbers):
            return replace(fit, voided=True)
        return fit

    def _unknown(self, names: Names) -> Fit:
        """Return the fit where it is not known what two mistakes answer.

        If there is evidence for the two together (`_met`), it holds, but barely, so that a known
        answer that fits is nearer. If not, it is infinite.
        """
        return Fit(1.0 if self._met(names) else math.inf, voided=True)

    def _may_show_together(self, names: Names, example: Example) -> bool:
        """Return whether a mistake that does not show may do so beside the other, which does."""
        moving = self._moving(names, example)
        return not example.passed and 0 < len(moving) < len(names)

    def _ends_alike(self, names: Names, ends: Callable[[Reply, Reply], bool]) -> bool:
        """Return whether the component ends so in exactly the questions where the mistake does.

        Many mistakes raise, or return only NaN, but few of them in exactly these questions.

        Args:
            names: one mistake; for several, the result is False.
            ends: whether a reply ends so, where the right one does not.
        """
        if len(names) != 1:
            return False
        (name,) = names

        def ending(replies: Sequence[Reply], example: Example) -> bool:
            return any(map(ends, replies, self.right(example)))

        return any(example.passed for example in self.examples) and all(
            ending(example.replies, example)
            == (known is not None and ending(known.replies, example))
            for example in self.examples
            for known in [self._wrong[name].get(self._questions[example].number)]
        )

    def _met(self, names: Names) -> bool:
        """Return whether there is evidence for two mistakes together.

        The pair explains at least two wrong answers, as one could be chance. In one of these, both
        mistakes show and no single mistake fits.
        """

        def found() -> bool:
            fitting = [example for example in self.examples if self._speaks_for(names, example)]
            single = [frozenset([name]) for name in self.names]
            met = any(
                len(self._moving(names, example)) > 1
                and not any(self.fit(alone, example).holds for alone in single)
                for example in fitting
            )
            return len(fitting) > 1 and met

        return self.once("met", [names], found)

    def _speaks_for(self, names: Names, example: Example) -> bool:
        """Return whether a wrong answer is what mistakes are known to answer, value by value."""
        known = self._known(names, example)
        if example.passed or known is None or not self._moving(names, example):
            return False
        return self._questions[example].exact(known, example.replies).exact <= 1

    def _may_be_another_draw(self, names: Names, example: Example) -> bool:
        """Return whether an answer may be another random draw of what the mistakes answer."""
        # For a pair, a fitting sample is weak evidence: one of the two has to fit alone as well.
        halves = [frozenset([name]) for name in names] if len(names) > 1 else []
        if halves and not any(self.fit(half, example).holds for half in halves):
            return False
        if not self._questions[example].right.drawn:
            return True
        # Where it is the right draw, or a known mistake's, the same is drawn here as there.
        right = self.fit(RIGHT, example)
        return not (right.exact <= 1 or (right.to_the_draw and not example.passed))

    def _has_no_number(self, example: Example) -> bool:
        """Return whether a tensor is all NaN where the right one is not."""
        return any(map(_lost_numbers, example.replies, self.right(example)))


def _lost_numbers(reply: Reply, right: Reply) -> bool:
    return _all_nan(reply) and not _all_nan(right)


def _all_nan(reply: Reply) -> bool:
    values = [tensor for tensor in reply.tensors() if not tensor.is_meta and tensor.numel()]
    return any(bool(tensor.isnan().all()) for tensor in values)
