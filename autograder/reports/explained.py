"""How a criterion that was run again is shown to the instructor: the call and both answers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from autograder.grading.messages import Explained
from autograder.reports.terminal import safe

_LINE = 4000
_UNASKED = "not known: this call follows from an earlier answer, and the solution was not asked"


class Printer:
    """Prints text from outside: no markup, no control characters, a line a line."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def line(self, text: str, indent: str = "") -> None:
        """Print one line."""
        self._console.print(f"{indent}{safe(text, _LINE)}", highlight=False)

    def block(self, title: str, lines: Sequence[str]) -> None:
        """Print a title and lines under it; nothing where there are none."""
        if lines:
            self.line(f"{title}:")
            for line in lines:
                self.line(line, "    ")


def print_component(print_: Printer, found: Explained) -> None:
    """Say what about the whole component bears on the criterion."""
    if found.status not in ("graded", "timeout", "crashed"):
        status = found.status.replace("_", " ")
        print_.block(f"the whole component is {status}", found.component_message.splitlines())
    elif found.now.outcome == "not_run":
        print_.block("not run, because before it too much hung or died in", found.over)
    if found.stand_ins:
        print_.line(f"graded with a working {', '.join(found.stand_ins)}")


def print_call(print_: Printer, found: Explained) -> None:
    """Show the call that tells most, with both answers."""
    # Of a public check the student is told as much.
    if found.now.message.splitlines()[: len(found.full)] != found.full:
        print_.block("what the check found, with all values", found.full)
    print_.block("drawn for this example", found.drawn)
    call = found.traced
    if call is None:
        return
    print_.block(f"call {call.number} of {call.of}", call.call)
    print_.block("the component answered", call.answer or ["nothing: it hung or died here"])
    print_.block("the right answer", call.right or [_UNASKED])
    print_.block("where they differ", call.differences)
    if call.seeded and call.differences:
        print_.line("the call is seeded: where it draws at random, other draws may be right too")
    if call.answer is not None and not call.unlike:
        print_.line("no answer that the check read differs from the solution's")
