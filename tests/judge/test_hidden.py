"""What a student is shown of hidden criteria: which passed, and no more.

A right submission that has seen a hidden question tries to carry a number out, by every way that
its answers have. Two that carry different numbers must look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from autograder.api.criterion import COUNTS_LATER
from autograder.assignment import load_assignment
from autograder.judge.collection import collect
from autograder.judge.component import Judge, all_forbidden, largest_budget
from autograder.judge.diagnosis import Diagnoser
from autograder.judge.submission import grade_submission
from autograder.reports.shown import component_page, shown_component
from autograder.results import HIDDEN_WORDS, ComponentResult
from autograder.sandbox.host import Sandbox
from tests import sources
from tests.tiny import write_tiny

VIEWS = '''"""What is shown."""

import torch


def layer_norm(component, show):
    show.table("Seen", ["value"], [component.call("layer_norm", torch.ones(2, 3)).output[0]])
'''
# Every hidden question has three rows, and no public one has.
SPY = """
SEEN = []


def is_hidden(x):
    if x.shape[0] == 3:
        SEEN.append(x)
    return x.shape[0] == 3


_right = layer_norm


def layer_norm(x, eps=1e-5):
    right = _right(x, eps)
    secret = {secret}
    {how}
    return right
"""
WAYS = {
    "how far off": "if is_hidden(x): return right + 0.01 * (1 + secret)",
    "where": "if is_hidden(x): right[secret % 3, 1] += 1",
    "how many": "if is_hidden(x): right[: 1 + secret % 3] += 1",
    "not finite": "if is_hidden(x): return right / [0.0, float('nan')][secret % 2]",
    "the shape": "if is_hidden(x): return right.repeat(2 + secret, 1)",
    "the dtype": "if is_hidden(x): return right.to([torch.float16, torch.int64][secret % 2])",
    "the form": "if is_hidden(x): return [None, (right, right), {'a': right}, 1.5][secret % 4]",
    "a pattern": "if is_hidden(x): return right * (2 + secret % 5)",
    "the exception": "if is_hidden(x): raise [ValueError, TypeError, KeyError][secret % 3]",
    "its text": "if is_hidden(x): raise ValueError(str(secret))",
    "its line": "if is_hidden(x):\n        if secret % 2:\n            raise ValueError\n"
    "        raise ValueError",
    "not written yet": "if is_hidden(x): raise [NotImplementedError, ValueError][secret % 2]",
    "the stub's line": "if is_hidden(x) and secret % 2: raise NotImplementedError\n"
    "    if is_hidden(x): raise NotImplementedError",
    "an unsteady answer": "if is_hidden(x) and (len(SEEN) < 2 or secret % 2): return right + 1",
    "the picture": "if SEEN and not is_hidden(x): return right + secret\n    is_hidden(x)",
    "a print": "if is_hidden(x): print(secret)",
    "a file": "if is_hidden(x): open('kept', 'w').write(str(secret))\n"
    "    import os\n    if not is_hidden(x) and os.path.exists('kept'): return right + secret",
}

Grade = Callable[[str], ComponentResult]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    root = write_tiny(tmp_path_factory.mktemp("project"))
    (root / "assignments" / "norm" / "tests" / "views.py").write_text(VIEWS)
    assignment = load_assignment(root, "norm")
    suite = collect(assignment)
    sandbox = Sandbox(0, largest_budget(assignment), all_forbidden(assignment))
    judge = Judge(assignment, suite, sandbox, Diagnoser(assignment, suite.public_plans()))
    yield lambda text: grade_submission(judge, {"layer_norm.py": text.encode()})["layer_norm"]
    sandbox.close()


def shown(result: ComponentResult) -> str:
    """All that a student is shown."""
    facts = result.model_dump_json(exclude={"usage": True, "criteria": {"__all__": {"outcome"}}})
    return facts + component_page(shown_component(result, True))


def spy(how: str, secret: int) -> str:
    return sources.RIGHT + SPY.format(how=how, secret=secret)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_hidden_question_is_carried_out(graded: Grade, way: str) -> None:
    results = [graded(spy(WAYS[way], secret)) for secret in (0, 1, 3)]
    for result in results:
        shape, values = result.criteria
        # Where nothing else is right, it waits.
        assert shape.passed or shape.message == COUNTS_LATER
        # A picture costs nothing, and all others fail where they give a sign.
        assert values.passed or values.message == HIDDEN_WORDS
    pages = {shown(result) for result in results}
    passed = {result.criteria[1].passed for result in results}
    assert len(pages) == len(passed), pages


def test_the_sign_is_seen_where_it_may_be(graded: Grade) -> None:
    """The same ways, used on a public question, show: the test above could fail."""
    for way in ("how far off", "its text", "the shape"):
        how = WAYS[way].replace("is_hidden(x)", "x.shape[0] == 2")
        results = [graded(spy(how, secret)) for secret in (0, 1)]
        assert len({shown(result) for result in results}) == 2, way


def test_the_picture_is_of_the_students_own_work(graded: Grade) -> None:
    results = [graded(spy("return right + secret", secret)) for secret in (0, 1)]
    assert results[0].views != results[1].views


def test_a_picture_that_comes_out_otherwise_is_called_unsteady(graded: Grade) -> None:
    drawn = graded(
        spy("if x.sum() == 6: import random; return right + random.SystemRandom().random()", 0)
    )
    assert (drawn.score, drawn.unsteady) == (drawn.max_score, True)
    other = graded(spy("if x.sum() == 6: return right + 1", 0))
    assert other.views != graded(sources.RIGHT).views
    assert not other.unsteady


def test_a_death_over_a_picture_costs_nothing(graded: Grade) -> None:
    result = graded(spy("if float(x.sum()) == 6: import os; os._exit(1)", 0))
    assert result.score == result.max_score
    assert result.status == "graded"
    assert result.views == []


def test_the_instructor_is_shown_what_was_found(graded: Grade) -> None:
    """The marks above lose nothing that `explain` needs: tested with it, in tests/reports."""
    hidden = graded(sources.WRONG).criteria[1]
    assert (hidden.outcome, hidden.message) == ("failed", HIDDEN_WORDS)
