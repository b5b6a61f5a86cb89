"""Each text is fingerprinted once: most tests compare the same files."""

import pickle
from functools import cache
from typing import Any

import pytest

from autograder.platforms.similar import comparing


@cache
def _kept(text: str, prints_of: Any = comparing.prints_of) -> bytes:
    return pickle.dumps(prints_of(text))


@pytest.fixture(autouse=True)
def each_text_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparing, "prints_of", lambda text: pickle.loads(_kept(text)))
