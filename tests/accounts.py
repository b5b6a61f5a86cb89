"""Other accounts of this machine, by numbers that need no entry anywhere: forks take them on."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable

import pytest

OWNER, SECOND, OTHER, GRADERS = 61001, 61002, 61003, 61010
NEEDS_ROOT = pytest.mark.skipif(
    not hasattr(os, "setresuid") or os.geteuid() != 0,
    reason="OTHER ACCOUNTS CANNOT BE TESTED HERE: only root can take them on",
)


def as_account(uid: int, do: Callable[[], object]) -> bool:
    """Do something as another account; return whether it went well.

    The owner and the second grader are of the graders' group, the other one is not.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            group = uid if uid == OTHER else GRADERS
            os.setgroups([])
            os.setresgid(group, group, group)
            os.setresuid(uid, uid, uid)
            do()
            code = 0
        except PermissionError:
            pass
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1] == 0
