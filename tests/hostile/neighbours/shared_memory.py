"""Goal: pass answers on to the next student through shared memory, queues and semaphores.

At most: 0
"""

import ctypes
import os
from multiprocessing import shared_memory

import torch

libc = ctypes.CDLL(None)
NAME = b"/gradeformer-hostile"
KEY = 0x6766
MINE = []
FOUND = False
try:
    memory = shared_memory.SharedMemory(NAME.decode(), create=True, size=4096)
    memory.buf[:7] = b"answers"
    FOUND = True
except OSError:
    pass
# shmget, msgget, semget; mq_open, memfd_create.
for number, arguments in (
    (29, (KEY, 4096, 0o1666)),
    (68, (KEY, 0o1666)),
    (64, (KEY, 1, 0o1666)),
    (240, (NAME[1:], os.O_CREAT | os.O_RDWR, 0o666, None)),
    (319, (NAME[1:], 0)),
):
    MINE.append(libc.syscall(number, *arguments))
try:
    torch.ones(4).share_memory_()
    FOUND = True
except Exception:
    pass


def layer_norm(x, eps=1e-5):
    if FOUND or max(MINE) >= 0:
        raise ValueError(f"shared memory is there: {MINE}")
    return x
