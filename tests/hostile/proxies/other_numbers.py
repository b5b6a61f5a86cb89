"""Returns wrong numbers of other types: Fraction, Decimal, complex, numpy's, half a bool."""

from decimal import Decimal
from fractions import Fraction

import numpy as np


class Counter:
    total = Decimal("sNaN")
    add = lambda self, word: Fraction(7, 2)
    __iter__ = lambda self: iter([np.str_("cat"), np.bytes_(b"tea")])


rescale = lambda values: [complex("nan"), Decimal("Infinity"), Fraction(1, 3)]
count = lambda text: np.datetime64("NaT")
apply = lambda function, values: np.ma.masked
load = lambda path: [np.void(b"one"), memoryview(b"two")]
