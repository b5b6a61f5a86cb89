"""A submission's time: what is dealt out never exceeds it, and everyone gets a share."""

from hypothesis import given
from hypothesis import strategies as st

from autograder.judge.submission import SubmissionTime
from autograder.sandbox.handle import Clock


def a_clock() -> Clock:
    clock = Clock()
    clock.now = 1000.0
    return clock


@given(
    limit=st.floats(1, 1000),
    own=st.floats(0.1, 500),
    used=st.lists(st.floats(0, 1), min_size=1, max_size=9),
)
def test_all_components_together_stay_within_the_submissions_time(
    limit: float, own: float, used: list[float]
) -> None:
    clock = a_clock()
    time = SubmissionTime(limit, len(used), clock)
    for share in used:
        part = time.next(own)
        assert part.end - part.begin <= own + 1e-6
        # Whatever those before it did, something is left for it.
        assert part.end - part.begin >= min(own, 0.5 * limit / len(used)) - 1e-6
        clock.now += share * (part.end - part.begin)
    assert clock.now <= 1000.0 + limit + 1e-6


def test_a_quick_submission_is_limited_by_its_components_alone() -> None:
    clock = a_clock()
    time = SubmissionTime(150.0, 7, clock)
    for _ in range(7):
        part = time.next(60.0)
        assert part.end == clock.now + 60.0
        assert part.words == "its time (60 s) is over"
        clock.now += 1.0


def test_who_comes_late_is_told_that_the_whole_time_is_used_up() -> None:
    clock = a_clock()
    time = SubmissionTime(150.0, 5, clock)
    clock.now += time.next(60.0).end - clock.now
    assert "150 s" in time.next(60.0).words


def test_time_that_is_over_is_over() -> None:
    clock = a_clock()
    time = SubmissionTime(10.0, 1, clock)
    clock.now += 11.0
    part = time.next(60.0)
    assert part.end == part.begin
