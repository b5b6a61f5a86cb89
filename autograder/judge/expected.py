"""What a component's known mistakes answer, and where they show: the same for every submission."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autograder.exchange.messages import Reply, Request
from autograder.solutions.variants import RIGHT, Names, Variants
from autograder.suite.likeness import Comparison, Slack

_Answers = tuple[Sequence[Reply], ...]


@dataclass(frozen=True)
class Expected:
    """What is expected of one component with mistakes in force.

    Attributes:
        variants: the component with mistakes.
        slack: by the identity of an example's first request, by how much more than usual its
            criterion lets answers be off.
        usual: the same for examples that no criterion compares values of.
    """

    variants: Variants
    slack: Mapping[int, Slack]
    usual: Slack
    # Beside what was compared stands what must stay alive: its identity is in the key.
    _apart: dict[tuple[int, ...], tuple[_Answers, bool]] = field(default_factory=dict, repr=False)

    def allowed(self, example: Sequence[Request]) -> Slack:
        """Return by how much more than usual answers to an example may be off."""
        return self.slack.get(id(example[0])) or self.usual

    def shows(self, names: Names, example: Sequence[Request]) -> bool:
        """Tell whether the mistakes make another answer than the right one, beside other draws."""
        right = self.variants.answer(RIGHT, example)
        wrong = self.variants.answer(names, example)
        if not self._part(Comparison(self.allowed(example), enough=1.0), wrong, right, example):
            return False
        if not self.variants.drawn(RIGHT, example):
            return True
        again = self.variants.answer(RIGHT, example, redraw=True)
        return self._part(Comparison(drawn=True, enough=1.0), wrong, right, example, again)

    def showing(self, example: Sequence[Request]) -> Names:
        """Return the mistakes that show in an example by themselves.

        It is the same for every submission, so it counts for nothing in what a diagnosis costs.
        """

        def found() -> Names:
            return frozenset(n for n in self.variants.names if self.shows(frozenset([n]), example))

        return self.variants.of_all(example, "showing", found)

    def _part(
        self,
        compare: Comparison,
        wrong: Sequence[Reply],
        right: Sequence[Reply],
        example: Sequence[Request],
        again: Sequence[Reply] | None = None,
    ) -> bool:
        """Tell whether two answers part, which is compared once where they are known."""
        if not self.variants.knows(example):
            return compare.replies(wrong, right, example, again) > 1
        key = (id(wrong), id(again), id(example[0]), len(example))
        if key not in self._apart:
            held = (wrong, right) if again is None else (wrong, right, again)
            self._apart[key] = held, compare.replies(wrong, right, example, again) > 1
        return self._apart[key][1]
