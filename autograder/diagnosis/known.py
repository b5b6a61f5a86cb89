"""The diagnosis in a student's own run: by the table of numbers that travels with a release."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.api.component import Session
from autograder.api.likeness import CLEARLY, Comparison, Slack, all_alike, raised_wrongly
from autograder.api.messages import Reply, Request
from autograder.diagnosis.search import RIGHT, Answers, Example, Fit, Names, Search, Solution
from autograder.diagnosis.table import (
    Known,
    read_known,
    read_question,
    sampled,
)

# An answer that is so much more off than marks allow may still be right except for rounding here.
_NEARLY = 1.2


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
        return losing if found.either or not losing else ["; and ".join(losing)]

    def solution(self, session: Session) -> Solution:
        """Return the known mistakes of a component, named by their words."""
        if self._found is None:
            answers = _Tabled(self._plain, session)
            self._found = Search(answers, answers.examples).solve()
        return self._found


def read_table(path: Path) -> dict[str, KnownMistakes]:
    """Read the table of a release, by component; empty where there is none."""
    if not path.is_file():
        return {}
    table = json.loads(path.read_text(encoding="utf-8"))
    return {name: KnownMistakes(plain) for name, plain in table.items()}


@dataclass(frozen=True)
class _Question:
    """A question of the table, by how much more than usual answers may be off, what is right."""

    number: int
    requests: Sequence[Request]
    slack: Slack
    right: Known

    def fit(self, known: Known, replies: Sequence[Reply]) -> Fit:
        """Return how near a known answer is to a component's."""
        mine, right = (sampled(some, known.drawn) for some in (replies, self.right.replies))
        compare = Comparison(self.slack, void=known is not self.right)
        far = compare.replies(mine, known.replies, self.requests, right)
        if not known.drawn:
            return Fit(far, voided=compare.voided)
        # Another release of torch may draw otherwise: then the form is left.
        form = Comparison(self.slack, drawn=True).replies(mine, known.forms, self.requests)
        return Fit(far, form)


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
        self._session = session
        self._questions: dict[Example, _Question] = {}
        for number, written in enumerate(plain["questions"]):
            requests = read_question(written["asks"])
            replies = [session.perform(request) for request in requests]
            question = _Question(number, requests, written["slack"], rights[number])
            passed = self._is_right(question, replies)
            example = Example(str(number), passed, requests, replies, written["free"])
            self._questions[example] = question
        self.examples = tuple(self._questions)

    def _is_right(self, question: _Question, replies: Sequence[Reply]) -> bool:
        """Return whether an answer may be right: what is drawn is, unless it is a mistake's."""
        fit = question.fit(question.right, replies)
        if not fit.to_the_draw:
            return fit.holds or fit.exact <= _NEARLY
        wrong = (found.get(question.number) for found in self._wrong.values())
        return not any(known and question.fit(known, replies).exact <= 1 for known in wrong)

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
        if not self.draws(example):
            return self.fit(RIGHT, example).exact >= CLEARLY
        # Of what is drawn no other numbers are known.
        compare = Comparison(drawn=True, enough=math.inf)
        forms = self._questions[example].right.forms
        return compare.replies(example.replies, forms, example.requests) == math.inf

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
        pair, place = self._pairs[frozenset(moving)], str(question.number)
        if place in pair["as"]:
            return self._wrong[moving[pair["as"][place]]][question.number]
        answer = pair["answers"].get(place)
        return None if answer is None else read_known(answer, question.right)

    def measured(self, names: Names, example: Example) -> Fit:
        question, known = self._questions[example], self._known(names, example)
        if known is None:
            # It speaks neither for nor against, if anything speaks for these two together.
            return Fit(0.0 if self._met(names) else math.inf, voided=True)
        if known.drawn and not question.right.drawn and example.passed:
            # A draw is not right by chance.
            return Fit(math.inf)
        fit = question.fit(known, example.replies)
        if known.raised and not self._raises_alike(names):
            return replace(fit, voided=True)
        if names and fit.to_the_draw and not self._may_be_another_draw(example):
            return Fit(fit.exact)
        # That there is no number at all says little.
        return replace(fit, voided=True) if names and self._has_no_number(example) else fit

    def _raises_alike(self, names: Names) -> bool:
        """Return whether the component ends in an exception just where one mistake does.

        Many things raise, but few in these questions and in no other.
        """
        if len(names) != 1:
            return False
        (name,) = names
        known = {number for number, answer in self._wrong[name].items() if answer.raised}
        mine = {
            self._questions[example].number
            for example in self.examples
            if any(map(raised_wrongly, example.replies, self.right(example)))
        }
        return known == mine and any(example.passed for example in self.examples)

    def _met(self, names: Names) -> bool:
        """Return whether the component answers somewhere as two mistakes do, and neither alone."""

        def found() -> bool:
            both = [e for e in self.examples if not e.passed and len(self._moving(names, e)) > 1]
            halves = [frozenset([name]) for name in names]
            return any(
                self._known(names, example) is not None
                and self.fit(names, example).exact <= 1
                and not any(self.fit(half, example).holds for half in halves)
                for example in both
            )

        return self.once("met", [names], found)

    def _may_be_another_draw(self, example: Example) -> bool:
        """Return whether an answer can be like a mistake's except for what was drawn."""
        if not self._questions[example].right.drawn:
            return self._component_draws(example)
        # Where it is the right draw, or a known mistake's, the same is drawn here as there.
        right = self.fit(RIGHT, example)
        return not (right.exact <= 1 or (right.to_the_draw and not example.passed))

    def _component_draws(self, example: Example) -> bool:
        """Return whether the component's answer depends on random draws: ask with other seeds."""

        def asked() -> bool:
            again = [self._session.perform(request.reseeded()) for request in example.requests]
            return not all_alike(example.replies, again, example.requests)

        return self.once("draws", [example], asked)

    def _has_no_number(self, example: Example) -> bool:
        """Return whether a tensor is all NaN where the right one is not."""
        pairs = zip(example.replies, self.right(example), strict=True)
        return any(_all_nan(mine) and not _all_nan(right) for mine, right in pairs)


def _all_nan(reply: Reply) -> bool:
    values = [tensor for tensor in reply.tensors() if not tensor.is_meta and tensor.numel()]
    return any(bool(tensor.isnan().all()) for tensor in values)
