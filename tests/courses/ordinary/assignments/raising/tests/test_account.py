"""Public tests of account."""

import pytest
from account import Account, AccountError, NotEnough, parse_amount


@pytest.mark.parametrize("text", ["", "-5", "3.5", "ten", "0"])
def test_no_amount(text):
    """what is no amount is refused, and named"""
    with pytest.raises(ValueError, match=f"not an amount: '{text}'"):
        parse_amount(text)


def test_amount():
    assert parse_amount("250") == 250


def test_not_enough_is_kept():
    """the exception knows what was missing"""
    account = Account(100)
    with pytest.raises(NotEnough) as caught:
        account.withdraw(130)
    assert caught.value.balance == 100
    assert caught.value.missing == 30
    assert str(caught.value) == "30 missing"
    assert account.balance == 100


def test_errors_are_a_family():
    """whoever catches AccountError catches NotEnough, too"""
    with pytest.raises(AccountError):
        Account(1).withdraw(2)
    with pytest.raises(AccountError) as caught:
        Account(-1)
    assert not isinstance(caught.value, NotEnough)


def test_take_warns():
    """the old method warns, and works"""
    account = Account(10)
    with pytest.warns(DeprecationWarning, match="use withdraw"):
        assert account.take(4) == 6
    assert account.balance == 6
