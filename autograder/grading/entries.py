"""The entries of a batch: which submissions there are, and whose."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.archives import is_archive, without_ending
from autograder.errors import UsageError
from autograder.grading import downloads
from autograder.grading.downloads import Known
from autograder.text import clean

# What a student may have handed in by mistake: it is rejected with a reason, not ignored.
_HANDED_IN = (".py", ".ipynb", ".rar", ".7z", ".tar", ".gz", ".bz2", ".xz", ".zst", ".zipx")
_WANTED = "give the folder that holds one submission an entry"
# A file name has 255 bytes, and a result file is called <id>.json.
_MAX_ID = 240
# Of an id or a name these characters are told, and this number of names.
_SHOWN, _NAMED = 60, 3
# What a terminal acts on, and what turns a text around.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Entry:
    """One entry of a batch: the student's id and where the submission is.

    `exempt` names files that may call forbidden operations, as stand-ins do; no student's may.
    `only` and `diagnose` are those of a `GradeJob`; `late` is what a download says of it. `doubled`
    are the names of all entries with this id, where there are several; none of them is graded.
    """

    id: str
    path: Path
    exempt: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    diagnose: bool = True
    late: bool = False
    doubled: tuple[str, ...] = ()


@dataclass(frozen=True)
class Listing:
    """What lies in a batch.

    Attributes:
        entries: the submissions, sorted by id.
        ignored: names of files that are no student's, as a list of the class is.
        doubled: the names of several entries that have one id, by that; none of them is graded.
    """

    entries: list[Entry]
    ignored: Sequence[str] = ()
    doubled: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def rows(self) -> list[Entry]:
        """One entry for every id, sorted by it: those that are graded, and the doubled."""
        doubled = [
            Entry(name, Path(names[0]), doubled=tuple(names))
            for name, names in self.doubled.items()
        ]
        return sorted([*self.entries, *doubled], key=lambda entry: entry.id)


def discover(
    batch: Path, assignment: str, components: Collection[str] = (), known: Known | None = None
) -> Listing:
    """List a batch.

    nbgrader's `submitted/<student>/<assignment>/` is read as it is.

    Args:
        batch: the folder that holds one submission an entry.
        assignment: the name of the assignment.
        components: its components: a folder that holds their files is no batch.
        known: knows the ids of people by what a learning platform calls them.

    Raises:
        UsageError: `batch` is no folder, is empty, is a single submission, or holds the batch.

    An id has no control characters, and at most 240 bytes: they are written out, and a longer name
    is cut, with a part of its hash behind it.
    """
    if not batch.is_dir():
        what = "is a file" if batch.exists() else "does not exist"
        alone = "; with --one it is graded by itself" if batch.exists() else ""
        raise UsageError(f"{batch} {what}: {_WANTED}{alone}")
    for component in components:
        if _holds(batch, component):
            raise UsageError(
                f"{batch} holds {component}{'' if (batch / component).is_dir() else '.py'}, so it "
                "is one submission and no batch: to grade it, "
                f"type `autograder grade {batch} --one --assignment {assignment}`"
            )
    seen = [p for p in sorted(batch.iterdir()) if not p.name.startswith((".", "__MACOSX"))]
    ignored = [_id_of(path) for path in seen if _is_nobodys(path)]
    paths = [path for path in seen if not _is_nobodys(path)]
    if len(paths) == 1 and (inner := _wrapped(paths[0], assignment, components)):
        raise UsageError(
            f"{batch} holds only {paths[0].name}, and that holds submissions, {inner} among them: "
            f"give {paths[0]}"
        )
    people, nobody = downloads.people(paths), downloads.Person("")
    ids = downloads.ids(people, known)
    found: dict[str, list[Path]] = {}
    for path in paths:
        found.setdefault(_as_id(ids[path]) if path in ids else _id_of(path), []).append(path)
    if not found:
        what = f"holds no submission, but {ignored[0]}" if ignored else "is empty"
        raise UsageError(f"{batch} {what}: {_WANTED}")
    return Listing(
        [
            Entry(name, submission_in(of[0], assignment), late=people.get(of[0], nobody).late)
            for name, of in sorted(found.items())
            if len(of) == 1
        ],
        ignored,
        {name: [p.name for p in of] for name, of in sorted(found.items()) if len(of) > 1},
    )


def all_of(batch: Path, name: str) -> tuple[str, ...]:
    """Return the names of the entries with one id, where there are several; else none."""
    found = sorted(p.name for p in batch.iterdir() if p.name.startswith(name) and _id_of(p) == name)
    return tuple(found) if len(found) > 1 else ()


def doubled_words(name: str, names: Sequence[str]) -> str:
    """Say which entries have one id, and what to do about it."""
    shown = [clean(one, _SHOWN) for one in names[:_NAMED]]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    are = "are both" if len(names) == 2 else "are all"
    return (
        f"{' and '.join(shown)}{more} {are} of {clean(repr(name), _SHOWN)}: keep one of them "
        "and run it again"
    )


def single(path: Path, assignment: str, components: Collection[str]) -> Entry:
    """Return the entry that a folder or an archive is by itself.

    Raises:
        UsageError: it is not there, or is a batch.
    """
    if not path.is_symlink() and not path.exists():
        raise UsageError(f"{path} does not exist: give the folder or archive of one submission")
    within = submission_in(path, assignment)
    if within.is_dir() and not any(_holds(within, component) for component in components):
        inner = [f for f in sorted(within.iterdir()) if f.is_dir() or is_archive(f.name)]
        if any(_holds(folder, component) for folder in inner for component in components):
            raise UsageError(
                f"{path} holds submissions, {inner[0].name} among them: leave out --one to grade "
                "all, or give one of them"
            )
    # Of "." the name is that of the folder it stands for.
    return Entry(_id_of(path.absolute() if path.name else path.resolve()), within)


def _wrapped(path: Path, assignment: str, components: Collection[str]) -> str:
    """Return the name of a submission in a folder that holds several, or nothing."""
    if path.is_symlink() or not path.is_dir() or (path / assignment).is_dir():
        return ""

    def holds(folder: Path) -> bool:
        within = submission_in(folder, assignment)
        return within.is_dir() and any(_holds(within, component) for component in components)

    inner = sorted(path.iterdir())
    if any(_holds(path, component) for component in components):
        return ""
    found = [f for f in inner if is_archive(f.name) or (not f.is_symlink() and holds(f))]
    return found[0].name if len(found) > 1 else ""


def _is_nobodys(path: Path) -> bool:
    """Return whether an entry is a file that no student handed in."""
    handed_in = is_archive(path.name) or path.name.lower().endswith(_HANDED_IN)
    return path.is_file() and not path.is_symlink() and not handed_in


def submission_in(path: Path, assignment: str) -> Path:
    """Return where an entry's files are: nbgrader has them in a folder named as the assignment."""
    inner = path / assignment
    # A link could lead to the reference, or to a neighbour's work; intake refuses it.
    if path.is_symlink():
        return path
    # A package of the assignment's name is no such folder.
    is_package = (inner / "__init__.py").is_file()
    if is_package or not inner.is_dir() or inner.is_symlink() or any(path.glob("*.py")):
        return path
    return inner


def _holds(folder: Path, component: str) -> bool:
    """Return whether a component lies in a folder, as a file or as a package."""
    files = (f"{component}.py", f"{component}/__init__.py")
    return any((folder / file).is_file() for file in files)


def _id_of(path: Path) -> str:
    # A name that is no UTF-8 keeps its odd bytes as escapes, which every result file can hold.
    name = os.fsencode(path.name).decode(errors="backslashreplace")
    if not path.is_dir():
        name = without_ending(name)
    return _as_id(name)


def _as_id(name: str) -> str:
    """Return a name that every result file can have."""
    name = name.replace("/", "_").encode(errors="backslashreplace").decode()
    name = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], name)
    written = name.encode()
    if len(written) <= _MAX_ID:
        return name
    # One long name is no reason to grade nobody, and its beginning may be another's, too.
    digest = hashlib.sha256(written).hexdigest()[:12]
    return f"{written[: _MAX_ID - 13].decode(errors='ignore')}-{digest}"
