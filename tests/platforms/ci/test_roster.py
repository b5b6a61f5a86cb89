"""Lists of students: what is refused, and that no row leads anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.errors import UsageError
from autograder.platforms.ci import roster
from autograder.platforms.ci.roster import Student


@pytest.fixture
def read(tmp_path: Path):
    def run(text: str) -> list[Student]:
        path = tmp_path / "students.csv"
        path.write_bytes(text.encode())
        return roster.from_list(path)

    return run


def test_a_list_is_read_with_columns_in_any_order(read) -> None:
    found = read("\ufeffname,repository,student\r\nAda L., course/ada ,s01\r\n")
    assert found == [Student("s01", "course/ada")]
    assert read("student,repository\n") == []


@pytest.mark.parametrize(
    "row, words",
    [
        ("../x,c/a", "line 2"),
        (".x,c/a", "no id"),
        ("a/b,c/a", "no id"),
        (",c/a", "no id"),
        ("=1+1,c/a", "no id"),
        ("a,ada", "owner/name"),
        ("a,https://elsewhere.example/c/a", "owner/name"),
        ("a,c/../../x", "owner/name"),
        ("a,-upload-pack=x/a", "owner/name"),
        ("a,c/a.git", "owner/name"),
        ("a,c/a b", "owner/name"),
        ("a", "owner/name"),
    ],
)
def test_a_row_that_cannot_be_used_is_named(read, row: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read(f"student,repository\n{row}\n")


def test_a_student_is_there_once_in_any_case(read) -> None:
    with pytest.raises(UsageError, match="twice"):
        read("student,repository\nada,c/a\nAda,c/b\n")


def test_a_list_without_its_columns_is_refused(read) -> None:
    with pytest.raises(UsageError, match="no column 'repository'"):
        read("student,repo\nada,c/a\n")


def test_an_organisations_repositories_are_found_by_their_prefix() -> None:
    names = ["c/hw1-ada", "c/hw1-", "c/hw2-bob", "c/hw1-Bob", "c/hw1-bob", "c/readme"]
    found, left_out = roster.from_names(names, "C", "hw1-")
    assert found == [Student("ada", "c/hw1-ada")]
    assert [line.partition(":")[0] for line in left_out] == ["c/hw1-", "c/hw1-Bob", "c/hw1-bob"]


def test_a_foreign_repository_that_is_listed_is_no_student() -> None:
    names = ["evil/hw1-zed", "c/sub/hw1-cy", "c/hw1-ada"]
    found, left_out = roster.from_names(names, "c", "hw1-")
    assert found == [Student("ada", "c/hw1-ada")]
    assert left_out == [
        "c/sub/hw1-cy: it is listed there, but belongs to c/sub",
        "evil/hw1-zed: it is listed there, but belongs to evil",
    ]


def test_one_repository_is_not_two_students(read) -> None:
    with pytest.raises(UsageError, match="gives c/pair to ada and bob: a commit has one mark"):
        read("student,repository\nada,c/pair\ncy,c/cy\nbob,C/Pair\n")


@pytest.mark.parametrize("name", ["a" * 100, "A.b_c@d+e-f", "0"])
def test_an_id_that_any_system_takes_is_one(read, name: str) -> None:
    assert read(f"student,repository\n{name},c/a\n") == [Student(name, "c/a")]


@pytest.mark.parametrize("name", ["a" * 101, "a.", "a.json", "a.lock", "-a", "a b", "ä"])
def test_an_id_that_some_system_refuses_is_none(read, name: str) -> None:
    with pytest.raises(UsageError, match=r"line 2 of .*is no id that a file can be named by"):
        read(f"student,repository\n{name},c/a\n")


@pytest.mark.parametrize(
    "name, fine",
    [
        ("/".join(["g"] * 21), True),
        ("/".join(["g"] * 22), False),
        ("c/a.", False),
        ("c./a", False),
        ("c/" + "a" * 101, False),
        ("c/..", False),
    ],
)
def test_a_repository_may_be_in_groups_of_groups_and_no_part_is_odd(
    read, name: str, fine: bool
) -> None:
    if fine:
        assert read(f"student,repository\na,{name}\n") == [Student("a", name)]
    else:
        with pytest.raises(UsageError, match="is no repository: write it as owner/name"):
            read(f"student,repository\na,{name}\n")


def test_a_list_that_is_no_table_is_refused(read, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read('student,repository\n"a,c/a\n')
    with pytest.raises(UsageError, match="cannot be read"):
        roster.from_list(tmp_path / "nowhere.csv")
    (tmp_path / "latin.csv").write_bytes(b"student,repository\n\xe4,c/a\n")
    with pytest.raises(UsageError, match="cannot be read"):
        roster.from_list(tmp_path / "latin.csv")
