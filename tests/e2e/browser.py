"""A headless Chromium that reaches this machine and nothing else, and keeps pictures."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

# For one step of a page, on a machine that is busy with other things.
STEP_MS = 120_000

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Pages name scripts on the internet (MathJax); they must do without.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


@dataclass(frozen=True)
class Browser:
    """One page of a browser, and where its pictures go."""

    page: Page
    pictures: Path

    def picture(self, name: str, whole: bool = False) -> None:
        self.page.screenshot(path=self.pictures / f"{name}.png", full_page=whole)


def find() -> Path | None:
    """Return the browser that is installed on this system."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return Path(found)
    return None


def artifacts() -> Path:
    """Return the folder for pictures, which is outside the project and stays."""
    if named := os.environ.get("GRADEFORMER_ARTIFACTS"):
        folder = Path(named).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    return Path(tempfile.mkdtemp(prefix="gradeformer-artifacts-"))


@contextlib.contextmanager
def chromium(program: Path, pictures: Path) -> Iterator[Browser]:
    """Open one page in a browser that remembers nothing."""
    with sync_playwright() as playwright:
        program_of_ours = playwright.chromium.launch(executable_path=program, args=[*ARGUMENTS])
        page = program_of_ours.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(STEP_MS)
        # That does not hold for expectations, which wait for five seconds.
        expect.set_options(timeout=STEP_MS)
        yield Browser(page, pictures)
        program_of_ours.close()
