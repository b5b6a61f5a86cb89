"""Wrong variants of a component, asked what the student was asked. Judge's side only."""

from __future__ import annotations

import contextlib
import hashlib
import operator
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from autograder.api.likeness import Comparison, Slack, alike
from autograder.api.messages import Reply, Request
from autograder.api.operations import Call, Operation, Reset
from autograder.assignment import Assignment
from autograder.diagnosis.search import RIGHT, Names
from autograder.judge.cache import AnswerStore
from autograder.judge.misconceptions import file_of
from autograder.judge.reference import import_apart
from autograder.sandbox.wire import encode_request

# Mistakes, the identity of an example's requests, and whether with other draws.
_Key = tuple[Names, tuple[int, ...], bool]


# A mistake that computes longer, in seconds, has no end: of it that is the answer.
LONGEST_S = 10.0
# So many of torch's operations are a short example: a few milliseconds.
_SHORT = 500


class Variants:
    """Answers examples with chosen mistakes in force, each once.

    An example is a list of requests, the first of which resets what came before. The suite's own
    are known by their request objects, as far as they were asked. Where a test asks on with what
    the student answered, that is another example, also if it begins alike.

    Args:
        folder: the misconceptions of an assignment.
        component: whose.
        names: the mistakes that may be put in force.
        given: where `provided` lies.
        program: whether the component is run as a program.
        store: keeps answers to examples that are known.
        longest_s: how long one answer may be computed.

    Attributes:
        computed: how many examples were answered since `begin`, each once, whether they had to be
            computed or not: what a diagnosis may cost is counted so, that it comes out the same
            whatever is kept, and whoever was graded before. Of several mistakes at once a long
            example counts as many: there are too many pairs to keep.
    """

    def __init__(
        self,
        folder: Path,
        component: str,
        names: Sequence[str],
        given: Path | None = None,
        program: bool = False,
        store: AnswerStore | None = None,
        longest_s: float = LONGEST_S,
    ) -> None:
        self._longest_s = longest_s
        self.names = tuple(names)
        self.store = AnswerStore(None) if store is None else store
        self.computed = 0
        self._executor = import_apart(folder, component, given, program)
        # The requests stand beside the replies to stay alive: their identity is the key.
        self._replies: dict[_Key, tuple[Sequence[Request], Sequence[Reply]]] = {}
        self._counted: dict[_Key, int] = {}
        self._drawn: dict[tuple[Names, tuple[int, ...]], bool] = {}
        # By the identity of their first request.
        self._known: dict[int, _Known] = {}
        # How often a mistake was stopped that computed too long.
        self._stopped = 0
        self._usual: Slack = {}
        # Beside what was compared stands what must stay alive: its identity is in the key.
        self._parted: dict[tuple[int, ...], tuple[tuple[Sequence[Reply], ...], bool]] = {}

    def know(
        self,
        example: Sequence[Request],
        replies: Sequence[Reply],
        work: int = 0,
        slack: Slack | None = None,
    ) -> None:
        """Keep the right answers to an example of the suite's, which then need not be computed.

        Args:
            example: its requests.
            replies: the solution's.
            work: how many of torch's operations they take.
            slack: by how much more than usual its criterion lets answers be off.
        """
        asked = hashlib.sha256()
        for request in example:
            asked.update(hashlib.sha256(encode_request(request, 0)).digest())
        known = _Known(tuple(example), asked.hexdigest(), max(1, work // _SHORT), slack or {})
        self._usual = widest([self._usual, known.slack])
        self._known[id(example[0])] = known
        self._replies[RIGHT, self._identity(example), False] = (example, list(replies))

    def answer(
        self, wrong: Names, example: Sequence[Request], redraw: bool = False
    ) -> Sequence[Reply]:
        """Answer an example with these mistakes in force.

        The same answers to a known example are the same object.

        Args:
            wrong: names of the mistakes.
            example: its requests.
            redraw: whether to seed the random draws otherwise than the requests say.
        """
        key = (wrong, self._identity(example), redraw)
        self._count(key, example)
        _, replies = self._replies.get(key, ((), ()))
        if len(replies) < len(example):
            replies = self._looked_up(wrong, example, redraw)
            self._replies[key] = (example, replies)
        return replies if len(replies) == len(example) else replies[: len(example)]

    def begin(self) -> None:
        """Count anew, and forget the examples of one submission alone."""
        self.computed = 0
        self._counted = {}
        known = {(first,) for first in self._known}
        self._replies = {k: found for k, found in self._replies.items() if k[1] in known}
        self._drawn = {k: found for k, found in self._drawn.items() if k[1] in known}

    def _count(self, key: _Key, example: Sequence[Request]) -> None:
        """Count an answer, unless it was counted, or is that of the solution to what is known."""
        if self._counted.get(key, 0) < len(example):
            self._counted[key] = len(example)
            wrong, _, redraw = key
            if wrong or redraw or not self.knows(example):
                self.computed += self.cost(example) if len(wrong) > 1 else 1

    def knows(self, example: Sequence[Request]) -> bool:
        """Tell whether an example is one of the suite's own, or the beginning of one."""
        known = self._known.get(id(example[0]))
        if known is None or len(example) > len(known.requests):
            return False
        return all(map(operator.is_, example, known.requests))

    def cost(self, example: Sequence[Request]) -> int:
        """Return for how many short examples this one counts."""
        known = self._known.get(id(example[0]))
        return 1 if known is None else known.cost

    def allowed(self, example: Sequence[Request]) -> Slack:
        """Return by how much more than usual answers to an example may be off.

        Where its criterion compares no values, that is the most that any criterion allows.
        """
        known = self._known.get(id(example[0]))
        return (known and known.slack) or self._usual

    def shows(self, wrong: Names, example: Sequence[Request]) -> bool:
        """Tell whether the mistakes make another answer than the right one, beside other draws."""
        right, answer = self.answer(RIGHT, example), self.answer(wrong, example)
        if not self._part(Comparison(self.allowed(example), enough=1.0), example, answer, right):
            return False
        if not self.drawn(RIGHT, example):
            return True
        again = self.answer(RIGHT, example, redraw=True)
        return self._part(Comparison(drawn=True, enough=1.0), example, answer, right, again)

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

    def _part(
        self, compare: Comparison, example: Sequence[Request], *answers: Sequence[Reply]
    ) -> bool:
        """Tell whether the first two answers part; of a known example they are compared once."""
        wrong, right, *again = answers
        if not self.knows(example):
            return compare.replies(wrong, right, example, *again) > 1
        key = (id(wrong), *map(id, again), id(example[0]), len(example))
        if key not in self._parted:
            self._parted[key] = answers, compare.replies(wrong, right, example, *again) > 1
        return self._parted[key][1]

    def _identity(self, example: Sequence[Request]) -> tuple[int, ...]:
        first, *others = map(id, example)
        return (first,) if self.knows(example) else (first, *others)

    def _looked_up(self, wrong: Names, example: Sequence[Request], redraw: bool) -> Sequence[Reply]:
        """Return what is kept of an answer, or perform the example and keep it."""

        def performed() -> list[Reply]:
            asked = [reseeded(request) for request in example] if redraw else example
            return [self.perform(wrong, request) for request in asked]

        return self._kept(wrong, example, "again" if redraw else "", performed)

    def _kept(
        self,
        wrong: Names,
        example: Sequence[Request],
        what: str,
        make: Callable[[], list[Any]],
    ) -> list[Any]:
        """Return what is kept of these mistakes and an example, or make it and keep it."""
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

    def perform(self, wrong: Names, request: Request) -> Reply:
        """Answer one request with these mistakes in force, after those before it."""
        self._put_in_force(wrong)
        with _at_most(self._longest_s) as clock:
            reply = self._executor.perform(request)
        # What is kept is no measurement.
        reply.seconds = None
        self._stopped += clock.over
        self._put_in_force(RIGHT)
        return reply

    def _put_in_force(self, wrong: Names) -> None:
        self._executor.code.scope["WRONG"] = wrong
        if self._executor.code.module is not None:
            self._executor.code.module.WRONG = wrong

    def drawn(self, wrong: Names, example: Sequence[Request]) -> bool:
        """Tell whether the answer to an example hangs on random draws."""
        if len(wrong) > 1:
            return any(self.drawn(frozenset([name]), example) for name in wrong)
        key = (wrong, self._identity(example))
        for redraw in (False, True):
            self._count((*key, redraw), example)
        if key not in self._drawn:

            def compared() -> list[bool]:
                plain = self.answer(wrong, example)
                other = self.answer(wrong, example, redraw=True)
                pairs = zip(plain, other, strict=True)
                return [not all(alike(one, two) for one, two in pairs)]

            (self._drawn[key],) = self._kept(wrong, example, "drawn", compared)
        return self._drawn[key]


@dataclass(frozen=True)
class _Known:
    """An example of the suite's: what is asked, the hash of it, and for how many it counts."""

    requests: tuple[Request, ...]
    asked: str
    cost: int
    slack: Slack


class _Clock:
    over = False


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[_Clock]:
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


def widest(slacks: Sequence[Slack]) -> Slack:
    """Return the widest of several tolerances for every fineness."""
    kinds = {kind for slack in slacks for kind in slack}
    return {kind: max(slack.get(kind, 0.0) for slack in slacks) for kind in kinds}


def reseeded(request: Request) -> Request:
    """Return the request with other seeds for its random draws."""
    return Request([_reseeded(op) for op in request.ops])


def _reseeded(op: Operation) -> Operation:
    if isinstance(op, Reset):
        return replace(op, seed=op.seed + 1)
    if isinstance(op, Call) and op.seed is not None:
        return replace(op, seed=op.seed + 1)
    return op


def variants_of(
    assignment: Assignment,
    component: str,
    names: Sequence[str],
    store: AnswerStore | None = None,
) -> Variants:
    """Return the wrong variants of an assignment's component; `store` keeps their answers.

    Raises:
        ReferenceFault: they cannot be imported.
    """
    folder = file_of(assignment, component).parent
    program = assignment.component(component).program
    return Variants(folder, component, names, assignment.public, program, store)
