"""Draw the pictures of README.md: the page of the demo class, and what a student's pytest prints.

python -m tests.docs.pictures
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.conftest import ROOT

NAME = "transformer_block"
# Whose work is shown, and which check of it; it has a known mistake.
STUDENT, COMPONENT = "s09", "layer_norm"
GRADED = ROOT / "demo-results" / NAME
CLASS, PYTEST = ROOT / "docs" / "class.png", ROOT / "docs" / "pytest.png"
TYPED = f"pytest --no-header -k {COMPONENT}"
_COLUMNS, _LINES = 110, 30


def _autograder(*args: str) -> None:
    command = [sys.executable, "-m", "autograder", *args, "--root", str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _drawn(page: Path, size: str, picture: Path) -> None:
    """Draw the top of a page."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("no Chromium was found: install it, then run `make pictures`")
    # As root it has no sandbox; it opens nothing but our own page.
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command = [browser, *options, f"--window-size={size}", f"--screenshot={picture}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True)


def _pytest(folder: Path) -> str:
    """Return what pytest prints on a student's folder, with its colours."""
    _autograder("release", NAME, "--out", str(folder))
    shutil.copy(GRADED / "class" / STUDENT / f"{COMPONENT}.py", folder)
    done = subprocess.run(
        [sys.executable, "-m", *TYPED.split(), "--color=yes"],
        cwd=folder,
        env={**os.environ, "COLUMNS": str(_COLUMNS)},
        capture_output=True,
        text=True,
    )
    return done.stdout


def main() -> None:
    """Draw both pictures."""
    _autograder("demo", "--assignment", NAME)
    _drawn(GRADED / "report" / "index.html", "1280,940", CLASS)
    with tempfile.TemporaryDirectory() as place:
        said = _pytest(Path(place) / "handout")
        console = Console(record=True, width=_COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
        lines = [f"$ {TYPED}", *said.splitlines()[: _LINES - 1]]
        console.print(Text.from_ansi("\n".join(lines)))
        page = Path(place) / "pytest.html"
        page.write_text(console.export_html(inline_styles=True))
        _drawn(page, f"1080,{20 * _LINES}", PYTEST)


if __name__ == "__main__":
    main()
