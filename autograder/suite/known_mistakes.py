"""Recognise known mistakes by their numbers, which travel with a release; no code does."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.exchange.messages import Reply, Request
from autograder.exchange.operations import entries_of
from autograder.suite.asking import Session
from autograder.suite.known_table import (
    PAIRED,
    Known,
    read_known_answer,
    read_question,
    read_slack,
    sampled,
)
from autograder.suite.likeness import CLEARLY, Comparison, Slack
from autograder.suite.symptoms import raised_wrongly

# A share of what marks allow, by which an answer may be off because the table has six digits.
_ROUNDING = 0.15
# Of more than these it could be, nothing is said.
_MOST_NAMED = 3


@dataclass(frozen=True)
class KnownMistake:
    """A mistake: its words, the criteria it loses, its wrong answers by the question's number."""

    words: str
    loses: frozenset[str]
    answers: Mapping[int, Known]


# Mistakes that are there together, each by its place in the table.
_Names = tuple[int, ...]


@dataclass(frozen=True)
class _Asked:
    """A question, what it allows, what is right, and what the component answered.

    `free` says that right work may answer otherwise.
    """

    requests: Sequence[Request]
    slack: Slack
    right: Known
    replies: Sequence[Reply]
    free: bool = False

    def far(self, known: Known) -> tuple[float, bool]:
        """Return how far the component's answer is from a known one; see `Comparison`.

        The second is whether anything was void.
        """
        mine = sampled(self.replies, known.count)
        compare = Comparison(self.slack, drawn=known.drawn, void=known is not self.right)
        right = None if known.drawn else sampled(self.right.replies, known.count)
        return compare.replies(mine, known.replies, self.requests, right), compare.voided

    def of_right_form(self) -> bool:
        """Tell whether the answer differs from the right one in numbers alone, if at all."""
        compare = Comparison(drawn=True, enough=math.inf)
        return compare.replies(self.replies, self.right.replies, self.requests) < math.inf

    def raised(self) -> bool:
        """Tell whether there is an exception that is not right."""
        pairs = zip(self.replies, self.right.replies, strict=True)
        return any(raised_wrongly(mine, right) for mine, right in pairs)

    def has_nan(self) -> bool:
        """Tell whether there is no number where there is a right one."""
        pairs = zip(self.replies, self.right.replies, strict=True)
        return any(_nans(mine) and not _nans(right) for mine, right in pairs)

    def entries(self) -> frozenset[str]:
        return frozenset().union(*(entries_of(request.ops) for request in self.requests))


def _nans(reply: Reply) -> bool:
    return any(
        bool(tensor.isnan().any()) for tensor in reply.tensors() if tensor.device.type != "meta"
    )


class KnownMistakes:
    """The mistakes of one component and the questions that show them."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._plain = plain
        self._mistakes: list[KnownMistake] = []
        self._found: list[_Names] | None = None

    def causes(self, criterion: str, session: Session) -> list[str]:
        """Return the words of the known mistakes that a failed criterion may be due to.

        Several are one or the other; mistakes that are there together stand in one text.
        """
        if self._found is None:
            self._found = _Search(self._plain, session).found()
            self._mistakes = list(map(_mistake_from, self._plain["mistakes"]))
        causes = []
        for names in self._found:
            together = [self._mistakes[name] for name in names]
            losing = [mistake for mistake in together if criterion in mistake.loses]
            if losing:
                causes.append("; and ".join(mistake.words for mistake in losing))
        return list(dict.fromkeys(causes))


def _mistake_from(plain: Mapping[str, Any]) -> KnownMistake:
    answers = {int(number): read_known_answer(a) for number, a in plain["answers"].items()}
    return KnownMistake(plain["words"], frozenset(plain["loses"]), answers)


class _Search:
    """Finds the mistakes that a component's answers show."""

    def __init__(self, plain: Mapping[str, Any], session: Session) -> None:
        self._mistakes: list[KnownMistake] = list(map(_mistake_from, plain["mistakes"]))
        self._pairs = {tuple(pair["of"]): pair for pair in plain.get("pairs", [])}
        self._asked = []
        for question in plain["questions"]:
            requests = read_question(question["asks"])
            replies = [session.perform(request) for request in requests]
            right = read_known_answer(question["right"])
            slack, free = read_slack(question["slack"]), question.get("free", False)
            self._asked.append(_Asked(requests, slack, right, replies, free))
        self._far: dict[tuple[_Names, int], tuple[float, bool]] = {}
        self._wrong = [self._far_from_right(n) > 1 for n in range(len(self._asked))]
        wrongs = self._wrongs()
        free = {number for number in wrongs if self._asked[number].free}
        # Answers of the student's own choice tell only where nothing else does.
        self._silent = free if free != wrongs else set()

    def found(self) -> list[_Names]:
        """Return what the mistake may be, or mistakes, that explain all; else what is sure."""
        if not any(self._wrong):
            return []
        singles: list[_Names] = [(number,) for number in range(len(self._mistakes))]
        for candidates in (singles, self._together()):
            whole = [names for names in candidates if self._explains(names, partly=False)]
            whole = self._nearest(whole)
            if whole:
                return whole if len(whole) <= _MOST_NAMED else []
        parts = [names for names in singles if self._explains(names, partly=True)]
        # What shows in fewer places is part of what shows in more.
        parts = [one for one in parts if not any(self._shows(one) < self._shows(o) for o in parts)]
        return parts if len(parts) <= _MOST_NAMED else []

    def _together(self) -> Iterator[_Names]:
        """Yield the pairs of which each half shows where an answer is wrong."""
        moving = [n for n in range(len(self._mistakes)) if self._shows((n,)) & self._wrongs()]
        yield from itertools.combinations(moving, 2)

    def _wrongs(self) -> set[int]:
        return {number for number, wrong in enumerate(self._wrong) if wrong}

    def _shows(self, names: _Names) -> frozenset[int]:
        shown = frozenset().union(*(self._mistakes[name].answers for name in names))
        return shown - self._silent

    def _known(self, names: _Names, number: int) -> Known | None:
        """Return what mistakes answer to a question; None where it is not known."""
        moving = [name for name in names if number in self._mistakes[name].answers]
        if not moving:
            return self._asked[number].right
        if len(moving) == 1:
            return self._mistakes[moving[0]].answers[number]
        pair, place = self._pairs[names], str(number)
        if place in pair["as"]:
            whose: int = names[pair["as"][place]]
            return self._mistakes[whose].answers[number]
        kept = pair["answers"].get(place)
        return None if kept is None else read_known_answer(kept, PAIRED)

    def _far_from(self, names: _Names, number: int) -> float:
        key = (names, number)
        if key not in self._far:
            known = self._known(names, number)
            asked = self._asked[number]
            # What is not known speaks neither for nor against.
            far = (0.0, True) if known is None else asked.far(known)
            if known is not None and known.drawn and not asked.right.drawn:
                # Not one that is right by chance.
                far = (math.inf, False) if self._far_from_right(number) <= 1 else far
            self._far[key] = far
        return self._far[key][0]

    def _far_from_right(self, number: int) -> float:
        return self._far_from((), number)

    def _explains(self, names: _Names, partly: bool) -> bool:
        """Tell whether all answers are those of these mistakes; partly, all that they touch."""
        shows = self._shows(names)
        if not shows & self._wrongs():
            return False
        touched = frozenset().union(*(self._asked[number].entries() for number in shows))
        for number, asked in enumerate(self._asked):
            if number in self._silent or self._far_from(names, number) <= 1:
                continue
            if not partly or number in shows:
                return False
            if not asked.raised() and not touched.isdisjoint(asked.entries()):
                return False
        return any(self._clear(names, number, partly) for number in shows)

    def _clear(self, names: _Names, number: int, partly: bool) -> bool:
        """Tell whether an answer is clearly nearer to the mistakes' than to what is right."""
        asked, known = self._asked[number], self._known(names, number)
        # That an exception is raised, or that there is no number, says little.
        if known is None or (partly and asked.raised()) or asked.has_nan():
            return False
        if known.drawn:
            # Of what is drawn only forms are known; other numbers prove nothing.
            return self._far_from(names, number) <= 1 and not asked.of_right_form()
        far = self._far_from(names, number)
        voided = self._far[names, number][1]
        return not voided and self._far_from_right(number) >= CLEARLY * max(far, _ROUNDING)

    def _nearest(self, found: list[_Names]) -> list[_Names]:
        """Return those to which no other is clearly nearer, and nowhere clearly farther."""

        def beaten(names: _Names, other: _Names) -> bool:
            pairs = [
                (self._far_from(names, n), self._far_from(other, n))
                for n in self._shows(names) | self._shows(other)
            ]
            farther = any(mine >= CLEARLY * max(theirs, _ROUNDING) for mine, theirs in pairs)
            return farther and not any(
                theirs >= CLEARLY * max(mine, _ROUNDING) for mine, theirs in pairs
            )

        return [n for n in found if not any(beaten(n, other) for other in found if other != n)]


def read_known(path: Path) -> dict[str, KnownMistakes]:
    """Read the table of a release, by component; empty where there is none."""
    if not path.is_file():
        return {}
    table = json.loads(path.read_text(encoding="utf-8"))
    return {name: KnownMistakes(plain) for name, plain in table.items()}
