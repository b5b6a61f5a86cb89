"""The search for the mistakes that explain a component's wrong answers, in three questions.

1. Which mistakes could it be? Every one by itself; else one in a branch of the code; else every two
   together (`_pairs`).
2. What would they answer? `Fits.fit` says how far that is from what the component answered.
3. Which answers speak against them? Mistakes are found if they answer as the component did wherever
   an answer is wrong (`_nearer`), somewhere clearly unlike what is right (`_clear`), and if no
   answer is neither theirs nor beside the point (`_refutes`).

Of several that are found, the nearest are kept and further questions are asked. If nothing explains
everything, each lost criterion is explained by itself (`_in_part`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.api.likeness import CLEARLY, all_alike, raised_wrongly
from autograder.diagnosis.fits import Example, Fit, Fits
from autograder.diagnosis.table import RIGHT, Names, Question

# Of more candidates than these nothing is said.
_MOST_NAMED = 3
# Before pairs are tried, the mistakes that show are looked up in this number of wrong examples.
_PIVOTS = 4
# How many further questions are put.
_MAX_QUESTIONS = 12


@dataclass(frozen=True)
class Solution:
    """The mistakes found; `either` means one of them, else all of them together.

    `explained` has, for each criterion that was lost by them, those that show there.
    """

    names: Names = RIGHT
    either: bool = False
    explained: Mapping[str, Names] = field(default_factory=dict)


class Search:
    """The search for what is behind the wrong answers of one component.

    Args:
        fits: how near its answers are to those of mistakes.
        further: questions that it was not asked.
    """

    def __init__(self, fits: Fits, further: Sequence[Question] = ()) -> None:
        self._fits = fits
        self._further = further
        self._mistakes = fits.mistakes
        self._examples = examples = tuple(fits.questions)
        # The first example of a criterion is drawn to be a telling one.
        first = {example.criterion: example for example in reversed(examples)}
        self._telling = [example for example in first.values() if example.passed]
        lost = [(e, fits.fit(RIGHT, e)) for e in examples if not e.passed]
        clear = {example.criterion for example, fit in lost if not fit.holds}
        # Where random draws hide what went wrong, mistakes have to fit to the draw.
        failing = [
            example
            for example, fit in lost
            if not fit.holds or (fit.to_the_draw and example.criterion not in clear)
        ]
        # Answers of the student's own choice tell only where nothing else does.
        bound = [example for example in failing if not example.free]
        self._free = [example for example in failing if example.free and bound]

        # Most candidates fail at the first one, so that the cheapest come first.
        def cost(example: Example) -> tuple[bool, int, int]:
            question = fits.questions[example]
            return not question.complete, question.cost, question.size

        self._failing = sorted(bound or failing, key=cost)

    def solve(self) -> Solution:
        """Return the mistakes found."""
        if not self._failing:
            return Solution()
        found: list[Names] = []
        for names in (self._mistakes.names, self._mistakes.in_branches):
            found = found or self._explaining([frozenset([name]) for name in names])
        found = found or self._explaining(self._pairs())
        whole = self._told(found) if found else self._in_part(self._failing)
        if not self._free or whole.either:
            return whole
        more = self._in_part(self._free)
        return Solution(whole.names | more.names, False, {**whole.explained, **more.explained})

    def _explaining(self, candidates: Sequence[Names]) -> list[Names]:
        """Return the candidates that fit all that is wrong and that nothing speaks against."""
        found = []
        for names in candidates:
            if self._fits.exhausted:
                break
            if (
                all(self._nearer(names, example) for example in self._failing)
                and any(self._clear(names, example) for example in self._failing)
                and not any(self._refutes(names, example) for example in self._telling)
                and not any(self._refutes(names, example) for example in self._examples)
            ):
                found.append(names)
        return found

    def _pairs(self) -> list[Names]:
        """Return the pairs of mistakes that are not ruled out by what each does alone.

        The answers of single mistakes are known; those of a pair mostly have to be computed.
        """
        movers = [sorted(self._showing(example)) for example in self._failing[:_PIVOTS]]
        # One half at least goes wrong where the component did.
        few = min((some for some in movers if some), key=len, default=[])
        if few:
            # Where few mistakes show, few pairs are left after the first comparison.
            self._failing.insert(0, self._failing.pop(movers.index(few)))
        pairs = {frozenset((one, o)) for one in few for o in self._mistakes.names if o != one}
        for example in self._telling:
            # The answer is right, but a pair of which only one half shows would answer as that.
            if self._fits.fit(RIGHT, example).exact <= self._mistakes.rounding:
                showing = self._showing(example)
                pairs = {pair for pair in pairs if len(pair & showing) != 1}
        return sorted(filter(self._mistakes.can_be, pairs), key=sorted)

    def _showing(self, example: Example) -> Names:
        """Return the mistakes that show in an example by themselves."""
        return frozenset(
            n for n in self._mistakes.names if self._fits.shows(frozenset([n]), example)
        )

    def _told(self, found: list[Names]) -> Solution:
        """Return what is sure, or open between few, of candidates that each explain everything."""
        if len(found) > 1:
            found = self._narrowed(self._nearest(found))
        if len(found) == 1:
            return Solution(found[0], False, self._shown(found[0]))
        if found and all(len(names) == 1 for names in found) and len(found) <= _MOST_NAMED:
            either: Names = frozenset().union(*found)
            return Solution(either, True, {e.criterion: either for e in self._failing})
        # Several pairs: the half that all have in common is sure.
        common = frozenset.intersection(*found) if found else RIGHT
        return Solution(common, False, self._shown(common)) if len(common) == 1 else Solution()

    def _shown(self, names: Names) -> dict[str, Names]:
        """Return for each lost criterion those of the mistakes that show there, or all of them."""
        found: dict[str, Names] = {}
        for example in self._failing:
            here = frozenset(n for n in names if self._fits.shows(frozenset([n]), example))
            found[example.criterion] = found.get(example.criterion, RIGHT) | here
        return {criterion: here or names for criterion, here in found.items()}

    def _nearest(self, found: list[Names]) -> list[Names]:
        """Return all but those that another beats: clearly nearer once, clearly farther never."""

        def beaten(names: Names, other: Names) -> bool:
            pairs = [(self._fits.fit(names, e), self._fits.fit(other, e)) for e in self._failing]
            farther = any(self._parts(theirs, mine) for mine, theirs in pairs)
            return farther and not any(self._parts(mine, theirs) for mine, theirs in pairs)

        return [n for n in found if not any(beaten(n, other) for other in found if other != n)]

    def _narrowed(self, found: list[Names]) -> list[Names]:
        """Put further questions on which candidates part; return those that are left."""
        asked = 0
        for question in self._further:
            if len(found) <= 1 or asked == _MAX_QUESTIONS:
                break
            answers = [self._fits.known(names, question) for names in found]
            first, *others = [known.replies for known in answers if known is not None]
            if all(all_alike(first, other, question.requests) for other in others):
                continue

            asked += 1
            replies = self._fits.ask(question.requests)
            if replies is None:
                break

            example = Example("", False, question.requests, replies)
            self._fits.questions[example] = question
            found = [names for names in found if self._fits.fit(names, example).holds]
        return found

    def _in_part(self, lost: Sequence[Example]) -> Solution:
        """Explain each criterion by the one mistake that fits it, as far as there is one."""
        explained: dict[str, Names] = {}
        for criterion in dict.fromkeys(example.criterion for example in lost):
            failing = [example for example in lost if example.criterion == criterion]
            # An exception of the same kind is not enough to go by.
            telling = [example for example in failing if not self._raised(example)]
            if not telling:
                continue
            fitting = [
                name
                for name in self._mistakes.names
                if not self._fits.exhausted
                and all(self._nearer(frozenset([name]), example) for example in failing)
                and any(self._clear(frozenset([name]), example) for example in telling)
                and not self._contradicted(frozenset([name]), failing)
            ]
            if len(fitting) == 1:
                explained[criterion] = frozenset(fitting)
        return Solution(frozenset().union(*explained.values()), False, explained)

    def _contradicted(self, names: Names, explained: Sequence[Example]) -> bool:
        """Return whether another answer speaks against the mistakes that explain a criterion.

        Another wrong answer does if it comes from the same functions and classes and is not the
        mistakes': whatever is behind it may be behind this criterion, too. An exception says
        nothing, nor does an answer where an exception is right.
        """
        entries = frozenset().union(*(example.entries for example in explained))
        return any(
            not self._raised(example)
            and any(reply.error is None for reply in self._fits.right(example))
            and not entries.isdisjoint(example.entries)
            and not self._nearer(names, example)
            if example in self._failing
            # What is right elsewhere may be written without the mistake.
            else not entries.isdisjoint(example.entries) and self._refutes(names, example)
            for example in self._examples
        )

    def _raised(self, example: Example) -> bool:
        """Return whether the component raised an exception that is not right."""
        return any(map(raised_wrongly, example.replies, self._fits.right(example)))

    def _nearer(self, names: Names, example: Example) -> bool:
        """Return whether the mistakes fit, and the right answer does worse."""
        fit, right = self._fits.fit(names, example), self._fits.fit(RIGHT, example)
        return fit.holds and (fit.to_the_draw or fit.voided or fit.exact < right.exact)

    def _clear(self, names: Names, example: Example) -> bool:
        """Return whether an answer supports the mistakes: it fits, clearly unlike the right one."""
        fit = self._fits.fit(names, example)
        if not fit.holds or fit.voided:
            return False
        if fit.to_the_draw:
            return self._fits.unlike_right_draws(example)
        return self._parts(fit, self._fits.fit(RIGHT, example))

    def _parts(self, fit: Fit, other: Fit) -> bool:
        """Return whether one answer is clearly nearer than another."""
        return other.exact >= CLEARLY * max(fit.exact, self._mistakes.rounding)

    def _refutes(self, names: Names, example: Example) -> bool:
        """Return whether an answer speaks against the mistakes.

        It does not if the mistakes fit or do not show there. Nor if it passed where they raise: the
        same mistake can be written so that it does not raise. Otherwise a right answer does, and
        so does one that is not right either, unless the student may choose it, or it passed and
        the right answer depends on draws.
        """
        if self._fits.fit(names, example).holds or not self._fits.shows(names, example):
            return False
        if example.passed and self._fits.raises(names, example):
            return False
        if self._fits.fit(RIGHT, example).holds:
            return True
        return not example.free and not (example.passed and self._fits.draws(example))
