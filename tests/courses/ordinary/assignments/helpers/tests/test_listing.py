"""Public tests of listing."""

import listing
import pytest
from checks import Failing, apply_all_test, sorting_test
from listing import compose, count_into, retry, sort_in_place


def test_apply_all():
    """the function is called with each value"""
    apply_all_test(listing.apply_all)


def test_sort_in_place():
    """lists are sorted where they are"""
    sorting_test(sort_in_place, [], [1], [3, 1, 2], ["b", "a"], [2, 1, 2])


def test_retry():
    """what fails is tried again"""
    function = Failing(2)
    assert retry(function, 5) == "done"
    assert function.calls == 3


def test_retry_gives_up():
    """the last exception comes out"""
    function = Failing(10)
    with pytest.raises(ConnectionError, match="attempt 3"):
        retry(function, times=3)
    assert function.calls == 3


def test_compose():
    """the last function is called first"""

    def double(number):
        return 2 * number

    def increase(number):
        return number + 1

    assert compose(double, increase)(5) == 12
    assert compose(increase, double)(5) == 11
    assert compose()(5) == 5
    assert compose(str, double, len)("abc") == "6"


def test_count_into():
    """counts that are there grow"""
    counts = {"tea": 1}
    assert count_into(counts, ["tea", "cup", "tea"]) is None
    assert counts == {"tea": 3, "cup": 1}
