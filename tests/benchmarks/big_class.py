"""A made-up class of any size, the same one for the same seed.

    python -m tests.benchmarks.big_class FOLDER [--submissions N] [--distinct N] [--seed N]
        [--assignment NAME]

Writes submissions s00001, s00002, ... into FOLDER: solutions and right variants, misconceptions
alone and in pairs, wrong variants, mutants, stubs, work that is none, hostile work, and what is
rejected; as folders, zips and tars. `--distinct` says how many different ones there are, so that
each can be graded once more elsewhere. The default is the assignment of tests/courses/basics, a
small one.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.rows import rows_of
from autograder.judge.intake import MAX_FILES
from tests.packing import make_folder, make_tar, make_zip

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "tests" / "courses" / "basics"
DEFAULT = "basics"
# How often each kind is drawn, of what there is.
WEIGHTS = {
    "solution": 10,
    "right": 25,
    "misconception": 20,
    "pair": 5,
    "wrong": 10,
    "mutant": 14,
    "stub": 5,
    "trivial": 3,
    "unfinished": 3,
    "hostile": 2,
    "rejected": 3,
}
# Of each component.
_PAIRS, _MUTANTS = 10, 20
FORMS = ("folder", "zip", "tar.gz")


@dataclass(frozen=True)
class Work:
    """What somebody hands in: its kind, its files, and what they are packed as."""

    kind: str
    files: Mapping[str, bytes] = field(repr=False)
    form: str

    def write(self, folder: Path, name: str) -> None:
        """Hand it in as `name`."""
        files = dict(self.files)
        if self.form == "folder":
            # Also one without a file.
            (folder / name).mkdir(parents=True)
            make_folder(folder / name, files)
        elif self.form == "zip":
            make_zip(folder / f"{name}.zip", files)
        elif self.form == "tar.gz":
            make_tar(folder / f"{name}.tar.gz", files)
        else:
            path = make_zip(folder / f"{name}.zip", files)
            path.write_bytes(path.read_bytes()[:-30])


def project_of(name: str) -> Path:
    """Return the project that has an assignment."""
    return COURSE if name == DEFAULT else ROOT


def bank(assignment: Assignment) -> dict[str, list[dict[str, bytes]]]:
    """Return what there is to hand in, by its kind."""
    found: dict[str, list[dict[str, bytes]]] = {}
    solutions: dict[str, bytes] = {}
    for row in rows_of(assignment, _PAIRS, _MUTANTS):
        # The first row is the solution's; those of one component leave others out.
        solutions = solutions or row.files
        files = {**solutions, **row.files} if row.only else row.files
        found.setdefault(row.kind, []).append(files)
    found["unfinished"] = [
        {name: data for name, data in solutions.items() if name != missing} for missing in solutions
    ] + [{**solutions, name: b"def f(:\n"} for name in solutions]
    found["hostile"] = [{**solutions, **files} for files in _hostile(assignment)]
    many = {f"m{number}.py": b"" for number in range(MAX_FILES + 1)}
    found["rejected"] = [{**solutions, **many}, {}, {"../out.py": b""}, solutions]
    return {kind: found[kind] for kind in WEIGHTS if found.get(kind)}


def _hostile(assignment: Assignment) -> list[dict[str, bytes]]:
    """Return the files of what attacks an assignment's grading."""
    if assignment.name == DEFAULT:
        found = []
        for path in sorted((COURSE / "hostile").iterdir()):
            if path.is_dir():
                parts = [p for p in sorted(path.rglob("*.py")) if "__pycache__" not in p.parts]
                found.append({p.relative_to(path).as_posix(): p.read_bytes() for p in parts})
            else:
                (component,) = re.findall(r"^Component: *(.+?)$", path.read_text("utf-8"), re.M)
                found.append({f"{component}.py": path.read_bytes()})
        return found
    # The rest of the bank is written against this component.
    if "layer_norm" not in assignment.totals:
        return []
    paths = sorted((ROOT / "tests" / "hostile").glob("*/*.py"))
    return [{"layer_norm.py": p.read_bytes()} for p in paths if p.parent.name != "proxies"]


def drawn(assignment: Assignment, count: int, seed: int) -> list[Work]:
    """Draw so many different ones, as far as there are so many."""
    chance = random.Random(f"{assignment.name} {seed}")
    there = bank(assignment)
    kinds, weights = list(there), [WEIGHTS[kind] for kind in there]
    found: dict[object, Work] = {}
    # A small bank has no more.
    for _ in range(100 * count):
        if len(found) == count:
            break
        (kind,) = chance.choices(kinds, weights)
        number = chance.randrange(len(there[kind]))
        form = chance.choice(FORMS)
        if kind == "rejected":
            form = ("folder", "folder", "zip", "broken")[number]
        found[kind, number, form] = Work(kind, there[kind][number], form)
    return list(found.values())


def class_of(works: Sequence[Work], count: int, seed: int) -> dict[str, Work]:
    """Return who hands in what; all of it is handed in, where there are students enough."""
    chance = random.Random(f"class {seed}")
    # Each once, in any order, and then any, in the mix of the kinds.
    hands_in = chance.sample(list(works), min(count, len(works)))
    counts = Counter(work.kind for work in works)
    weights = [WEIGHTS[work.kind] / counts[work.kind] for work in works]
    hands_in += chance.choices(works, weights, k=count - len(hands_in))
    return {f"s{number:05}": work for number, work in enumerate(hands_in, 1)}


def write(students: Mapping[str, Work], folder: Path) -> None:
    """Hand all of it in."""
    folder.mkdir(parents=True, exist_ok=True)
    for student, work in students.items():
        work.write(folder, student)


def options() -> argparse.ArgumentParser:
    """Return the arguments that say what class it is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--distinct", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--assignment", default=DEFAULT)
    return parser


def made(chosen: argparse.Namespace) -> tuple[Assignment, dict[str, Work]]:
    """Return what is graded, and the class."""
    assignment = load_assignment(project_of(chosen.assignment), chosen.assignment)
    works = drawn(assignment, chosen.distinct, chosen.seed)
    return assignment, class_of(works, chosen.submissions, chosen.seed)


def main() -> None:
    """Write a class and say what is in it."""
    parser = options()
    parser.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    _, students = made(chosen)
    write(students, chosen.folder)
    print(counted(students))


def counted(students: Mapping[str, Work]) -> str:
    """Say how many there are of each kind."""
    counts = Counter(work.kind for work in students.values())
    different = len({id(work) for work in students.values()})
    kinds = ", ".join(f"{kind} {counts[kind]}" for kind in WEIGHTS if counts[kind])
    return f"{len(students)} submissions, {different} of them different: {kinds}"


if __name__ == "__main__":
    main()
