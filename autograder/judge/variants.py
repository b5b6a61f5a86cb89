"""Wrong variants of a component, asked what the student was asked. Judge's side only."""

from __future__ import annotations

import contextlib
import hashlib
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from autograder.api.executor import Executor
from autograder.api.likeness import Comparison, Slack, same_reply
from autograder.api.messages import Reply, Request
from autograder.assignment import Assignment
from autograder.diagnosis.search import RIGHT, Names, Once
from autograder.judge.cache import AnswerStore
from autograder.judge.misconceptions import Misconception, together
from autograder.judge.reference import variant_of
from autograder.judge.session import Planned

# A mistake that computes longer, in seconds, has no end: of it that is the answer.
LONGEST_S = 10.0
# So many of torch's operations are a short example: a few milliseconds.
_SHORT = 500


class Variants:
    """Answers examples with chosen mistakes, each once.

    An example is a list of requests, the first of which resets what came before. The suite's own
    are known by their request objects, as far as they were asked. Where a test asks on with what
    the student answered, that is another example, even if it begins the same way.

    Args:
        folder: the solutions of an assignment.
        component: whose mistakes.
        known: the mistakes.
        given: where `provided` lies.
        program: whether the component is run as a program.
        store: keeps answers to examples that are known.
        longest_s: how long one answer may be computed.

    Attributes:
        names: the mistakes, except those in one branch alone.
        in_branches: those.
        computed: how many examples were answered since `begin`, each once, whether they had to be
            computed or not: what a diagnosis may cost is counted so, that it comes out the same
            whatever is kept and was graded before. Of several mistakes at once a long
            example counts as many: there are too many pairs to keep.
    """

    def __init__(
        self,
        folder: Path,
        component: str,
        known: Mapping[str, Misconception],
        given: Path | None = None,
        program: bool = False,
        store: AnswerStore | None = None,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._longest_s = longest_s
        self._mistakes = known
        self.names = tuple(name for name, one in known.items() if not one.in_branch)
        self.in_branches = tuple(name for name, one in known.items() if one.in_branch)
        self.store = AnswerStore(None) if store is None else store
        self.computed = 0
        self._folder, self._component, self._given = folder, component, given
        self._program = program
        # What they import is the same for all.
        self._modules: dict[str, ModuleType] = {}
        self._sources: dict[Names, bytes | None] = {RIGHT: None}
        self._executors: dict[Names, Executor] = {}
        # By the identity of their first request.
        self._known: dict[int, _Known] = {}
        self._usual: Slack = {}
        self._once = Once()
        self._counted: set[tuple[object, ...]] = set()
        # How often a mistake was stopped that computed too long.
        self._stopped = 0

    def know(self, example: Sequence[Planned]) -> None:
        """Keep the right answers to an example of the suite's, which then need not be computed."""
        asked = hashlib.sha256()
        for planned in example:
            asked.update(hashlib.sha256(planned.frame).digest())
        cost = max(1, sum(planned.work for planned in example) // _SHORT)
        self._known[id(example[0].request)] = _Known(tuple(example), asked.hexdigest(), cost)
        slacks = self._usual, example[0].slack
        kinds = {kind for slack in slacks for kind in slack}
        self._usual = {kind: max(slack.get(kind, 0.0) for slack in slacks) for kind in kinds}

    def answer(
        self, wrong: Names, example: Sequence[Request], redraw: bool = False
    ) -> Sequence[Reply]:
        """Answer an example with these mistakes.

        The same answers to a known example are the same object.

        Args:
            wrong: names of the mistakes.
            example: its requests.
            redraw: whether to seed the random draws otherwise than the requests say.
        """
        self._count(wrong, example, redraw)

        def performed() -> list[Reply]:
            asked = [request.reseeded() for request in example] if redraw else example
            return [self.perform(wrong, request) for request in asked]

        def right() -> Sequence[Reply]:
            known = self._known[id(example[0])].planned
            return [planned.reply for planned in known[: len(example)]]

        if not (wrong or redraw) and self.knows(example):
            return self._once("right", example, right)
        return self._kept(wrong, example, "again" if redraw else "", performed)

    def begin(self) -> None:
        """Count from 0 again."""
        self.computed, self._counted = 0, set()

    def _count(self, wrong: Names, example: Sequence[Request], redraw: bool) -> None:
        """Count an answer, unless it was counted, or is that of the solution to what is known."""
        key = (wrong, redraw, *map(id, example))
        if key not in self._counted:
            self._counted.add(key)
            if wrong or redraw or not self.knows(example):
                self.computed += self.cost(example) if len(wrong) > 1 else 1

    def knows(self, example: Sequence[Request]) -> bool:
        """Return whether an example is one of the suite's own, or the beginning of one."""
        known = self._known.get(id(example[0]))
        if known is None or len(example) > len(known.planned):
            return False
        pairs = zip(example, known.planned, strict=False)
        return all(request is planned.request for request, planned in pairs)

    def cost(self, example: Sequence[Request]) -> int:
        """Return for how many short examples this one counts."""
        known = self._known.get(id(example[0]))
        return 1 if known is None else known.cost

    def allowed(self, example: Sequence[Request]) -> Slack:
        """Return by how much more than usual answers to an example may be off.

        Where its criterion compares no values, that is the most that any criterion allows.
        """
        known = self._known.get(id(example[0]))
        return (known and known.planned[0].slack) or self._usual

    def shows(self, wrong: Names, example: Sequence[Request]) -> bool:
        """Return whether the mistakes make another answer than the right one, other draws aside."""
        right, answer = self.answer(RIGHT, example), self.answer(wrong, example)

        def part(compare: Comparison, *again: Sequence[Reply]) -> bool:
            about = (answer, right, *again)
            return self._once(
                "parted", about, lambda: compare.replies(answer, right, example, *again) > 1
            )

        if not part(Comparison(self.allowed(example), enough=1.0)):
            return False
        if not self.drawn(RIGHT, example):
            return True
        again = self.answer(RIGHT, example, redraw=True)
        return part(Comparison(drawn=True, enough=1.0), again)

    def showing(self, example: Sequence[Request]) -> Names:
        """Return the mistakes that show in an example by themselves.

        It is the same for every submission, so it counts for nothing in what a diagnosis costs.
        """
        before = self.computed, self._counted.copy()

        def found() -> list[Names]:
            return [frozenset(n for n in self.names if self.shows(frozenset([n]), example))]

        names: Names = self._kept(RIGHT, example, "showing", found)[0]
        self.computed, self._counted = before
        return names

    def drawn(self, wrong: Names, example: Sequence[Request]) -> bool:
        """Return whether the answer to an example depends on random draws."""
        if len(wrong) > 1:
            return any(self.drawn(frozenset([name]), example) for name in wrong)
        for redraw in (False, True):
            self._count(wrong, example, redraw)

        def compared() -> list[bool]:
            plain, other = (self.answer(wrong, example, redraw) for redraw in (False, True))
            return [not all(map(same_reply, plain, other))]

        return bool(self._kept(wrong, example, "drawn", compared)[0])

    def _kept(
        self, wrong: Names, example: Sequence[Request], what: str, make: Callable[[], list[Any]]
    ) -> list[Any]:
        """Return what is kept of these mistakes and an example, or make it and keep it."""

        def looked_up() -> list[Any]:
            if not self.knows(example):
                return make()
            # A hash of all that is asked, and how much of it was.
            asked = self._known[id(example[0])].asked
            name = f"{'+'.join(sorted(wrong))} {asked} {len(example)} {what}"
            found = self.store.get(name)
            if found is None:
                stopped = self._stopped
                found = make()
                # Another machine might have been fast enough.
                found = found if self._stopped > stopped else self.store.put(name, found)
            return found

        return self._once((wrong, what), example, looked_up)

    def perform(self, wrong: Names, request: Request) -> Reply:
        """Answer one request with these mistakes, after those before it."""
        executor = self._executor(wrong)
        with at_most(self._longest_s) as clock:
            reply = executor.perform(request)
        # What is kept is no measurement.
        reply.seconds = None
        self._stopped += clock.over
        return reply

    def combine(self, wrong: Names) -> bool:
        """Return whether these mistakes can be in one component."""
        if wrong not in self._sources:
            text = together([self._mistakes[name] for name in sorted(wrong)])
            self._sources[wrong] = None if text is None else text.encode()
        return not wrong or self._sources[wrong] is not None

    def _executor(self, wrong: Names) -> Executor:
        if wrong not in self._executors:
            if not self.combine(wrong):
                raise ValueError(f"{sorted(wrong)} cannot be in one component")
            self._executors[wrong] = variant_of(
                self._folder,
                self._component,
                self._sources[wrong],
                self._modules,
                self._given,
                self._program,
            )
        return self._executors[wrong]


@dataclass(frozen=True)
class _Known:
    """An example of the suite's: what is asked, the hash of it, for how many it counts."""

    planned: tuple[Planned, ...]
    asked: str
    cost: int


class _Clock:
    over = False


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[_Clock]:
    """Raise a TimeoutError in what computes longer, where the system can; note that it did."""
    clock = _Clock()
    if not hasattr(signal, "setitimer"):
        yield clock
        return

    def stop(*about: object) -> NoReturn:
        clock.over = True
        raise TimeoutError(f"it did not end within {seconds:g} s of computing")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield clock
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def variants_of(
    assignment: Assignment,
    component: str,
    known: Mapping[str, Misconception],
    store: AnswerStore | None = None,
) -> Variants:
    """Return the wrong variants of an assignment's component; `store` keeps their answers."""
    program = assignment.component(component).program
    return Variants(assignment.secret, component, known, assignment.public, program, store)
