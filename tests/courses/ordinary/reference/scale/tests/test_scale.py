"""Hidden tests of scale."""

import io
import re

import numpy as np
import pytest
import scale
from reference import rescale as right

EXPECTED = [0.0, 0.25, 1.0]


class Recorder:
    """Keeps what is written."""

    def __init__(self):
        self.written = ""

    def write(self, text):
        self.written += text
        return len(self.written)


class Adding:
    """Adds a number that it does not show."""

    def __init__(self):
        self.calls = 0
        self._hidden_summand = 17

    def __call__(self, value):
        self.calls += 1
        return value + self._hidden_summand


@pytest.fixture
def file(tmp_path):
    """A file of two lines."""
    path = tmp_path / "words.txt"
    path.write_text("  first \nsecond", encoding="utf-8")
    return path


def test_many_values():
    """negative numbers and the ends of the range"""
    found = scale.rescale([-4.0, -2.0, 4.0])
    assert found == pytest.approx(EXPECTED)
    assert 0 < found[1] < 0.5 and min(found) == 0
    np.testing.assert_allclose(found, EXPECTED)


def test_no_values():
    assert scale.rescale([]) == []
    assert not scale.rescale([])


def test_long_text():
    """a number that is counted with"""
    found = scale.count("word " * 40)
    assert isinstance(found, int)
    assert 39 < found < 41


def test_number_of_words():
    """a number that other things are made of"""
    assert len([0] * scale.count("word " * 40)) == 40
    assert list(range(scale.count("a b c"))) == [0, 1, 2]
    assert re.fullmatch("(4|0|40)+", f"{scale.count('word ' * 40)}")


def test_two_counters():
    """one counter knows nothing of the other"""
    first, second = scale.Counter(), scale.Counter()
    for word in "b", "a", "b":
        first.add(word)
    second.add("z")
    assert (first.total, second.total) == (3, 1)
    assert sorted(first) == list(first) == ["a", "b"]
    assert "z" not in list(first)


def test_apply_counts():
    """the function is called once for each value"""
    secret = {"a": 7, "b": 11}
    seen = []

    def look_up(key):
        seen.append(key)
        return secret[key]

    assert scale.apply(look_up, ["b", "a"]) == [11, 7]
    assert seen == ["b", "a"]


def test_apply_a_method():
    """a method is a function, too"""
    recorder = Recorder()
    assert scale.apply(recorder.write, ["ab", "c"]) == [2, 3]
    assert recorder.written == "abc"


def test_apply_an_object():
    """an object that can be called is a function, too"""
    adding = Adding()
    assert scale.apply(adding, [1, 2]) == [18, 19]
    assert adding.calls == 2


def test_apply_that_raises():
    """what the function raises comes out"""
    known = {"only": 1}
    with pytest.raises(KeyError):
        scale.apply(lambda key: known[key], ["only", "other"])


def test_apply_in_apply():
    """the function may ask once more"""
    texts = [["a b", ""], ["c"]]
    found = scale.apply(lambda row: scale.apply(scale.count, row), texts)
    assert found == [[2, 0], [1]]
    assert scale.apply(lambda text: scale.count(text) + 1, ["a b c"]) == [4]


def test_as_the_solution():
    """the values of the solution"""
    for values in ([3.0, 9.0, 4.5], [-1e9, 1e-9, 1e9], list(range(20))):
        expected = right(values)
        assert scale.rescale(values) == expected


def test_generator():
    """values can come from a generator"""
    assert scale.rescale(float(value) for value in [1, 5, 3]) == [0.0, 1.0, 0.5]


def test_open_file():
    """the words of an open file are counted, too"""
    assert scale.count(io.StringIO("one two\nthree\n")) == 3


def test_load_writes(file):
    """the clean lines are written beside the file"""
    assert scale.load(file) == ["first", "second"]
    written = file.with_name("words.txt.clean")
    assert written.read_text(encoding="utf-8") == "first\nsecond"
    assert file.read_text(encoding="utf-8") == "  first \nsecond"
