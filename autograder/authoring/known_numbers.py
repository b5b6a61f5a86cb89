"""The numbers that every misconception produces on public questions, for a release to carry.

The questions are those of the public suite, worked examples and properties, the latter drawn with
another seed than the judge's. Nothing goes out but inputs, samples of answers and explanations.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.api.criterion import Criterion
from autograder.api.lazy import torch
from autograder.api.likeness import all_alike
from autograder.api.messages import Reply, Request
from autograder.assignment import Assignment
from autograder.diagnosis.fits import examples_of
from autograder.diagnosis.table import (
    Known,
    Names,
    Question,
    read_question,
    sampled,
    write_known,
    write_question,
)
from autograder.errors import UsageError
from autograder.judge.cache import Cache
from autograder.judge.collection import collect
from autograder.judge.misconceptions import read
from autograder.judge.places import cache_folder
from autograder.judge.session import can_be_asked_again
from autograder.judge.suite import Suite, SuiteFault
from autograder.judge.variants import Variants, variants_of, widest

# Longer questions would only make the file long, in characters.
_MAX_ASKED = 40_000
# In how many questions a mistake should show, so that one coincidence names nothing.
_SHOWN = 2
# How long the first and the second answer of two mistakes together may be that are kept, where they
# are not those of one of them, in characters: there are as many pairs as mistakes by mistakes.
_LONGEST_TOGETHER = (900, 450)
# In how many questions two mistakes that both show there are tried together: in all of them it took
# a third of the time of a table.
_MET = 4

# What a mistake answers to questions, by their number, where that is not right.
_Answers = dict[int, dict[str, Any]]


def of_component(assignment: Assignment, name: str, cache: Cache | None = None) -> dict[str, Any]:
    """Return the table of one component, from `cache` where an earlier release made it.

    Raises:
        UsageError: its suite or its misconceptions are broken.
    """
    cache = Cache(cache_folder()) if cache is None else cache
    # Threads gain nothing on small tensors, and lose much beside other work.
    if assignment.uses_torch:
        torch.set_num_threads(1)
    known = read(assignment, name)
    # This module decides no mark, so that its text is not in the key by itself.
    written_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    key = cache.key_of(assignment, name, f"known numbers {written_by}")
    try:
        # Not the judge's seed: its examples are for the judge alone to ask. And in any case: a
        # broken suite is found where there is nothing to compute, too.
        suite = collect(assignment, assignment.seed + 1, only=name, cache=cache)
    except SuiteFault as error:
        raise UsageError(f"the suite of {assignment.name} is broken: {error}") from error
    if not known:
        return {"questions": [], "mistakes": [], "pairs": [], "apart": []}
    return cache.kept(key, lambda: _table(suite, variants_of(assignment, name, known)))


def _table(suite: Suite, variants: Variants) -> dict[str, Any]:
    """Return the table of one component; `diagnosis/table.py` says what it holds."""
    known = variants.mistakes
    component = next(iter(known.values())).component
    criteria = [c for c in suite.criteria[component] if c.visibility == "public"]
    asks = [_Asked(variants, question) for question in _questions(suite, variants, criteria)]
    # Of a criterion that compares no values.
    usual = widest(ask.question.slack for ask in asks)
    for ask in asks:
        ask.question.slack = ask.question.slack or usual
        variants.complete(ask.question)
    answers = {
        mistake: {
            number: answer
            for number, ask in enumerate(asks)
            if (answer := ask.wrong_answer(frozenset([mistake]))) is not None
        }
        for mistake in known
    }
    telling = {mistake: _telling(found) for mistake, found in answers.items()}
    used = _chosen(telling, asks)
    asked = [asks[number] for number in used]
    # Numbered as the questions that are written down.
    placed = {
        mistake: {place: found[number] for place, number in enumerate(used) if number in found}
        for mistake, found in answers.items()
    }
    told = [mistake for mistake, found in placed.items() if found]
    pairs = list(itertools.combinations([one for one in told if not known[one].in_branch], 2))
    loses = _lost_by(suite, variants, criteria, told)
    return {
        "questions": [
            {
                "asks": write_question(ask.question.requests),
                "slack": ask.question.slack,
                "right": ask.right,
                "free": ask.question.free,
            }
            for ask in asked
        ],
        "mistakes": [
            {
                "words": known[one].words,
                "branch": known[one].in_branch,
                "loses": loses[one],
                "answers": placed[one],
            }
            for one in told
        ],
        "pairs": [
            {"of": [told.index(mistake) for mistake in pair], **found}
            for pair in pairs
            if variants.can_be(frozenset(pair))
            and (found := _together(pair, placed, asked)) is not None
        ],
        "apart": [
            [told.index(mistake) for mistake in pair]
            for pair in pairs
            if not variants.can_be(frozenset(pair))
        ],
    }


@dataclass(frozen=True)
class _Session:
    """A component with these mistakes."""

    variants: Variants
    wrong: frozenset[str]

    def perform(self, request: Request) -> Reply:
        return self.variants.perform(self.wrong, request)


def _lost_by(
    suite: Suite, variants: Variants, criteria: Sequence[Criterion], mistakes: Sequence[str]
) -> dict[str, list[str]]:
    """Return for each mistake the criteria that fail with it."""
    sessions = {mistake: _Session(variants, frozenset([mistake])) for mistake in mistakes}
    return {
        mistake: [c.id for c in criteria if suite.run(c, session).failure is not None]
        for mistake, session in sessions.items()
    }


def _questions(
    suite: Suite, variants: Variants, criteria: Sequence[Criterion]
) -> Iterator[Question]:
    """Yield the questions of criteria that can be written down shortly, with the right answers."""
    for criterion in criteria:
        plan = suite.plans[criterion.id]
        if not can_be_asked_again(plan):
            continue
        for indices in examples_of([planned.request for planned in plan]):
            written = write_question([plan[index].request for index in indices])
            if len(str(written)) <= _MAX_ASKED:
                # As a student's run will read them.
                requests, slack = read_question(written), plan[indices[0]].slack
                yield variants.question(requests, slack=slack, free=criterion.free)


class _Asked:
    """A question with the answers to it, as they are written down."""

    def __init__(self, variants: Variants, question: Question) -> None:
        self._variants, self.question = variants, question

    @cached_property
    def right(self) -> dict[str, Any]:
        """The right answer, written down; each mistake's is written beside it."""
        return write_known(self._written(self.question.right))

    @cached_property
    def _right_of_pair(self) -> dict[str, Any]:
        return write_known(self._written(self.question.right, of_pair=True))

    def answer(self, wrong: Names) -> Known:
        """Return the answer with mistakes."""
        if len(wrong) > 1:
            return self._variants.known(wrong, self.question)
        (name,) = wrong
        return self.question.wrong.get(name, self.question.right)

    def wrong_answer(self, wrong: Names) -> dict[str, Any] | None:
        """Return the answer of mistakes, written down, if it is a telling one that is not right."""
        found, requests, right = self.answer(wrong), self.question.requests, self.question.right
        if found is right or all_alike(right.replies, found.replies, requests):
            return None

        known = self._written(found, len(wrong) > 1)
        sample = sampled(known.replies, known.kept)
        if all_alike(sampled(right.replies, known.kept), sample, requests):
            return None
        return write_known(known, self._right_of_pair if known.of_pair else self.right)

    def _written(self, known: Known, of_pair: bool = False) -> Known:
        right = self.question.right
        # Devices clash for one reason.
        errors = {reply.error.kind for reply in known.replies if reply.error} - {"DeviceMismatch"}
        raised = bool(errors) and not any(reply.error for reply in right.replies)
        drawn = right.drawn or known.drawn
        return Known(known.replies, drawn, raised=raised, of_pair=of_pair, right=right.replies)


def _telling(found: _Answers) -> _Answers:
    """Return the answers that tell a mistake best; exceptions only where there is nothing else."""
    return {n: answer for n, answer in found.items() if not answer.get("raised")} or found


def _together(
    pair: Sequence[str], answers: Mapping[str, _Answers], asked: Sequence[_Asked]
) -> dict[str, Any] | None:
    """Return what two mistakes answer to the shortest examples in which both show.

    `as` says whose answer it is, where it is that of one of them; `answers` holds some that are
    neither's.
    """
    met = [place for place in range(len(asked)) if all(place in answers[name] for name in pair)]
    if not met:
        return None
    whose: dict[int, int] = {}
    found: _Answers = {}
    for place in sorted(sorted(met, key=lambda place: asked[place].question.size)[:_MET]):
        ask = asked[place]
        together, *halves = (ask.answer(frozenset(names)) for names in (pair, pair[:1], pair[1:]))
        same = [all_alike(half.replies, together.replies, ask.question.requests) for half in halves]
        if any(same):
            whose[place] = same.index(True)
        elif (answer := ask.wrong_answer(frozenset(pair))) is not None:
            found[place] = answer
    lengths = {place: len(str(answer)) for place, answer in found.items()}
    shortest = sorted(found, key=lambda place: (lengths[place], place))
    limits = zip(shortest, _LONGEST_TOGETHER, strict=False)
    kept = [place for place, longest in limits if lengths[place] <= longest]
    return {"as": whose, "answers": {place: found[place] for place in kept}}


def _chosen(answers: Mapping[str, _Answers], asks: Sequence[_Asked]) -> list[int]:
    """Choose few questions: every mistake shows, and no two look the same that need not.

    Greedy: the question comes first that serves most needs for its length, with its answers.
    """
    lengths = Counter(
        {number: len(str(write_question(a.question.requests))) for number, a in enumerate(asks)}
    )
    for found in answers.values():
        lengths.update({number: len(str(answer)) for number, answer in found.items()})
    needs: list[set[int]] = []
    for found in answers.values():
        needs += [set(found)] * min(_SHOWN, len(found))
    for one, other in itertools.combinations(answers.values(), 2):
        needs.append({n for n in one.keys() | other.keys() if one.get(n) != other.get(n)})
    chosen: set[int] = set()
    while needs := [need for need in needs if need - chosen]:
        counts = Counter(number for need in needs for number in need - chosen)
        best = max(counts, key=lambda number: (counts[number] / lengths[number], -number))
        chosen.add(best)
        # A need is served by one question; the second copy of one waits for another.
        served: list[set[int]] = []
        left = []
        for need in needs:
            if best in need and need not in served:
                served.append(need)
            else:
                left.append(need - {best})
        needs = left
    return sorted(chosen)
