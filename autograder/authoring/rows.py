"""The submissions that prove a suite: right, trivial and wrong work, stubs, mistakes, mutants."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from autograder.assignment import Assignment
from autograder.authoring import KINDS, Kind, pasted, trivial
from autograder.authoring.folders import modules_in
from autograder.authoring.mutants import Mutant, marks_of, mutants_of, sampled
from autograder.authoring.wrong_variants import read_bases, read_variants
from autograder.errors import UsageError
from autograder.judge.misconceptions import Misconception, read, together
from autograder.rules.files import is_of

# The kinds that should keep every point.
RIGHT: tuple[Kind, ...] = ("solution", "stand-in", "right")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Row:
    """One submission of the selftest.

    `component` and `wrong` say which mistakes it has, and `mutant` the change that is; for
    other rows they are empty. With `either`, any one of `wrong` may be named. Of the components in
    `only` marks are wanted; of all, if it is empty.
    """

    id: str
    kind: Kind
    files: dict[str, bytes] = field(repr=False, compare=False)
    component: str = ""
    wrong: tuple[str, ...] = ()
    either: bool = False
    exempt: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    mutant: Mutant | None = None

    @property
    def ids(self) -> list[str]:
        """The misconceptions that a diagnosis should name."""
        return [f"{self.component}.{name}" for name in self.wrong]


def rows_of(
    assignment: Assignment,
    pairs: int | None,
    mutants: int | None = 0,
    components: Sequence[str] = (),
    kinds: Collection[str] = (),
    *,
    quick: bool = False,
) -> list[Row]:
    """Return every row.

    Args:
        pairs, mutants: how many of each component, None for all.
        components, kinds: those that are wanted; all if there are none. The solution always is.
        quick: leave out misconceptions that a wrong variant shows by itself, and most trivial work.
            One misconception of each component is graded all the same, and it alone in the
            components that build on it, too: there the stand-in takes the component's place,
            whichever mistake is in it.

    Raises:
        UsageError: a component or a kind is unknown, a component has no solution, or a file of an
            author is malformed.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"there are no rows of the kind {kind!r}; it is: {', '.join(KINDS)}")
    for name in components:
        if name not in assignment.totals:
            known = ", ".join(assignment.totals)
            raise UsageError(f"{assignment.name} has no component {name!r}; it has: {known}")
    solutions = modules_in(assignment.secret)
    for name in assignment.totals:
        if (file := assignment.component(name).file) not in solutions:
            raise UsageError(f"there is no solution {assignment.secret / file}")
    only = tuple(dict.fromkeys(components))
    if kinds and "mutant" not in kinds:
        mutants = 0
    rows = [replace(row, only=only) for row in _whole_rows(assignment, solutions, quick)]
    rows += given_rows(assignment, only)
    needed = {used for spec in assignment.components for used in spec.uses}
    for name in only or assignment.totals:
        others = needed - {name}
        used = {f: data for f, data in solutions.items() if any(is_of(f, one) for one in others)}
        variants = read_variants(assignment, name)
        mistakes = {n: one for n, one in read(assignment, name).items() if not one.in_branch}
        if mistakes:
            wrongs = list(mistakes)
            touched = _touched_by(assignment, name, only)
            further = _sample(wrongs, 1 if quick else None, assignment, name)
            shown = {v.expected[0] for v in variants if len(v.expected) == 1} if quick else set()
            for wrong in wrongs:
                if wrong in further:
                    row = _wrong_row([mistakes[wrong]], solutions)
                    rows.append(replace(row, only=touched))
                elif wrong not in shown:
                    rows.append(_wrong_row([mistakes[wrong]], used))
            # Of pairs the other components are left out: they are graded in the rows above.
            found = _pairs(list(mistakes.values()), pairs, assignment)
            rows += [_wrong_row(pair, used) for pair in found]
        for base, text in read_bases(assignment, name).items():
            files = {**used, f"{name}.py": text.encode()}
            rows.append(Row(f"right-{name}/{base}", "right", files, only=(name,)))
        for variant in variants:
            row_id = f"{name}/{variant.name}"
            files = {**used, f"{name}.py": variant.source}
            row = Row(row_id, "wrong", files, name, variant.expected, variant.either, only=(name,))
            rows.append(row)
        if mutants != 0 and not assignment.component(name).package:
            rows += _mutant_rows(assignment, name, solutions, used, mutants)
    return [row for row in rows if not kinds or row.kind in kinds or row.kind == "solution"]


def given_rows(assignment: Assignment, only: Collection[str] = ()) -> list[Row]:
    """Return the rows of all given text, handed in as the components in `only`, or as any."""
    found = pasted.submissions(assignment, only)
    return [Row(one.words, "given", one.files, only=one.components) for one in found]


def _whole_rows(
    assignment: Assignment, solutions: Mapping[str, bytes], quick: bool
) -> Iterator[Row]:
    """Yield the rows that are about all components."""
    yield Row("solution", "solution", dict(solutions))
    places = {f"{name}.py": assignment.stand_in(name) for name in assignment.totals}
    stand_ins = {name: path.read_bytes() for name, path in places.items() if path.is_file()}
    if stand_ins:
        # What a stand-in leaves out, since no component uses it, is the solution's.
        whole = {name: solutions[name] + b"\n\n" + source for name, source in stand_ins.items()}
        yield Row("stand-ins", "stand-in", {**solutions, **whole}, exempt=tuple(whole))
    variants = assignment.secret / "right_variants"
    for folder in sorted(variants.iterdir()) if variants.is_dir() else []:
        if folder.is_dir():
            yield Row(f"right-{folder.name}", "right", modules_in(folder))
    yield Row("stubs", "stub", modules_in(assignment.public))
    for way, files in trivial.submissions(assignment, few=quick):
        yield Row(way, "trivial", files)


def _sample(found: list[_T], count: int | None, assignment: Assignment, name: str) -> list[_T]:
    """Return `count` of these, the same ones in every run of a suite that has not changed."""
    if count is None or count >= len(found):
        return found
    return random.Random(f"{assignment.seed}{name}").sample(found, count)  # noqa: S311


def _touched_by(assignment: Assignment, name: str, only: Sequence[str]) -> tuple[str, ...]:
    """Return the component and those that may import it: no other can tell a mistake in it."""
    touched = [spec.name for spec in assignment.components if name in (spec.name, *spec.uses)]
    return tuple(found for found in touched if not only or found in only)


def _pairs(
    known: Sequence[Misconception], count: int | None, assignment: Assignment
) -> list[tuple[Misconception, Misconception]]:
    """Return a sample of the pairs of misconceptions that can be in one component."""
    found = list(itertools.combinations(known, 2))
    if count is not None:
        drawn = random.Random(f"{assignment.seed}{known[0].component}")  # noqa: S311
        found = drawn.sample(found, len(found))
    combining = (pair for pair in found if together(pair) is not None)
    return list(itertools.islice(combining, count))


def _wrong_row(wrong: Sequence[Misconception], others: Mapping[str, bytes]) -> Row:
    """Return the row of one misconception, or of a pair that can be in one component."""
    name = wrong[0].component
    source = together(wrong)
    assert source is not None
    kind: Kind = "misconception" if len(wrong) == 1 else "pair"
    files = {**others, f"{name}.py": source.encode()}
    names = tuple(one.name for one in wrong)
    return Row(f"{name}.{'+'.join(names)}", kind, files, name, names, only=(name,))


def _mutant_rows(
    assignment: Assignment,
    name: str,
    solutions: Mapping[str, bytes],
    used: Mapping[str, bytes],
    count: int | None,
) -> Iterator[Row]:
    """Yield the rows of a component's mutants: `count` of them, and all of marked lines."""
    file = f"{name}.py"
    text = _text(solutions[file], file)
    found = mutants_of(text, file)
    marked = {mark.target for mark in marks_of(text, file)}
    if count is not None:
        found = sampled(found, marked, count, f"{assignment.seed}{name}")
    for mutant in found:
        files = {**used, file: mutant.source.encode()}
        row_id = f"{name}:{mutant.line}: {mutant.new}"
        yield Row(row_id, "mutant", files, name, only=(name,), mutant=mutant)


def _text(source: bytes, file: str) -> str:
    try:
        return source.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not written in UTF-8: {error}") from error
