"""A large argument is sent once, and what is done to it is seen by no other call."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request
from autograder.api.operations import OrdinaryAsk
from autograder.proxies.examiner import Examiner
from autograder.proxies.proxy import ProxyModule
from autograder.sandbox.wire import decode_request, encode_request

SOURCE = """
def total(values):
    found = sum(values)
    values.clear()
    return found


def spoiled(array):
    found = float(array.sum())
    array[:] = 0
    return found


def count(mapping):
    return len(mapping)
"""


class Talk:
    """A component in this process; notes how long each question is."""

    def __init__(self, folder: Path) -> None:
        (folder / "large.py").write_text(SOURCE)
        self._executor = Executor(folder, "large", own_tensors=True)
        self.sizes: list[int] = []

    def __call__(self, request: Request) -> Reply:
        """Answer."""
        self.sizes.append(len(encode_request(request, 0)))
        return self._executor.perform(request)


@pytest.fixture
def asked(tmp_path: Path) -> tuple[Talk, Any]:
    """What is heard, and the component's module as a test has it."""
    talk = Talk(tmp_path)
    mine = Examiner(talk, ("large",), [tmp_path / "suite"], tmp_path / "own", "a test", None)
    return talk, ProxyModule("large", mine)


def test_a_list_is_sent_once_and_is_fresh_each_time(asked: tuple[Talk, Any]) -> None:
    talk, module = asked
    values = list(range(10_000))
    for _ in range(3):
        handed_over = list(values)
        assert module.total(handed_over) == sum(values)
        # What the call did is written back.
        assert handed_over == []
    assert talk.sizes[1] > 20_000
    assert max(talk.sizes[3], talk.sizes[5]) < 1_000


def test_what_is_handed_over_may_be_larger_than_any_answer() -> None:
    many: Any = {number: [number] for number in range(60_000)}
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    frame = encode_request(Request([OrdinaryAsk("call f", "call", (many, deep))]), 0)
    _, request = decode_request(io.BytesIO(frame).read)
    (asked,) = request.ops
    assert isinstance(asked, OrdinaryAsk)
    assert asked.args == (many, deep)


def test_another_content_is_sent(asked: tuple[Talk, Any]) -> None:
    talk, module = asked
    values = list(range(10_000))
    assert module.total(list(values)) == sum(values)
    values[5] = 7_000
    assert module.total(list(values)) == sum(values)
    assert talk.sizes[3] > 20_000


@pytest.mark.parametrize("make", [np.arange, torch.arange])
def test_numbers_are_fresh_each_time(asked: tuple[Talk, Any], make: Any) -> None:
    talk, module = asked
    for _ in range(3):
        numbers = make(20_000.0)
        assert module.spoiled(numbers) == 199_990_000.0
        assert float(numbers.sum()) == 0.0
    assert max(talk.sizes[3], talk.sizes[5]) < 1_000


def test_what_stands_for_an_object_is_not_taken_for_another(asked: tuple[Talk, Any]) -> None:
    talk, module = asked
    mark = object()
    mapping = dict.fromkeys(range(10000), mark)
    assert module.count(mapping) == module.count(mapping) == 10_000
    assert min(talk.sizes[1], talk.sizes[3]) > 20_000
