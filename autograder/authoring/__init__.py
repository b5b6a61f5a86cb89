"""What authors run: new courses, import, check, stubs, workbook, release, selftest.

The command holds it. It may use all rooms but the platforms; torch is loaded only where the
solutions run. Doors: one module for each command, such as `release.py` and `selftest.py`.
"""

from typing import Literal, get_args

# What a row of a selftest is.
Kind = Literal[
    "solution",
    "stand-in",
    "right",
    "stub",
    "trivial",
    "given",
    "misconception",
    "pair",
    "wrong",
    "mutant",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
