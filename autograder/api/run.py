"""A run of tests, on either backend: what was asked last, on which example, and what views show."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.api.answer import Answer, Asked, Question, StudentRaised
from autograder.api.component import Component, Session
from autograder.api.likeness import coarse_in
from autograder.api.messages import Reply, Request
from autograder.api.operations import Reset
from autograder.api.show import Show

VIEWS = "views.py"
# What a view may run into when a student's answer is not what it draws.
_UNSHOWN = (StudentRaised, AssertionError, TypeError, ValueError, RuntimeError, LookupError)


def drawings_of(folder: Path) -> dict[str, Any]:
    """Return the functions of a suite's views.py by component; none where there is no such file."""
    path = folder / VIEWS
    if not path.is_file():
        return {}
    # Not imported: in a submission's folder another file of this name could come first.
    namespace: dict[str, Any] = {"__name__": "views", "__file__": str(path)}
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102
    return namespace


class Run:
    """One run of tests.

    Args:
        session: returns the session that carries requests to a component.

    Attributes:
        question: the last call that was made, which messages name.
        drawn: the example that a property runs on.
        coarse: the dtypes of half precision that the example has asked for.
        asked: what it has asked, with the answers.
    """

    def __init__(self, session: Callable[[str], Session]) -> None:
        self.question: Question | None = None
        self.drawn: dict[str, Any] = {}
        self.coarse: set[str] = set()
        self.asked = Asked()
        self._session = session
        self._begun: set[str] = set()

    def begin(self, drawn: dict[str, Any]) -> None:
        """Note that a test, or the next example of a property, begins."""
        self.drawn = drawn
        self.question = None
        self.coarse.clear()
        self.asked.clear()
        self._begun.clear()

    def component(self, name: str) -> Component:
        """Return a component as a test gets it."""
        return Component(_FreshSession(self, name), self._observe)

    def views(self, component: str, drawings: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return what the suite's views.py shows of a component, as far as it gets."""
        draw = drawings.get(component)
        show = Show()
        if draw is None:
            return []
        self.begin({})
        # What comes back may be of any shape, and may be an error: the checks speak of that.
        with contextlib.suppress(*_UNSHOWN):
            draw(self.component(component), show)
        return show.views

    def perform(self, component: str, request: Request) -> Reply:
        """Have a request answered; an example's first one forgets what came before."""
        if component not in self._begun:
            self._begun.add(component)
            request.ops.insert(0, Reset())
        self.coarse |= coarse_in(request)
        return self._session(component).perform(request)

    def _observe(self, answer: Answer) -> None:
        self.question = answer.question
        self.asked.note(answer)


class _FreshSession:
    """Lets every example start without the modules that earlier ones built."""

    def __init__(self, run: Run, component: str) -> None:
        self._run = run
        self._component = component

    def perform(self, request: Request) -> Reply:
        return self._run.perform(self._component, request)
