"""The diagnosis in a student's own run: by the table of numbers that travels with a release."""

from __future__ import annotations

import functools
import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.api.component import Session
from autograder.api.likeness import raised_wrongly
from autograder.api.messages import Reply, Request
from autograder.diagnosis.fits import Example, Fit, Fits, Mistakes
from autograder.diagnosis.search import Search, Solution
from autograder.diagnosis.table import RIGHT, Known, Names, Question, read_known, read_question
from autograder.text import together

# An answer that is so much more off than marks allow may still be right except for rounding here.
_NEARLY = 1.2
# The table has six digits.
_ROUNDING = 0.15


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
            fits = _FitsAtHome(_Table(self._plain), session)
            self._found = Search(fits).solve()
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


class _Table:
    """What a release knows of one component; mistakes go by their words."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        written, mistakes = plain["questions"], plain["mistakes"]
        rights = [read_known(question["right"]) for question in written]
        wrong: list[dict[str, Known]] = [{} for _ in rights]
        for mistake in mistakes:
            for number, answer in mistake["answers"].items():
                wrong[int(number)][mistake["words"]] = read_known(answer, rights[int(number)])
        self.questions = [
            Question(
                read_question(question["asks"]), right, answers, question["slack"], question["free"]
            )
            for question, right, answers in zip(written, rights, wrong, strict=True)
        ]
        words = [mistake["words"] for mistake in mistakes]
        self._pairs = {frozenset(words[n] for n in pair["of"]): pair for pair in plain["pairs"]}
        apart = {frozenset(words[n] for n in pair) for pair in plain["apart"]}
        self._order = words
        self.mistakes = Mistakes(
            names=tuple(one["words"] for one in mistakes if not one["branch"]),
            in_branches=tuple(one["words"] for one in mistakes if one["branch"]),
            can_be=lambda names: names not in apart,
            together=self._together,
            rounding=_ROUNDING,
            sampled=True,
        )

    def _together(self, names: Names, question: Question) -> Known | None:
        """Return what two mistakes answer to a question; None where that is not known."""
        showing = [name for name in self._order if name in names and name in question.wrong]
        if not showing:
            return question.right
        if len(showing) == 1:
            return question.wrong[showing[0]]

        pair, place = self._pairs[names], str(self.questions.index(question))
        if place in pair["as"]:
            return question.wrong[showing[pair["as"][place]]]
        answer = pair["answers"].get(place)
        return None if answer is None else read_known(answer, question.right)


class _FitsAtHome(Fits):
    """How near a component is to what a table knows, which has few questions, and samples.

    Every question counts as a criterion by itself, which is passed with the right answer.
    """

    def __init__(self, table: _Table, session: Session) -> None:
        def ask(requests: Sequence[Request]) -> Sequence[Reply]:
            return [session.perform(request) for request in requests]

        super().__init__(table.mistakes, {}, ask)
        self._evidence: dict[Names, bool] = {}
        for number, question in enumerate(table.questions):
            replies = ask(question.requests)
            asked = Example(str(number), False, question.requests, replies, question.free)
            example = replace(asked, passed=self._is_right(question, asked))
            self.questions[example] = question

    def _is_right(self, question: Question, example: Example) -> bool:
        """Return whether an answer may be right: a fitting sample is, unless a mistake gives it."""
        self.questions[example] = question
        fit = self.to_known(question.right, example)
        wrong = [] if not fit.to_the_draw else question.wrong.values()
        given = any(self.by_value(known, example).exact <= 1 for known in wrong)
        del self.questions[example]
        return not given if fit.to_the_draw else fit.holds or fit.exact <= _NEARLY

    def measured(self, names: Names, example: Example) -> Fit:
        """Measure how near the answer with these mistakes is; of two it may be unknown."""
        known = self.known(names, self.questions[example])
        if known is None:
            return self._unknown(names)
        if known.drawn and not self.draws(example) and example.passed:
            # A draw is not right by chance.
            return Fit(math.inf)

        fit = self.to_known(known, example)
        if known.raised and not self._ends_alike(names, raised_wrongly):
            return replace(fit, voided=True)
        if names and fit.to_the_draw and not self.may_be_another_draw(names, example):
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

        return any(example.passed for example in self.questions) and all(
            ending(example.replies, example)
            == (name in question.wrong and ending(question.wrong[name].replies, example))
            for example, question in self.questions.items()
        )

    def _met(self, names: Names) -> bool:
        """Return whether there is evidence for two mistakes together.

        The pair explains at least two wrong answers, as one could be chance. In one of these, both
        mistakes show and no single mistake fits.
        """
        if names not in self._evidence:
            self._evidence[names] = self._explains_two(names)
        return self._evidence[names]

    def _explains_two(self, names: Names) -> bool:
        fitting = [example for example in self.questions if self._speaks_for(names, example)]
        single = [frozenset([name]) for name in self.mistakes.names]
        met = any(
            len(names & self.questions[example].wrong.keys()) > 1
            and not any(self.fit(alone, example).holds for alone in single)
            for example in fitting
        )
        return len(fitting) > 1 and met

    def _speaks_for(self, names: Names, example: Example) -> bool:
        """Return whether a wrong answer is what mistakes are known to answer, value by value."""
        known = self.known(names, self.questions[example])
        if example.passed or known is None or known is self.questions[example].right:
            return False
        return self.by_value(known, example).exact <= 1

    def may_be_another_draw(self, names: Names, example: Example) -> bool:
        """Return whether an answer may be another random draw of what the mistakes answer."""
        if not super().may_be_another_draw(names, example):
            return False
        if not self.draws(example):
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
