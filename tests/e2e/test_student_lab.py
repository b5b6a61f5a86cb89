"""The workbook in JupyterLab, as a student has it: with everything but this project."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import ROOT
from tests.e2e.conftest import NO_PLAYWRIGHT
from tests.e2e.course import ASSIGNMENT, NOTEBOOK, Course
from tests.e2e.people import People
from tests.e2e.server import jupyter
from tests.e2e.submissions import CLASS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.e2e.browser import Browser

expect = pytest.importorskip("playwright.sync_api", reason=NO_PLAYWRIGHT).expect
STUDENT = "s01"


@dataclass(frozen=True)
class Lab:
    """JupyterLab with the workbook open; cells are run by keyboard from the first one on."""

    browser: Browser
    folder: Path
    check: Locator

    def run_check(self) -> str:
        """Run the selected cell, which is the check's, and return what it then shows."""
        number = self.check.locator(".jp-InputPrompt")
        before = number.inner_text()
        self.browser.page.keyboard.press("Control+Enter")
        expect(number).to_have_text(re.compile(rf"^\[(?!{before.strip('[]: ')}\])\d+\]:$"))
        # The number and the outputs come on different channels; after the outputs comes this.
        expect(self.browser.page.locator("#jp-main-statusbar")).to_contain_text("| Idle")
        return self.check.locator(".jp-OutputArea").inner_text()


@pytest.fixture(scope="module")
def lab(people: People, collected: Course, browser: Browser) -> Iterator[Lab]:
    """A fresh copy of the assignment, opened in JupyterLab by a student."""
    home = people.home(STUDENT) / "again"
    home.mkdir()
    people.give(STUDENT, home)
    people.nbgrader(STUDENT, "fetch_assignment", ASSIGNMENT, cwd=home)
    folder = home / ASSIGNMENT
    cells = json.loads((folder / f"{NOTEBOOK}.ipynb").read_text())["cells"]
    sources = ["".join(cell["source"]) for cell in cells]
    with jupyter(people, STUDENT, folder) as server:
        page = browser.page
        page.goto(f"{server.url}lab/tree/{NOTEBOOK}.ipynb?token={server.token}")
        first = page.locator(".jp-Notebook .jp-Cell").first
        expect(first).to_be_visible()
        # What is run before the kernel is there may be forgotten.
        expect(page.locator("#jp-main-statusbar")).to_contain_text("Python 3 (ipykernel) | Idle")
        first.click()
        page.keyboard.press("Escape")
        for _ in range(sources.index('check("layer_norm")')):
            page.keyboard.press("Shift+Enter")
        check = page.locator(".jp-CodeCell.jp-mod-active")
        expect(check).to_contain_text('check("layer_norm")')
        yield Lab(browser, folder, check)


def test_this_project_is_not_in_the_students_environment(people: People) -> None:
    for code in ("import autograder", f"open({str(ROOT / 'README.md')!r})"):
        done = people.run(STUDENT, [sys.executable, "-c", code], check=False)
        assert "No module named" in done.stdout or "No such file" in done.stdout


def test_the_check_shows_the_stub_then_a_mistake_then_right_work(lab: Lab, people: People) -> None:
    said = lab.run_check()
    assert "ot attempted" in said
    for student, shown in (("s09", "n - 1"), ("s01", "")):
        # What is saved counts at the next run, in the same kernel.
        shutil.copy(CLASS / student / "layer_norm.py", lab.folder)
        people.give(STUDENT, lab.folder)
        said = lab.run_check()
        assert shown in said
        assert ("✗" in said) == bool(shown)
        lab.check.locator("table").last.scroll_into_view_if_needed()
        lab.browser.picture(f"lab-layer-norm-{student}")
    # JupyterLab gives columns one width, unless told otherwise; the first only holds a tick.
    tick = lab.check.locator("table td").first.bounding_box()
    assert tick is not None
    assert tick["width"] < 60
