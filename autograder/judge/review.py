"""What of a submission is held for a person, before any of it runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from autograder.assignment import GIVEN, Assignment, ComponentSpec
from autograder.exchange.reading import Finding, Reading, instead, reading_of
from autograder.exchange.rules import used_by
from autograder.judge.terms import with_provided
from autograder.results import Held
from autograder.sandbox.handle import ChildGone
from autograder.sandbox.host import Sandbox

HELD_WORDS = "held for review"
_UNREAD = "cannot be read in the time and memory that there is"


@dataclass(frozen=True)
class Review:
    """What was read in a submission.

    Attributes:
        found: by component, what is out of the ordinary in what it runs.
        withheld: the components that wait for a person.
        files: the files that something out of the ordinary stands in.
    """

    found: dict[str, list[Held]] = field(default_factory=dict)
    withheld: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()

    def is_free(self, component: str) -> bool:
        """Tell whether a component runs with all of Python, because somebody said it may."""
        return component in self.found and component not in self.withheld

    def runs(self, component: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files that may be run with a component: of what is held, none."""
        closed = {f"{name}.py" for name in self.withheld}
        if not self.is_free(component):
            closed |= self.files
        return {name: data for name, data in files.items() if name not in closed}


def held_words(held: Sequence[Held]) -> str:
    """Say where a component is held, and why."""
    more = f" (and {len(held) - 1} more)" if len(held) > 1 else ""
    return f"{HELD_WORDS}: {held[0].words}{more}; {instead(held[0].what)}"


def review(
    assignment: Assignment,
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    exempt: Collection[str] = (),
    accepted: Mapping[str, str] | None = None,
) -> Review:
    """Read a submission.

    Args:
        assignment: what it is graded by.
        sandbox: where its text is read.
        files: its files by name.
        exempt: files that are the grader's own.
        accepted: by component, the digest of what a person has accepted.

    Raises:
        SandboxFault: a fault of the grader.
    """
    # What a student hands in under the name of what is given is not run.
    own = {name: data for name, data in with_provided(files, {}).items() if name not in exempt}
    readings: dict[tuple[tuple[str, ...], tuple[str, ...]], Reading] = {}
    found: dict[str, list[Held]] = {}
    withheld: set[str] = set()
    uses = {spec.name: spec.uses for spec in assignment.components}
    for spec in assignment.components:
        file = f"{spec.name}.py"
        if file not in own:
            continue
        kind = (spec.rules.ordinary, spec.rules.unusual)
        if kind not in readings:
            readings[kind] = _read(assignment, sandbox, own, spec)
        # What it builds on is a component's own, and has something to put in its place.
        without = {f"{name}.py" for name in used_by(spec.name, uses)}
        reached = readings[kind].reached(file, without)
        digest = _digest({name: files[name] for name in reached})
        held = [
            Held(component=spec.name, file=f.file, line=f.line, what=f.what, digest=digest)
            for f in readings[kind].about(file, without)
        ]
        if not held:
            continue
        if (accepted or {}).get(spec.name) == digest:
            # Nothing waits any more; what there is stays known for how it runs.
            found[spec.name] = []
            continue
        found[spec.name] = held
        if spec.rules.review == "hold":
            withheld.add(spec.name)
    texts = {finding.file for reading in readings.values() for finding in reading.findings}
    return Review(found, frozenset(withheld), frozenset(texts))


def _read(
    assignment: Assignment, sandbox: Sandbox, files: Mapping[str, bytes], spec: ComponentSpec
) -> Reading:
    terms = {
        "packages": list(assignment.modules),
        "own": [*assignment.totals, *GIVEN],
        "programs": [f"{other.name}.py" for other in assignment.components if other.program],
        "ordinary": list(spec.rules.ordinary),
        "unusual": list(spec.rules.unusual),
    }
    try:
        return reading_of(sandbox.read(files, terms))
    except ChildGone:
        texts = [name for name in files if name.endswith(".py")]
        return Reading([Finding(name, 1, _UNREAD) for name in texts], {name: [] for name in texts})


def _digest(files: Mapping[str, bytes]) -> str:
    whole = sha256()
    for name in sorted(files):
        whole.update(f"{len(name)} {len(files[name])} {name}".encode())
        whole.update(files[name])
    return whole.hexdigest()
