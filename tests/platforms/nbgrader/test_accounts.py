"""A course of five real accounts, from release to feedback; what a student can put in its way.

Takes root: the accounts are an instructor, a second grader of the same group, and three students.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.platforms.nbgrader.accounts import (
    GRADER,
    INSTRUCTOR,
    KEY,
    STUDENTS,
    Accounts,
    Department,
    Done,
    accounts,
)
from tests.platforms.nbgrader.conftest import HALF, Course
from tests.sources import RIGHT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="NOT ROOT: NO ACCOUNTS OF OTHERS CAN BE HAD HERE"),
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="BUBBLEWRAP IS NOT INSTALLED"),
]

WORK = "the work of bob alone"
TELLING = """\
from pathlib import Path

others = sorted(set(Path(__file__).parent.glob("*.py")) - {Path(__file__)})
raise RuntimeError(" | ".join(path.read_text()[-400:] for path in others))
"""
# What eve does in her submission once it lies in the exchange, and what collecting says of each.
LINKS = {
    "key.py": "{home}/.ssh/id_rsa",
    "hidden.py": "{base}/project/reference/norm/tests/test_layer_norm.py",
    "answer.py": "{base}/project/reference/norm/layer_norm.py",
    "mistakes.py": "{base}/project/reference/norm/misconceptions/layer_norm.diff",
    "mate.py": "{base}/department/course/submitted/bob/norm/layer_norm.py",
    "folder": "{home}/.ssh",
    "workbook.ipynb": "{base}/department/course/submitted/bob/norm/workbook.ipynb",
}
RELATIVES = {
    "twice.py": "has another name somewhere (a hard link)",
    "pipe.py": "is no ordinary file",
    "socket.py": "is a socket or a device",
    "gift.py": "belongs to another account",
    "..ipynb": "has a name with '..'",
    "..\\..\\workbook.ipynb": "has a name with '..'",
    "closed.py": "cannot be read (Permission denied)",
}
PLANT = """
import json, os, socket
folder, links, home = args[0], json.loads(args[1]), os.environ["HOME"]
os.chdir(folder)
os.remove("workbook.ipynb")
for name, target in links.items():
    os.symlink(target, name)
open(home + "/own.py", "w").close()
os.link(home + "/own.py", "twice.py")
os.mkfifo("pipe.py")
socket.socket(socket.AF_UNIX).bind("socket.py")
for name in ("..ipynb", "..\\\\..\\\\workbook.ipynb", "closed.py"):
    open(name, "w").close()
os.chmod("closed.py", 0)
with open("timestamp.txt", "w") as file:
    file.write("2020-01-01 00:00:00.000000 UTC")
inbound = os.path.dirname(folder)
when = "2099-01-01 00:00:00.000000 UTC+x"
for name in ("bob+norm+" + when, "eve+norm+soon+x", "..x+norm+" + when):
    os.mkdir(os.path.join(inbound, name))
"""
# A child of eve's puts a link in a file's place and back, until she is told to stop.
SWAP = """
import os, time
os.chdir(args[0])
if os.fork() == 0:
    while not os.path.exists(os.environ["HOME"] + "/stop"):
        open("new", "w").close()
        os.replace("new", "swapped.py")
        os.symlink(args[1], "new")
        os.replace("new", "swapped.py")
    os._exit(0)
"""
DUE = """
from datetime import datetime, timezone
from nbgrader.api import Gradebook
with Gradebook(args[0]) as gradebook:
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    gradebook.update_or_create_assignment("norm", duedate=now)
"""
LATE = """
from nbgrader.api import Gradebook
with Gradebook(args[0]) as gradebook:
    for found in gradebook.assignment_submissions("norm"):
        print(found.student_id, found.total_seconds_late > 0)
"""
STOCK = "--ExchangeFactory.collect=nbgrader.exchange.default.ExchangeCollect"


@dataclass(frozen=True)
class Way:
    """What was said on the way, by step, and what was there at times."""

    done: Mapping[str, Done]
    stolen: str
    eve: Mapping[str, str]
    swapped: list[str]
    late: str
    marks: Mapping[str, float | None]
    feedback: Mapping[str, str]
    modes: set[tuple[int, int]]


@pytest.fixture(scope="module")
def way(blank: Course) -> Iterator[Way]:
    """The whole way, once."""
    with accounts() as people:
        yield _go(people, Department(people, blank))


def _go(people: Accounts, there: Department) -> Way:
    done: dict[str, Done] = {}
    done["release"] = there.staff(INSTRUCTOR, "nbgrader", "release_assignment", "norm", umask=0o077)
    for student in STUDENTS:
        umask = 0o077 if student == "bob" else 0o022
        done["fetch"] = people.run(student, "nbgrader", "fetch_assignment", "norm", umask=umask)
    there.hand_in("bob", f"{HALF}\n# {WORK}\n", umask=0o077)
    done["collect bob"] = there.staff(INSTRUCTOR, "nbgrader", "collect", "norm", umask=0o077)
    there.staff(INSTRUCTOR, "code", DUE, there.url)
    # Ada links to the solution, and is collected as nbgrader does it by itself.
    folder = there.hand_in("ada", RIGHT)
    link = "import os; os.remove(args[0]); os.symlink(args[1], args[0])"
    key = people.home(INSTRUCTOR) / ".ssh" / "id_rsa"
    people.run("ada", "code", link, folder / "tests" / "views.py", key)
    done["stock"] = there.staff(INSTRUCTOR, "nbgrader", "collect", "norm", "--student=ada", STOCK)
    stolen = there.collected("ada")["tests/views.py"]
    folder = there.hand_in("eve", TELLING)
    places = {"home": people.home(INSTRUCTOR), "base": people.base}
    links = {name: target.format(**places) for name, target in LINKS.items()}
    done["plant"] = people.run("eve", "code", PLANT, folder, json.dumps(links))
    gift = "import sys; open(args[0] + '/gift.py', 'w').write('x = 1')"
    people.run("bob", "code", gift, folder)
    # The second grader collects what is new; ada's is there already.
    done["collect"] = there.staff(GRADER, "nbgrader", "collect", "norm")
    eve = there.collected("eve")
    autograde = ("nbgrader", "autograde", "norm")
    # By hand: without a timestamp, with one that is none, under a name that nbgrader passes over.
    for name in ("carol", "dan", "..x"):
        by_hand = there.course / "submitted" / name / "norm"
        shutil.copytree(there.course / "release" / "norm", by_hand)
        people.give(INSTRUCTOR, by_hand.parent)
        if name == "dan":
            (by_hand / "timestamp.txt").write_text("the day after tomorrow")
    done["autograde"] = there.staff(GRADER, *autograde)
    done["update"] = there.staff(INSTRUCTOR, "nbgrader", "collect", "norm", "--update")
    grade = ("autograder", "grade", "submitted", "--gradebook", there.url)
    done["grade"] = there.staff(GRADER, *grade)
    late = there.staff(GRADER, "code", LATE, there.url).said
    done["generate"] = there.staff(GRADER, "nbgrader", "generate_feedback", "norm")
    done["give"] = there.staff(INSTRUCTOR, "nbgrader", "release_feedback", "norm", umask=0o077)
    feedback = {}
    for student in STUDENTS:
        people.run(student, "nbgrader", "fetch_feedback", "norm")
        pages = (people.home(student) / "norm" / "feedback").rglob("*.html")
        feedback[student] = "".join(page.read_text() for page in pages)
    made = (there.course / "submitted" / "eve").rglob("*")
    modes = {(path.stat().st_mode & 0o7777, path.is_dir()) for path in made}
    marks = _marks(there.course / "gradebook.db")
    swapped = _swap(people, there, key)
    return Way(done, stolen, eve, swapped, late, marks, feedback, modes)


def _swap(people: Accounts, there: Department, key: Path) -> list[str]:
    """Collect while a file is exchanged for a link and back, and return what was collected."""
    folder = there.hand_in("eve", TELLING)
    people.run("eve", "code", SWAP, folder, key)
    found = []
    for _ in range(10):
        shutil.rmtree(there.course / "submitted" / "eve")
        there.staff(INSTRUCTOR, "nbgrader", "collect", "norm", "--student=eve")
        found.append(there.collected("eve").get("swapped.py", "left out"))
    (people.home("eve") / "stop").touch()
    return found


def _marks(path: Path) -> dict[str, float | None]:
    query = """
    select sa.student_id, g.auto_score from grade g
    join base_cell on base_cell.id = g.cell_id and base_cell.name = 'layer_norm'
    join submitted_notebook sn on sn.id = g.notebook_id
    join submitted_assignment sa on sa.id = sn.assignment_id
    """
    with contextlib.closing(sqlite3.connect(path)) as gradebook:
        return dict(gradebook.execute(query).fetchall())


def test_every_step_ends_well_but_where_somebody_is_not_marked(way: Way) -> None:
    codes = {step: found.code for step, found in way.done.items()}
    assert codes == {**dict.fromkeys(codes, 0), "autograde": 1}, way.done


def test_nbgraders_own_collect_is_robbed_and_what_it_took_is_not_marked(way: Way) -> None:
    assert way.stolen == KEY
    said = way.done["autograde"].said
    assert "ada is not marked: nbgrader's own collect has put it there" in said
    assert "`nbgrader collect norm --update`" in said
    # The others of the class are marked all the same, and so is ada once she is collected again.
    assert "bob" in way.marks
    assert "Collected: ada norm" in way.done["update"].said
    assert "ada's submission: tests/views.py is a link" in way.done["update"].said
    assert way.marks["ada"] == 14.0


@pytest.mark.parametrize("name", LINKS)
def test_a_link_is_left_out_and_named(way: Way, name: str) -> None:
    assert f"LEFT OUT of eve's submission: {name} is a link" in way.done["collect"].said
    assert name not in way.eve


@pytest.mark.parametrize("name", RELATIVES)
def test_whatever_is_no_ordinary_file_of_hers_is_left_out_and_named(way: Way, name: str) -> None:
    said = way.done["collect"].said
    assert f"LEFT OUT of eve's submission: {name} {RELATIVES[name]}" in said
    assert name not in way.eve


def test_her_ordinary_files_are_collected_for_the_graders_alone(way: Way) -> None:
    assert way.eve["layer_norm.py"] == TELLING
    assert way.eve["timestamp.txt"].startswith("2026") or "2020" not in way.eve["timestamp.txt"]
    assert not [name for name, text in way.eve.items() if KEY in text or WORK in text]
    assert way.modes == {(0o2770, True), (0o660, False)}


def test_a_file_that_is_exchanged_meanwhile_is_never_followed(way: Way) -> None:
    assert set(way.swapped) <= {"", "left out"}, way.swapped


def test_who_submits_under_another_name_hides_nobodys_work(way: Way) -> None:
    said = way.done["collect"].said
    assert (
        "NOT COLLECTED: bob+norm+2099-01-01 00:00:00.000000 UTC+x: it is said to be bob's" in said
    )
    assert "but belongs to eve" in said
    assert "NOT COLLECTED: eve+norm+soon+x: its name is not" in said
    assert "NOT COLLECTED: ..x+norm+2099-01-01 00:00:00.000000 UTC+x: no student's name" in said
    assert 0.0 < (way.marks["bob"] or 0.0) < 14.0


def test_the_time_of_submission_counts_and_not_what_she_wrote(way: Way) -> None:
    assert "eve's timestamp.txt is not the time of submission" in way.done["collect"].said
    late = dict(line.split() for line in way.late.splitlines() if line.endswith(("True", "False")))
    assert late == {"ada": "True", "bob": "False", "eve": "True", "carol": "False", "dan": "False"}


def test_broken_and_copied_submissions_are_one_students_matter(way: Way) -> None:
    for step in ("autograde", "grade"):
        assert "dan/norm/timestamp.txt does not hold a time" in way.done[step].said
    assert "AttributeError" not in way.done["autograde"].said
    assert "not marked: ..x; no student's name begins with a dot" in way.done["grade"].said
    assert "Traceback" not in way.done["grade"].said
    assert {"carol", "dan"} <= way.marks.keys()
    said = way.done["give"].said
    for name in ("carol", "dan"):
        assert f"NOT RELEASED: feedback for {name}: nbgrader's submit left no" in said
    assert "eve's submission has no notebook" in way.done["collect"].said


def test_feedback_holds_nothing_of_others(way: Way) -> None:
    assert all(way.feedback.values()), {k: len(v) for k, v in way.feedback.items()}
    for student, page in way.feedback.items():
        assert KEY not in page, student
        assert "def test_" not in page, student
    assert WORK not in way.feedback["eve"]
