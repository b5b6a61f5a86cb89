"""Texts are text, secrets stay away, and who is not to be named is not."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import autograder
from autograder.reports.pages.group import class_page
from autograder.reports.pages.statistics import Gathered
from autograder.reports.pages.student import student_page
from autograder.reports.pages.writing import files_of, write_pages
from autograder.reports.shown import About, shown
from autograder.results import Held, SubmissionResult
from autograder.settings import Feedback
from autograder.text import clean
from tests.reports.exports.made import (
    NOTHING,
    OUTCOMES,
    component,
    criterion,
    fault,
    marked,
    rejected,
    result,
)
from tests.reports.exports.test_hostile import TEXTS
from tests.reports.pages.read import Element, parsed, students

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
VIEWS = [
    {"kind": "table", "title": "T", "note": "", "header": ["a"], "rows": [["1"]]},
    {"kind": "nonsense"},
    {"title": "no kind"},
]


def student(found: SubmissionResult, setting: Feedback = OUTCOMES, before=None) -> str:
    then = None if before is None else shown(before, setting, NOW)
    return student_page(shown(found, setting, NOW), then, "Norms", NOW)


def classwide(*results: SubmissionResult) -> str:
    files = files_of([found.submission for found in results])
    return class_page(Gathered(results), files, "Norms", NOW)


def hostile(text: str) -> SubmissionResult:
    """Return a result with a text wherever there is one."""
    view = {"kind": "table", "title": text, "note": text, "header": [text], "rows": [[text]]}
    criteria = [
        criterion("a", 0, 1, facts=[text], hints=[text], causes=[text], title=text, source=text),
        criterion("b", 0, 2, True, causes=[text], title=text),
        criterion(text or "c", 1, 1, title=text),
    ]
    part = component(
        criteria, notes=[text], causes=[text], views=[view], misconceptions=[text or "m"]
    )
    left = component([criterion("d", 0, 1)], status="missing", notes=[text])
    unrun = component([criterion("e", 0, 1)], status="forbidden", notes=[text])
    parts = {text or "n": part, "left": left, "unrun": unrun}
    places = [
        Held(component=name, file=text or "f", line=1, what=text) for name in ("unrun", "left")
    ]
    return result(parts, submission=text or "s", assignment="norm", review=places)


def shape(element: Element) -> list[tuple[str, tuple[str, ...]]]:
    """Return all elements with the names of their attributes: what a browser would make of it."""
    return [(e.tag, tuple(e.attributes)) for e in element.all()]


def safe_links(page: Element) -> None:
    for link in page.all("a"):
        href = link.attributes["href"] or ""
        assert href.startswith(("#", "students/")), href
        assert "javascript" not in href.partition(":")[0] or ":" not in href


@settings(max_examples=40)
@given(text=TEXTS)
@example(text="</script><script>alert(1)</script>")
@example(text='"><img src=x onerror=alert(1)>')
@example(text="<!--<script>\u2028\u2029&amp;")
@example(text="javascript:alert(1)//../../etc/passwd")
def test_a_text_is_nothing_but_text(text: str) -> None:
    # A page of the same result with a harmless text has the same elements.
    plain = "x" if clean(text) else ""
    for make in (student, classwide):
        page, harmless = parsed(make(hostile(text))), parsed(make(hostile(plain)))
        tags = {tag for tag, _ in shape(harmless)} | {"wbr"}
        assert {tag for tag, _ in shape(page)} <= tags
        assert not [a for _, attributes in shape(page) for a in attributes if a.startswith("on")]
        safe_links(page)
        assert len(page.all("script")) == len(harmless.all("script"))
    found = students(parsed(classwide(hostile(text))))[0]
    assert found[0] == (clean(text or "s", 120) or "(no name)")


def test_a_rejected_one_says_why_as_text() -> None:
    text = "<script>x</script>"
    found = result({}, status="rejected", score=0.0, max_score=3.0, message=text, submission=text)
    for html in (student(found), classwide(found)):
        assert text not in html.replace("</script>\n<script>", "")
        assert text in parsed(html).named("main").text


def test_nothing_is_loaded_and_only_the_scripts_of_the_page_run() -> None:
    for html in (student(marked()), classwide(marked())):
        page = parsed(html)
        (policy,) = [
            meta.attributes["content"] or ""
            for meta in page.all("meta")
            if meta.attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        scripts = policy.partition("script-src ")[2].partition(";")[0]
        assert "unsafe" not in scripts
        assert not page.all("link")
        for element in page.all():
            assert "src" not in element.attributes or element.tag == "img"
        for image in page.all("img"):
            assert (image.attributes["src"] or "").startswith("data:image/png;base64,")
        assert "http:" not in html
        assert "https:" not in html


@pytest.mark.parametrize("setting", [OUTCOMES, NOTHING], ids=["outcomes", "nothing"])
def test_what_is_the_instructors_is_on_no_page_of_a_student(setting: Feedback) -> None:
    html = student(marked(), setting, before=marked())
    assert "SECRET" not in html
    for word in ("timeout", "too long", "71.625", "918273645"):
        assert word not in parsed(html).named("main").text
    for word in ("PUBLICtitle", "PUBLICfact", "PUBLIChint"):
        assert word in html
    for word in ("HIDDENtitle", "HIDDENcause", "17 of 32", "HIDDENboth"):
        assert (word in html) == (setting is OUTCOMES)


def test_a_change_of_hidden_points_is_shown_where_they_are() -> None:
    def attempt(score: float) -> SubmissionResult:
        return result(
            {"norm": component([criterion("open", 1, 1), criterion("sealed", score, 2, True)])}
        )

    seen = parsed(student(attempt(2.0), OUTCOMES, attempt(0.0))).section("changed").text
    assert "Then: 1 of 3 points. Now: 3 of 3 points." in seen
    assert "sealed holds (0 → 2)" in seen
    kept = parsed(student(attempt(2.0), NOTHING, attempt(0.0)))
    assert "sealed" not in kept.text
    assert "No criterion earns more or less" in kept.section("changed").text


def test_the_class_has_no_code_and_no_value_of_anyone() -> None:
    html = classwide(marked(), result())
    for word in (
        "fact",
        "hint",
        "words",
        "message",
        "path",
        "hash",
        "suite",
        "version",
        "sandbox",
        "source",
    ):
        assert f"SECRET{word}" not in html
    for word in ("PUBLICfact", "PUBLIChint", "norm.py", "raised ValueError"):
        assert word not in html
    # What the instructor may see is there, so this could fail.
    assert "SECRETid" in html
    assert "SECRETmistake" in html


def test_causes_stand_once_with_all_that_they_cost_and_upstream_first() -> None:
    cause = "you forgot eps (page 2)"
    first = component([criterion("a", 0, 1.5), criterion("b", 2, 2)])
    second = component(
        [criterion("c", 0, 2, causes=[cause]), criterion("d", 1, 4, True, causes=[cause])],
        causes=[cause],
    )
    gone = component([criterion("e", 0, 3)], status="missing")
    later = component([criterion("f", 0, 1, causes=[cause])], causes=[cause])
    parts = {"first": first, "second": second, "gone": gone, "later": later}
    page = parsed(student(result(parts)))
    told = [item.text for item in page.section("costs").all("li")]
    assert [line.partition(":")[0] for line in told] == [
        "first , 1.5 points in 1 criterion",
        "second , 6 points in 3 criteria",
        "gone , 3 points in 1 criterion",
    ]
    assert "".join(told).count(cause) == 1
    assert "The file was not handed in." in told[2]
    todo = page.section("next").text
    assert todo.startswith("What to do next Begin with first")
    assert todo.endswith("Then: second , gone , later")
    rest = parsed(student(result({"second": second})))
    assert "you forgot eps Read: page 2" in rest.section("next").text


def test_what_is_complete_says_so_and_has_nothing_to_do() -> None:
    page = parsed(student(result({"norm": component([criterion("a", 1, 1)])})))
    assert "Nothing is lost" in page.named("main").text
    assert not [e for e in page.all("section") if e.attributes["aria-labelledby"] == "next"]
    assert "Nothing is lost" not in parsed(student(rejected())).text
    assert "your instructor has been told" in parsed(student(fault())).text


def test_a_view_that_cannot_be_drawn_costs_nothing_else() -> None:
    found = result({"norm": component([criterion("a", 0, 1)], views=VIEWS)})
    assert [t.text for t in parsed(student(found)).all("b") if t.text == "T"] == ["T"]


def named(name: str, archive: str) -> SubmissionResult:
    said = f"{name} of {archive} says so"
    view = {"kind": "table", "title": said, "note": said, "header": [said], "rows": [[said]]}
    part = component(
        [
            criterion("a", 0, 1, facts=[said], hints=[said], message=said),
            criterion("b", 1, 1, True),
        ],
        notes=[said],
        message=said,
        views=[view],
        misconceptions=["norm.forgot"],
        causes=["you forgot it"],
    )
    return result({"norm": part}, submission=name, path=f"/home/{name}/{archive}", message=said)


def test_anonymous_pages_name_nobody_anywhere(tmp_path: Path) -> None:
    ids = [f"Ada.Lovelace{number}@uni" for number in range(12)]
    results = [named(name, f"{name}.zip") for name in ids]
    bad = {"status": "rejected", "score": 0.0, "max_score": 2.0}
    results.append(result({}, submission="Grace", message="Grace.zip is damaged", **bad))
    earlier = {ids[3]: named(ids[3], "old.zip")}
    about = About("Norms", OUTCOMES, NOW)
    write_pages(results, tmp_path / "pages", about, earlier, anonymous=True)
    files = [path for path in (tmp_path / "pages").rglob("*") if path.is_file()]
    assert len(files) == 14
    for path in files:
        whole = path.name + path.read_text()
        for word in ("Lovelace", "Grace", "Ada", ".zip", "/home", "says so"):
            assert word not in whole, path
    listed = students(parsed((tmp_path / "pages" / "index.html").read_text()))
    assert sorted(row[0] for row in listed) == [f"student-{n:02d}" for n in range(1, 14)]
    # The same name wherever it is, and something to see there.
    for row in listed:
        page = parsed((tmp_path / "pages" / row[1]).read_text())
        assert row[0] in page.all("h1")[0].text + page.all("p")[0].text
    told = [p for p in files if "What changed since" in p.read_text()]
    assert len(told) == 1


def test_the_order_of_anonymous_rows_tells_nothing(tmp_path: Path) -> None:
    results = [
        result({"norm": component([criterion("a", n, 40)])}, submission=f"s{n}") for n in range(40)
    ]
    orders = []
    for name in ("one", "two"):
        write_pages(results, tmp_path / name, About("N", OUTCOMES, NOW), anonymous=True)
        page = parsed((tmp_path / name / "index.html").read_text())
        orders.append([row[3] for row in students(page)])
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(40))
    assert orders[0] != orders[1]
    assert orders[0] != list(range(40))


@settings(max_examples=60)
@given(ids=st.lists(TEXTS | st.text(max_size=5), max_size=12, unique=True))
@example(ids=["Ada", "ada", "ADA"])
@example(ids=["con", "nul.txt", "..", ".", "", "a/b", "a\\b", "x" * 240, "index"])
def test_every_id_has_a_file_of_its_own_that_any_system_takes(ids: list[str]) -> None:
    files = files_of(ids)
    assert len({file.casefold() for file in files}) == len(ids)
    for file in files:
        assert len(file) < 100
        assert all(c.isalnum() or c in "._-~" for c in file)
        assert file.isascii()
        assert not file.startswith((".", "con.", "nul."))


def test_an_id_cannot_be_made_to_take_the_file_of_another() -> None:
    (file,) = files_of(["a b"])
    taken = file.removesuffix(".html")
    files = files_of(["a b", taken])
    assert len(set(files)) == 2
    assert files[0] == file


def test_nothing_is_written_with_other_capitals_than_it_has() -> None:
    """`layer_norm` is another name than `Layer_norm`: no style and no template changes letters."""
    package = Path(autograder.__file__).parent
    changing = re.compile(r"text-transform|font-variant: *small|\|\s*(capitalize|title|upper)\b")
    code = re.compile(r"\.(capitalize|title|upper|swapcase)\(\)")
    templates = [path for path in package.rglob("templates/**/*") if path.is_file()]
    shown = [*(package / "reports").rglob("*.py"), *(package / "platforms").rglob("*.py")]
    for room in ("api", "rules", "student", "judge"):
        shown += (package / room).rglob("*.py")
    found = [path.name for path in templates if changing.search(path.read_text("utf-8"))]
    found += [path.name for path in (*templates, *shown) if code.search(path.read_text("utf-8"))]
    assert len(templates) > 20
    assert found == []
