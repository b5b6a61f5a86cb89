"""The corpora of the oracle: every submission whose result must not change unnoticed.

They are made from one checkout and handed to two, so that both grade the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.rows import Row, rows_of
from autograder.authoring.wrong_variants import write_class
from tests.conftest import ROOT
from tests.sandbox.test_hostile import COMPONENTS, LIMITS, everything

ASSIGNMENTS = ("transformer_block", "language_model")
COURSE = ROOT / "tests" / "courses" / "basics"
# The kinds of a selftest's rows, by the corpus that they are in. Mutants are many and near to one
# another, and stand-ins may do what a submission may not.
_KINDS = {
    "right": ("solution", "right"),
    "trivial": ("stub", "trivial"),
    "wrong": ("wrong",),
    "misconceptions": ("misconception", "pair"),
}
_PAIRS = 8
# Computing is what ends hostile work, and not a machine that is busy.
_HOSTILE_LIMITS = {**LIMITS, "call_wall_s": 10.0, "component_wall_s": 40.0}
# One component alone is what such a row is about.
_SINGLE = ("wrong", "misconception", "pair")


@dataclass(frozen=True)
class Corpus:
    """Submissions that are graded in one batch.

    Attributes:
        name: of the corpus.
        batch: the folder of the submissions.
        assignment: what they are graded as.
        project: where that is, from the root of a checkout; empty for the root itself.
        tier: how they are isolated.
        limits: what replaces the assignment's own limits, if anything.
        components: the assignment's only components; empty for all.
    """

    name: str
    batch: Path
    assignment: str
    project: str = ""
    tier: str = "auto"
    limits: Mapping[str, float] | None = None
    components: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The hash of what is graded, and how."""
        found = hashlib.sha256(repr((self.assignment, self.tier, self.limits)).encode())
        for path in sorted(self.batch.rglob("*")):
            found.update(f"{path.relative_to(self.batch)}\0{path.is_symlink()}\0".encode())
            if path.is_file() and not path.is_symlink():
                found.update(hashlib.sha256(path.read_bytes()).digest())
        return found.hexdigest()[:16]


def corpora(folder: Path, tiers: tuple[str, ...], every: int) -> Iterator[Corpus]:
    """Write every corpus below `folder`, and yield it.

    Args:
        folder: where they go.
        tiers: those that hostile submissions are graded on.
        every: keep one row in so many of each kind of wrong work; 1 for all.
    """
    for name in ASSIGNMENTS:
        assignment = load_assignment(ROOT, name)
        batch = folder / f"{name}-class"
        write_class(assignment, ROOT, ROOT / "tests" / "classes" / name, batch)
        yield Corpus(batch.name, batch, name)
        for kind, kinds in _KINDS.items():
            batch = folder / f"{name}-{kind}"
            rows = [row for row in rows_of(assignment, _PAIRS) if row.kind in kinds]
            _write(batch, assignment, rows[:: every if kinds[0] in _SINGLE else 1])
            yield Corpus(batch.name, batch, name)
    batch = folder / "basics"
    rows = [row for row in rows_of(load_assignment(COURSE, "basics"), _PAIRS) if not row.mutant]
    _write(batch, load_assignment(COURSE, "basics"), rows)
    yield Corpus(batch.name, batch, "basics", str(COURSE.relative_to(ROOT)))
    for tier in tiers:
        batch = folder / f"hostile-{tier}"
        batch.mkdir(parents=True)
        for hostile in everything():
            hostile.hand_in(batch / hostile.name)
        yield Corpus(
            batch.name,
            batch,
            ASSIGNMENTS[0],
            tier=tier,
            limits=_HOSTILE_LIMITS,
            components=COMPONENTS,
        )


def _write(batch: Path, assignment: Assignment, rows: list[Row]) -> None:
    """Write rows as submissions; of wrong work only what its component needs."""
    for row in rows:
        files = row.files
        if row.kind in _SINGLE:
            uses = assignment.component(row.component).uses
            needed = {f"{name}.py" for name in (row.component, *uses)}
            files = {name: source for name, source in files.items() if name in needed}
        place = batch / re.sub(r"[^\w.+-]", "_", f"{row.kind}-{row.id}")
        # Two rows of one name would be one submission.
        place.mkdir(parents=True)
        for name, source in files.items():
            (place / name).write_bytes(source)
