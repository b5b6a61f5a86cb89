"""Formgrader's pages, used as a teacher would: by looking and clicking."""

from __future__ import annotations

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, expect

from tests.e2e.browser import Browser
from tests.e2e.course import ASSIGNMENT, NOTEBOOK
from tests.e2e.server import Server


@dataclass(frozen=True)
class Formgrader:
    """A browser at a server with formgrader."""

    browser: Browser
    server: Server
    # Tells the pictures of several courses apart.
    name: str
    assignment_name: str = ASSIGNMENT

    def picture(self, name: str) -> None:
        self.browser.picture(f"{self.name}-{name}")

    def log_in(self) -> None:
        """Log in on Jupyter's own page: a cookie from formgrader holds for a part of its pages."""
        self.browser.page.goto(f"{self.server.url}login")
        self.browser.page.locator("#password_input").fill(self.server.token)
        self.browser.page.locator("#login_submit").click()
        self.browser.page.wait_for_url("**/lab*")

    def _open(self, path: str) -> None:
        self.browser.page.goto(f"{self.server.url}formgrader/{path}")

    def assignment(self) -> Locator:
        """Open the list of assignments and return the row of ours."""
        self._open("manage_assignments")
        return self.browser.page.locator("#main-table tr", has_text=self.assignment_name)

    def submissions(self) -> dict[str, Locator]:
        """Go from there to the submissions and return their rows, by student."""
        self.assignment().locator(".num-submissions a").click()
        rows = self.browser.page.locator("#main-table tr:has(.student-id:not(:empty))")
        expect(rows.first).to_be_visible()
        return {row.locator(".student-id").inner_text(): row for row in rows.all()}

    def autograde(self, student: str) -> str:
        """Press the button of one submission and return the log that formgrader shows."""
        row = self.submissions()[student]
        row.locator(".autograde a").click()
        dialogue = self.browser.page.locator("#success-modal, #error-modal")
        expect(dialogue).to_be_visible()
        said = dialogue.inner_text()
        self.picture(f"autograded-{student}")
        assert dialogue.get_attribute("id") == "success-modal", said
        dialogue.locator(".modal-footer button").click()
        expect(dialogue).to_have_count(0)
        return said

    def submission(self, student: str) -> None:
        """Open a student's workbook by way of the list of students."""
        self._open(f"manage_students/{student}/{self.assignment_name}")
        self.browser.page.locator("#main-table a", has_text=NOTEBOOK).click()
        # The boxes are filled by a second request.
        expect(self.score("layer_norm")).to_have_attribute("placeholder", re.compile(r"\d"))

    def cell(self, name: str) -> Locator:
        """Return the whole cell of a component or question, outputs and all."""
        return self.browser.page.locator("div.cell", has=self.score(name))

    def score(self, name: str) -> Locator:
        return self.browser.page.locator(f"input.score#{name}")

    def mark(self, name: str, points: float, comment: str) -> None:
        """Type points and a comment into the boxes of a cell; leaving a box saves it."""
        for box, text, address in (
            (self.score(name), f"{points:g}", "grade"),
            (self.browser.page.locator(f"#{name}-comment"), comment, "comment"),
        ):
            box.fill(text)
            with self.browser.page.expect_response(f"**/formgrader/api/{address}/*") as saved:
                box.press("Tab")
            assert saved.value.ok, saved.value.status_text
