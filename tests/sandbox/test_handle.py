"""A child that ends while it is asked ahead: what it answered before is read, the rest is told."""

import os
import socket
import subprocess
import sys

import pytest

from autograder.api.messages import Reply, Request
from autograder.sandbox.handle import Child, ChildGone
from autograder.sandbox.wire import decode_request, encode_reply, encode_request
from tests.conftest import BUDGET


def test_a_death_while_more_is_posted_costs_no_answer_before_it() -> None:
    ours, theirs = socket.socketpair()
    if not (pid := os.fork()):
        os._exit(3)
    handle = os.pidfd_open(pid)
    os.waitid(os.P_PIDFD, handle, os.WEXITED | os.WNOWAIT)
    child = Child(lambda pid: {"code": os.waitpid(pid, 0)[1]}, BUDGET, ours, pid, handle)
    frame = encode_request(Request(), 0)
    first, second = child.post(frame), child.post(frame)
    with theirs:
        # It answers the first and dies over the second.
        nonce, _ = decode_request(theirs.recv)
        theirs.sendall(encode_reply(Reply(value=7), nonce))
    child.post(frame)
    assert child.answer(first).value == 7
    with pytest.raises(ChildGone, match="the process ended itself"):
        child.answer(second)


def test_a_child_that_ends_itself_is_given_the_time_to() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        # It has let go of the wire before it dies of what it will be told to have died of.
        code = (
            f"import os; os.close({theirs.fileno()}); sum(range(10**6)); os.kill(os.getpid(), 15)"
        )
        line = [sys.executable, "-S", "-c", code]
        process = subprocess.Popen(line, pass_fds=[theirs.fileno()])
    handle = os.pidfd_open(process.pid)
    child = Child(lambda pid: {"signal": -process.wait()}, BUDGET, ours, process.pid, handle)
    with pytest.raises(ChildGone, match=r"the process died \(SIGTERM\)"):
        child.answer(0)
