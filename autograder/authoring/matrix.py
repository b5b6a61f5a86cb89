"""Print the report of a selftest: misconceptions by criteria, figures, surviving mutants."""

from __future__ import annotations

import string
from collections.abc import Iterator

from rich.console import Console

from autograder.authoring.proof import Loss, Report, RowReport
from autograder.authoring.rows import RIGHT
from autograder.authoring.survivors import MutantReport
from autograder.reports.disputes import print_call, print_component
from autograder.reports.terminal import Printer, safe

_LETTERS = string.ascii_lowercase + string.ascii_uppercase
# More survivors than can be looked at in one go stand in the JSON report alone.
_SHOWN = 20


def print_report(console: Console, report: Report) -> None:
    """Print the matrices, the figures of the diagnosis, every fault, and the surviving mutants."""
    for component, criteria in report.criteria.items():
        rows = [r for r in report.rows if r.kind == "misconception" and r.component == component]
        if rows:
            _print_matrix(console, component, criteria, rows)
    for line in [f"sandbox {report.sandbox}", *_figures(report)]:
        console.print(safe(line, 1000), highlight=False)
    for row in report.rows:
        if row.kind == "misconception" and row.named != row.wrong:
            named = " or ".join(row.named) or "nothing"
            console.print(f"[yellow]not named[/yellow] {row.id}: {safe(named)}", highlight=False)
    for row in report.rows:
        if row.outcome == "unnamed":
            wanted = " or ".join(row.wrong) if row.alternatives else " and ".join(row.wrong)
            named = " and ".join(row.named) or "nothing"
            console.print(
                f"[yellow]unnamed[/yellow] {safe(row.id)}: {safe(named)}, expected: {safe(wanted)}",
                highlight=False,
            )
    _print_survivors(console, [mutant for mutant in report.mutants if mutant.survives])
    for fault in report.faults:
        console.print(f"[red]fault[/red] {safe(fault, 1000)}", highlight=False)
    for loss in report.why:
        print_loss(Printer(console), loss)
    verdict = "the suites hold" if report.holds else f"{len(report.faults)} faults"
    if report.left_out:
        verdict += f"; not looked at: {', '.join(report.left_out)}"
    if report.kinds:
        verdict += f"; rows of these kinds alone: {', '.join(report.kinds)}"
    console.print(f"{report.assignment}: {verdict}", highlight=False)


def _figures(report: Report) -> Iterator[str]:
    figures = report.figures
    right = [row for row in report.rows if row.kind in RIGHT]
    full = sum(not row.lost for row in right)
    yield (
        f"right work: {full} of {len(right)} keep every point; "
        f"{figures.right_named} of {figures.right} are said to have a misconception"
    )
    empty = [row for row in report.rows if row.kind == "trivial"]
    yield f"trivial work: {sum(not row.earned for row in empty)} of {len(empty)} earn nothing"
    yield f"misconceptions: {figures.named_alone} of {figures.misconceptions} named alone"
    if figures.hidden_alone:
        yield f"found by hidden criteria alone, which name no mistake: {figures.hidden_alone}"
    yield (
        f"pairs: {figures.named_pair} of {figures.pairs} named as the pair, "
        f"{figures.named_half} as one of the two"
    )
    for name, naming in report.wrong_variants.items():
        yield (
            f"wrong variants of {name}: {naming.named} of {naming.expected} named rightly, "
            f"{naming.unnamed} unnamed, {naming.falsely} falsely; in {naming.nothing} more, "
            "nothing is to be named"
        )
    yield (
        f"mutants: {figures.mutants_caught} of {figures.mutants} lose points, "
        f"{figures.mutants_equivalent} are marked as equivalent, "
        f"{figures.mutants_surviving} keep every point unmarked"
    )


def _print_survivors(console: Console, survivors: list[MutantReport]) -> None:
    """Show the mutants that keep every point, as what to close or to mark."""
    if not survivors:
        return
    console.print(
        "\n[bold]mutants that keep every point[/bold]: sharpen the check that should see the "
        "change, or mark it\nin the solution, at the end of the line or right above it, "
        "with the reason",
        highlight=False,
    )
    for mutant in survivors[:_SHOWN]:
        console.print(f"  {mutant.file}:{mutant.line}", highlight=False)
        mark = f"# equivalent: `{mutant.change}`: WHY"
        for style, text in (
            ("red", f"- {mutant.old}"),
            ("green", f"+ {mutant.new}"),
            ("dim", mark),
        ):
            console.print(f"    [{style}]{safe(text, 160)}[/{style}]", highlight=False)
    if len(survivors) > _SHOWN:
        rest = f"and {len(survivors) - _SHOWN} more: --component shows fewer, --json all"
        console.print(f"  {rest}", highlight=False)
    console.print()


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


def print_loss(print_: Printer, loss: Loss) -> None:
    """Print why right work loses a criterion, in the words of `check`."""
    now = loss.explained.now
    print_.line("")
    print_.line(f"{loss.row} loses {now.id}: {now.title} ({now.visibility}, {now.source})")
    for line in now.message.splitlines():
        print_.line(line, "    ")
    print_component(print_, loss.explained)
    print_call(print_, loss.explained)
