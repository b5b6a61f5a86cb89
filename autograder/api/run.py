"""A run of tests, on either backend: what was asked last, on which example, and what views show."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autograder.api.answer import Answer, Asked, Question, StudentRaised
from autograder.api.component import Component, Session
from autograder.api.lazy import torch
from autograder.api.likeness import coarse_in, in_float64
from autograder.api.messages import Reply, Request
from autograder.api.operations import Reset
from autograder.api.values import Array, Made
from autograder.text import clean

MOST_VIEWS = 12
MOST_CELLS = 64


class Show:
    """Collects views of one component.

    Attributes:
        views: what was shown, each a mapping that JSON can hold; see the page that draws them.
    """

    def __init__(self) -> None:
        self.views: list[dict[str, Any]] = []

    def table(
        self, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], note: str = ""
    ) -> None:
        """Show a table; numbers get four significant digits."""
        cells = [[_cell(cell) for cell in row][:MOST_CELLS] for row in rows][:MOST_CELLS]
        self._add("table", title, note, header=[clean(name, 60) for name in header], rows=cells)

    def heatmap(
        self,
        title: str,
        values: Any,
        rows: Sequence[Any] | None = None,
        columns: Sequence[Any] | None = None,
        x: str = "",
        y: str = "",
        low: float | None = None,
        high: float | None = None,
        note: str = "",
    ) -> None:
        """Show a matrix in colours.

        Args:
            title: what it is.
            values: at most 64 by 64 numbers; larger ones are cut.
            rows: labels of the rows, first at the top.
            columns: labels of the columns.
            x: what the columns are.
            y: what the rows are.
            low: the value of the darkest colour; default: the least.
            high: the value of the brightest colour; default: the greatest.
            note: what to see in it.
        """
        found = _array(values)
        if found.ndim != 2 or found.size == 0:
            self._add("missing", title, f"no matrix came back, but the shape {tuple(found.shape)}")
            return
        numbers = found[:MOST_CELLS, :MOST_CELLS].tolist()
        finite = [value for row in numbers for value in row if math.isfinite(value)]
        self._add(
            "heatmap",
            title,
            note,
            values=[[_number(value) for value in row] for row in numbers],
            rows=_labels(rows, len(numbers)),
            columns=_labels(columns, len(numbers[0])),
            x=clean(x, 60),
            y=clean(y, 60),
            low=_number(min(finite, default=0.0) if low is None else low),
            high=_number(max(finite, default=0.0) if high is None else high),
        )

    def bars(self, title: str, labels: Sequence[Any], values: Any, note: str = "") -> None:
        """Show numbers as bars, one a label."""
        found = _array(values).flatten()[:MOST_CELLS].tolist()
        names = _labels(labels, len(found))
        numbers = [_number(value) for value in found]
        self._add("bars", title, note, labels=names, values=numbers)

    def embedding(self, weight: torch.Tensor) -> Made:
        """Return an argument that arrives as an `nn.Embedding` with this weight."""
        return Made("embedding", (weight,))

    def _add(self, kind: str, title: str, note: str, **more: Any) -> None:
        if len(self.views) < MOST_VIEWS:
            view = {"kind": kind, "title": clean(title, 120), "note": clean(note, 300)}
            self.views.append({**view, **more})


def _array(values: Any) -> Array:
    if isinstance(values, torch.Tensor):
        return in_float64(values)
    found = np.asarray(values)
    # As torch reads a list of floats.
    plain = found.dtype == np.float64 and not isinstance(values, np.ndarray)
    return in_float64(found.astype(np.float32) if plain else found)


def _labels(given: Sequence[Any] | None, count: int) -> list[str]:
    if given is None:
        return []
    shown = [clean(str(label), 20) for label in given][:count]
    return shown + [""] * (count - len(shown))


def _number(value: float) -> float | None:
    # JSON has no NaN; three digits are more than a colour shows.
    return float(f"{value:.4g}") if math.isfinite(value) else None


def _cell(cell: Any) -> str:
    if isinstance(cell, torch.Tensor):
        found = in_float64(cell).flatten().tolist()
        if len(found) != 1:
            return clean(", ".join(f"{v:.4g}" for v in found))
        cell = found[0]
    return f"{cell:.4g}" if isinstance(cell, float) else clean(str(cell))


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
    """One run of tests, each on one component.

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
        self._component = ""
        self._begun = False

    def begin(self, drawn: dict[str, Any]) -> None:
        """Note that a test, or the next example of a property, begins."""
        self.drawn = drawn
        self.question = None
        self.coarse.clear()
        self.asked.clear()
        self._begun = False

    def component(self, name: str) -> Component:
        """Return the component that a test is about, as it gets it."""
        self._component = name
        return Component(self, self._observe)

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

    def perform(self, request: Request) -> Reply:
        """Have a request answered; an example's first one forgets what came before."""
        if not self._begun:
            self._begun = True
            request.ops.insert(0, Reset())
        self.coarse |= coarse_in(request)
        return self._session(self._component).perform(request)

    def _observe(self, answer: Answer) -> None:
        self.question = answer.question
        self.asked.note(answer)
