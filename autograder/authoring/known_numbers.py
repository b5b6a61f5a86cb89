"""The numbers that every misconception produces on public questions, for a release to carry.

The questions are those of the public suite, worked examples and properties, the latter drawn with
another seed than the judge's. Nothing goes out but inputs, samples of answers and explanations.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from autograder.assignment import Assignment
from autograder.diagnosis.search import RIGHT, examples_of
from autograder.diagnosis.table import (
    PAIRED,
    SINGLE,
    Known,
    read_question,
    sampled,
    write_known,
    write_question,
    write_slack,
)
from autograder.errors import UsageError
from autograder.exchange.messages import Reply, Request
from autograder.exchange.values import tensors_in
from autograder.judge.collection import collect
from autograder.judge.suite import Suite, SuiteFault
from autograder.solutions.cache import Cache
from autograder.solutions.misconceptions import Misconception, read
from autograder.solutions.places import cache_folder
from autograder.solutions.variants import Variants, variants_of, widest
from autograder.suite.criterion import Criterion
from autograder.suite.likeness import Slack, all_alike

# Longer questions and answers would only make the file long.
_MAX_GIVEN = 400
_MAX_RETURNED = 120
# In how many questions a mistake should show, so that one coincidence names nothing; and of how
# many the answers of two mistakes together are kept, where they are not those of one of them: there
# are as many pairs as mistakes by mistakes.
_SHOWN = 2
_TOGETHER = 1
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
        return {"questions": [], "mistakes": [], "pairs": []}
    found: dict[str, Any] | None = cache.load(key)
    if found is None:
        found = _component(suite, variants_of(assignment, name, tuple(known)), known)
        cache.save(key, found)
    return found


class _Session:
    """A component with these mistakes in force."""

    def __init__(self, variants: Variants, wrong: frozenset[str]) -> None:
        self._variants = variants
        self._wrong = wrong

    def perform(self, request: Request) -> Reply:
        return self._variants.perform(self._wrong, request)


class _Consulted(frozenset[str]):
    """No mistake in force; notes after which ones the code has asked.

    Where the right code does not ask after a mistake, that mistake changes nothing.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return False


def _component(suite: Suite, variants: Variants, known: dict[str, Misconception]) -> dict[str, Any]:
    component = next(iter(known.values())).component
    criteria = [c for c in suite.criteria[component] if c.visibility == "public"]
    asked = _asked(suite, variants, criteria)
    questions = [question for question, _, _ in asked]
    consulted = []
    for question in questions:
        noted = _Consulted()
        for request in question:
            variants.perform(noted, request)
        consulted.append(noted.names)
    answers = {
        name: {
            number: answer
            for number, question in enumerate(questions)
            if name in consulted[number]
            and (answer := _wrong_answer(variants, frozenset([name]), question)) is not None
        }
        for name in known
    }
    used = _chosen(answers)
    told = [name for name, found in answers.items() if any(number in found for number in used)]
    loses: dict[str, list[str]] = {name: [] for name in told}
    for criterion in criteria:
        noted = _Consulted()
        suite.run(criterion, _Session(variants, noted))
        for name in told:
            mistaken = _Session(variants, frozenset([name]))
            if name in noted.names and suite.run(criterion, mistaken).failure is not None:
                loses[name].append(criterion.id)
    at = {name: place for place, name in enumerate(told)}
    return {
        "questions": [
            {
                "asks": write_question(questions[number]),
                "slack": write_slack(asked[number][1]),
                "right": _right_answer(variants, questions[number]),
                "free": asked[number][2],
            }
            for number in used
        ],
        "mistakes": [
            {
                "words": known[name].words,
                "loses": loses[name],
                "answers": _placed(answers[name], used),
            }
            for name in told
        ],
        "pairs": [
            {"of": [at[name] for name in names], **found}
            for names in itertools.combinations(told, 2)
            if (found := _together(variants, names, answers, questions, used)) is not None
        ],
    }


def _placed(found: _Answers, used: Sequence[int]) -> _Answers:
    """Number answers as the questions that are written down are numbered."""
    return {place: found[number] for place, number in enumerate(used) if number in found}


def _asked(
    suite: Suite, variants: Variants, criteria: Sequence[Criterion]
) -> list[tuple[list[Request], Slack, bool]]:
    """Return short questions of criteria, what each lets an answer be off, and if it is free."""
    plans = [suite.plans[criterion.id] for criterion in criteria]
    usual = widest([planned.slack for plan in plans for planned in plan])
    found = []
    for criterion, plan in zip(criteria, plans, strict=True):
        for indices in examples_of([planned.request for planned in plan]):
            question = _question([plan[index].request for index in indices])
            if question and _length(variants.answer(RIGHT, question)) <= _MAX_RETURNED:
                found.append((question, plan[indices[0]].slack or usual, criterion.free))
    return found


def _question(requests: Sequence[Request]) -> list[Request]:
    """Return an example as it will be read; nothing if it cannot be written down shortly."""
    tensors = [tensor for request in requests for tensor in request.tensors()]
    if any(tensor.device.type == "meta" for tensor in tensors):
        return []
    return read_question(write_question(requests)) if _given(requests) <= _MAX_GIVEN else []


def _given(requests: Sequence[Request]) -> int:
    return sum(tensor.numel() for request in requests for tensor in request.tensors())


def _length(replies: Sequence[Reply]) -> int:
    return sum(output.numel() for reply in replies for output in tensors_in(reply.value))


def _right_answer(variants: Variants, question: list[Request]) -> dict[str, Any]:
    drawn = variants.drawn(RIGHT, question)
    return write_known(Known(variants.answer(RIGHT, question), drawn))


def _wrong_answer(
    variants: Variants, wrong: frozenset[str], question: list[Request], count: int = SINGLE
) -> dict[str, Any] | None:
    """Return a mistake's answer, if it is a telling one that is not right."""
    right, replies = variants.answer(RIGHT, question), variants.answer(wrong, question)
    if all_alike(sampled(right, count), sampled(replies, count), question):
        return None
    by_chance = variants.drawn(RIGHT, question)
    drawn = by_chance or variants.drawn(wrong, question)
    if by_chance and all_alike(right, replies, question, drawn=True):
        return None
    if any(reply.error for reply in replies) and not any(reply.error for reply in right):
        # Many things raise; it would be named for all of them.
        return None
    return write_known(Known(replies, drawn, count))


def _together(
    variants: Variants,
    names: Sequence[str],
    answers: dict[str, _Answers],
    questions: list[list[Request]],
    used: Sequence[int],
) -> dict[str, Any] | None:
    """Return what two mistakes answer where both show, if they do anywhere.

    `as` says whose answer it is, where it is that of one of them; `answers` holds some that are
    neither's. What they answer elsewhere is left open.
    """
    whose: dict[int, int] = {}
    found: _Answers = {}
    met = [number for number in used if all(number in answers[name] for name in names)]
    cheapest = sorted(met, key=lambda number: _given(questions[number]))[:_MET]
    for place, number in enumerate(used):
        if number not in cheapest:
            continue
        question = questions[number]
        replies = variants.answer(frozenset(names), question)
        halves = [variants.answer(frozenset([name]), question) for name in names]
        alike = [all_alike(half, replies, question) for half in halves]
        if any(alike):
            whose[place] = alike.index(True)
        elif (answer := _wrong_answer(variants, frozenset(names), question, PAIRED)) is not None:
            found[place] = answer
    shortest = sorted(found, key=lambda place: len(str(found[place])))[:_TOGETHER]
    kept = {place: found[place] for place in shortest}
    return {"as": whose, "answers": kept} if met else None


def _chosen(answers: dict[str, _Answers]) -> list[int]:
    """Choose few questions, so that every mistake shows and no two look alike that need not.

    Greedy: the question comes first that serves most needs for its length.
    """
    lengths: Counter[int] = Counter()
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
