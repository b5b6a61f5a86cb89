"""Mutants that keep every point, and the comments in a solution that mark them as equivalent.

An equivalent mutant behaves as the solution does. It is marked, with the reason, in a comment at
the end of its line or right above it:

    # equivalent: REASON
    # equivalent: `OLD -> NEW`: REASON
    # equivalent: `OLD -> NEW`, `OLD -> NEW`: REASON

The first form marks the one mutant of the line that survives; where several do, each is named by
its change, as the report writes it. A reason may go on in the comments right below, indented by
two spaces or more. A mark that marks no survivor is a fault, and a mark without a reason is
refused. Stubs are written without the marks.
"""

from __future__ import annotations

import dataclasses
import io
import re
import tokenize
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from autograder.assignment import Assignment
from autograder.authoring.mutants import Mutant
from autograder.errors import UsageError
from autograder.results import ComponentResult

_MARK = re.compile(r"#\s*equivalent\s*(?::|$)(.*)", re.IGNORECASE)
_NAMED = re.compile(r"\s*((?:`[^`]+`\s*,\s*)*`[^`]+`)\s*:(.*)")
# A line that continues the reason of the mark above it.
_MORE = re.compile(r"\s*#\s{2,}(\S.*?)\s*")
_FORM = "write `# equivalent: REASON`, or name the change as the report does before the reason"


@dataclass(frozen=True)
class Mark:
    """A comment in `line` on mutants of the line `target`.

    `changes` are those that it names; empty for the only survivor of the line.
    """

    file: str
    line: int
    target: int
    changes: tuple[str, ...]
    reason: str


class MutantReport(BaseModel):
    """A mutant and its result.

    Attributes:
        caught: whether it lost points.
        failed: the criteria whose check failed, errors, hangs and deaths apart.
        equivalent: the reason by which it is marked, or empty.
    """

    component: str
    file: str
    line: int
    change: str
    old: str
    new: str
    caught: bool
    failed: list[str] = []
    equivalent: str = ""

    @property
    def survives(self) -> bool:
        """Whether it lost nothing and is not marked."""
        return not self.caught and not self.equivalent


def survivors_of(
    assignment: Assignment,
    solved: Mapping[str, ComponentResult],
    graded: Sequence[tuple[str, Mutant, ComponentResult]],
) -> tuple[list[MutantReport], list[str]]:
    """Report on every mutant, and say what is wrong with the suites or the marks.

    `solved` has the results of the solutions.
    """
    reports, faults = [], []
    for name in dict.fromkeys(component for component, *_ in graded):
        if name not in solved or solved[name].score < solved[name].max_score:
            faults.append(f"the mutants of {name} say nothing: its solution itself loses points")
            continue
        own = {mutant: result for component, mutant, result in graded if component == name}
        survivors = [m for m, result in own.items() if result.score == result.max_score]
        text = (assignment.secret / f"{name}.py").read_text(encoding="utf-8-sig")
        reasons, wrong_marks = settle(marks_of(text, f"{name}.py"), list(own), survivors)
        faults += wrong_marks
        if left := len(survivors) - len(reasons):
            mutants = "1 mutant keeps" if left == 1 else f"{left} mutants keep"
            faults.append(f"{mutants} every point of {name}")
        reports += [
            MutantReport(
                **dataclasses.asdict(mutant),
                component=name,
                caught=mutant not in survivors,
                failed=[c.id for c in result.criteria if c.outcome == "failed"],
                equivalent=reasons.get(mutant, ""),
            )
            for mutant, result in own.items()
        ]
    return reports, faults


def marks_of(source: str, file: str) -> list[Mark]:
    """Read the marks of a solution.

    Raises:
        UsageError: a mark gives no reason.
    """
    lines = source.split("\n")
    found = []
    for number, column, more, text in _comments(source, file):
        named = _NAMED.fullmatch(text)
        reason = (named[2] if named else text).strip()
        if not reason or (named is None and reason.startswith("`")):
            raise UsageError(f"{file}, line {number}: the mark gives no reason: {_FORM}")
        changes = re.findall(r"`\s*([^`]+?)\s*`", named[1]) if named else []
        target = number
        if not lines[number - 1][:column].strip():
            # Alone on its line, it is about the next one that is no comment.
            target += more + 1
            while target <= len(lines) and lines[target - 1].lstrip().startswith("#"):
                target += 1
        found.append(Mark(file, number, target, tuple(changes), reason))
    return found


def without_marks(source: str, file: str) -> str:
    """Return a solution without its marks; a line that held nothing else goes with its mark."""
    lines = source.split("\n")
    for number, column, more, _ in reversed(list(_comments(source, file))):
        kept = lines[number - 1][:column].rstrip()
        lines[number - 1 : number + more] = [kept] if kept else []
    return "\n".join(lines)


def settle(
    marks: Sequence[Mark], known: Collection[Mutant], survivors: Sequence[Mutant]
) -> tuple[dict[Mutant, str], list[str]]:
    """Return the reason for every marked survivor, and a sentence for every mark that is wrong.

    `known` are all mutants of the solution that were graded.
    """
    reasons: dict[Mutant, str] = {}
    faults = []
    for mark in sorted(marks, key=lambda mark: not mark.changes):
        where = f"{mark.file}, line {mark.line}: the mark"
        on_line = [m for m in survivors if m.line == mark.target and m not in reasons]
        if mark.changes:
            for change in mark.changes:
                here = [mutant for mutant in on_line if mutant.change == change]
                reasons |= dict.fromkeys(here, mark.reason)
                if not here:
                    caught = any(m.line == mark.target and m.change == change for m in known)
                    why = "loses points" if caught else f"is none of line {mark.target}"
                    faults.append(f"{where} marks nothing: the mutant `{change}` {why}: remove it")
        elif len(on_line) == 1:
            reasons[on_line[0]] = mark.reason
        elif on_line:
            changes = ", ".join(f"`{mutant.change}`" for mutant in on_line)
            faults.append(f"{where} must name what it means, one or more of {changes}")
        else:
            faults.append(
                f"{where} marks nothing: no mutant of line {mark.target} survives: remove it"
            )
    return reasons, faults


def _comments(source: str, file: str) -> Iterator[tuple[int, int, int, str]]:
    """Yield every mark: line, column, how many lines more it has, and what is behind its colon."""
    if "equivalent" not in source.lower():
        return
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise UsageError(f"{file} is no Python: {error}") from error
    lines = source.split("\n")
    for token in tokens:
        found = _MARK.search(token.string) if token.type == tokenize.COMMENT else None
        if found:
            number = token.start[0]
            text, after = found[1].strip(), number
            while after < len(lines) and (more := _MORE.fullmatch(lines[after])):
                text, after = f"{text} {more[1]}", after + 1
            yield number, token.start[1] + found.start(), after - number, text
