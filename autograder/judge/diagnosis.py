"""The judge's diagnosis: the search of `autograder.diagnosis`, on answers of the wrong variants.

A misconception explains an example if its outputs, gradients and effects equal the student's and
differ from the right answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.api.lazy import Tensor, torch
from autograder.api.likeness import (
    CLEARLY,
    Comparison,
    all_alike,
    raised_wrongly,
    same_tensor,
)
from autograder.api.messages import Reply, Request
from autograder.assignment import Assignment
from autograder.diagnosis.search import (
    RIGHT,
    Answers,
    Example,
    Fit,
    Names,
    Search,
    examples_of,
)
from autograder.judge.cache import AnswerStore
from autograder.judge.misconceptions import Misconception, read
from autograder.judge.session import Planned
from autograder.judge.variants import Variants, variants_of
from autograder.text import together

# Beyond these a diagnosis costs more than it helps: examples computed, further questions put.
_MAX_COMPUTED = 1500
_MAX_QUESTIONS = 12
_FACTORS = (3.0, 10.0, 0.1)

# Puts the requests of a further example to the student's component; None if it is gone.
Ask = Callable[[Sequence[Request]], Sequence[Reply] | None]


@dataclass(frozen=True)
class Diagnosis:
    """The misconceptions found; `either` means one of them, else all of them together.

    `explained` has, for each criterion that was lost by them, those that show there.
    """

    found: tuple[Misconception, ...] = ()
    either: bool = False
    explained: Mapping[str, tuple[Misconception, ...]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What to tell the student."""
        return self._said(self.found)

    def words_at(self, criterion: str) -> list[str]:
        """Return what to tell the student of one criterion, if it was lost by them."""
        return [self._said(self.explained[criterion])] if criterion in self.explained else []

    def _said(self, found: Sequence[Misconception]) -> str:
        words = [one.words for one in found]
        if not self.either:
            return together(words)
        return ("one of these: " if len(words) > 1 else "") + " or: ".join(words)


class Diagnoser:
    """Knows an assignment's misconceptions.

    Args:
        assignment: the assignment.
        plans: what every component's public criteria ask, with the right answers.
        looking: whether any are looked for; reading them is checked all the same.
        stores: returns where the answers of a component's mistakes are kept.

    Raises:
        UsageError, ReferenceFault: a file of misconceptions is broken.
    """

    def __init__(
        self,
        assignment: Assignment,
        plans: Mapping[str, Sequence[Sequence[Planned]]],
        looking: bool = True,
        stores: Callable[[str], AnswerStore] = lambda name: AnswerStore(None),
    ) -> None:
        self._known = {name: read(assignment, name) for name in assignment.totals}
        self._questions = {name: list(_questions(plans[name])) for name in plans}
        self._variants = {
            name: variants_of(assignment, name, known, stores(name))
            for name, known in self._known.items()
            if known and looking
        }
        for name, variants in self._variants.items():
            for question in self._questions[name]:
                variants.know(question)

    def flush(self) -> None:
        """Keep what was computed of mistakes' answers, for later submissions and runs."""
        for variants in self._variants.values():
            variants.store.flush()

    def diagnose(self, component: str, examples: Sequence[Example], ask: Ask) -> Diagnosis:
        """Find the misconceptions that explain what a component answered.

        Args:
            component: its name.
            examples: what was asked, and what was answered.
            ask: puts the requests of a further example to the component; None if it is gone.
        """
        if component not in self._variants:
            return Diagnosis()
        further = [[p.request for p in question] for question in self._questions[component]]
        answers = _Computed(self._variants[component], ask, further)
        solution = Search(answers, examples).solve()
        known = self._known[component]

        def read(names: Names) -> tuple[Misconception, ...]:
            # In the order of the table, which is that of the file.
            return tuple(one for name, one in known.items() if name in names)

        explained = {criterion: read(names) for criterion, names in solution.explained.items()}
        return Diagnosis(read(solution.names), solution.either, explained)


def _questions(plans: Sequence[Sequence[Planned]]) -> Iterator[list[Planned]]:
    for plan in plans:
        for part in examples_of([planned.request for planned in plan]):
            yield [plan[index] for index in part]


class _Computed(Answers):
    """The answers of wrong variants, as they run, beside those of one submission.

    Args:
        variants: the component with mistakes.
        ask: see `Diagnoser.diagnose`.
        questions: the suite's own, some of which the component may not have been asked.
    """

    # Two ways to write the same differ by this share of what marks allow.
    rounding = 0.05

    def __init__(
        self,
        variants: Variants,
        ask: Ask,
        questions: Sequence[Sequence[Request]],
    ) -> None:
        super().__init__()
        variants.begin()
        self.names, self.in_branches = variants.names, variants.in_branches
        self._variants = variants
        self._ask = ask
        self._questions = questions

    def shows(self, names: Names, example: Example) -> bool:
        return self._variants.shows(names, example.requests)

    def showing(self, example: Example) -> Names:
        return self._variants.showing(example.requests)

    def right(self, example: Example) -> Sequence[Reply]:
        return self._variants.answer(RIGHT, example.requests)

    def raises(self, names: Names, example: Example) -> bool:
        answer = self._variants.answer(names, example.requests)
        return any(map(raised_wrongly, answer, self.right(example)))

    def draws(self, example: Example) -> bool:
        return self._variants.drawn(RIGHT, example.requests)

    def unlike_right_draws(self, example: Example) -> bool:
        if self.draws(example):
            return self._as_samples(RIGHT, example) > 1
        # Where nothing is drawn that is right, numbers tell.
        return self.fit(RIGHT, example).exact >= CLEARLY

    def cost(self, example: Example) -> int:
        return self._variants.cost(example.requests)

    def kept(self, example: Example) -> bool:
        return self._variants.knows(example.requests)

    @property
    def exhausted(self) -> bool:
        return self._variants.computed > _MAX_COMPUTED

    def narrowed(self, found: list[Names], examples: Sequence[Example]) -> list[Names]:
        asked = 0
        for requests in self._further(examples):
            if len(found) <= 1 or asked == _MAX_QUESTIONS:
                break
            first, *others = (self._variants.answer(names, requests) for names in found)
            if all(all_alike(first, other, requests) for other in others):
                continue
            asked += 1
            replies = self._ask(requests)
            if replies is None:
                break
            new = Example("", False, requests, replies)
            found = [names for names in found if self.fit(names, new).holds]
        return found

    def _further(self, examples: Sequence[Example]) -> Iterator[Sequence[Request]]:
        """Yield the suite's questions that were not asked, then all that were, magnified."""
        asked = {id(example.requests[0]) for example in examples}
        yield from (question for question in self._questions if id(question[0]) not in asked)
        for factor in _FACTORS:
            for example in examples:
                yield [_magnified(request, factor) for request in example.requests]

    def measured(self, names: Names, example: Example) -> Fit:
        if len(names) > 1 and not self._variants.combine(names):
            return Fit(math.inf)
        fit = self._by_value(names, example)
        if fit.exact <= 1 or not self._variants.drawn(names, example.requests):
            return fit
        drawn = self._as_samples(names, example)
        if drawn > 1 or not self._component_draws(example) or self._keeps_a_part(names, example):
            return fit
        # What two mistakes make of a sample together, others may make of it, too.
        halves = [frozenset([name]) for name in names] if len(names) > 1 else []
        if halves and not any(self.fit(half, example).holds for half in halves):
            return fit
        return Fit(fit.exact, drawn)

    def _keeps_a_part(self, names: Names, example: Example) -> bool:
        """Return whether the component has a tensor right that the mistakes draw by chance."""
        requests = example.requests
        drawn = [self._variants.answer(names, requests, redraw) for redraw in (False, True)]
        for mine, right, *others in zip(example.replies, self.right(example), *drawn, strict=True):
            tensors = [list(reply.tensors()) for reply in (mine, right, *others)]
            if len(set(map(len, tensors))) == 1:
                for one, other, first, second in zip(*tensors, strict=True):
                    if same_tensor(one, other) and not same_tensor(first, second):
                        return True
        return False

    # Most mistakes show in few examples. Equal answers are one object.

    def _by_value(self, names: Names, example: Example) -> Fit:
        answer = self._variants.answer(names, example.requests)

        def compared() -> Fit:
            void = bool(names) and not example.passed
            compare = Comparison(self._variants.allowed(example.requests), void=void)
            right = self.right(example) if names else None
            exact = compare.replies(example.replies, answer, example.requests, right)
            return Fit(exact, voided=compare.voided)

        return self.once(("exact", bool(names)), [answer, example], compared)

    def _as_samples(self, names: Names, example: Example) -> float:
        answer = self._variants.answer(names, example.requests)
        again = self._variants.answer(names, example.requests, redraw=True)

        def compared() -> float:
            compare = Comparison(drawn=True, enough=1.0)
            return compare.replies(example.replies, answer, example.requests, again)

        return self.once("samples", [answer, again, example], compared)

    def _component_draws(self, example: Example) -> bool:
        """Return whether the student's answer depends on random draws: ask with other seeds."""

        def asked() -> bool:
            again = self._ask([request.reseeded() for request in example.requests])
            # Of one that is gone it is not known; it may draw where that is right.
            if again is None:
                return self.draws(example)
            compare = Comparison(enough=1.0)
            return compare.replies(example.replies, again, example.requests) > 1

        return self.once("draws", [example], asked)


def _magnified(request: Request, factor: float) -> Request:
    """Make a request's numbers larger and rougher, which shows what small smooth ones hide."""
    if not request.tensors():
        return request
    generator = torch.Generator().manual_seed(len(request.ops))

    def rougher(tensor: Tensor) -> Tensor:
        if tensor.device.type == "meta" or not tensor.is_floating_point():
            return tensor
        noise = torch.randn(tensor.shape, generator=generator).to(tensor.dtype)
        return factor * tensor + noise

    return request.with_tensors(rougher)
