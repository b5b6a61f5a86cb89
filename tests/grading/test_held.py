"""Results that are held in memory are those that were given."""

from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.batch import Regraded
from autograder.grading.store import Held
from autograder.results import ComponentResult, CriterionResult, Graded, SubmissionResult

TEXTS = st.text(max_size=8)
SCORES, MOST = st.floats(0, 9), st.floats(9, 20)
CRITERIA = st.builds(
    CriterionResult,
    id=TEXTS,
    title=TEXTS,
    score=SCORES,
    max_score=MOST,
    passed=st.none() | st.booleans(),
    facts=st.lists(TEXTS, max_size=3),
    message=TEXTS,
)
COMPONENTS = st.builds(
    ComponentResult,
    score=SCORES,
    max_score=MOST,
    criteria=st.lists(CRITERIA, max_size=2),
    misconceptions=st.lists(TEXTS, max_size=2),
)
RESULTS = st.builds(
    SubmissionResult,
    submission=TEXTS,
    assignment=TEXTS,
    status=st.just("graded"),
    score=SCORES,
    max_score=MOST,
    components=st.dictionaries(TEXTS, COMPONENTS, max_size=2),
    graded=st.none() | st.builds(Graded, versions=st.dictionaries(TEXTS, TEXTS, max_size=2)),
)


@given(results=st.lists(RESULTS, max_size=3))
def test_what_is_held_is_what_was_given(results: list[SubmissionResult]) -> None:
    pairs: Held[Regraded] = Held()
    for result in results:
        pairs.append((result, result))
    assert list(pairs) == [(result, result) for result in results]
    assert list(pairs[1:3]) == [(result, result) for result in results[1:3]]
