import itertools

import ledger.entries


def total(entries):
    result = 0
    for entry in entries:
        result = result + entry.signed()
    return result


def balance_after(start, entries):
    amounts = [entry.signed() for entry in entries]
    found = list(itertools.accumulate(amounts, initial=start))[1:]
    for entry, balance in zip(entries, found):
        if balance < 0:
            raise ledger.entries.Overdrawn(entry.text)
    return found
