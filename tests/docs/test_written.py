"""The pages say what the code knows."""

import re

import pytest

from tests.conftest import ROOT
from tests.docs.written import NAMES, PAGES, blocks, written

_QUICK = {"fields"}
FOUND = [(page, name, text) for page in PAGES for name, text in written(page)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(name, text, marks=[] if name in _QUICK else [pytest.mark.slow])
        for _, name, text in FOUND
    ],
)
def test_a_block_is_what_make_docs_writes(
    name: str, text: str, request: pytest.FixtureRequest
) -> None:
    graded = None
    if name == "demo":
        graded = request.getfixturevalue("graded_class")(NAMES[0], "tier1")[0]
    assert text == blocks(graded)[name](), "run `make docs`"


def test_the_pictures_of_readme_are_there_and_small() -> None:
    shown = re.findall(r"!\[[^\]]+\]\((docs/\S+\.png)\)", (ROOT / "README.md").read_text())
    assert len(shown) == 2
    for picture in shown:
        assert (ROOT / picture).read_bytes().startswith(b"\x89PNG")
        assert (ROOT / picture).stat().st_size <= 150_000


def test_every_block_has_its_place() -> None:
    assert {name for _, name, _ in FOUND} == blocks().keys()
