from unittest import mock
import words
from words import count_words, longest


def test_count():
    counts = count_words("a rose is a rose")
    assert counts == {"a": 2, "rose": 2, "is": 1}
    assert len(counts) == 3


def test_longest():
    for given, right in [(["a", "bcd"], "bcd"), (["xy"], "xy")]:
        assert longest(given) == right
    assert words.longest(["q", "rs"]) == "rs"


def test_calls():
    with mock.patch("words.longest") as fake:
        words.longest([])
        fake.assert_called_once()
