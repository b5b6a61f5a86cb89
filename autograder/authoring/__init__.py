"""What authors run: new courses, stubs, workbook, release, selftest."""

from typing import Literal, get_args

# What a row of a selftest is.
Kind = Literal[
    "solution", "stand-in", "right", "stub", "trivial", "misconception", "pair", "wrong", "mutant"
]
KINDS: tuple[Kind, ...] = get_args(Kind)
