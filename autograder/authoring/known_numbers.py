"""The numbers that every misconception produces on public questions, for a release to carry.

The questions are those of the public suite, worked examples and properties, the latter drawn with
another seed than the judge's. Nothing goes out but inputs, samples of answers and explanations.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import torch

from autograder.assignment import Assignment
from autograder.diagnosis.search import RIGHT, examples_of
from autograder.errors import UsageError
from autograder.exchange.messages import Reply, Request
from autograder.exchange.values import tensors_in
from autograder.grading.machine import cores
from autograder.judge.collection import collect
from autograder.judge.suite import Suite, SuiteFault
from autograder.solutions.cache import Cache
from autograder.solutions.misconceptions import Misconception, read
from autograder.solutions.places import cache_folder
from autograder.solutions.variants import Variants, variants_of, widest
from autograder.suite.criterion import Criterion
from autograder.suite.known_table import (
    PAIRED,
    SINGLE,
    Known,
    read_question,
    sampled,
    write_known,
    write_question,
    write_slack,
)
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


def table(
    assignment: Assignment,
    tell: Callable[[str], None] = lambda words: None,
    cache: Cache | None = None,
) -> dict[str, Any]:
    """Compute the table of an assignment, as plain data by component.

    Args:
        assignment: whose.
        tell: is told what is being done.
        cache: where tables of earlier releases are kept; by default the user's own.

    Raises:
        UsageError: the suite or the misconceptions are broken.
    """
    cache = Cache(cache_folder()) if cache is None else cache
    # This module decides no mark, so that its text is not in the key by itself.
    written_by = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    found: dict[str, Any] = {}
    keys: dict[str, str] = {}
    for name in assignment.totals:
        if not read(assignment, name):
            found[name] = {"questions": [], "mistakes": []}
            continue
        keys[name] = cache.key_of(assignment, name, f"known numbers {written_by}")
        if (kept := cache.load(keys[name])) is not None:
            found[name] = kept
    missing = [name for name in keys if name not in found]
    try:
        for name, made in _computed(assignment, missing, cache, tell):
            found[name] = made
            cache.save(keys[name], made)
        # A broken suite is found where there is nothing to compute, too.
        for name in [name for name in found if name not in missing] if missing else [""]:
            collect(assignment, assignment.seed + 1, only=name, tell=tell, cache=cache)
    except SuiteFault as error:
        raise UsageError(f"the suite of {assignment.name} is broken: {error}") from error
    return {name: found[name] for name in assignment.totals}


def _computed(
    assignment: Assignment, names: Sequence[str], cache: Cache, tell: Callable[[str], None]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the tables of components as they are done: of several, side by side."""
    # A process more imports torch first, which takes as long as a small component.
    side_by_side = min(cores(), len(names) // 2)
    if side_by_side < 2:
        for name in names:
            tell(f"computing what the known mistakes answer: {name}")
            yield name, _of_component(assignment, name, cache)
        return
    # No fork of this process, which may have threads.
    fresh = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if fresh else "spawn")
    context.set_forkserver_preload([__name__])
    # The most work first, so that none is left with it alone: each mistake meets each other.
    order = sorted(names, key=lambda name: len(read(assignment, name)), reverse=True)
    with ProcessPoolExecutor(side_by_side, context) as pool:
        begun = {pool.submit(_of_component, assignment, name, cache): name for name in order}
        try:
            for number, done in enumerate(as_completed(begun)):
                yield begun[done], done.result()
                tell(f"what the known mistakes answer: {number + 1} of {len(names)} components")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _of_component(assignment: Assignment, name: str, cache: Cache) -> dict[str, Any]:
    # Threads gain nothing on small tensors, and lose much beside other work.
    torch.set_num_threads(1)
    # Not the judge's seed: its examples are for the judge alone to ask.
    suite = collect(assignment, assignment.seed + 1, only=name, cache=cache)
    known = read(assignment, name)
    return _component(suite, variants_of(assignment, name, tuple(known)), known)


class _Session:
    """A component with one mistake in force."""

    def __init__(self, variants: Variants, wrong: frozenset[str]) -> None:
        self._variants = variants
        self._wrong = wrong

    def perform(self, request: Request) -> Reply:
        return self._variants.perform(self._wrong, request)


def _component(suite: Suite, variants: Variants, known: dict[str, Misconception]) -> dict[str, Any]:
    component = next(iter(known.values())).component
    criteria = [c for c in suite.criteria[component] if c.visibility == "public"]
    asked = _asked(suite, variants, criteria)
    questions = [question for question, _, _ in asked]
    answers = {
        name: {
            number: answer
            for number, question in enumerate(questions)
            if (answer := _wrong_answer(variants, frozenset([name]), question)) is not None
        }
        for name in known
    }
    used = _chosen(answers)
    told = [name for name, found in answers.items() if any(number in found for number in used)]
    loses = {
        name: [
            criterion.id
            for criterion in criteria
            if suite.run(criterion, _Session(variants, frozenset([name]))).failure is not None
        ]
        for name in told
    }
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
