"""Each text is read once: most tests compare the same files."""

import math

import pytest

from autograder.platforms.similar import comparing

_READ: dict[str, comparing.File] = {}


@pytest.fixture(autouse=True)
def each_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = comparing.File

    def kept(text: str, until: float = math.inf) -> comparing.File:
        if text not in _READ:
            _READ[text] = read(text, until)
        return _READ[text]

    monkeypatch.setattr(comparing, "File", kept)
