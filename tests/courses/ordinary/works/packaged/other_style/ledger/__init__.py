"""A ledger: what came in and went out."""

from .entries import Entry as Entry
from .parts.totals import balance_after as balance_after
from .parts.totals import total as total
