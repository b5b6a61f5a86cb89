"""One course, from its first command to the students' feedback, with both kinds of gradebook."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e import course as courses
from tests.e2e import installed, postgresql
from tests.e2e.course import ASSIGNMENT, Course
from tests.e2e.gradebook import Gradebook, read
from tests.e2e.people import TEACHER, Impossible, People
from tests.e2e.server import jupyter
from tests.e2e.submissions import HAND_IN

if TYPE_CHECKING:
    from tests.e2e.browser import Browser
    from tests.e2e.formgrader import Formgrader

_MISSING = "{} IS NOT INSTALLED: run `make test-e2e`, which installs it"
NO_PLAYWRIGHT = _MISSING.format("PLAYWRIGHT")
_PICTURES = pytest.StashKey[Path]()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if _PICTURES in config.stash:
        terminalreporter.write_line(f"Screenshots: {config.stash[_PICTURES]}")


def _need(package: str) -> None:
    if importlib.util.find_spec(package) is None:
        pytest.skip(_MISSING.format(package.upper()))


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the wheel is built and installed."""
    return tmp_path_factory.mktemp("wheel")


@pytest.fixture(scope="session")
def wheel(workplace: Path) -> Path:
    """The wheel of this project."""
    _need("build")
    return installed.build_wheel(workplace)


@pytest.fixture(scope="session")
def environment(workplace: Path, wheel: Path) -> installed.Installed:
    """A fresh environment with the wheel, and no checkout."""
    return installed.install(wheel, workplace / "environment")


@pytest.fixture(scope="session")
def people() -> Iterator[People]:
    """Three students and a teacher."""
    _need("nbgrader")
    try:
        found = People(list(HAND_IN))
    except Impossible as reason:
        pytest.skip(str(reason))
    yield found
    found.remove()


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """A headless Chromium."""
    _need("playwright")
    from tests.e2e import browser

    program = browser.find()
    if program is None:
        pytest.skip("CHROMIUM IS NOT INSTALLED: apt-get install chromium")
    request.config.stash[_PICTURES] = pictures = browser.artifacts()
    with browser.chromium(program, pictures) as found:
        yield found


@pytest.fixture(scope="session")
def cluster(people: People) -> Iterator[postgresql.Cluster]:
    """An empty PostgreSQL database."""
    _need("psycopg")
    programs = postgresql.find()
    if programs is None:
        pytest.skip("POSTGRESQL IS NOT INSTALLED: apt-get install postgresql")
    with postgresql.cluster(programs, people.base / "postgresql") as running:
        yield running


@pytest.fixture(scope="session")
def collected(people: People) -> Course:
    """A course that was released to the students and has collected what they handed in."""
    course = courses.make(people)
    course.nbgrader("generate_assignment", ASSIGNMENT)
    course.nbgrader("release_assignment", ASSIGNMENT)

    def work(student: str) -> None:
        folder = people.home(student) / ASSIGNMENT
        people.nbgrader(student, "fetch_assignment", ASSIGNMENT)
        HAND_IN[student](folder)
        people.give(student, folder)
        people.nbgrader(student, "submit", ASSIGNMENT)

    people.each(work)
    said = course.collect()
    assert "LEFT OUT" not in said, said
    assert "NOT COLLECTED" not in said, said
    return course


@pytest.fixture(scope="session")
def expected(collected: Course, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What our own command, without nbgrader, says about the same files."""
    submitted = collected.folder / "submitted"
    return courses.grade_without_nbgrader(submitted, tmp_path_factory.mktemp("expected"))


@dataclass(frozen=True)
class Autograded:
    """A course after `nbgrader autograde`, and its gradebook before and after."""

    course: Course
    before: Gradebook
    after: Gradebook


@pytest.fixture(scope="session")
def autograde_with(
    request: pytest.FixtureRequest, collected: Course
) -> Callable[[str], Autograded]:
    """Autograde the course with a gradebook of one kind, once."""

    @functools.cache
    def autograde(database: str) -> Autograded:
        url = None
        if database == "postgresql":
            url = request.getfixturevalue("cluster").url
        course = collected.copy(f"course-{database}", url)
        before = read(course.url)
        course.nbgrader("autograde", ASSIGNMENT)
        return Autograded(course, before, read(course.url))

    return autograde


@pytest.fixture(
    scope="session", params=[pytest.param("sqlite", marks=pytest.mark.release), "postgresql"]
)
def autograded(
    request: pytest.FixtureRequest, autograde_with: Callable[[str], Autograded]
) -> Autograded:
    """The course with each kind of gradebook; SQLite without a browser is tried elsewhere."""
    return autograde_with(request.param)


@pytest.fixture(scope="session")
def formgrader(autograded: Autograded, people: People, browser: Browser) -> Iterator[Formgrader]:
    """Formgrader's pages in a browser."""
    from tests.e2e.formgrader import Formgrader

    course = autograded.course
    with jupyter(people, TEACHER, course.folder) as server:
        found = Formgrader(browser, server, course.folder.name)
        found.log_in()
        yield found


@dataclass(frozen=True)
class Marked:
    """What a person gave an answer, and the gradebook then."""

    question: str
    points: float
    comment: str
    gradebook: Gradebook


@pytest.fixture(scope="session")
def marked(autograded: Autograded, formgrader: Formgrader) -> Marked:
    """A written answer of s02 that was marked by hand in formgrader."""
    worth = {name: points for _, name, points, _ in autograded.before.cells}
    question = next(name for name in worth if name.startswith("question_"))
    points, comment = worth[question] - 0.75, "Say *which* gradients, and why."
    formgrader.submission("s02")
    formgrader.mark(question, points, comment)
    formgrader.cell(question).scroll_into_view_if_needed()
    formgrader.picture("marked-s02")
    return Marked(question, points, comment, read(autograded.course.url))


@pytest.fixture(scope="session")
def regraded(marked: Marked, autograded: Autograded, formgrader: Formgrader) -> Gradebook:
    """The gradebook after formgrader's button for autograding was pressed for s02."""
    said = formgrader.autograde("s02")
    assert "Successfully autograded" in said
    return read(autograded.course.url)


@pytest.fixture(scope="session")
def feedback(regraded: Gradebook, autograded: Autograded, people: People) -> dict[str, Path]:
    """The feedback that each student fetched."""
    course = autograded.course
    course.nbgrader("generate_feedback", ASSIGNMENT)
    course.nbgrader("release_feedback", ASSIGNMENT)
    fetched: dict[str, Path] = {}

    def fetch(student: str) -> None:
        folder = people.home(student) / ASSIGNMENT / "feedback"
        # The same course may have given feedback before, out of another gradebook.
        shutil.rmtree(folder, ignore_errors=True)
        people.nbgrader(student, "fetch_feedback", ASSIGNMENT)
        (fetched[student],) = folder.rglob("*.html")

    people.each(fetch)
    return fetched
