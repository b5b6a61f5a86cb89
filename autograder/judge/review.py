"""What of a submission is held for a person, before any of it runs."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from autograder.assignment import GIVEN, Assignment
from autograder.judge.intake import digest as digest_of
from autograder.results import Held
from autograder.rules.files import main_file
from autograder.rules.ordinary import is_computed
from autograder.rules.reading import (
    Finding,
    Reading,
    each_reading,
    imported,
    instead,
    own_modules,
    reading_of,
)
from autograder.sandbox.handle import ChildGone
from autograder.sandbox.host import Sandbox
from autograder.student.local import files_of

HELD_WORDS = "held for review"
_UNREAD = "cannot be read in the time and memory that there is"
# From outside, a child that died over a file and one that was killed look the same.
_READINGS = 2
# Of the hash of one file, which only tells whether it changed.
_SHORT = 6
_NAMED = 3
# Where that is too much, reading goes on without the largest files, one after the other.
_UNREAD_AT_MOST = 3


@dataclass(frozen=True)
class Review:
    """What was read in a submission.

    Attributes:
        found: by component, what is out of the ordinary in what it runs, and is not accepted.
        withheld: the components that wait for a person.
        closed: the files that nobody may run yet.
        free: the files that run with all of Python, because somebody said they may.
        given: by component, the files that it may run; it may run all where it is not there.
        named: for each file the components that it names.
    """

    found: dict[str, list[Held]] = field(default_factory=dict)
    withheld: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    free: frozenset[str] = frozenset()
    given: Mapping[str, Collection[str]] = field(default_factory=dict)
    named: Mapping[str, Collection[str]] = field(default_factory=dict)

    def runs(self, component: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return the files that may be run with a component: of what waits for a person, none."""
        there = self.given.get(component, files)
        return {
            name: data for name, data in files.items() if name in there and name not in self.closed
        }


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
    provided: Mapping[str, bytes] | None = None,
) -> Review:
    """Read a submission.

    Args:
        assignment: what it is graded by.
        sandbox: where its text is read.
        files: its files by name.
        exempt: files that are the grader's own.
        accepted: by component, the digest of what a person has accepted.
        provided: code and data that every component gets, by relative path.

    Raises:
        SandboxFault: a fault of the grader.
    """
    # What a student hands in under the name of what is given is not run.
    own = {name: data for name, data in with_provided(files, {}).items() if name not in exempt}
    rules = {spec.name: spec.rules for spec in assignment.components if spec.file in own}
    uses = {spec.name: spec.uses for spec in assignment.components}
    kinds = {
        name: (found.ordinary, found.unusual, (*found.modules, *found.functions))
        for name, found in rules.items()
    }
    read = partial(_read, assignment, sandbox, own)
    helpers = {name for name in own if name.endswith(".py")} - files_of(assignment.totals)
    imported = _imported(provided or {}, own)
    # Where that is ordinary, nothing is said of it, and any file may be run.
    open_ = any(map(is_computed, {name for one in rules.values() for name in one.ordinary}))
    found: dict[str, list[Held]] = {}
    named: dict[str, Collection[str]] = {}
    odd: set[str] = set()  # files that something out of the ordinary stands in
    read_well: set[str] = set()  # files of components that do not wait
    free: set[str] = set()  # those of them that count whatever stands in them
    signed: set[str] = set()  # those of these that a person has accepted
    withheld: set[str] = set()
    given: dict[str, Collection[str]] = {}  # by component, what is put into its child
    # What it builds on is a component's own, and has something to put in its place.
    for component, reading, used in each_reading(kinds, uses, read):
        odd.update(finding.file for finding in reading.findings)
        named.update(reading.named)
        file = main_file(component, own)
        answers = reading.reached(file, used)
        if reading.computes(answers):
            answers |= helpers
        places = [finding for finding in reading.findings if finding.file in answers]
        runs = reading.reached(file).union(*map(reading.reached, used & imported))
        given[component] = own.keys() if open_ or reading.computes(runs) else runs
        if not places:
            read_well |= answers
            continue
        mine = {name: own[name] for name in sorted(given[component])}
        digest, before = _digest(mine), (accepted or {}).get(component, "")
        if _whole(before) == _whole(digest):
            # Nothing waits any more; what there is stays known for how it runs.
            found[component] = []
            signed |= answers
        else:
            found[component] = [
                Held(component=component, file=f.file, line=f.line, what=f.what, digest=digest)
                for f in places
            ]
            found[component][0].since = _since(before, mine)
        if found[component] and rules[component].review == "hold":
            withheld.add(component)
        else:
            read_well |= answers
            free |= answers
    waiting = {main_file(name, own) for name in withheld}
    # Another component answers for itself, wherever it is imported.
    free -= files_of(assignment.totals) - {f"{name}.py" for name in found}
    return Review(
        found,
        frozenset(withheld),
        closed=frozenset(waiting | (odd - read_well)),
        free=frozenset(free - waiting),
        # What was accepted could run any other file that is there.
        given={name: runs for name, runs in given.items() if signed.intersection(runs)},
        named=named,
    )


def _imported(provided: Mapping[str, bytes], own: Mapping[str, bytes]) -> set[str]:
    """Return the files of a submission that provided code imports."""
    modules = own_modules((), own)
    texts = [ast.parse(text) for name, text in provided.items() if name.endswith(".py")]
    return {f"{module}.py" for text in texts for module in imported(text, modules)[0]}


def _digest(files: Mapping[str, bytes]) -> str:
    """Return a hash of files, and a short one of each, by which those are found that changed."""
    return f"{digest_of(files)}-{''.join(_short(name, data) for name, data in files.items())}"


def _short(name: str, data: bytes) -> str:
    return digest_of({name: data})[:_SHORT]


def _whole(digest: str) -> str:
    return digest.partition("-")[0]


def _since(before: str, files: Mapping[str, bytes]) -> str:
    """Say what has changed since a component was accepted; nothing where it was not."""
    if not before:
        return ""
    _, _, short = before.partition("-")
    known = {short[start : start + _SHORT] for start in range(0, len(short), _SHORT)}
    changed = [name for name, data in files.items() if _short(name, data) not in known]
    if not known:
        return "was accepted by an earlier version of the grader"
    if not changed:
        return "was accepted before a file was removed"
    more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
    return f"was accepted before {', '.join(changed[:_NAMED])}{more} changed"


def with_provided(files: Mapping[str, bytes], provided: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return a submission's files with what is given; nothing of theirs comes into its place."""
    taken = (*(f"{folder}/" for folder in GIVEN), *(f"{folder}.py" for folder in GIVEN))
    own = {name: data for name, data in files.items() if not name.startswith(taken)}
    return {**own, **provided}


def _read(
    assignment: Assignment,
    sandbox: Sandbox,
    files: Mapping[str, bytes],
    kind: tuple[Sequence[str], ...],
) -> Reading:
    ordinary, unusual, closed = kind
    terms = {
        "packages": list(assignment.modules),
        "own": [*assignment.totals, *GIVEN],
        "programs": [f"{other.name}.py" for other in assignment.components if other.program],
        "ordinary": list(ordinary),
        "unusual": list(unusual),
        "closed": list(closed),
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
