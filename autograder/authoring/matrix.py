"""Print the report of a selftest: misconceptions by criteria, figures, surviving mutants."""

from __future__ import annotations

import functools
import string
from collections.abc import Callable, Iterator

from rich.console import Console

from autograder.authoring.proof import Loss, Report, RowReport
from autograder.authoring.rows import RIGHT
from autograder.authoring.survivors import MutantReport
from autograder.reports.disputes import print_call, print_component
from autograder.reports.terminal import Printer, safe
from autograder.text import counted

_Say = Callable[..., None]
_LETTERS = string.ascii_lowercase + string.ascii_uppercase
# More survivors than can be looked at in one go stand in the JSON report alone.
_SHOWN = 20


def print_report(console: Console, report: Report) -> None:
    """Print the matrices, the figures of the diagnosis, every fault, and the surviving mutants."""
    say = functools.partial(console.print, highlight=False)
    for component, criteria in report.criteria.items():
        rows = [r for r in report.rows if r.kind == "misconception" and r.component == component]
        if rows:
            _print_matrix(say, component, criteria, rows)
    for line in [f"sandbox {report.sandbox}", *_figures(report)]:
        say(safe(line, 1000))
    for row in report.rows:
        if row.kind == "misconception" and row.named != row.wrong:
            say(f"[yellow]not named[/yellow] {row.id}: {safe(' or '.join(row.named) or 'nothing')}")
    for row in report.rows:
        if row.outcome == "unnamed":
            wanted = safe((" or " if row.alternatives else " and ").join(row.wrong))
            named = safe(" and ".join(row.named) or "nothing")
            say(f"[yellow]unnamed[/yellow] {safe(row.id)}: {named}, expected: {wanted}")
    _print_survivors(say, [mutant for mutant in report.mutants if mutant.survives])
    for fault in report.faults:
        say(f"[red]fault[/red] {safe(fault, 1000)}")
    for loss in report.why:
        print_loss(Printer(console), loss)
    verdict = "the suites hold" if report.holds else counted(len(report.faults), "fault")
    if report.left_out:
        verdict += f"; not looked at: {', '.join(report.left_out)}"
    if report.kinds:
        verdict += f"; rows of these kinds alone: {', '.join(report.kinds)}"
    say(f"{report.assignment}: {verdict}")


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
    if figures.wrong_at_home:
        share = figures.told_at_home / figures.wrong_at_home
        yield (
            f"at home: of {figures.wrong_at_home} wrong variants that grading names, a student is "
            f"told the same in {figures.told_at_home} ({share:.0%})"
        )
    yield (
        f"mutants: {figures.mutants_caught} of {figures.mutants} lose points, "
        f"{figures.mutants_equivalent} are marked as equivalent, "
        f"{figures.mutants_surviving} keep every point unmarked"
    )


def _print_survivors(say: _Say, survivors: list[MutantReport]) -> None:
    """Show the mutants that keep every point, as what to close or to mark."""
    if not survivors:
        return
    say(
        "\n[bold]mutants that keep every point[/bold]: sharpen the check that should see the "
        "change, or mark it\nin the solution, at the end of the line or right above it, "
        "with the reason"
    )
    for mutant in survivors[:_SHOWN]:
        say(f"  {mutant.file}:{mutant.line}")
        say(f"    [red]{safe(f'- {mutant.old}', 160)}[/red]")
        say(f"    [green]{safe(f'+ {mutant.new}', 160)}[/green]")
        say(f"    [dim]{safe(f'# equivalent: `{mutant.change}`: WHY', 160)}[/dim]")
    if len(survivors) > _SHOWN:
        say(f"  and {len(survivors) - _SHOWN} more: --component shows fewer, --json all")
    say()


def _print_matrix(say: _Say, component: str, criteria: list[str], rows: list[RowReport]) -> None:
    say(f"\n[bold]{component}[/bold]: the criteria that each misconception loses")
    columns = list(zip(_LETTERS, criteria, strict=False))
    names = [row.id.partition(".")[2] for row in rows]
    width = max(map(len, names))
    for name, row in zip(names, rows, strict=True):
        cells = "".join(letter if criterion in row.lost else "·" for letter, criterion in columns)
        partly = [f"{letter} {row.partly[c]}" for letter, c in columns if c in row.partly]
        said = f"; {', '.join(partly)} cases" if partly else ""
        say(f"  {name:<{width}}  {cells}  {round(row.lost_points, 2):4g} points{said}")
    legend = ", ".join(f"{letter} {c.partition('.')[2]}" for letter, c in columns)
    say(f"  [dim]{legend}[/dim]\n")


def print_loss(print_: Printer, loss: Loss) -> None:
    """Print why right work loses a criterion, in the words of `check`."""
    now = loss.explained.now
    print_.line("")
    print_.line(f"{loss.row} loses {now.id}: {now.title} ({now.visibility}, {now.source})")
    for line in now.message.splitlines():
        print_.line(line, "    ")
    print_component(print_, loss.explained)
    print_call(print_, loss.explained)
