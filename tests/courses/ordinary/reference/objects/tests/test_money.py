"""Hidden tests of money."""

import itertools

import money
import pytest
from money import Currency, Money


def test_parse():
    """a text becomes money"""
    found = Money.parse("2.50 CHF")
    assert isinstance(found, Money)
    assert (found.cents, found.currency) == (250, Currency["CHF"])


def test_hash():
    """equal money is one key"""
    assert len({Money(5), Money(5), Money(6), Money(5, Currency.CHF)}) == 3
    assert {Money(5): "five"}[Money(5)] == "five"


def test_other_types():
    """money is not equal to numbers, and cannot be added to them"""
    assert not (Money(5) == 5)
    assert Money(5) != "5" and Money(5) is not None
    with pytest.raises(TypeError):
        Money(5) + 5


def test_sorted():
    purse = money.Purse(*[Money(cents) for cents in (3, 1, 2)])
    assert sorted(purse, reverse=True) == [Money(3), Money(2), Money(1)]
    assert list(map(repr, purse)) == [f"Money({cents}, EUR)" for cents in (1, 2, 3)]
    assert [one.cents for one in purse[1:]] == [1, 2]


def test_items():
    """pieces can be replaced and taken out"""
    purse = money.Purse(Money(1), Money(2), Money(3))
    purse[1] = Money(20)
    del purse[0]
    assert [one.cents for one in purse] == [3, 20]
    with pytest.raises(IndexError):
        purse[2]


def test_with_errors():
    """a KeyError ends at the purse, another error does not"""
    with money.Purse() as purse:
        raise KeyError("lost")
    assert not purse.is_open
    with pytest.raises(ValueError, match="mine"), purse:
        assert purse.is_open
        raise ValueError("mine")
    assert not purse.is_open


def test_attributes_of_a_test():
    """the interest of one purse is not that of another"""
    one, other = money.SavingsPurse(Money(100)), money.SavingsPurse(Money(100))
    one.interest = 1.0
    assert one.total() == pytest.approx(2)
    assert other.total() == pytest.approx(1.5)
    assert hasattr(one, "interest") and not hasattr(one, "loan")
    assert getattr(one, "loan", 7) == 7


def test_instalments_are_lazy():
    """only what is asked for is computed"""
    parts = money.instalments(10**9, 10**9)
    assert list(itertools.islice(parts, 3)) == [1, 1, 1]
    assert sum(money.instalments(1001, 7)) == 1001


@pytest.mark.parametrize("currency", ["EUR", "CHF"])
def test_currencies(currency):
    assert Currency[currency] in list(Currency)
    assert Currency(Currency[currency].value) is Currency[currency]
    assert len(Currency) == 2
    assert Money(1, Currency[currency]).currency.symbol in "EF"


def test_stack_of_a_stack():
    stack = money.Stack()
    stack.push("a")
    stack.extend("bc")
    assert stack[::-1] == ["c", "b", "a"]
    assert "".join(stack) == "abc" and stack
    assert stack + ["d"] == ["a", "b", "c", "d"]
