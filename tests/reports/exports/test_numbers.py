"""Points in every format: rounded alike, and as short as they can be; the gradebook of Canvas."""

from __future__ import annotations

import json

import pytest

from autograder.errors import UsageError
from autograder.reports.exports import FORMATS, export
from autograder.reports.exports.objects import number, points
from autograder.reports.roster import Roster
from autograder.results import SubmissionResult
from tests.reports.exports import read
from tests.reports.exports.made import (
    NOTHING,
    component,
    context,
    criterion,
    rejected,
    result,
    written,
)

# What a result says, and what a reader is told.
NUMBERS = {
    100.0: "100",
    0.0: "0",
    33.333: "33.333",
    2 / 3: "0.6667",
    0.1 + 0.2: "0.3",
    0.005: "0.005",
    0.29: "0.29",
    1e-9: "0",
    1234.5: "1234.5",
    9999.9999: "9999.9999",
    99.99999: "100",
}
# As many decimals as a result has; all the others tell four.
WHOLE = "json"


def earning(score: float) -> SubmissionResult:
    """Return a result that has so many points of 10000, in one criterion of one component."""
    return result({"norm": component([criterion("a", score, 10000)])})


@pytest.mark.parametrize("score, words", NUMBERS.items())
def test_points_have_four_decimals_at_most_and_none_for_nothing(score: float, words: str) -> None:
    assert points(score) == words
    assert json.dumps(number(score)) == words
    assert points(None) == ""


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("score, words", NUMBERS.items())
def test_every_format_tells_the_same_number(name: str, score: float, words: str) -> None:
    text = written(name, earning(score))
    found, most = read.marks(name, text)
    if name == "classroom50":
        # Hundredths, to the nearest; the points themselves stand beside them.
        data = read.checked(name, text)
        assert found == pytest.approx(score, abs=0.005 + 1e-9)
        assert json.dumps(data["tests"][0]["points"]) == words
        assert data["tests"][0]["max-points"] == 10000
        assert (data["score"], data["tests"][0]["score"]) == (round(score * 100),) * 2
    elif name == WHOLE:
        assert found == score
    else:
        assert found == float(words)
    assert most in (None, 10000)
    if name in ("canvas", "moodle", "nbgrader"):
        cells = read.rows(text)[-1]
        place = {"canvas": -1, "moodle": -2, "nbgrader": -2}[name]
        assert cells[place] == words
        if name == "nbgrader":
            assert cells[-1] == "10000"


@pytest.mark.parametrize("score, words", NUMBERS.items())
def test_every_format_tells_the_same_number_of_a_criterion(score: float, words: str) -> None:
    found = earning(score)
    (test,) = read.checked("gradescope", written("gradescope", found))["tests"]
    assert (json.dumps(test["score"]), json.dumps(test["max_score"])) == (words, "10000")
    (suite,) = read.junit(written("junit", found))
    properties = {p.name: p.value for p in suite.properties()}
    assert properties["case.1.score"] == properties["score"] == words
    assert properties["case.1.max_score"] == properties["max_score"] == "10000"
    assert f"norm | {words} of 10000 |" in written("markdown", found)
    details = read.markdown(written("markdown", found)).plain
    assert f"a holds (page 1): {words} of 10000" in details
    assert f"norm: {words} of 10000" in details
    last = read.annotations(written("github-annotations", found))[-1][2]
    assert last == f"{words} of 10000 points"


def test_with_nothing_hidden_shown_a_sum_is_rounded_once_it_is_made() -> None:
    thirds = [criterion(f"a{n}", 0.1, 1, passed=False) for n in range(3)]
    found = result({"norm": component([*thirds, criterion("b", 1, 1, True)])})
    assert json.loads(written("json", found, NOTHING))["score"] == 0.3


def canvas(*results: SubmissionResult, roster: Roster | None = None, title: str = "Norms"):
    about = context(of_class=True, roster=roster, title=title)
    text = export(FORMATS["canvas"], results, about).text
    assert text is not None
    return read.rows(text)


def test_canvas_without_a_roster_has_ids_where_canvas_looks_for_logins() -> None:
    second = result({"norm": component([criterion("a", 1, 3)])}, submission="=s02")
    assert canvas(result(), second, rejected()) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Norms"],
        # The most that any of them could earn, however little the first could.
        ["    Points Possible", "", "", "", "", "8"],
        ["", "", "", "s01", "", "4.75"],
        ["", "", "", "'=s02", "", "1"],
        ["", "", "", "s02", "", "0"],
    ]


def test_canvas_of_nobody_has_a_header_and_points_that_are_none() -> None:
    assert canvas() == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Norms"],
        ["    Points Possible", "", "", "", "", "0"],
    ]


def gradebook(*titles: str) -> Roster:
    """Return Canvas' own gradebook with these columns behind its own."""
    header = ["Student", "ID", "SIS Login ID", "Section", *titles]
    return Roster("people.csv", header, [["One", "16", "s01", "A", *titles]])


@pytest.mark.parametrize(
    "title, column, found",
    [
        ("Norms", "Norms (77)", "Norms (77)"),
        (" Norms", "Norms (77) ", "Norms (77)"),
        ("Norms", "Norms (late)", "Norms"),
        ("Norms", "Norms II (77)", "Norms"),
        ("Norms", "Norms (77) Current Score", "Norms"),
        ("N.rms", "Norms (77)", "N.rms"),
        ("a (b)", "a (b) (5)", "a (b) (5)"),
    ],
)
def test_canvas_column_is_that_of_the_assignment_and_of_no_other(
    title: str, column: str, found: str
) -> None:
    assert canvas(result(), roster=gradebook(column), title=title)[0][-1] == found


@pytest.mark.parametrize("missing", ["ID", "Section"])
def test_canvas_wants_what_it_reads_by(missing: str) -> None:
    whole = gradebook()
    place = list(whole.header).index(missing)
    cut = Roster(
        whole.path,
        [name for n, name in enumerate(whole.header) if n != place],
        [[cell for n, cell in enumerate(row) if n != place] for row in whole.rows],
    )
    with pytest.raises(UsageError, match=r"people\.csv is no gradebook of Canvas"):
        canvas(result(), roster=cut)
