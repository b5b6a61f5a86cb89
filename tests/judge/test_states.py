"""Work that has a state: what it does at its first, a middle and its last call, in every component.

It counts its calls, and does something odd at some of them: it answers wrongly, dies, or hangs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from autograder.assignment import Assignment
from autograder.results import ComponentResult
from tests.judge.conftest import Grade

pytestmark = pytest.mark.slow

# What counts the calls of each component.
ENTRIES = {
    "layer_norm": "LayerNorm.forward",
    "positional_encoding": "PositionalEncoding.forward",
    "attention": "scaled_dot_product_attention",
    "multi_head_attention": "MultiHeadAttention.forward",
    "feed_forward": "FeedForward.forward",
    "transformer_block": "TransformerBlock.forward",
    "lm_head": "TiedLMHead.forward",
}
COUNTS = """

import os
_right = {entry}
_count = 0


def _counting(*args, **kwargs):
    global _count
    _count += 1
    answer = _right(*args, **kwargs)
    if {when}:
        {what}
    return answer


{entry} = _counting
"""
WRONG = "return tuple(2 * one for one in answer) if isinstance(answer, tuple) else 2 * answer"
DIES = "os._exit(1)"
Works = Mapping[str, str]


@pytest.fixture(scope="module")
def works(assignment: Assignment) -> Works:
    return {path.name: path.read_text() for path in assignment.secret.glob("*.py")}


def counting(works: Works, component: str, when: str, what: str) -> Works:
    """Return right work of which one component does something at some of its calls."""
    added = COUNTS.format(entry=ENTRIES[component], when=when, what=what)
    return {**works, f"{component}.py": works[f"{component}.py"] + added}


def settled(result: ComponentResult) -> dict[str, Any]:
    return result.model_dump(exclude={"usage"})


@pytest.mark.parametrize("component", ENTRIES)
def test_who_answers_wrongly_or_dies_once_is_judged_by_first_answers(
    grade: Grade, works: Works, component: str
) -> None:
    """Each child is another first time, and whatever it is, it is so again."""
    whole = grade(works, only=[component])[component]
    assert whole.score == whole.max_score
    for what, outcomes in ((WRONG, {"failed"}), (DIES, {"crashed", "not_run"})):
        for when in ("_count == 1", "_count == 4"):
            work = counting(works, component, when, what)
            one, other = (grade(work, only=[component])[component] for _ in range(2))
            assert settled(one) == settled(other)
            lost = {c.outcome for c in one.criteria if not (c.passed or c.form)}
            assert lost <= outcomes, (what, when)
            # The one at which it happens in the child that a test asks.
            if when == "_count == 1":
                assert lost, (what, when)


@pytest.mark.parametrize("component", ["layer_norm", "attention"])
def test_who_dies_at_every_later_call_dies_so_often_as_is_allowed(
    grade: Grade, works: Works, component: str
) -> None:
    result = grade(counting(works, component, "_count >= 1", DIES), only=[component])[component]
    assert result.status == "crashed"
    assert [c.outcome for c in result.criteria].count("crashed") == 3
