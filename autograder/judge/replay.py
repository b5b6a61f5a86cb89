"""Replay what a component was asked with mistakes in force, and see which answer as it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from autograder.exchange.messages import Reply, Request
from autograder.judge.evidence import ROUNDING, Ask, Evidence, Example, clearly_nearer
from autograder.judge.expected import Expected
from autograder.solutions.variants import RIGHT, Names, examples_of
from autograder.suite.likeness import all_alike

# Beyond these a diagnosis costs more than it helps: examples computed, candidates named,
# further questions put to the child.
_MAX_COMPUTED = 1500
_MAX_NAMED = 3
_MAX_QUESTIONS = 12
_PIVOTS = 4
# So many short examples are a long one.
_LONG = 10
_FACTORS = (3.0, 10.0, 0.1)


@dataclass(frozen=True)
class Heard:
    """What a component answered to one criterion."""

    criterion: str
    passed: bool
    exchange: Sequence[tuple[Request, Reply]]
    free: bool = False


_Solution = tuple[Names, bool, frozenset[str]]
_NOTHING: _Solution = (RIGHT, False, frozenset())


class Case:
    """One component of one submission.

    Args:
        expected: what is expected of the component with mistakes.
        heard: what was asked, and what was answered.
        ask: puts the requests of a further example to the component; None if it is gone.
    """

    def __init__(self, expected: Expected, heard: Sequence[Heard], ask: Ask) -> None:
        self._variants = variants = expected.variants
        variants.begin()
        self._ask = ask
        self._evidence = Evidence(expected, ask)
        self._examples = [
            Example(
                criterion.criterion,
                criterion.passed,
                tuple(criterion.exchange[index][0] for index in indices),
                tuple(criterion.exchange[index][1] for index in indices),
                criterion.free,
            )
            for criterion in heard
            for indices in examples_of([request for request, _ in criterion.exchange])
        ]
        # The first example of a criterion is drawn to be a telling one.
        first = {example.criterion: example for example in reversed(self._examples)}
        self._telling = [e for e in first.values() if e.passed]
        lost = [(e, self._evidence.fit(RIGHT, e)) for e in self._examples if not e.passed]
        clear = {example.criterion for example, fit in lost if not fit.holds}
        # Where random draws hide what went wrong, a variant has to fit to the draw.
        self._failing = [
            example
            for example, fit in lost
            if not fit.holds or (fit.to_the_draw and example.criterion not in clear)
        ]
        # Answers of the student's own choice tell only where nothing else does.
        bound = [example for example in self._failing if not example.free]
        self._free = [example for example in self._failing if example.free and bound]
        self._failing = bound or self._failing
        self._failing.sort(key=lambda e: (variants.cost(e.requests), e.size))

    def solve(self, plans: Sequence[Sequence[Request]]) -> _Solution:
        """Return the names found, whether only one of them holds, and the criteria explained."""
        if not self._failing:
            return _NOTHING
        names, either, explained = self._solved(plans)
        if self._free and not either:
            more, _, also = self._in_part(self._free)
            return names | more, False, explained | also
        return names, either, explained

    def _solved(self, plans: Sequence[Sequence[Request]]) -> _Solution:
        """Solve what is lost where the student chose nothing."""
        lost = frozenset(example.criterion for example in self._failing)
        found = self._explaining([frozenset([name]) for name in self._variants.names])
        if not found:
            found = self._explaining(self._pairs())
        if not found:
            return self._in_part(self._failing)
        if len(found) > 1:
            found = self._narrowed(self._nearest(found), plans)
        if len(found) == 1:
            return found[0], False, lost
        if found and all(len(names) == 1 for names in found) and len(found) <= _MAX_NAMED:
            return frozenset().union(*found), True, lost
        # Several pairs: the half that all have in common is sure.
        common = frozenset.intersection(*found) if found else RIGHT
        return (common, False, lost) if len(common) == 1 else _NOTHING

    def _explaining(self, candidates: Sequence[Names]) -> list[Names]:
        """Return the candidates that fit all that is lost and that nothing speaks against."""
        evidence = self._evidence
        found = []
        for names in candidates:
            if self._variants.computed > _MAX_COMPUTED:
                break
            if (
                all(evidence.nearer(names, example) for example in self._failing)
                and any(evidence.clear(names, example) for example in self._failing)
                and not any(evidence.refutes(names, example) for example in self._telling)
                and not any(evidence.refutes(names, example) for example in self._examples)
            ):
                found.append(names)
        return found

    def _nearest(self, found: list[Names]) -> list[Names]:
        """Return those to which no other is clearly nearer, and nowhere clearly farther."""

        def beaten(names: Names, other: Names) -> bool:
            pairs = [
                (self._evidence.fit(names, e), self._evidence.fit(other, e)) for e in self._failing
            ]
            farther = any(clearly_nearer(theirs, mine) for mine, theirs in pairs)
            return farther and not any(clearly_nearer(mine, theirs) for mine, theirs in pairs)

        return [n for n in found if not any(beaten(n, other) for other in found if other != n)]

    def _pairs(self) -> list[Names]:
        """Return the pairs that may explain what is lost, as far as their halves tell.

        What one mistake does is known; what two do together is mostly computed anew.
        """
        names = self._variants.names
        movers = [
            [name for name in names if self._evidence.shows(frozenset([name]), example)]
            for example in self._failing[:_PIVOTS]
        ]
        # One half at least goes wrong where the student did.
        few = min((some for some in movers if some), key=len, default=[])
        if few:
            # Where few mistakes show, few pairs are left after the first comparison.
            first = self._failing.pop(movers.index(few))
            self._failing.insert(0, first)
        pairs = {frozenset((one, other)) for one in few for other in names if other != one}
        for example in self._telling:
            # To know it of a long example costs more than the pairs that it sets aside.
            if self._variants.cost(example.requests) > _LONG:
                continue
            # Where one half changes nothing, a pair answers as the other does.
            if self._evidence.fit(RIGHT, example).exact <= ROUNDING:
                shown = self._evidence.showing(example)
                pairs = {pair for pair in pairs if len(pair & shown) != 1}
        return sorted(pairs, key=sorted)

    def _in_part(self, lost: Sequence[Example]) -> _Solution:
        """Explain some criteria, each by the one misconception that fits it, if others remain."""
        evidence = self._evidence
        names: set[str] = set()
        explained: set[str] = set()
        for criterion in dict.fromkeys(example.criterion for example in lost):
            failing = [example for example in lost if example.criterion == criterion]
            # An exception of the same kind is not enough to go by.
            if all(evidence.raised(example) for example in failing):
                continue
            fitting = [
                name
                for name in self._variants.names
                if self._variants.computed <= _MAX_COMPUTED
                and all(evidence.nearer(frozenset([name]), example) for example in failing)
                and any(
                    evidence.clear(frozenset([name]), example)
                    for example in failing
                    if not evidence.raised(example)
                )
                and not self._contradicted(frozenset([name]), failing)
            ]
            if len(fitting) == 1:
                names.add(fitting[0])
                explained.add(criterion)
        return frozenset(names), False, frozenset(explained)

    def _contradicted(self, names: Names, explained: Sequence[Example]) -> bool:
        """Tell whether another example speaks against what a criterion is explained by.

        Of what else is lost, answers of the same functions and classes do so that are not those of
        the mistake: whatever is behind them may be behind this, too. An exception says nothing, nor
        does what came in the place of one.
        """
        entries = frozenset().union(*(example.entries for example in explained))
        return any(
            not self._evidence.raised(example)
            and not self._evidence.asks_to_refuse(example)
            and not entries.isdisjoint(example.entries)
            and not self._evidence.nearer(names, example)
            if example in self._failing
            else self._evidence.refutes(names, example)
            for example in self._examples
        )

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
            new = Example("", False, tuple(example), tuple(replies))
            found = [names for names in found if self._evidence.fit(names, new).holds]
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


def _magnified(request: Request, factor: float) -> Request:
    """Make a request's numbers larger and rougher, which shows what small smooth ones hide."""
    generator = torch.Generator().manual_seed(len(request.ops))

    def rougher(tensor: Tensor) -> Tensor:
        if tensor.device.type == "meta" or not tensor.is_floating_point():
            return tensor
        noise = torch.randn(tensor.shape, generator=generator).to(tensor.dtype)
        return factor * tensor + noise

    return request.with_tensors(rougher)
