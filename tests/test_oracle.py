"""The comparison that says whether a change moved a mark."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks import corpora, oracle
from tests.benchmarks.oracle import Compared, Difference, Expected, differences, report

RESULT: dict[str, Any] = {
    "status": "graded",
    "score": 1.0,
    "max_score": 2.0,
    "message": "",
    "duration_s": 0.5,
    "components": {
        "norm": {
            "score": 1.0,
            "max_score": 2.0,
            "status": "graded",
            "misconceptions": ["norm.biased"],
            "either": False,
            "stand_ins": [],
            "message": "",
            "criteria": [
                {
                    "id": "norm.values",
                    "title": "the values",
                    "score": 1.0,
                    "max_score": 2.0,
                    "passed": False,
                    "outcome": "failed",
                    "visibility": "public",
                    "message": "off by 2",
                }
            ],
        }
    },
}


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The result, with one value replaced."""
    found = copy.deepcopy(RESULT)
    place: Any = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return found


@pytest.mark.parametrize(
    ("path", "value", "kind", "what"),
    [
        (["status"], "error", "mark", "status"),
        (["score"], None, "mark", "score"),
        (["components", "norm", "status"], "timeout", "mark", "norm status"),
        (["components", "norm", "misconceptions"], [], "name", "norm misconceptions"),
        (["components", "norm", "stand_ins"], ["x"], "name", "norm stand_ins"),
        (["components", "norm", "criteria", 0, "score"], 2.0, "mark", "norm.values score"),
        (["components", "norm", "criteria", 0, "passed"], None, "mark", "norm.values passed"),
        (
            ["components", "norm", "criteria", 0, "outcome"],
            "crashed",
            "mark",
            "norm.values outcome",
        ),
        (["components", "norm", "criteria", 0, "message"], "", "word", "norm.values message"),
        (["components", "norm", "criteria", 0, "title"], "t", "word", "norm.values title"),
    ],
)
def test_every_value_that_matters_is_compared(
    path: list[str | int], value: Any, kind: str, what: str
) -> None:
    (found,) = differences("s01", RESULT, changed(*path, to=value))
    assert (found.kind, found.what) == (kind, what)
    assert str(found) == f"s01: {what}: {found.before!r} -> {found.after!r}"
    # An empty one is as good as none.
    assert found.after == (value if value not in ("", []) else None)


def test_what_a_run_takes_is_no_difference() -> None:
    assert differences("s01", RESULT, changed("duration_s", to=9.0)) == []


def test_a_criterion_that_is_gone_is_a_difference() -> None:
    found = differences("s01", RESULT, changed("components", "norm", "criteria", to=[]))
    assert ("norm.values score", 1.0, None) in [(d.what, d.before, d.after) for d in found]


class Graded:
    """A checkout that gives the same results, or others the second time."""

    def __init__(self, first: dict[str, Any], second: dict[str, Any] | None = None) -> None:
        self.first, self.second = first, second or first

    def grade(self, corpus: object, again: Any = ()) -> dict[str, Any]:
        return {"s01": self.second if again else self.first}


def test_what_stays_another_is_a_difference_and_what_does_not_is_unsteady() -> None:
    other = changed("score", to=2.0)
    compare: Any = oracle.compare
    steady = compare(None, Graded(RESULT), Graded(other))
    assert [d.what for d in steady.differences] == ["score"]
    assert (steady.results, steady.unsteady) == (1, [])
    loose = compare(None, Graded(RESULT, other), Graded(other))
    assert loose.differences == []
    assert len(loose.unsteady) == 1
    # What was steady before and is not now has changed.
    become = compare(None, Graded(RESULT), Graded(other, RESULT))
    assert [d.what for d in become.differences] == ["score"]


def test_a_submission_without_a_result_is_a_difference() -> None:
    class Nothing(Graded):
        def grade(self, corpus: object, again: Any = ()) -> dict[str, Any]:
            return {}

    compare: Any = oracle.compare
    (found,) = compare(None, Graded(RESULT), Nothing(RESULT)).differences
    assert (found.submission, found.what) == ("s01", "result")


def corpus_of(folder: Path) -> corpora.Corpus:
    folder.mkdir()
    return corpora.Corpus("some-class", folder, "norm")


def test_only_what_is_listed_may_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(oracle, "KEPT", tmp_path)
    moved = Compared(1, 9, [Difference("mark", "s01", "norm.values score", 1.0, 2.0)])
    rows = [(corpus_of(tmp_path / "batch"), moved, 1.0, 1.0)]
    assert report(rows, []) == 1
    assert "NOT EXPECTED: some-class: s01: norm.values score: 1.0 -> 2.0" in capsys.readouterr().out
    assert report(rows, [Expected("some-class/s01", "norm.values*", "a reason")]) == 0
    assert report(rows, [Expected("some-class/s02", "norm.values*", "a reason")]) == 2
    assert "EXPECTED AND NOT SEEN: some-class/s02" in capsys.readouterr().out


def test_another_byte_is_another_corpus(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "batch")
    found = {corpus.digest}
    (tmp_path / "batch" / "a.py").write_text("1")
    found.add(corpus.digest)
    (tmp_path / "batch" / "a.py").write_text("2")
    found.add(corpus.digest)
    assert len(found) == 3


def test_the_list_of_what_is_expected_can_be_read() -> None:
    commit, listed = oracle.read_expected(oracle.EXPECTED)
    assert commit
    assert all(entry.reason for entry in listed)
