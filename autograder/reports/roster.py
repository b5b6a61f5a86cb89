"""Who is in a course: a CSV file that a platform wrote, and whose submission is whose."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.errors import UsageError
from autograder.grading.downloads import Person
from autograder.text import clean

# Columns by which a platform knows a person, without case and spaces.
IDS = (
    *("studentid", "username", "sisloginid", "sisuserid", "integrationid", "idnumber"),
    *("emailaddress", "email", "login", "lmsuserid", "identifier", "id"),
)
_NAMED = 5


def plain(name: str) -> str:
    """Return the name of a column without case, spaces and signs."""
    return re.sub(r"[\W_]+", "", name).casefold()


@dataclass(frozen=True)
class Roster:
    """A table of people: its header, and a row each."""

    path: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def cell(self, row: Sequence[str], *names: str) -> str:
        """Return what stands under the first of these columns that there is, or nothing."""
        for name in names:
            for place, title in enumerate(self.header):
                if plain(title) == plain(name):
                    return row[place]
        return ""

    def has(self, name: str) -> bool:
        """Return whether there is a column."""
        return plain(name) in map(plain, self.header)

    def matched(self, ids: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """Return the row of every submission's id.

        Raises:
            UsageError: an id is nobody's, or of several, or two are of one person.
        """
        people: dict[str, set[int]] = {}
        places = [place for place, title in enumerate(self.header) if plain(title) in IDS]
        for number, row in enumerate(self.rows):
            for place in places:
                if row[place].strip():
                    people.setdefault(row[place].strip(), set()).add(number)
        found = [(name, people.get(name.strip(), set())) for name in ids]
        counts = Counter(number for _, numbers in found for number in numbers)
        unknown = [name for name, its in found if not its]
        several = [name for name, its in found if len(its) > 1]
        shared = [name for name, its in found if any(counts[number] > 1 for number in its)]
        for names, where, repair in (
            (unknown, "no row", "add what is missing to it, or rename the submissions"),
            (several, "several rows", "keep one of them"),
            (shared, "one row", "keep one submission of a person"),
        ):
            if names:
                listed = ", ".join(repr(clean(name, 80)) for name in names[:_NAMED])
                more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
                are = "is" if len(names) == 1 else "are"
                raise UsageError(
                    f"{listed}{more} {are} in {where} of {self.path}: {repair}; nothing was written"
                )
        return {name: self.rows[min(its)] for name, its in found}

    def id_of(self, person: Person) -> str:
        """Return the id of who handed something in, by their number or name; "" if not certain."""
        numbers = (person.number, f"Participant {person.number}") if person.number else ()
        words = sorted(person.name.casefold().split())
        by_number = [row for row in self.rows if any(cell.strip() in numbers for cell in row)]
        by_name = [row for row in self.rows if person.name in row or words in self._names(row)]
        for rows in (by_number, by_name):
            if len(rows) == 1:
                # The platform's own number is nobody's id.
                found = (self.cell(rows[0], name).strip() for name in IDS)
                return next((cell for cell in found if cell and cell != person.number), "")
        return ""

    def _names(self, row: Sequence[str]) -> list[list[str]]:
        """Return the names of a person that are not empty, as words in one order."""
        names = [self.cell(row, name) for name in ("full name", "name", "student")]
        names.append(f"{self.cell(row, 'first name')} {self.cell(row, 'last name')}")
        found = [sorted(name.casefold().replace(",", " ").split()) for name in names]
        return [words for words in found if words]


def read_roster(path: Path) -> Roster:
    """Read a roster.

    Raises:
        UsageError: it cannot be read, is no table, or has no column that names people.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"--roster {path} cannot be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--roster {path} is no text in UTF-8: save it as CSV in UTF-8") from error
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        # Quotes that are left open are none of a table's.
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise UsageError(f"--roster {path} is no table ({error}): save it as CSV") from error
    header = rows[0] if rows else []
    if not any(plain(name) in IDS for name in header):
        raise UsageError(
            f"--roster {path} has no column that names people by an id: one must be called "
            "student_id, username, SIS Login ID, SIS User ID, ID number, email or id"
        )
    width = len(header)
    people = [(row + [""] * width)[:width] for row in rows[1:] if any(row)]
    return Roster(str(path), header, people)
