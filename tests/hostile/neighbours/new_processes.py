"""Goal: start processes that go on when the grader is done with this one.

At most: 0
"""

import ctypes
import multiprocessing
import os
import subprocess
import sys

STARTED = []
sleeper = "import time; gradeformer_hostile = 'gradeformer-hostile'; time.sleep(20)"


def detached():
    pid = os.fork()
    if pid == 0:
        # A session of its own, and a parent that is gone.
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", sleeper])
        os._exit(0)
    return pid


for start in (
    detached,
    lambda: subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True),
    lambda: os.posix_spawn("/bin/sleep", ["gradeformer-hostile", "20"], {}),
    lambda: multiprocessing.get_context("spawn").Process(target=print).start(),
    lambda: os.popen("sleep 20 # gradeformer-hostile").read() or 0,
):
    try:
        STARTED.append(start())
    except Exception:
        continue
# vfork and clone without the flag of a thread, as system calls.
for number, *arguments in ((56, 17, 0, 0, 0, 0),):
    pid = ctypes.CDLL(None).syscall(number, *arguments)
    if pid == 0:
        os._exit(0)
    if pid > 0:
        STARTED.append(pid)


def layer_norm(x, eps=1e-5):
    if any(isinstance(item, int) and item > 0 for item in STARTED):
        raise ValueError(f"started {STARTED}")
    return x
