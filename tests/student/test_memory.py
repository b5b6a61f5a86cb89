"""A student hears at home of memory that grading would not give."""

import pytest

from autograder.student import memory


def test_the_component_with_a_peak_above_the_limit_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    peaks = iter([300.0, 800.0, 1900.0, 1900.0])
    monkeypatch.setattr(memory, "peak_mb", lambda: next(peaks))
    components = ("modest", "greedy", "after_it")
    found = memory.Memory(dict.fromkeys(components, 1024))
    found.begin()
    for component in components:
        found.look(component)
    assert list(found.over) == ["greedy"]
    assert found.lines() == [
        "memory: greedy took 1600 MB, and grading gives it 1024 MB: there it would fail"
    ]
    assert "1024 MB" in found.header()[0]


def test_where_nobody_tells_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "peak_mb", lambda: None)
    found = memory.Memory({"greedy": 1024})
    found.begin()
    found.look("greedy")
    assert found.lines() == []
    assert memory.Memory({}).header() == []
