"""Names in the downloads of learning platforms: whose an entry is, and whether it was late."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

_CANVAS = re.compile(r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_\d+_.+")
_MOODLE = re.compile(r"(?P<name>.+?)_(?P<number>\d+)_assignsubmission_file_?.*", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_\d+")
_METADATA = "submission_metadata.yml"
# Of a class of thousands there is less.
_MAX_METADATA = 20_000_000
_FIELD = re.compile(r"\s+(?:- )?:(name|sid|email): *(.*)")


class Person(NamedTuple):
    """Who handed something in, as a platform names them.

    Attributes:
        name: their name, or what the platform makes of it.
        number: their number there; "" if it is not known.
        late: whether the download says that it was late.
    """

    name: str
    number: str = ""
    late: bool = False


# Returns the id of a person, or nothing if a list of the class does not have them.
Known = Callable[[Person], str]


def people(paths: Sequence[Path]) -> dict[Path, Person]:
    """Return who handed in the entries of a download; nobody of a folder that is none."""
    if paths and all(_CANVAS.fullmatch(path.name) for path in paths):
        return {path: _person(_CANVAS.fullmatch(path.name)) for path in paths}
    found = {path: _person(match) for path in paths if (match := _MOODLE.fullmatch(path.name))}
    if any(_GRADESCOPE.fullmatch(path.name) for path in paths):
        named = _submitters(paths[0].parent / _METADATA)
        found |= {path: named[path.name] for path in paths if path.name in named}
    return found


def ids(found: dict[Path, Person], known: Known | None) -> dict[Path, str]:
    """Return the id of every person: the list's, or else their name, with the number if it must."""
    by_list = {path: known(person) if known else "" for path, person in found.items()}
    numbers: dict[str, set[str]] = {}
    for person in found.values():
        numbers.setdefault(person.name, set()).add(person.number)
    return {
        path: by_list[path]
        or (f"{p.name}_{p.number}" if len(numbers[p.name]) > 1 and p.number else p.name)
        for path, p in found.items()
    }


def _person(found: re.Match[str] | None) -> Person:
    assert found is not None
    return Person(found["name"].strip(), found["number"], bool(found.groupdict().get("late")))


def _submitters(path: Path) -> dict[str, Person]:
    """Return who made each of Gradescope's submissions, by its name; a group has none."""
    try:
        if path.is_symlink() or path.stat().st_size > _MAX_METADATA:
            return {}
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[str, list[dict[str, str]]] = {}
    current: list[dict[str, str]] = []
    for line in lines:
        if begins := re.match(r"(submission_\d+):", line):
            current = found.setdefault(begins[1], [])
        elif field := _FIELD.match(line):
            value = field[2].strip().strip("'\"")
            if field[1] == "name" or not current:
                current.append({})
            current[-1][field[1]] = value
    return {
        name: Person(by[0].get("email") or by[0].get("name", ""), by[0].get("sid", ""))
        for name, by in found.items()
        if len(by) == 1 and any(by[0].values())
    }
