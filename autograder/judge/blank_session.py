"""A component that answers without any work, behind the same API as a student's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autograder.exchange.messages import Reply, Request
from autograder.exchange.operations import Build, Call, RunProgram
from autograder.exchange.values import Embedding, Handle, Value
from autograder.judge.blanks import Asked, Blank
from autograder.solutions.plan import Planned

# Seeds that a test chooses lie apart from those of the calls before it.
_SEEDED = 1000


class BlankSession:
    """Answers the requests of a criterion with a blank; for provided code, as that does.

    Args:
        blank: how.
        plan: what is right.
    """

    def __init__(self, blank: Blank, plan: Sequence[Planned]) -> None:
        self._blank = blank
        self._plan = plan
        self._next = 0
        self._number = 0
        # Handles of what provided code made, and what may stand for what the component made.
        self._provided: set[int] = set()
        self._made: dict[int, Value] = {}

    def perform(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            LookupError: the solution was asked nothing of the kind.
        """
        if request.resets:
            self._number = 0
            self._provided.clear()
            self._made.clear()
            # After a case that failed, the next one begins further on.
            ahead = range(self._next, len(self._plan))
            same = (n for n in ahead if request.same_as(self._plan[n].request))
            self._next = next(same, self._next)
        right = self._plan[self._next].reply
        self._next += 1
        self._number += 1
        if self._is_given(request):
            return right
        return self._blank.reply(self._asked(request), right)

    def _is_given(self, request: Request) -> bool:
        """Tell whether provided code answers a request, and no work of the student's."""
        given = False
        for op in request.ops:
            handle = getattr(op, "of" if isinstance(op, Build) else "handle", None)
            given = bool(getattr(op, "provided", "")) or handle in self._provided
            if given and isinstance(op, Build):
                self._provided.add(op.handle)
        return given

    def _asked(self, request: Request) -> Asked:
        """Read the last call of a request."""
        embedding = None
        asked = Asked([], self._number)
        for op in request.ops:
            if isinstance(op, Build):
                arguments = self._arguments(op)
                weights = [value.weight for value in arguments if isinstance(value, Embedding)]
                embedding = weights[0] if weights else embedding
                # Of what hands back its input: what was made of something is that.
                self._made[op.handle] = arguments[0] if arguments else None
            elif isinstance(op, Call):
                seed = self._number if op.seed is None else _SEEDED + op.seed
                asked = Asked(self._arguments(op), seed, op.cotangent)
            elif isinstance(op, RunProgram):
                asked = Asked([op.stdin], self._number)
        return replace(asked, embedding=embedding)

    def _arguments(self, op: Build | Call) -> list[Value]:
        given = (*op.args, *op.kwargs.values())
        return [self._made.get(x.number) if isinstance(x, Handle) else x for x in given]
