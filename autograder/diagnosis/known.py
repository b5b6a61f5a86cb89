"""The diagnosis in a student's own run: by the table of numbers that travels with a release."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.api.component import Session
from autograder.api.likeness import Comparison, Slack, raised_wrongly
from autograder.api.messages import Reply, Request
from autograder.diagnosis.search import Answers, Example, Fit, Names, Search, Solution
from autograder.diagnosis.table import (
    Known,
    read_known,
    read_question,
    sampled,
)


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
        if self._found is None:
            answers = _Tabled(self._plain, session)
            self._found = Search(answers, answers.examples).solve()
        losing = [
            mistake["words"]
            for mistake in self._plain["mistakes"]
            if mistake["words"] in self._found.names and criterion in mistake["loses"]
        ]
        return losing if self._found.either or not losing else ["; and ".join(losing)]


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
        mine, drawn = sampled(replies), known.drawn
        compare = Comparison(self.slack, drawn=drawn, void=known is not self.right)
        right = None if drawn else sampled(self.right.replies)
        far = compare.replies(mine, known.replies, self.requests, right)
        # Of what is drawn only forms are known.
        return Fit(math.inf, far) if drawn else Fit(far, voided=compare.voided)


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
        self._wrong = {
            mistake["words"]: {int(n): read_known(a) for n, a in mistake["answers"].items()}
            for mistake in plain["mistakes"]
        }
        words = list(self._wrong)
        branches = {mistake["words"] for mistake in plain["mistakes"] if mistake["branch"]}
        self.names = tuple(one for one in words if one not in branches)
        self.in_branches = tuple(one for one in words if one in branches)
        self._pairs = {
            frozenset(words[place] for place in pair["of"]): pair for pair in plain["pairs"]
        }
        self._questions: dict[Example, _Question] = {}
        for number, written in enumerate(plain["questions"]):
            requests = read_question(written["asks"])
            replies = [session.perform(request) for request in requests]
            right = read_known(written["right"])
            question = _Question(number, requests, written["slack"], right)
            passed = question.fit(right, replies).holds
            example = Example(str(number), passed, requests, replies, written["free"])
            self._questions[example] = question
        self.examples = tuple(self._questions)

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
        # Only forms tell: of what is drawn no other numbers are known.
        compare = Comparison(drawn=True, enough=math.inf)
        return compare.replies(example.replies, self.right(example), example.requests) == math.inf

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
        return read_known(pair["answers"][place]) if place in pair["answers"] else None

    def measured(self, names: Names, example: Example) -> Fit:
        question, known = self._questions[example], self._known(names, example)
        if known is None:
            # It speaks neither for nor against.
            return Fit(0.0, voided=True)
        if known.drawn and not question.right.drawn and example.passed:
            # A draw is not right by chance.
            return Fit(math.inf)
        fit = question.fit(known, example.replies)
        # That there is no number says little.
        return replace(fit, voided=True) if names and self._has_nan(example) else fit

    def _has_nan(self, example: Example) -> bool:
        """Return whether there is no number where there is a right one."""
        pairs = zip(example.replies, self.right(example), strict=True)
        return any(_nan(mine) and not _nan(right) for mine, right in pairs)


def _nan(reply: Reply) -> bool:
    return any(t.device.type != "meta" and bool(t.isnan().any()) for t in reply.tensors())
