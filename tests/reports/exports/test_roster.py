"""Marks go to the people that a platform knows, or nothing is written at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.reports.roster import Roster, read_roster
from tests.reports.exports.made import result, written
from tests.reports.exports.read import rows

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Norms (77),Other (78)\r\n"
    "    Points Possible,,,,,8,5\r\n"
    '"Two, Student",17,u2,s02,A,1,\r\n'
    '"One, Student",16,u1,s01,A,,\r\n'
)
MOODLE = "First name;Last name;ID number;Email address\nStudent;One;s01;one@example.org\n"
NBGRADER = "id,first_name,last_name,email\ns01,Student,One,one@example.org\n"


def roster(folder: Path, text: str) -> Roster:
    path = folder / "people.csv"
    path.write_bytes(text.encode())
    return read_roster(path)


def test_canvas_gets_its_own_columns_and_title_back(tmp_path: Path) -> None:
    found = rows(written("canvas", result(), roster=roster(tmp_path, CANVAS)))
    assert found == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Norms (77)"],
        ["    Points Possible", "", "", "", "", "8"],
        ["One, Student", "16", "u1", "s01", "A", "4.75"],
    ]


def test_canvas_makes_a_new_column_where_it_has_none(tmp_path: Path) -> None:
    found = rows(written("canvas", result(), roster=roster(tmp_path, CANVAS), title="Norms II"))
    assert found[0][-1] == "Norms II"


def test_canvas_wants_a_gradebook_of_canvas(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no gradebook of Canvas"):
        written("canvas", result(), roster=roster(tmp_path, NBGRADER))


def test_moodle_gets_all_that_names_a_person(tmp_path: Path) -> None:
    assert rows(written("moodle", result(), roster=roster(tmp_path, MOODLE))) == [
        ["First name", "Last name", "ID number", "Email address", "grade", "feedback"],
        ["Student", "One", "s01", "one@example.org", "4.75", "norm: you forgot eps"],
    ]


@pytest.mark.parametrize("text", [MOODLE, NBGRADER])
def test_nbgrader_gets_names(tmp_path: Path, text: str) -> None:
    header, person = rows(written("nbgrader", result(), roster=roster(tmp_path, text)))
    cells = dict(zip(header, person, strict=True))
    assert (cells["last_name"], cells["first_name"]) == ("One", "Student")
    assert (cells["email"], cells["student_id"]) == ("one@example.org", "s01")
    assert (cells["raw_score"], cells["score"]) == ("4.75", "4.75")


@pytest.mark.parametrize("name", ["canvas", "moodle", "nbgrader"])
@pytest.mark.parametrize(
    ("people", "said"),
    [
        ("x,2,u2,s02,A", "'s01' is in no row of"),
        ("x,2,s01,s02,A\ny,3,u3,s01,A", "'s01' is in several rows"),
    ],
)
def test_who_is_nobody_or_two_is_named(tmp_path: Path, name: str, people: str, said: str) -> None:
    found = roster(tmp_path, f"Student,ID,SIS User ID,SIS Login ID,Section\n{people}\n")
    with pytest.raises(UsageError, match=said) as caught:
        written(name, result(), roster=found)
    assert "nothing was written" in str(caught.value)


def test_two_submissions_of_one_person_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'s02', 'u2' are in one row"):
        roster(tmp_path, CANVAS).matched(["s02", "u2"])


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe\x00", "no text in UTF-8"),
        (b"", "no column that names people"),
        (b"name,mark\nx,1\n", "no column that names people"),
        (b'id,name\n1,"x\n', "is no table"),
    ],
)
def test_what_is_no_roster_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=said):
        read_roster(path)
    with pytest.raises(UsageError, match="cannot be read"):
        read_roster(tmp_path / "none.csv")


def test_rows_may_be_short_and_long_and_empty(tmp_path: Path) -> None:
    found = roster(tmp_path, "username,name\ns01\n\ns02,x,y,z\n")
    assert found.matched(["s01", "s02"]) == {"s01": ["s01", ""], "s02": ["s02", "x"]}
