"""The command that looks for similar submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from autograder.assignment import load_assignment
from autograder.cli.options import NameOption, Root
from autograder.project import assignment_of, find_root
from autograder.reports.terminal import Stages, safe


def similar(
    batch: Annotated[Path, typer.Argument(help="A folder with one submission an entry.")],
    assignment: NameOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where similar.csv and a page, both sides beside each other, go."),
    ] = None,
    threshold: Annotated[
        float,
        typer.Option(
            min=1, max=100, help="The percentage of a component from which on two are similar."
        ),
    ] = 75.0,
    public: Annotated[
        list[Path] | None,
        typer.Option(help="A folder or file of public code that anybody may use; once for each."),
    ] = None,
    root: Root = None,
) -> None:
    """Look for similar submissions; a help for a person, and no mark."""
    # Here, since no other command needs it.
    from autograder.similar.comparing import find
    from autograder.similar.listing import print_pairs, write

    folder = find_root(root)
    wanted = load_assignment(folder, assignment_of(folder, assignment))
    console = Console(soft_wrap=True)
    with Stages(console) as stages:
        findings = find(batch, wanted, threshold, public or (), stages)
        written = write(findings, out) if out is not None else []
    print_pairs(console, findings)
    for path in written:
        console.print(safe(str(path), 500), highlight=False)
