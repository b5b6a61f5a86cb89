"""Hidden tests of account."""

import warnings

import account
import pytest


def test_exact_amount():
    """all that there is can be taken out"""
    mine = account.Account(70)
    try:
        left = mine.withdraw(70)
    except account.NotEnough as error:
        pytest.fail(f"refused, with {error.missing} missing")
    assert left == 0


def test_cause():
    """the exception of pay has the one of parse_amount as its cause"""
    with pytest.raises(account.AccountError, match="ten") as caught:
        account.Account(70).pay("ten")
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.type is account.AccountError


def test_either():
    """an amount of another type is a TypeError"""
    with pytest.raises((TypeError, AttributeError)) as caught:
        account.Account(70).withdraw("10")
    assert caught.type is TypeError


def test_withdraw_does_not_warn():
    """only the old method warns"""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert account.Account(10).pay("7") == 3
    assert found == []
    with pytest.raises(account.NotEnough), pytest.warns(DeprecationWarning):
        account.Account(10).take(11)
