"""What of a submission is held for a person, before any of it runs."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from autograder.api.reading import Finding, Reading, each_reading, instead, reading_of
from autograder.assignment import GIVEN, Assignment
from autograder.judge.intake import digest as digest_of
from autograder.results import Held
from autograder.sandbox.handle import ChildGone
from autograder.sandbox.host import Sandbox

HELD_WORDS = "held for review"
_UNREAD = "cannot be read in the time and memory that there is"
# From outside, a child that died over a file and one that was killed look the same.
_READINGS = 2
# Where that is too much, reading goes on without the largest files, one after the other.
_UNREAD_AT_MOST = 3


@dataclass(frozen=True)
class Review:
    """What was read in a submission.

    Attributes:
        found: by component, what is out of the ordinary in what it runs.
        withheld: the components that wait for a person.
        files: the files that something out of the ordinary stands in.
        named: for each file the components that it names.
    """

    found: dict[str, list[Held]] = field(default_factory=dict)
    withheld: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    named: Mapping[str, Collection[str]] = field(default_factory=dict)

    def is_free(self, component: str) -> bool:
        """Return whether a component runs with all of Python, because somebody said it may."""
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
    found: dict[str, list[Held]] = {}
    withheld: set[str] = set()
    texts: set[str] = set()
    named: dict[str, Collection[str]] = {}
    rules = {spec.name: spec.rules for spec in assignment.components if f"{spec.name}.py" in own}
    uses = {spec.name: spec.uses for spec in assignment.components}
    kinds = {name: (found.ordinary, found.unusual) for name, found in rules.items()}
    read = partial(_read, assignment, sandbox, own)
    # What it builds on is a component's own, and has something to put in its place.
    for component, reading, without in each_reading(kinds, uses, read):
        texts.update(finding.file for finding in reading.findings)
        named.update(reading.named)
        reached = reading.reached(f"{component}.py", without)
        digest = digest_of({name: files[name] for name in sorted(reached)})
        held = [
            Held(component=component, file=f.file, line=f.line, what=f.what, digest=digest)
            for f in reading.about(f"{component}.py", without)
        ]
        if not held:
            continue
        if (accepted or {}).get(component) == digest:
            # Nothing waits any more; what there is stays known for how it runs.
            found[component] = []
            continue
        found[component] = held
        if rules[component].review == "hold":
            withheld.add(component)
    return Review(found, frozenset(withheld), frozenset(texts), named)


def with_provided(files: Mapping[str, bytes], provided: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a submission's files with what is given; nothing of theirs comes into its place."""
    taken = (*(f"{folder}/" for folder in GIVEN), *(f"{folder}.py" for folder in GIVEN))
    own = {name: data for name, data in files.items() if not name.startswith(taken)}
    return {**own, **provided}


def _read(
    assignment: Assignment,
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    kind: tuple[Sequence[str], Sequence[str]],
) -> Reading:
    ordinary, unusual = kind
    terms = {
        "packages": list(assignment.modules),
        "own": [*assignment.totals, *GIVEN],
        "programs": [f"{other.name}.py" for other in assignment.components if other.program],
        "ordinary": list(ordinary),
        "unusual": list(unusual),
    }
    texts = {name: data for name, data in files.items() if name.endswith(".py")}
    largest = sorted(texts, key=lambda name: len(texts[name]), reverse=True)
    for count in range(min(len(largest), _UNREAD_AT_MOST) + 1):
        # What imports a file that was not read is held, and nobody else.
        unread = largest[:count]
        for _ in range(_READINGS):
            with contextlib.suppress(ChildGone):
                read = reading_of(sandbox.read({**files, **dict.fromkeys(unread, b"")}, terms))
                read.findings.extend(Finding(name, 1, _UNREAD) for name in unread)
                read.named.update({name: list(assignment.totals) for name in unread})
                return read
    found = [Finding(name, 1, _UNREAD) for name in texts]
    named = {name: list(assignment.totals) for name in texts}
    return Reading(found, {name: [] for name in texts}, named)
