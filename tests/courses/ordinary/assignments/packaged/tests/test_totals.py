import pytest

from ledger.entries import Overdrawn
from ledger.parts import totals
from ledger.parts.totals import balance_after
from tests.samples import week


def test_total_of_a_week():
    assert totals.total(week()) == 70_00


def test_balance_after_each():
    assert balance_after(0, week()) == [120_00, 70_00]


def test_nobody_is_overdrawn():
    with pytest.raises(Overdrawn, match="rent") as caught:
        balance_after(0, week()[1:])
    assert caught.value.args == ("rent",)
