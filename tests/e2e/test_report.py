"""The pages of a class in a real browser: sorted, filtered, followed, printed, read aloud."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.grading.store import results_at
from autograder.reports.pages.writing import write_pages
from autograder.reports.shown import About
from autograder.results import SubmissionResult
from autograder.settings import Feedback
from tests.e2e.conftest import NO_PLAYWRIGHT
from tests.reports.exports.made import fault, rejected

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.browser import Browser

expect = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT).expect
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright",
    reason="AXE-PLAYWRIGHT-PYTHON IS NOT INSTALLED: run `make test-e2e`, which installs it",
)

NAME = "transformer_block"
TITLE = "Build a transformer block by hand"
HOSTILE = "<img src=x onerror=window.taken=1>\"'&lt;\u202e"
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
ABOUT = About(TITLE, Feedback(), datetime(2026, 11, 20, 12, tzinfo=UTC))


@pytest.fixture(scope="module")
def graded(graded_class: Callable[[str, str], tuple[Path, str]]) -> tuple[Path, str]:
    """The demo class, graded by the command; where to, and what it said."""
    return graded_class(NAME, "tier1")


def mixed(real: Sequence[SubmissionResult], number: int, seed: int) -> list[SubmissionResult]:
    """Make a class of components of a real one."""
    draw = random.Random(seed)
    made = []
    for count in range(number):
        parts = {n: draw.choice(real).components[n] for n in real[0].components}
        about = {
            "submission": f"u{count:04d}",
            "score": sum(part.score for part in parts.values()),
            "components": parts,
        }
        made.append(real[0].model_copy(update=about))
    return made


@pytest.fixture(scope="module")
def pages(graded: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of 120 and some who are out of the ordinary, one of them hostile."""
    real = results_at(graded[0])[0][:10]
    odd = [
        found.model_copy(update={"assignment": NAME, "max_score": 100.0})
        for found in (rejected(), fault())
    ]
    attack = real[8].model_copy(update={"submission": HOSTILE, "message": HOSTILE})
    results = [*mixed(real, 120, 7), *odd, attack]
    earlier = {"u0003": real[6]}
    out = tmp_path_factory.mktemp("pages") / "report"
    return write_pages(results, out, ABOUT, earlier).parent


@pytest.fixture
def page(browser: Browser, pages: Path) -> Page:
    """The page of the class, light and wide, in which nothing was done yet."""
    found = browser.page
    found.set_viewport_size(WIDE)
    found.emulate_media(color_scheme="light", media="screen")
    found.goto((pages / "index.html").as_uri())
    found.evaluate("try { localStorage.clear() } catch {}")
    found.reload()
    return found


def ids(page: Page) -> list[str]:
    return page.locator("#rows tbody tr:not([hidden]) th").all_inner_texts()


def column(page: Page, number: int) -> list[str]:
    cells = page.locator(f"#rows tbody td:nth-child({number})")
    return [text for text in cells.all_inner_texts() if text.replace(".", "").isdigit()]


def test_grading_says_where_the_page_is(graded: tuple[Path, str]) -> None:
    out, said = graded
    index = out / "report" / "index.html"
    assert f"Pages: {index}" in said.splitlines()
    assert index.is_file()
    students = {path.stem for path in (out / "report" / "students").glob("*.html")}
    assert students == {path.stem for path in (out / "results").glob("*.json")}


def test_a_press_on_a_column_sorts_and_another_turns_it(page: Page) -> None:
    head = page.locator("#rows thead th").nth(1)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    lowest = [float(score) for score in column(page, 2)]
    assert lowest == sorted(lowest)
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "descending")
    highest = [float(score) for score in column(page, 2)]
    assert highest == sorted(highest, reverse=True)
    assert highest[0] > lowest[0]


def test_the_table_of_criteria_is_sorted_by_numbers(page: Page) -> None:
    page.locator("#criteria ~ details > summary").last.click()
    table = page.get_by_role("table", name="All criteria")
    head = table.get_by_role("columnheader", name="discrimination")
    head.get_by_role("button").click()
    cells = table.locator("tbody td:nth-child(7)")
    values = [cell for cell in cells.evaluate_all("cs => cs.map(c => c.dataset.value)") if cell]
    assert len(values) > 10
    assert [float(v) for v in values] == sorted(map(float, values))


def test_rows_are_found_by_id_and_by_standing(page: Page) -> None:
    expect(page.locator("#count")).to_have_text("123 of 123")
    page.get_by_label("Find a student").fill("U000")
    assert ids(page) == [f"u000{n}" for n in range(10)]
    page.get_by_label("Find a student").fill("nobody at all")
    expect(page.locator("#count")).to_have_text("Nobody is found.")
    page.get_by_label("Find a student").fill("rejected")
    assert ids(page) == ["s02"]


def test_rows_are_sorted_by_a_criterion_with_the_keyboard_alone(
    page: Page, browser: Browser
) -> None:
    before = ids(page)
    page.get_by_label("Sort by a criterion").focus()
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert sorted(ids(page)) == sorted(before) != ids(page)
    cells = page.locator("#rows tbody td:nth-child(9) svg")
    ends = cells.evaluate_all("all => all.map(svg => svg.dataset.cells.slice(-1))")
    assert len(set(ends)) > 1
    assert ends == sorted(ends, key="tce0123456789A-".index)
    browser.picture("report-map")
    name = ids(page)[0]
    page.locator("#rows tbody a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/students/*.html")
    expect(page).to_have_title(f"{name}: {TITLE}")


def test_a_click_on_the_map_tells_of_its_cell(page: Page) -> None:
    page.locator("#rows svg").nth(1).click()
    expect(page.locator("#cell")).to_contain_text(
        re.compile(r"^u0000: .*positional_encoding\..*point.*\): ")
    )


@pytest.mark.parametrize("size", [{"width": 1280, "height": 900}, NARROW], ids=["desk", "phone"])
def test_the_map_fits(page: Page, size: Any) -> None:
    page.set_viewport_size(size)
    inside = page.locator("#rows").evaluate("t => t.scrollWidth - t.parentElement.clientWidth")
    assert inside <= 0


def test_links_lead_to_the_pages_of_students(page: Page) -> None:
    page.get_by_label("Find a student").fill("u0003")
    page.locator("#rows tbody tr:not([hidden]) a").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("of 100 points")
    expect(page.get_by_role("heading", name="What changed since the last attempt")).to_be_visible()
    assert not page.locator("a[href*='index']").count()
    page.go_back()
    for link in page.locator(
        "section[aria-labelledby=misconceptions] a, section[aria-labelledby=to-look-after] a"
    ).all()[:5]:
        assert (link.get_attribute("href") or "").startswith("students/")
    page.locator("section[aria-labelledby=misconceptions] a").first.evaluate("a => a.click()")
    expect(page.get_by_role("heading", name="What cost points")).to_be_visible()


def test_the_switch_changes_the_colours_of_all_and_is_kept(page: Page) -> None:
    def background() -> str:
        found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return found

    def painted() -> Any:
        return page.evaluate("getComputedStyle(document.querySelector('.map')).backgroundColor")

    assert background() == "rgb(255, 255, 255)"
    light = painted()
    page.get_by_role("button", name="Switch to dark colours").click()
    assert background() != "rgb(255, 255, 255)"
    assert painted() != light
    page.reload()
    assert background() != "rgb(255, 255, 255)"
    page.get_by_role("button", name="Switch to light colours").click()
    assert background() == "rgb(255, 255, 255)"
    page.evaluate("try { localStorage.clear() } catch {}")
    page.emulate_media(color_scheme="dark")
    page.reload()
    assert background() != "rgb(255, 255, 255)"


def test_all_of_it_is_printed(page: Page, browser: Browser, pages: Path) -> None:
    for name in ("index.html", "students/u0003.html"):
        page.goto((pages / name).as_uri())
        page.emulate_media(color_scheme="dark", media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert not page.locator("details:not([open])").count()
        # On paper it is always light.
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        if name == "index.html":
            assert page.locator("#rows tbody tr").count() == 123
        made = page.pdf(path=browser.pictures / f"report-{Path(name).stem}.pdf")
        assert made.startswith(b"%PDF")
        assert made.count(b"/Type /Page\n") > 2 or len(made) > 50_000
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details:not([open])").count()


@pytest.mark.parametrize(
    "size, scheme",
    [
        pytest.param(WIDE, "light", id="wide-light"),
        pytest.param(WIDE, "dark", id="wide-dark", marks=pytest.mark.release),
        pytest.param(NARROW, "light", id="narrow-light", marks=pytest.mark.release),
        pytest.param(NARROW, "dark", id="narrow-dark"),
    ],
)
def test_pages_have_no_serious_fault_of_accessibility(
    page: Page, pages: Path, browser: Browser, size: Any, scheme: Any
) -> None:
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    names = {path.stem: path for path in (pages / "students").glob("*.html")}
    kinds = {"class": pages / "index.html", "student": names["u0003"], "rejected": names["s02"]}
    for kind, path in {**kinds, "fault": names["s03"]}.items():
        page.goto(path.as_uri())
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
        found = axe.Axe().run(page).response["violations"]
        bad = [(v["id"], v["nodes"][0]["html"]) for v in found if v["impact"] != "minor"]
        assert bad == [], kind
        page.evaluate("for (const one of document.querySelectorAll('details')) one.open = false")
        # Nothing but tables and pictures, in frames of their own, is wider than the page.
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], kind
        browser.picture(f"report-{kind}-{size['width']}-{scheme}", whole=True)


def test_an_id_that_looks_like_markup_is_text(page: Page) -> None:
    page.get_by_label("Find a student").fill("<img")
    (name,) = ids(page)
    assert name == HOSTILE.replace("\u202e", "").strip()
    page.locator("#rows tbody tr:not([hidden]) a").click()
    expect(page.locator("header")).to_contain_text("<img src=x onerror=window.taken=1>")
    assert page.evaluate("window.taken === undefined")
    assert not page.locator("img[src=x]").count()


def test_nothing_is_asked_of_any_network(page: Page, pages: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for path in (pages / "index.html", *sorted((pages / "students").glob("u000*.html"))):
        page.goto(path.as_uri())
    assert asked
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}


@pytest.mark.release
def test_a_class_of_2000_opens_at_once(
    browser: Browser, graded: tuple[Path, str], tmp_path: Path
) -> None:
    results = mixed(results_at(graded[0])[0], 2000, 11)
    index = write_pages(results, tmp_path / "large", ABOUT)
    assert index.stat().st_size < 5_000_000
    page = browser.page
    page.set_viewport_size(WIDE)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def seconds() -> float:
        # Of computing: how long others keep the processor is not the page's.
        metrics = session.send("Performance.getMetrics")["metrics"]
        return sum(one["value"] for one in metrics if one["name"] == "ThreadTime")

    page.goto("about:blank")
    before = seconds()
    page.goto(index.as_uri())
    expect(page.locator("#count")).to_have_text("2000 of 2000")
    opened = seconds() - before
    load = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    print(f"2,000: {index.stat().st_size} bytes, {opened:.2f} s computed, {load:.0f} ms to load")
    assert 0 < opened < 2
    page.get_by_label("Find a student").fill("u19")
    expect(page.locator("#count")).to_have_text("100 of 2000")
