import ledger.entries
import pytest
from ledger import Entry, money

from .samples import week


@pytest.mark.parametrize(("goes_out", "right"), [(False, 250), (True, -250)])
def test_an_amount_has_a_sign(goes_out, right):
    assert Entry("bread", 250, goes_out).signed() == right


def test_an_entry_is_written_with_its_sign():
    assert str(ledger.entries.Entry("bread", 205, True)) == "bread: -2.05"
    assert money.written(7) == "0.07"


def test_the_first_of_the_week_came_in():
    assert week()[0].signed() == 120_00
