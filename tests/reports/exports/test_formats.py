"""Every format is what its consumer reads, and the marks that it reads are those of the result."""

from __future__ import annotations

import json
from typing import Any

import pytest

from autograder.errors import UsageError
from autograder.reports.exports import FORMATS, export, format_of
from tests.reports.exports import read
from tests.reports.exports.made import (
    CLASS,
    NOTHING,
    ONE,
    OUTCOMES,
    RUNNER,
    component,
    context,
    criterion,
    fault,
    rejected,
    result,
    written,
)

STUDENTS = ["junit", "markdown", "github-annotations", "classroom50", "json"]


@pytest.mark.parametrize("name", FORMATS)
def test_marks_read_back_are_equal(name: str) -> None:
    score, most = read.marks(name, written(name, result()))
    assert score == 4.75
    assert most in (None, 8.0)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"classroom50"}))
def test_marks_keep_four_decimals(name: str) -> None:
    found = result({"norm": component([criterion("a", 1234.3333, 2000.1251)])})
    score, most = read.marks(name, written(name, found))
    assert score == 1234.3333
    assert most in (None, 2000.1251)


@pytest.mark.parametrize("name", STUDENTS)
def test_with_nothing_hidden_shown_students_read_public_points(name: str) -> None:
    assert read.marks(name, written(name, result(), NOTHING)) == (3.25, 4.5)


@pytest.mark.parametrize("name", sorted({*FORMATS} - {*STUDENTS}))
def test_a_gradebook_gets_the_whole_mark_whatever_students_see(name: str) -> None:
    assert read.marks(name, written(name, result(), NOTHING))[0] == 4.75


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_rejected_scores_nothing_and_says_why(name: str) -> None:
    text = written(name, rejected())
    if name == "markdown":
        text = text.replace("&#46;", ".")
        assert "0 of 8 points" in text
    else:
        assert read.marks(name, text)[0] == 0
    if name not in ("canvas", "nbgrader", "autolab"):
        assert "damaged archive; hand it in again" in text


def test_what_was_rejected_is_no_success_for_classroom50() -> None:
    found = read.checked("classroom50", written("classroom50", rejected()))
    assert [test["passed"] for test in found["tests"]] == [False]
    assert found["max-score"] == 800


def test_autolab_gives_every_component_of_a_rejected_submission_nothing() -> None:
    assert read.checked("autolab", written("autolab", rejected()))["scores"] == {
        "norm": 0,
        "head": 0,
    }
    with pytest.raises(UsageError, match="name the project with --root"):
        written("autolab", rejected(), components=None)


@pytest.mark.parametrize("name", [n for n in ONE if FORMATS[n].needs_mark])
def test_a_fault_of_the_grader_is_exported_in_no_mark(name: str) -> None:
    found = export(FORMATS[name], [fault()], context())
    assert (found.text, found.faults) == (None, True)
    assert found.left_out == ["s03: the grader failed on it, so it has no mark; grade it again"]


@pytest.mark.parametrize("name", [n for n in ONE if not FORMATS[n].needs_mark])
def test_a_fault_of_the_grader_is_said_without_a_mark(name: str) -> None:
    found = export(FORMATS[name], [fault()], context())
    assert found.faults
    assert found.text is not None
    assert "your instructor has been told" in found.text.replace("&#59;", ";")
    assert "SECRET" not in found.text
    if name == "junit":
        suite = next(iter(read.junit(found.text)))
        assert (suite.errors, suite.failures) == (1, 0)
        assert not list(suite.properties())
    if name == "json":
        assert json.loads(found.text)["score"] is None
    if name == "github-annotations":
        assert [kind for kind, *_ in read.annotations(found.text)] == ["error"]


@pytest.mark.parametrize("name", CLASS)
def test_a_class_is_exported_without_those_that_have_no_mark(name: str) -> None:
    other = result(submission="s04").model_copy(update={"status": "ignored", "score": None})
    found = export(FORMATS[name], [result(), rejected(), fault(), other], context(of_class=True))
    assert found.text is not None
    assert "s02" in found.text
    assert "s03" not in found.text
    assert "s04" not in found.text
    assert found.faults
    assert found.left_out[1] == "s04: it is not counted (ignored), so it has no mark"


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_not_counted_is_no_fault_and_no_zero(name: str) -> None:
    other = result().model_copy(update={"status": "empty", "score": None})
    found = export(FORMATS[name], [other], context(of_class=name in CLASS))
    assert not found.faults
    assert len(found.left_out) == 1
    assert found.text is None or "s01" not in found.text


@pytest.mark.parametrize("name", [n for n in ONE if FORMATS[n].takes == "one"])
def test_a_format_of_one_submission_refuses_a_class(name: str) -> None:
    with pytest.raises(UsageError, match="is of one submission, and there are 2"):
        export(FORMATS[name], [result(), rejected()], context(of_class=True))


def test_junit_of_a_class_has_suites_by_submission_and_counts_all() -> None:
    several = [result(), rejected(), fault()]
    text = export(FORMATS["junit"], several, context(of_class=True)).text
    assert text is not None
    root = read.junit(text)
    assert [suite.name for suite in root] == ["s01.norm", "s01.head", "norm.s02", "norm.s03"]
    assert [suite.errors for suite in root] == [0, 0, 0, 1]
    alone = [read.junit(written("junit", one)) for one in several]
    assert (root.tests, root.failures, root.errors) == (
        sum(one.tests for one in alone),
        sum(one.failures for one in alone),
        sum(one.errors for one in alone),
    )


def test_markdown_of_a_class_has_a_row_a_submission_and_stays_short_enough() -> None:
    text = export(FORMATS["markdown"], [result(), rejected()], context(of_class=True)).text
    assert text is not None
    table = [line for line in text.splitlines() if line.startswith("| <code>s0")]
    assert [line.split("|")[1:3] for line in table] == [
        [" <code>s01</code> ", " 4.75 of 8 points "],
        [" <code>s02</code> ", " 0 of 8 points "],
    ]
    assert "<details>" in text
    many = [result().model_copy(update={"submission": f"s{n:05}"}) for n in range(3000)]
    text = export(FORMATS["markdown"], many, context(of_class=True)).text
    assert text is not None
    assert len(text.encode()) < 2**20
    assert "<code>s02999</code>" in text
    assert "are too long to be shown here" in text


def test_json_of_a_class_is_an_array_however_small_it_is() -> None:
    assert len(read.checked("json", written("json", result(), of_class=True))) == 1
    both = export(FORMATS["json"], [result(), rejected()], context(of_class=True))
    assert [r["submission"] for r in json.loads(both.text or "")] == ["s01", "s02"]


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no format 'junitt'; there is: junit, markdown"):
        format_of("junitt")


def test_junit_has_a_suite_a_component_and_a_case_a_criterion() -> None:
    norm, head = read.junit(written("junit", result()))
    assert (norm.name, norm.tests, norm.failures) == ("norm", 3, 2)
    assert (head.name, head.tests, head.failures) == ("head", 2, 0)
    properties = {p.name: p.value for p in norm.properties()}
    assert properties["case.2.score"] == "0.25"
    assert properties["case.3.max_score"] == "3"
    shape, values, random = norm
    assert shape.is_passed
    assert (values.name, values.classname) == ("values holds", "norm.norm")
    assert values.result[0].message == "raised ValueError (norm.py, line 7): no"
    assert "hint: look again\nlikely cause: you forgot eps" in values.result[0].text
    assert random.result[0].type == "failed"
    assert "1 of 3 cases pass" in random.result[0].text


def test_markdown_says_causes_and_folds_what_was_lost() -> None:
    text = written("markdown", result())
    page = read.markdown(text)
    assert "Norms: 4.75 of 8 points" in page.plain
    assert "values holds (page 2): 0.25 of 1.5" in page.plain
    assert "you forgot eps" in page.code
    assert "in norm(1)" in page.code
    assert text.count("<details>") == text.count("</details>") == 1
    assert "shape holds" not in page.plain


def test_markdown_is_never_longer_than_a_summary_may_be() -> None:
    facts = ["<" * 1000] * 40
    many = [criterion(f"c{n}", 0, 1, facts=facts) for n in range(200)]
    text = written("markdown", result({"norm": component(many)}))
    assert len(text.encode()) < 1 << 20
    assert "too long" in text
    assert "0 of 200 points" in text


def test_annotations_name_file_and_line() -> None:
    values, random, total = sorted(
        read.annotations(written("github-annotations", result())),
        key=lambda a: a[1].get("line", "z"),
    )
    assert values[1] == {"file": "norm.py", "line": "7", "title": "norm: values holds"}
    assert values[2].startswith("raised ValueError (norm.py, line 7): no\nin norm(1)\nhint:")
    assert random[1] == {"file": "norm.py", "title": "norm: random holds"}
    assert total[::2] == ("notice", "4.75 of 8 points")


def test_a_component_that_was_not_run_is_one_annotation() -> None:
    note = "raised SyntaxError (norm.py, line 12): 50%, no: \n"
    parts = {
        "norm": component([criterion("a", 0, 1)], status="import_error", notes=[note]),
        "head": component([criterion("b", 0, 1)], status="missing", notes=["no head.py"]),
    }
    norm, head, _ = read.annotations(written("github-annotations", result(parts)))
    assert norm[1] == {"file": "norm.py", "line": "12", "title": "norm"}
    assert norm[2].endswith("(norm.py, line 12): 50%, no:")
    assert head[1] == {"title": "head"}


def test_gradescope_shows_hidden_criteria_as_the_setting_says() -> None:
    def seen(text: str) -> dict[str, str]:
        return {t["name"]: t["visibility"] for t in read.checked("gradescope", text)["tests"]}

    shown = seen(written("gradescope", result()))
    assert set(shown.values()) == {"visible"}
    withheld = seen(written("gradescope", result(), NOTHING))
    assert [name for name, how in withheld.items() if how == "hidden"] == [
        "norm: random holds",
        "head: float holds",
    ]
    assert list(shown) == list(withheld)


def test_classroom50_says_which_submission_it_is() -> None:
    found = read.checked("classroom50", written("classroom50", result()))
    assert (found["owner"], found["classroom"]) == ("ada", "cs1")
    assert (found["datetime"], found["graded_at"]) == (
        "2026-08-16T08:39:48Z",
        "2026-11-20T12:00:00Z",
    )
    assert found["review"] == found["commit"]
    test = found["tests"][1]
    assert (test["score"], test["max-score"], test["points"]) == (25, 150, 0.25)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"CLASSROOM": "", "USERNAME": ""}, "in CLASSROOM, OWNER or USERNAME: run"),
        ({"SUBMISSION_TAG": "v1"}, "must begin with submit/"),
        ({"ASSIGNMENT_TYPE": "duo"}, "choose one of individual, group, team"),
    ],
)
def test_classroom50_refuses_what_its_runner_did_not_say(change: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        written("classroom50", result(), environment={**RUNNER, **change})


@pytest.mark.parametrize("tag", ["submit/manual", "submit/2026-99-99T99-99-99Z-abc"])
def test_classroom50_takes_a_tag_without_a_time(tag: str) -> None:
    text = written("classroom50", result(), environment={**RUNNER, "SUBMISSION_TAG": tag})
    assert read.checked("classroom50", text)["datetime"] == "2026-11-20T12:00:00Z"


def test_autolab_is_one_line() -> None:
    text = written("autolab", result())
    assert text.count("\n") == 1
    assert read.checked("autolab", text)["scores"] == {"norm": 2.25, "head": 2.5}


def test_moodle_gets_feedback_that_students_may_read() -> None:
    def feedback(of: Any, setting: Any) -> str:
        return read.rows(written("moodle", of, setting))[1][2]

    assert feedback(result(), OUTCOMES) == "norm: you forgot eps"
    assert feedback(result(), NOTHING) == ""
    assert feedback(rejected(), NOTHING).startswith("<code>s02.zip is a damaged archive")
    bad = rejected().model_copy(update={"message": r"<b>\(x\)</b> is no file"})
    assert feedback(bad, OUTCOMES) == r"<code>&lt;b&gt;\(x\)&lt;/b&gt; is no file</code>"


def test_nothing_says_that_something_is_withheld_where_nothing_is() -> None:
    open_ = result({"norm": component([criterion("a", 1, 1)])})
    for name in ONE:
        assert "hidden checks" not in written(name, open_, NOTHING)
        if name != "autolab":
            assert "There are hidden checks, too" in written(name, result(), NOTHING)
