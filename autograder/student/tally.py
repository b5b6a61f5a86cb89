"""What became of every public criterion in the student's own run: rows, lines, a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from autograder.api.criterion import COUNTS_LATER, Criterion, form_counts
from autograder.student.local import Terms
from autograder.student.page import Line, Row, page

HIDDEN_CHECKS = "Hidden checks decide the rest; they compare with a reference on other inputs."


class Tally:
    """Outcomes and words of the criteria that ran, by component.

    Args:
        terms: those of every component.
    """

    def __init__(self, terms: Mapping[str, Terms]) -> None:
        self._terms = terms
        # What became of each case, by component and criterion.
        self._results: dict[str, dict[Criterion, list[str]]] = {}
        self._lines: dict[str, list[Line]] = {}
        # Criteria that fail only because of other components, and those components' names.
        self._followed: dict[str, str] = {}
        # Criteria that say nothing before other components work, and those components' names.
        self._waiting: dict[str, str] = {}
        # Why a component did not run: a word and a sentence.
        self.stopped: dict[str, tuple[str, str]] = {}
        # What a component used that it may not: then it earns nothing, whatever passes.
        self.forbidden: dict[str, str] = {}

    @property
    def components(self) -> list[str]:
        """The components of which something ran or was stopped."""
        return list(self._results)

    @property
    def complete(self) -> bool:
        """Whether everything passed, and nothing only with working components beside it."""
        return not self._followed and all(map(self._holds, self._results))

    def broken(self, component: str) -> bool:
        """Return whether a component has lost a criterion of its own, or did not run."""
        return component in self.stopped or not self._outcomes(component) <= {"passed", "waiting"}

    def follow(self, criterion: Criterion, others: str) -> None:
        """Keep that a criterion fails only because of other components, and so counts."""
        self._followed[criterion.id] = others
        self._lines[criterion.id] = [Line(f"fails only because of {others}: it counts")]

    def wait(self, criterion: Criterion, others: str) -> None:
        """Keep that a criterion says nothing before other components work."""
        self._waiting[criterion.id] = others
        self._lines[criterion.id] = [Line(f"waits for a working {others}: it may be right")]

    def tell(self, criterion: Criterion, lines: list[Line]) -> None:
        """Keep what a lost criterion is explained with."""
        self._lines[criterion.id] = lines

    def add(self, criterion: Criterion, outcome: str) -> None:
        """Count one case of a criterion."""
        found = self._results.setdefault(criterion.component, {})
        found.setdefault(criterion, []).append(outcome)

    def line(self, component: str) -> str:
        """Return what a component earned, in one line."""
        total = self._terms[component].points
        if component in self.stopped:
            return f"{component:<22} {self.stopped[component][1]}"
        if self._untouched(component):
            return f"{component:<22} not attempted (worth {total:g})"
        rows = self._rows(component)
        points = sum(row.max_score for row in rows)
        if component in self.forbidden:
            nothing = f"0 of {round(points, 2):g} public points (worth {total:g} in all)"
            return f"{component:<22} {nothing}: {self.forbidden[component]}"
        earned = sum(row.score for row in rows)
        shared = [f"{row.passed} of {row.cases}" for row in rows if 0 < row.passed < row.cases]
        partly = f"; in part: {', '.join(shared)} cases" if shared else ""
        worth = f"(worth {total:g} in all)"
        form = sum(c.points * share for c, share in self._shares(component) if c.form)
        waits = form and not form_counts(self._shares(component))
        later = f"; {round(form, 2):g} more count once another check holds" if waits else ""
        earns = f"{round(earned, 2):g} of {round(points, 2):g} public points"
        return f"{component:<22} {earns} {worth}{partly}{later}{self._because(component)}"

    def _because(self, component: str) -> str:
        """Say how many of a component's criteria fail only because of others, or wait for them."""
        said = ""
        for ids, others in self._behind(component, self._followed):
            checks = "1 check fails" if ids == 1 else f"{ids} checks fail"
            said += f"; {checks} only because of {others}, and so count"
        for ids, others in self._behind(component, self._waiting):
            checks = "1 check waits" if ids == 1 else f"{ids} checks wait"
            said += f"; {checks} for a working {others}"
        return said

    def _behind(self, component: str, found: Mapping[str, str]) -> Iterator[tuple[int, str]]:
        """Yield the number of a component's criteria that are behind others, and those others."""
        ids = sorted({c.id for c in self._results[component]} & found.keys())
        if ids:
            yield len(ids), ", ".join(dict.fromkeys(found[name] for name in ids))

    def runs(self, component: str) -> bool:
        """Return whether there is something of a component that can be drawn."""
        return component not in self.stopped and not self._untouched(component)

    def page(self, component: str, views: Sequence[Mapping[str, Any]]) -> str:
        """Return a component's criteria, words and views as HTML."""
        headline = " ".join(self.line(component).split())
        if component in self.stopped:
            return page(headline, [], [], [])
        notes = [Line(HIDDEN_CHECKS)] if self.runs(component) else []
        return page(headline, notes, self._rows(component), views)

    def _untouched(self, component: str) -> bool:
        return self._outcomes(component) == {"not_attempted"}

    def _holds(self, component: str) -> bool:
        return self._outcomes(component) <= {"passed"}

    def _outcomes(self, component: str) -> set[str]:
        return set().union(*self._results.get(component, {}).values())

    def _shares(self, component: str) -> list[tuple[Criterion, float]]:
        """Return every criterion that ran, with the share of its cases that hold."""
        # Where the student ran only some, the points of those count.
        return [
            (criterion, outcomes.count("passed") / len(outcomes))
            for criterion, outcomes in self._results[component].items()
        ]

    def _rows(self, component: str) -> list[Row]:
        """Return what became of every criterion; cases of one share its points."""
        counts = form_counts(self._shares(component))
        rows = []
        for criterion, outcomes in self._results[component].items():
            lost = [outcome for outcome in outcomes if outcome != "passed"]
            held = len(outcomes) - len(lost)
            waits = held > 0 and criterion.form and not counts
            later = [Line(COUNTS_LATER)] if waits else []
            passed = 0 if waits else held
            rows.append(
                Row(
                    criterion.title,
                    (lost or (["failed"] if waits else ["passed"]))[0],
                    criterion.points * passed / len(outcomes),
                    criterion.points,
                    [*self._lines.get(criterion.id, ()), *later],
                    criterion.source if lost else "",
                    passed,
                    len(outcomes),
                )
            )
        return rows


# Lines that are shown of all components, and at least of each.
_LINES, _LEAST = 48, 7
# With more lines than these for a component, there is room for where the course treats a check.
_ROOMY = 10


class Condensed:
    """Shows a few lines of the failed checks instead of pytest's report, if that is wanted.

    Args:
        reporter: pytest's terminal reporter.
        wanted: whether to condense; otherwise pytest reports as always.
    """

    def __init__(self, reporter: Any, wanted: bool) -> None:
        self._reporter = reporter
        stats = reporter.stats
        kept = ("failed", "warnings") if wanted else ()
        self._held = {name: stats.pop(name) for name in kept if name in stats}

    def write(self, component_of: Callable[[Any], str]) -> None:
        """Write the failed checks, once pytest has had its say."""
        self._reporter.stats.update(self._held)
        failures: dict[str, list[list[str]]] = {}
        for report in self._held.get("failed", ()):
            lines = str(report.longrepr).splitlines()
            failures.setdefault(component_of(report), []).append(lines)
        if failures:
            self._reporter.section("failed checks")
        for line in condensed(failures):
            self._reporter.write_line(line)

    def write_more(self) -> None:
        """Say how to see the failed checks in full, if there are any."""
        if self._held.get("failed"):
            self._reporter.write_line("pytest -v shows every failed check in full.")


def condensed(failures: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
    """Return the lines to be shown of failed checks.

    Args:
        failures: the lines of every failed check, its title first, by component, in order.
    """
    shown: list[str] = []
    share = max(_LEAST, _LINES // max(1, len(failures)))
    for component, checks in failures.items():
        shown.append(f"{component}: {len(checks)} check{'s' * (len(checks) > 1)} failed")
        told, left = 0, share - 2
        # Each new message comes before those that repeat one.
        facts = [_fact(check) for check in checks]
        order = sorted(range(len(checks)), key=lambda n: facts[n] in facts[:n])
        new = len(set(facts))
        for place, check in enumerate(checks[n] for n in order):
            # So many lines are kept free for new messages that follow: one for each of two.
            kept = min(max(0, new - place - 1), 2 if share > _LEAST else 1)
            said = _whole(check, share > _ROOMY)
            if told and len(said) > left - kept:
                said = [f"- {check[0]}: {_fact(check)}"]
            elif len(said) > left - kept:
                said = [*said[: left - kept - 1], said[left - kept - 1] + " ..."]
            if len(said) <= left:
                shown += said
                left -= len(said)
                told += 1
        if told < len(checks):
            shown.append(f"  {len(checks) - told} more: pytest -v tests/test_{component}.py")
    return shown


def _fact(check: Sequence[str]) -> str:
    return next((line for line in check[1:] if not _is_source(line)), "")


def _whole(check: Sequence[str], sources: bool) -> list[str]:
    """Return all lines of a check; its source in the course only if there is room."""
    title, *more = check
    return [f"- {title}", *(f"  {line}" for line in more if sources or not _is_source(line))]


def _is_source(line: str) -> bool:
    return line.startswith("source: ")
