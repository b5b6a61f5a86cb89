"""Children, side by side or one after the other, tell each other nothing through the kernel."""

from __future__ import annotations

import os
import textwrap
import threading

from autograder.api.messages import Request
from autograder.sandbox.handle import Child
from autograder.sandbox.host import Sandbox
from tests.asking import asks

# In every child it is the same page of the same file.
PLACE = "ctypes.cast(libc.exit, ctypes.c_void_p).value & ~4095"
HEAD = f"""
import ctypes, errno, os, time
libc = ctypes.CDLL(None, use_errno=True)
place = {PLACE}
def call(*words):
    return libc.syscall(*map(ctypes.c_long, words))
"""
WAIT = """
def f(operation):
    # For two seconds, unless somebody wakes it.
    value = ctypes.c_uint32.from_address(place).value
    patience = (ctypes.c_long * 2)(2, 0)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        if call(202, place, operation, value, ctypes.addressof(patience)) == 0:
            return "woken"
        if ctypes.get_errno() in (errno.EPERM, errno.EAGAIN):
            time.sleep(0.01)
    return "alone"
"""
WAKE = """
import threading
def f(operation):
    woken = 0
    end = time.monotonic() + 1.0
    while not woken and time.monotonic() < end:
        woken = max(0, call(202, place, operation, 9, 0))
        time.sleep(0.01)
    return woken
"""
# glibc waits for a thread's end as for something that processes share.
JOIN = """
def f():
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: time.sleep(0.1) or 7)
    thread = ctypes.c_ulong()
    assert libc.pthread_create(ctypes.byref(thread), None, start, None) == 0
    found = ctypes.c_void_p()
    assert libc.pthread_join(thread, ctypes.byref(found)) == 0
    return found.value
"""
CLOCKS = """
def f(pids):
    found = []
    for pid in pids:
        for kind in (0, 1, 2):
            try:
                found.append(time.clock_gettime(~pid << 3 | kind))
            except OSError:
                pass
    assert time.process_time() > 0 and time.thread_time() > 0 and time.monotonic() > 0
    return found
"""
PROCESSES = """
def f(pids):
    asked = (os.getpgid, os.getsid, os.sched_getparam, os.sched_getscheduler, os.sched_getaffinity)
    found = []
    for pid in pids:
        for ask in asked:
            try:
                ask(pid)
            except PermissionError:
                continue
            except ProcessLookupError:
                pass
            found.append(ask.__name__)
    for ask in asked:
        ask(0)
    return found
"""
LOOKED_UP = """
def f(name):
    # Only a name that somebody has asked for lately is answered.
    how = (ctypes.c_ulonglong * 3)(os.O_RDONLY, 0, 0x20)
    path = os.path.join(os.path.dirname(os.__file__), name).encode()
    word = ctypes.create_string_buffer(path)
    call(437, -100, ctypes.addressof(word), ctypes.addressof(how), 24)
    return errno.errorcode[ctypes.get_errno()]
"""


def started(sandbox: Sandbox, code: str) -> Child:
    child = sandbox.fork("f", {"f.py": (HEAD + textwrap.dedent(code)).encode()})
    assert child.perform(Request()).error is None
    return child


def asked(child: Child, *arguments: object) -> object:
    reply = child.perform(Request([asks("f", *arguments)]))
    assert reply.error is None, reply.error
    return reply.value


def alone(sandbox: Sandbox, code: str, *arguments: object) -> object:
    child = started(sandbox, code)
    try:
        return asked(child, *arguments)
    finally:
        child.close()


def test_no_child_wakes_another(sandbox: Sandbox) -> None:
    waiting, waking = started(sandbox, WAIT), started(sandbox, WAKE)
    said: list[object] = []
    waiter = threading.Thread(target=lambda: said.append(asked(waiting, 0)))
    waiter.start()
    woken = asked(waking, 1)
    waiter.join()
    waiting.close()
    waking.close()
    assert (woken, said) == (0, ["alone"])


def test_threads_are_waited_for_all_the_same(sandbox: Sandbox) -> None:
    assert alone(sandbox, JOIN) == 7


def test_no_child_reads_the_clock_of_another_process(sandbox: Sandbox) -> None:
    assert sandbox._process is not None
    pids = [os.getpid(), os.getppid(), sandbox._process.pid]
    assert alone(sandbox, CLOCKS, pids) == []


def test_no_child_asks_which_processes_there_are(sandbox: Sandbox) -> None:
    assert alone(sandbox, PROCESSES, [os.getpid(), os.getpid() + 1]) == []


def test_no_child_sees_which_names_were_looked_up(sandbox: Sandbox) -> None:
    said = {alone(sandbox, LOOKED_UP, name) for name in ("os.py", "nobody-asked-for-this")}
    assert len(said) == 1
