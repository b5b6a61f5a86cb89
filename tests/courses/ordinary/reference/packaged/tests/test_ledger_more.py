import ledger
import reference


def test_many_entries():
    entries = [ledger.Entry(str(n), 7 * n, n % 3 == 0) for n in range(40)]
    mine = [reference.Entry(str(n), 7 * n, n % 3 == 0) for n in range(40)]
    assert ledger.total(entries) == reference.total(mine)
    assert ledger.balance_after(10_000, entries) == reference.balance_after(10_000, mine)


def test_nothing_is_nothing():
    assert ledger.total([]) == 0
    assert ledger.balance_after(5, []) == []
