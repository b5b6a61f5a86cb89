"""Memory that processes of one machine have in common, as lines with a writer and a reader.

Each carries a number from 0 to 15. A reader returns None where the line is cut.
"""

import ctypes
import functools
import json
import mmap
import os
import threading
import time
from pathlib import Path

import torch

LIBC = ctypes.CDLL(None, use_errno=True)
INTEL = os.uname().machine == "x86_64"
MINCORE, READAHEAD, CACHESTAT = (27, 187, 451) if INTEL else (232, 213, 451)
PAGE = mmap.PAGESIZE
# Pages of this file, a few apart from each other: no other reader has them all.
FILE = torch.__file__
STRIDE = 4
# Each copy has files of its own, which count as read once a day.
SERIAL = 0


def call(number, *arguments):
    if LIBC.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")


# The page cache: the number is which pages are in memory.


def write_page_cache(number):
    file = os.open(FILE, os.O_RDONLY)
    mapped = mmap.mmap(file, 4 * STRIDE * PAGE, prot=mmap.PROT_READ)
    for forget in (
        lambda: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED),
        lambda: mapped.madvise(21),
    ):
        try:
            forget()
        except OSError:
            continue
    for bit in range(4):
        place = bit * STRIDE * PAGE
        if not number >> bit & 1:
            continue
        for get in (
            lambda: os.posix_fadvise(file, place, PAGE, os.POSIX_FADV_WILLNEED),
            lambda: call(READAHEAD, file, ctypes.c_long(place), PAGE),
            lambda: os.pread(file, 1, place),
        ):
            try:
                get()
            except OSError:
                continue


def bits(is_there):
    """Read the number by a way to tell whether a page is in memory."""
    try:
        return sum(is_there(bit * STRIDE * PAGE) << bit for bit in range(4))
    except (OSError, ValueError):
        return None


def read_by_mincore():
    file = os.open(FILE, os.O_RDONLY)
    mapped = mmap.mmap(file, 4 * STRIDE * PAGE, flags=mmap.MAP_PRIVATE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
    there = (ctypes.c_ubyte * 1)()

    def is_there(place):
        call(MINCORE, ctypes.c_void_p(start + place), PAGE, there)
        return there[0] & 1

    return bits(is_there)


def read_by_cachestat():
    file = os.open(FILE, os.O_RDONLY)

    def is_there(place):
        asked, found = (ctypes.c_uint64 * 2)(place, PAGE), (ctypes.c_uint64 * 5)()
        call(CACHESTAT, file, asked, found, 0)
        return found[0]

    return bits(is_there)


def read_without_waiting():
    file = os.open(FILE, os.O_RDONLY)

    def is_there(place):
        try:
            return os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT)
        except BlockingIOError:
            return 0

    return bits(is_there)


def read_by_blocks():
    import resource

    file = os.open(FILE, os.O_RDONLY)

    def is_there(place):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_inblock
        os.pread(file, 1, place)
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_inblock == before)

    return bits(is_there)


# The numbers that the kernel gives to pipes. A processor draws so many at once.

DRAWN = 1024


def number_of_a_pipe():
    ends = os.pipe()
    found = os.fstat(ends[0]).st_ino
    for end in ends:
        os.close(end)
    return found


def next_draw():
    # A processor draws so many at once: the rest of an old draw says what was written long ago.
    while (number := number_of_a_pipe()) % DRAWN != 1:
        pass
    return number // DRAWN


def write_pipes(number):
    while next_draw() % 32 != 2 * number:
        pass


def read_pipes():
    return (next_draw() - 1) % 32 // 2


# The numbers of processes, from which threads have theirs, too.


def write_processes(number):
    found = [16 * number + 1]
    while found[-1] % 256 != 16 * number:
        thread = threading.Thread(target=lambda: found.append(threading.get_native_id()))
        thread.start()
        thread.join()


def read_processes():
    return os.getpid() % 256 // 16


# The times at which files were last read: a file for every number, once a day.


def files():
    found = sorted(Path(torch.__file__).parent.rglob("*.py"))
    return found[16 * SERIAL : 16 * SERIAL + 16]


def write_times(number):
    files()[number].read_bytes()


def read_times():
    now = time.time()
    lately = [n for n, path in enumerate(files()) if now - path.stat().st_atime < 10]
    return max(lately, default=None)


# What the kernel counts for everyone: a number that can be read at all is a line.

COUNTERS = [
    *(f"/proc/{name}" for name in ("stat", "vmstat", "meminfo", "diskstats", "loadavg")),
    *(f"/proc/sys/fs/{name}" for name in ("inode-nr", "inode-state", "dentry-state", "file-nr")),
    *(f"/proc/self/{name}" for name in ("io", "stat", "smaps", "pagemap", "fdinfo/0")),
    *("/proc/sys/kernel/ns_last_pid", "/proc/locks", "/proc/kpagecount", "/sys/block"),
    *("/sys/fs/cgroup", "/sys/kernel/mm/page_idle/bitmap", "/dev/shm", "/run"),
]


def read_counters():
    found = []
    for place in COUNTERS:
        try:
            found += os.listdir(place) if os.path.isdir(place) else [open(place).read(1)]
        except OSError:
            continue
    return len(found) or None


READERS = {
    "mincore": read_by_mincore,
    "cachestat": read_by_cachestat,
    "preadv2": read_without_waiting,
    "blocks": read_by_blocks,
    "counters": read_counters,
    "processes": read_processes,
    "times": read_times,
    "pipes": read_pipes,
}


def write(number):
    for line in (write_page_cache, write_processes, write_times, write_pipes):
        try:
            line(number)
        except (OSError, IndexError):
            continue


# Reading moves some of them on: once for each process.
@functools.cache
def heard():
    found = {}
    for name, line in READERS.items():
        try:
            found[name] = line()
        except Exception:
            found[name] = None
    return found


def words():
    return "HEARD " + json.dumps(heard())
