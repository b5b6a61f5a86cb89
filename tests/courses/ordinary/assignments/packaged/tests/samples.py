"""Entries that tests begin with."""

import ledger


def week() -> list:
    """Return what happened in a week."""
    return [ledger.Entry("wages", 120_00), ledger.Entry("rent", 50_00, goes_out=True)]
