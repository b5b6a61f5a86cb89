"""The only way a test touches a component.

`component.call(name, ...)` calls a function, `component.build(name, ...)` makes a module,
`component.make(name, ...)` any object, `component.run(...)` runs a program. Both backends, the
student's imported module and the judge's sandbox, stand behind the same `Session`, so a test
cannot tell them apart. What a test asks for beside a call, as a seed, stands in `asking(...)`:
every argument of a call is the student's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from autograder.exchange.messages import Request
from autograder.exchange.operations import (
    RunProgram,
)
from autograder.suite.answer import Answer, Question
from autograder.suite.asking import Asker, Line, Options, Session
from autograder.suite.objects import Module, Object


class Component(Asker):
    """One component under test, or code that is provided with it."""

    def __init__(
        self,
        session: Session,
        observe: Callable[[Answer], None],
        *,
        options: Options | None = None,
        line: Line | None = None,
        provided: str = "",
    ) -> None:
        super().__init__(line or Line(session, observe), options or Options())
        self._provided = provided

    def asking(
        self,
        *,
        seed: int | None = None,
        cotangent: Tensor | None = None,
        keep_inputs: bool = False,
        cost: bool = False,
    ) -> Component:
        """Return the component, to be asked for more than its answer; see `Options`."""
        options = Options(seed, cotangent, keep_inputs, cost)
        return self._like(options, self._provided)

    def provided(self, module: str) -> Component:
        """Return `provided/<module>.py`, the grader's own copy, to be called like a component."""
        return self._like(self._options, module)

    def _like(self, options: Options, provided: str) -> Component:
        line = self._line
        return Component(line.session, line.observe, options=options, line=line, provided=provided)

    def call(self, function: str, /, *args: object, **kwargs: object) -> Answer:
        """Call a function."""
        return self._put(Request(), function, args, kwargs, provided=self._provided)

    def build(self, cls: str, /, *args: object, **kwargs: object) -> Module:
        """Build a module. What its constructor raises shows in the module's first answer."""
        return Module(self._line, cls, args, kwargs, provided=self._provided)

    def make(self, name: str, /, *args: object, **kwargs: object) -> Object:
        """Keep what a class, a class method ("Tokenizer.load") or a function makes.

        What it raises shows in the object's first answer.
        """
        return Object(self._line, name, args, kwargs, provided=self._provided)

    def run(
        self, *arguments: str, stdin: str = "", files: Mapping[str, str | bytes] | None = None
    ) -> Answer:
        """Run the component as a program, in a folder that holds `files`, and wait for its end."""
        given = {
            name: data.encode() if isinstance(data, str) else data
            for name, data in (files or {}).items()
        }
        request = Request([RunProgram(tuple(arguments), stdin, given, self._options.cost)])
        shown: list[tuple[str, Any]] = [("", argument) for argument in arguments]
        shown += [("stdin", stdin)] if stdin else []
        return self._line.ask(request, Question("the program", tuple(shown)))
