"""Every link of a page leads to a file that is there, and no page holds both sides of a merge."""

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "assignments/*/README.md")
    for path in ROOT.glob(pattern)
)


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.M | re.S)


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, as GitHub and GitLab make them of its headings."""
    found = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"\w+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in headings(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_page_holds_both_sides_of_a_merge(page: Path) -> None:
    assert not re.search(r"^(<<<<<<<|>>>>>>>) ", page.read_text("utf-8"), re.M)
