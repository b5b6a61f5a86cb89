"""Replay what a component was asked with mistakes in force, and see which answer as it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.exchange.messages import Reply, Request
from autograder.solutions.variants import RIGHT, Names, Variants, examples_of, reseeded
from autograder.suite.likeness import all_alike

# Beyond these a diagnosis costs more than it helps: examples computed, candidates named,
# further questions put to the child.
_MAX_COMPUTED = 1500
_MAX_NAMED = 3
_MAX_QUESTIONS = 12
_PIVOTS = 4
_FACTORS = (3.0, 10.0, 0.1)

Ask = Callable[[Sequence[Request]], Sequence[Reply] | None]


@dataclass(frozen=True)
class Heard:
    """What a component answered to one criterion."""

    criterion: str
    passed: bool
    exchange: Sequence[tuple[Request, Reply]]


@dataclass(frozen=True)
class _Example:
    """One example of a criterion with the student's replies, as far as they came."""

    criterion: str
    passed: bool
    requests: tuple[Request, ...]
    replies: tuple[Reply, ...]


_Solution = tuple[Names, bool, frozenset[str]]
_NOTHING: _Solution = (RIGHT, False, frozenset())


class Case:
    """One component of one submission."""

    def __init__(self, variants: Variants, heard: Sequence[Heard], ask: Ask) -> None:
        self._variants = variants
        self._ask = ask
        self._drawing: dict[int, bool] = {}
        self._end = variants.computed + _MAX_COMPUTED
        self._examples = [
            _Example(
                criterion.criterion,
                criterion.passed,
                tuple(criterion.exchange[index][0] for index in indices),
                tuple(criterion.exchange[index][1] for index in indices),
            )
            for criterion in heard
            for indices in examples_of([request for request, _ in criterion.exchange])
        ]
        # The first example of a criterion is drawn to be a telling one.
        first = {example.criterion: example for example in reversed(self._examples)}
        self._telling = [e for e in first.values() if e.passed]
        lost = [(e, self._fits(RIGHT, e)) for e in self._examples if not e.passed]
        clear = {example.criterion for example, fit in lost if not fit}
        # Where random draws hide what went wrong, a variant has to fit to the draw.
        self._failing = [
            example
            for example, fit in lost
            if not fit or (fit == 1 and example.criterion not in clear)
        ]
        self._failing.sort(key=_size)

    def solve(self, plans: Sequence[Sequence[Request]]) -> _Solution:
        """Return the names found, whether only one of them holds, and the criteria explained."""
        if not self._failing:
            return _NOTHING
        lost = frozenset(example.criterion for example in self._failing)
        found = self._explaining([frozenset([name]) for name in self._variants.names])
        if not found:
            found = self._explaining(self._pairs())
        if not found:
            return self._in_part()
        if len(found) > 1:
            found = [n for n in found if all(self._bearable(n, e) for e in self._examples)]
        if len(found) > 1:
            found = self._narrowed(found, plans)
        if len(found) == 1:
            return found[0], False, lost
        if found and all(len(names) == 1 for names in found) and len(found) <= _MAX_NAMED:
            return frozenset().union(*found), True, lost
        # Several pairs: the half that all have in common is sure.
        common = frozenset.intersection(*found) if found else RIGHT
        return (common, False, lost) if len(common) == 1 else _NOTHING

    def _explaining(self, candidates: Sequence[Names]) -> list[Names]:
        """Return the candidates that fit all examples, those fitting to the draw if any does."""
        fitting: dict[int, list[Names]] = {1: [], 2: []}
        for names in candidates:
            worst = 2
            for example in self._failing:
                worst = min(worst, self._explains(names, example))
                if not worst or self._variants.computed > self._end:
                    worst = 0
                    break
            if (
                worst
                and any(self._differs(names, example, worst) for example in self._failing)
                and all(self._bearable(names, example) for example in self._telling)
            ):
                fitting[worst].append(names)
        return fitting[2] or fitting[1]

    def _pairs(self) -> list[Names]:
        """Return the pairs of which one half at least goes wrong where the student did."""
        names = self._variants.names
        movers = [
            [name for name in names if self._differs(frozenset([name]), example)]
            for example in self._failing[:_PIVOTS]
        ]
        few = min((some for some in movers if some), key=len, default=[])
        if few:
            # Where few mistakes show, few pairs are left after the first comparison.
            first = self._failing.pop(movers.index(few))
            self._failing.insert(0, first)
        pairs = {frozenset((one, other)) for one in few for other in names if other != one}
        return sorted(pairs, key=sorted)

    def _in_part(self) -> _Solution:
        """Explain some criteria, each by the one misconception that fits it, if others remain."""
        names: set[str] = set()
        explained: set[str] = set()
        for criterion in dict.fromkeys(example.criterion for example in self._failing):
            failing = [example for example in self._failing if example.criterion == criterion]
            # An exception of the same kind is not enough to go by.
            if all(example.replies[-1].error is not None for example in failing):
                continue
            fitting = [
                name
                for name in self._variants.names
                if self._variants.computed <= self._end
                and all(self._explains(frozenset([name]), example) for example in failing)
                and any(self._differs(frozenset([name]), example) for example in failing)
                and all(
                    self._bearable(frozenset([name]), example)
                    for example in self._examples
                    if example.passed
                )
            ]
            if len(fitting) == 1:
                names.add(fitting[0])
                explained.add(criterion)
        return frozenset(names), False, frozenset(explained)

    def _narrowed(self, found: list[Names], plans: Sequence[Sequence[Request]]) -> list[Names]:
        """Put further questions on which the candidates part, until one is left."""
        asked = 0
        for example in self._further(plans):
            if len(found) <= 1 or asked == _MAX_QUESTIONS:
                break
            first, *others = (self._variants.answer(names, example) for names in found)
            if all(all_alike(first, other, example) for other in others):
                continue
            asked += 1
            replies = self._ask(example)
            if replies is None:
                break
            new = _Example("", False, tuple(example), tuple(replies))
            found = [names for names in found if self._fits(names, new)]
        return found

    def _further(self, plans: Sequence[Sequence[Request]]) -> Iterator[Sequence[Request]]:
        """Yield examples that were not asked yet: the suite's own, then magnified ones."""
        known = {id(example.requests[0]) for example in self._examples}
        for plan in plans:
            for indices in examples_of(plan):
                if id(plan[indices[0]]) not in known:
                    yield [plan[index] for index in indices]
        for factor in _FACTORS:
            for example in self._examples:
                yield [_magnified(request, factor) for request in example.requests]

    def _fits(self, names: Names, example: _Example) -> int:
        """Return 2 if the variant answers as the student did, 1 if only to the draw, else 0."""
        replies = self._variants.answer(names, example.requests)
        if all_alike(example.replies, replies, example.requests):
            return 2
        if not all_alike(example.replies, replies, example.requests, drawn=True):
            return 0
        if self._variants.drawn(RIGHT, example.requests):
            return 1
        # The variant alone draws at random here; so must the student, then.
        return int(self._variants.drawn(names, example.requests) and self._draws(example))

    def _explains(self, names: Names, example: _Example) -> int:
        """Return how well the variant fits, if it fits better than the right answer, else 0."""
        fit = self._fits(names, example)
        return fit if fit > self._fits(RIGHT, example) else 0

    def _draws(self, example: _Example) -> bool:
        """Tell whether the student's answer hangs on random draws: ask with other seeds."""
        key = id(example.requests[0])
        if key not in self._drawing:
            again = self._ask([reseeded(request) for request in example.requests])
            self._drawing[key] = again is not None and not all_alike(
                example.replies, again, example.requests
            )
        return self._drawing[key]

    def _differs(self, names: Names, example: _Example, fit: int = 1) -> bool:
        """Tell whether the variant's answer is not the right one; for a fit of 2, to the draw."""
        right = self._variants.answer(RIGHT, example.requests)
        replies = self._variants.answer(names, example.requests)
        if all_alike(right, replies, example.requests):
            return False
        if fit == 2:
            return True
        # Other draws alone are no difference; but a variant that alone draws is one.
        by_chance = self._variants.drawn(RIGHT, example.requests)
        return not (by_chance and all_alike(right, replies, example.requests, drawn=True))

    def _bearable(self, names: Names, example: _Example) -> bool:
        """Tell whether nothing speaks against the variant: it answers as the student or right."""
        return bool(self._fits(names, example)) or not self._differs(names, example)


def _size(example: _Example) -> int:
    return sum(tensor.numel() for request in example.requests for tensor in request.tensors())


def _magnified(request: Request, factor: float) -> Request:
    """Make a request's numbers larger and rougher, which shows what small smooth ones hide."""
    generator = torch.Generator().manual_seed(len(request.ops))

    def rougher(tensor: Tensor) -> Tensor:
        if tensor.device.type == "meta" or not tensor.is_floating_point():
            return tensor
        noise = torch.randn(tensor.shape, generator=generator).to(tensor.dtype)
        return factor * tensor + noise

    return request.with_tensors(rougher)
