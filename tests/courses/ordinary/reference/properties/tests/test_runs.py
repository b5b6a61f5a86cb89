"""Hidden tests of runs."""

import pytest
import runs
from hypothesis import assume, given, settings
from hypothesis import strategies as st

quick = settings(max_examples=40, deadline=None)
texts = st.text(alphabet="xyz", max_size=10)


@st.composite
def run_lists(draw):
    """Draw runs in which neighbours differ."""
    letters = draw(st.lists(st.sampled_from("abc"), max_size=6))
    letters = [one for place, one in enumerate(letters) if letters[place - 1 : place] != [one]]
    return [(letter, draw(st.integers(1, 5))) for letter in letters]


@quick
@given(texts, texts)
def test_join(first, second):
    """the runs of two texts are those of the whole text"""
    assert runs.join(runs.encode(first), runs.encode(second)) == runs.encode(first + second)


@quick
@given(run_lists())
def test_back_and_there(given_runs):
    """encoding gives the runs back"""
    assert runs.encode(runs.decode(given_runs)) == given_runs


@quick
@given(letter=st.characters(codec="utf-8"), count=st.integers(1, 100))
def test_one_letter(letter, count):
    """any letter, any number of times"""
    assert runs.encode(letter * count) == [(letter, count)]


@pytest.mark.parametrize("more", [0, 3])
@quick
@given(given_runs=run_lists())
def test_longer(more, given_runs):
    """runs that grow have a longest one that grows"""
    assume(given_runs)
    longer = [(letter, count + more) for letter, count in given_runs]
    assert runs.longest(longer) == max(count for _, count in given_runs) + more


class TestLongest:
    """The longest run."""

    @quick
    @given(st.lists(st.integers(1, 9), min_size=1))
    def test_longest(self, counts):
        """no run is longer"""
        found = runs.longest([("ab"[place % 2], count) for place, count in enumerate(counts)])
        assert found == max(counts)

    def test_of_nothing(self):
        assert runs.longest([]) == 0
