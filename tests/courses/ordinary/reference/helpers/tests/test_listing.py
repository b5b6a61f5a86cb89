"""Hidden tests of listing."""

import pytest
from listing import apply_all, compose, retry, sort_in_place, visit


def check(function, *arguments, expected):
    """Compare what a function returns."""
    found = function(*arguments)
    assert found == expected, f"{function.__name__}{arguments}"


def test_apply_all_in_order():
    """each value is handed over once, in order"""
    seen = []

    def remember(value):
        seen.append(value)
        return len(seen)

    check(apply_all, remember, ["x", "y", "x"], expected=[1, 2, 3])
    assert seen == ["x", "y", "x"]


def test_exceptions_pass_through():
    """what a function raises is not caught"""

    class Mine(Exception):
        pass

    def fail(value):
        raise Mine(value)

    with pytest.raises(Mine):
        apply_all(fail, [1])
    with pytest.raises(Mine):
        compose(str, fail)(1)
    with pytest.raises(ZeroDivisionError):
        retry(lambda: 1 // 0, 2)


def test_sort_by_key():
    """equal keys keep their order, and the same list is changed"""
    words = ["ccc", "a", "bb", "b", ""]
    same = words
    sort_in_place(words, key=len)
    assert same == ["", "a", "b", "bb", "ccc"]
    sort_in_place(words, key=lambda word: (-len(word), word))
    assert same[0] == "ccc" and same is words


def test_visit():
    """parents come before their children"""
    found = []
    visit({"a": {"b": {}, "c": {"d": {}}}, "e": {}}, lambda *seen: found.append(seen))
    assert found == [("a", 0), ("b", 1), ("c", 1), ("d", 2), ("e", 0)]


def test_functions_of_functions():
    """functions that came back can be handed over"""
    twice = compose(lambda text: text + text, str)
    check(apply_all, twice, [1, 23], expected=["11", "2323"])
    once_more = compose(twice, twice)
    assert once_more(7) == "7777"


def test_retry_once():
    """no more attempts than are needed"""
    calls = iter([7, 8])
    assert retry(lambda: next(calls), 3) == 7
    assert next(calls) == 8
