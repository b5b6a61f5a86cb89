"""The command that begins a course, or an assignment in it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.authoring import new as beginning
from autograder.authoring.sources import source_of
from autograder.authoring.unfilled import MARK, places
from autograder.cli.options import Root
from autograder.errors import UsageError
from autograder.project import find_root
from autograder.reports.terminal import safe

_ASSIGNMENT = "assignment"


def new(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="DIR | assignment NAME", help="A new folder, or an assignment's name."
        ),
    ],
    component: Annotated[
        list[str] | None,
        typer.Option(help="A component of the new assignment; once for each, in order."),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option(
            "--from", help="Begin the course with this assignment: its name, or its folder's path."
        ),
    ] = None,
    root: Root = None,
) -> None:
    """Begin a course of your own, or add an assignment to it."""
    if what[0] == _ASSIGNMENT:
        if len(what) == 1:
            raise UsageError(
                "the assignment's name is missing: autograder new assignment NAME --component ... "
                f"(for a course in a folder called {_ASSIGNMENT}, give ./{_ASSIGNMENT})"
            )
        _one_word(what[1:], "the name of one assignment")
        if from_ is not None:
            raise UsageError("--from begins a course: autograder new DIR --from NAME")
        _add(find_root(root), what[1], component or [])
    else:
        _one_word(what, f"one folder, or `{_ASSIGNMENT}` and a name")
        if component:
            raise UsageError(
                "--component is for an assignment of a course that is there: "
                f"autograder new {_ASSIGNMENT} NAME --component ..."
            )
        _begin(what[0], from_, root)


def _one_word(words: list[str], wanted: str) -> None:
    if len(words) != 1 or not words[0]:
        raise UsageError(f"autograder new takes {wanted}, not {' '.join(map(repr, words))}")


def _begin(folder: str, from_: str | None, root: Path | None) -> None:
    if from_ is None and root is not None:
        raise UsageError("--root says where --from finds its assignment: give --from, too")
    made = beginning.new_course(Path(folder), None if from_ is None else source_of(from_, root))
    files = sum(path.is_file() for path in made.root.rglob("*"))
    console = Console(soft_wrap=True)
    console.print(f"{files} files in {safe(folder, 500)}", highlight=False)
    console.print(
        f"Next: cd {safe(shlex.quote(folder), 500)} && autograder selftest {made.name}",
        highlight=False,
    )


def _add(root: Path, name: str, components: list[str]) -> None:
    made = beginning.new_assignment(root, name, components)
    console = Console(soft_wrap=True)
    console.print(f"To be filled in, wherever it says {MARK}:", highlight=False)
    for path in dict.fromkeys(path for path, _ in places(made)):
        shown = safe(path.relative_to(root).as_posix(), 500)
        console.print(f"  {shown}", highlight=False)
    console.print(
        f"Next: autograder stubs {name}, then autograder selftest {name}",
        highlight=False,
    )
