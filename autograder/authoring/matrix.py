"""What `selftest` prints: for every component a matrix of misconceptions by criteria."""

from __future__ import annotations

import string

from rich.console import Console

from autograder.authoring.selftest import Report, RowReport
from autograder.reports.terminal import safe

_LETTERS = string.ascii_lowercase + string.ascii_uppercase


def print_report(console: Console, report: Report) -> None:
    """Print the matrices, the figures of the diagnosis and every fault."""
    for component, criteria in report.criteria.items():
        rows = [r for r in report.rows if r.kind == "misconception" and r.component == component]
        if rows:
            _print_matrix(console, component, criteria, rows)
    figures = report.figures
    right = [row for row in report.rows if row.kind in ("solution", "stand-in", "right")]
    full = sum(not row.lost for row in right)
    say = [
        f"sandbox {report.sandbox}",
        f"right work: {full} of {len(right)} keep every point; "
        f"{figures.right_named} of {figures.right} are said to have a misconception",
        f"misconceptions: {figures.named_alone} of {figures.misconceptions} named alone",
        f"pairs: {figures.named_pair} of {figures.pairs} named as the pair, "
        f"{figures.named_half} as one of the two",
    ]
    for line in say:
        console.print(safe(line, 1000), highlight=False)
    for row in report.rows:
        if row.kind == "misconception" and row.named != row.wrong:
            named = " or ".join(row.named) or "nothing"
            console.print(f"[yellow]not named[/yellow] {row.id}: {safe(named)}", highlight=False)
    for fault in report.faults:
        console.print(f"[red]fault[/red] {safe(fault, 1000)}", highlight=False)
    verdict = "the suites hold" if report.holds else f"{len(report.faults)} faults"
    console.print(f"{report.assignment}: {verdict}", highlight=False)


def _print_matrix(
    console: Console, component: str, criteria: list[str], rows: list[RowReport]
) -> None:
    console.print(f"\n[bold]{component}[/bold]: the criteria that each misconception loses")
    width = max(len(row.id.partition(".")[2]) for row in rows)
    for row in rows:
        cells = "".join(
            letter if criterion in row.lost else "·"
            for letter, criterion in zip(_LETTERS, criteria, strict=False)
        )
        name = row.id.partition(".")[2]
        partly = [
            f"{letter} {row.partly[criterion]}"
            for letter, criterion in zip(_LETTERS, criteria, strict=False)
            if criterion in row.partly
        ]
        said = f"; {', '.join(partly)} cases" if partly else ""
        console.print(
            f"  {name:<{width}}  {cells}  {round(row.lost_points, 2):4g} points{said}",
            highlight=False,
        )
    names = [criterion.partition(".")[2] for criterion in criteria]
    legend = ", ".join(f"{letter} {n}" for letter, n in zip(_LETTERS, names, strict=False))
    console.print(f"  [dim]{legend}[/dim]\n", highlight=False)
