"""Goal: kill or stop itself, its parents and every process of the machine.

At most: 0
Status: import_error, crashed, timeout
"""

import ctypes
import os
import signal

LIBC = ctypes.CDLL(None, use_errno=True)
for target in (os.getppid(), 1, 0, -1, os.getpid()):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for kill in (os.kill, os.killpg, lambda pid, sig: LIBC.syscall(62, pid, sig)):
            try:
                kill(target, number)
            except OSError:
                pass
raise RuntimeError("survived")
