"""Run a command as a container does that has neither Landlock nor namespaces.

`python -m tests.bare [--without CAPABILITY] COMMAND...`; a capability is given by its number.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys

import pyseccomp

_LANDLOCK = (444, 445, 446)
_REFUSED = ("unshare", "setns", "mount", "umount2", "pivot_root")
_CLONE_NEW = (0x80, 0x20000, 0x02000000, *(1 << bit for bit in range(26, 31)))
_PR_CAPBSET_DROP = 24


def take_away() -> None:
    """Take Landlock and namespaces from this process and all that it starts."""
    program = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for number in (*_LANDLOCK, "clone3"):
        program.add_rule(pyseccomp.ERRNO(errno.ENOSYS), number)
    for name in _REFUSED:
        program.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
    for flag in _CLONE_NEW:
        asked = pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag)
        program.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", asked)
    program.load()


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[0] == "--without":
        # It is lost with the next program.
        assert ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, int(words[1]), 0, 0, 0) == 0
        words = words[2:]
    take_away()
    os.execvp(words[0], words)
