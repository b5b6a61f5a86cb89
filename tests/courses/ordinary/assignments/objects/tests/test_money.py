"""Public tests of money."""

import pytest
from money import Change, Currency, Money, Purse, SavingsPurse, Stack, instalments


def test_attributes():
    """an amount has cents and a currency"""
    money = Money(250, Currency.CHF)
    assert money.cents == 250
    assert money.currency is Currency.CHF
    assert money.currency.name == "CHF" and money.currency.symbol == "F"
    assert Money(5).currency == Currency.EUR
    assert repr(money) == "Money(250, CHF)"
    assert f"{money}" == str(money)


def test_property():
    """the amount can be read and set"""
    money = Money(199)
    assert money.amount == pytest.approx(1.99)
    money.amount = 3.5
    assert money.cents == 350


def test_operators():
    """money adds up, and is compared"""
    assert Money(20) + Money(30) == Money(50)
    assert 3 * Money(20) == Money(20) * 3 == Money(60)
    assert -Money(20) == Money(-20)
    assert Money(20) != Money(20, Currency.CHF)
    assert Money(20) < Money(30)
    assert max([Money(20), Money(70), Money(30)]) == Money(70)
    assert Money(1) and not Money(0)
    with pytest.raises(ValueError, match="currencies differ"):
        Money(20) + Money(30, Currency.CHF)


def test_purse():
    """a purse is much like a list, and gives the smallest first"""
    purse = Purse(Money(50), Money(20))
    purse.put(Money(10))
    assert len(purse) == 3
    assert purse[0] == Money(50)
    assert purse[-1].cents == 10
    assert [money.cents for money in purse] == [10, 20, 50]
    assert Money(20) in purse
    assert Money(21) not in purse
    first, *rest = purse
    assert first.cents == 10 and len(rest) == 2


def test_closed_purse():
    """after the with block, the purse is closed"""
    with Purse() as purse:
        purse.put(Money(5))
        assert purse.is_open
    with pytest.raises(RuntimeError):
        purse.put(Money(5))
    assert len(purse) == 1


def test_stack():
    """a stack is a list"""
    stack = Stack([1, 2])
    stack.push(3)
    assert isinstance(stack, list)
    assert stack == [1, 2, 3]
    assert stack.peek() == 3 == stack.pop()
    assert len(stack) == 2 and stack[0] == 1
    with pytest.raises(IndexError):
        Stack().peek()


def test_change():
    """the change is a named tuple"""
    coins, rest = Money(130).change(50)
    assert (coins, rest) == (2, 30)
    change = Money(130).change(20)
    assert change.coins == 6
    assert change.rest == 10
    assert change == Change(6, 10) == (6, 10)
    assert isinstance(change, tuple)


def test_savings():
    """a purse with interest is a purse"""
    savings = SavingsPurse(Money(100), Money(300))
    assert isinstance(savings, Purse) and issubclass(SavingsPurse, Purse)
    assert type(savings) is SavingsPurse
    assert savings.total() == pytest.approx(6)


def test_instalments():
    """parts of a total, one after the other"""
    parts = instalments(10, 3)
    assert next(parts) == 4
    assert list(parts) == [3, 3]
    with pytest.raises(StopIteration):
        next(parts)
