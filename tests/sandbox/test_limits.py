"""Every limit that is watched from outside, all others far away: what was used, and what ended it.

How long a call takes is told by a clock of the test's own, and what it computes is computed to
order, so that nothing here hangs on how busy the machine is.
"""

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.api.messages import Reply
from autograder.sandbox import handle as handles
from autograder.sandbox.handle import Child, ChildGone, SandboxFault
from autograder.sandbox.profile import Budget
from autograder.sandbox.wire import encode_reply

FAR = Budget(call_cpu_s=1e6, call_wall_s=1e6, cpu_s=1_000_000, memory=1 << 40, file_size=1 << 40)
# Computes for as many hundredths of a second as the first byte says that it is given, and says so;
# the second says whether the kernel is to do it.
BURNER = """
import os, time
zero = os.open("/dev/zero", os.O_RDONLY)
while order := os.read(0, 2):
    end = time.process_time() + order[0] / 100
    while time.process_time() < end:
        os.read(zero, 1 << 20) if order[1] else sum(range(10_000))
    os.write(1, b".")
"""


class Clock:
    """Stands for the machine's."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Wire:
    """A child's end as `script` has it: bytes that come, none yet, or None where it ends.

    Each time it is waited for, a second passes. It takes no questions.
    """

    def __init__(self, clock: Clock, script: Iterable[bytes | None] = ()) -> None:
        self._clock, self._script = clock, iter(script)
        self.waits: list[float] = []

    def settimeout(self, seconds: float) -> None:
        self.waits.append(seconds)

    def recv(self, size: int) -> bytes:
        self._clock.now += 1.0
        found = next(self._script)
        if found == b"":
            raise TimeoutError
        return found or b""

    def sendall(self, data: bytes) -> None:
        raise TimeoutError

    def close(self) -> None:
        pass


class Process:
    """What runs behind a child; `end` is what is told of its end."""

    def __init__(self, code: str = BURNER) -> None:
        command = [sys.executable, "-S", "-c", code]
        self.runs = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.end: dict[str, Any] = {}
        self.burn(0)

    def burn(self, hundredths: int, in_kernel: bool = False) -> None:
        """Have it compute for so long; return when it has."""
        assert self.runs.stdin
        assert self.runs.stdout
        os.write(self.runs.stdin.fileno(), bytes([hundredths, in_kernel]))
        assert os.read(self.runs.stdout.fileno(), 1)

    def child(self, wire: Wire, **limits: float) -> Child:
        pid = self.runs.pid
        budget: Any = replace(FAR, **limits)
        line: Any = wire
        return Child(self._reap, budget, line, pid, os.pidfd_open(pid))

    def _reap(self, pid: int) -> dict[str, Any]:
        self.runs.wait(timeout=60)
        return self.end


@pytest.fixture
def process() -> Iterator[Process]:
    found = Process()
    with found.runs:
        yield found
        found.runs.kill()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(handles.time, "monotonic", found)
    return found


SEVEN = encode_reply(Reply(value=7), 0)


def silence(seconds: int = 99) -> Iterator[bytes]:
    return itertools.repeat(b"", seconds)


# Waiting.


def test_a_call_waits_as_long_as_it_may_and_no_longer(process: Process, clock: Clock) -> None:
    patient = process.child(Wire(clock, [*silence(9), SEVEN]), call_wall_s=10)
    assert patient.answer(0).value == 7
    begin = clock.now
    with pytest.raises(ChildGone, match=r"^no answer after 10 s$") as gone:
        process.child(Wire(clock, silence()), call_wall_s=10).answer(0)
    assert clock.now - begin == 11
    assert gone.value.reason == "timeout"
    assert process.runs.returncode == -signal.SIGKILL


def test_bytes_that_come_one_by_one_do_not_stretch_the_wait(process: Process, clock: Clock) -> None:
    begin = clock.now
    trickle = [bytes([byte]) for byte in SEVEN]
    with pytest.raises(ChildGone, match=r"^no answer after 10 s$"):
        process.child(Wire(clock, trickle), call_wall_s=10).answer(0)
    assert clock.now - begin == 11


def test_the_end_of_all_time_ends_a_call(process: Process, clock: Clock) -> None:
    child = process.child(Wire(clock, [*silence(9), SEVEN, *silence(99)]))
    child.end_of_time = 10
    assert child.answer(0).value == 7
    begin = clock.now
    child.end_of_time = child.clock.now + 10
    with pytest.raises(ChildGone, match=r"^no answer before the time for it was over$") as gone:
        child.answer(0)
    assert clock.now - begin == 11
    assert gone.value.reason == "timeout"


def test_waiting_for_a_processor_does_not_count(process: Process, clock: Clock) -> None:
    class Busy(handles.Clock):
        """A machine on which the child gets a processor for one second in ten."""

        def starved_s(self, pid: int) -> float:
            return 0.9 * clock.now

    child = process.child(Wire(clock, [*silence(90), SEVEN, *silence(999)]), call_wall_s=10)
    child.clock = Busy()
    assert child.answer(0).value == 7
    assert child.clock.now < 10
    begin = clock.now
    with pytest.raises(ChildGone, match=r"^no answer after 10 s$"):
        child.answer(0)
    assert 90 < clock.now - begin < 110


def test_an_answer_that_is_there_is_taken_however_late(process: Process, clock: Clock) -> None:
    class Late(Wire):
        """The process that waits gets no processor for an hour; meanwhile the answer came."""

        def recv(self, size: int) -> bytes:
            clock.now += 3600
            return super().recv(size)

    assert process.child(Late(clock, [SEVEN]), call_wall_s=10).answer(0).value == 7


@pytest.mark.parametrize(("each", "counted"), [(0.02, 0.02), (5.0, 0.05)])
def test_calls_that_are_answered_at_once_add_up_to_what_was_waited(
    process: Process, clock: Clock, each: float, counted: float
) -> None:
    class Short(Wire):
        """After so long the answer is there; of one that is looked at late, a poll counts."""

        def recv(self, size: int) -> bytes:
            clock.now += each - 1.0
            return super().recv(size)

    child = process.child(Short(clock, itertools.repeat(SEVEN, 10)))
    assert [child.answer(0).value for _ in range(10)] == [7] * 10
    assert child.clock.now == pytest.approx(10 * counted)


@pytest.mark.parametrize(
    ("wall", "left", "waited"), [(10, 1e9, 10), (1e6, 7, 7), (10, -5, 0.05), (10, 10.5, 10)]
)
def test_a_question_that_is_not_taken_waits_no_longer(
    process: Process, clock: Clock, wall: float, left: float, waited: float
) -> None:
    wire = Wire(clock)
    child = process.child(wire, call_wall_s=wall)
    child.end_of_time = left
    with pytest.raises(ChildGone, match="does not take questions") as gone:
        child.post(bytes(32))
    assert wire.waits == [waited]
    assert gone.value.reason == "timeout"
    assert process.runs.returncode == -signal.SIGKILL


def test_a_submission_that_is_not_taken_waits_no_longer(process: Process, clock: Clock) -> None:
    wire = Wire(clock)
    with pytest.raises(SandboxFault, match="a new child does not read"):
        process.child(wire, call_wall_s=10).send(b"files")
    assert wire.waits == [10]
    assert process.runs.returncode == -signal.SIGKILL


@pytest.fixture
def crowded() -> Iterator[set[int]]:
    """A processor that four others keep busy."""
    one = {min(os.sched_getaffinity(0))}
    loop = [sys.executable, "-S", "-c", "print(flush=True)\nwhile True: pass"]
    rivals = [subprocess.Popen(loop, stdout=subprocess.PIPE) for _ in range(4)]
    for rival in rivals:
        assert rival.stdout
        assert rival.stdout.readline()
        os.sched_setaffinity(rival.pid, one)
    yield one
    for rival in rivals:
        rival.kill()
        rival.communicate()


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="THE KERNEL DOES NOT COUNT")
@pytest.mark.parametrize("whose", ["the child's", "this thread's"])
def test_waiting_for_a_processor_is_counted_by_the_kernel(
    process: Process, crowded: set[int], whose: str
) -> None:
    counted, pid, own = handles.Clock(), process.runs.pid, os.sched_getaffinity(0)
    begin, before = time.monotonic(), counted.starved_s(pid)
    if whose == "the child's":
        os.sched_setaffinity(pid, crowded)
        process.burn(10)
    else:
        os.sched_setaffinity(0, crowded)
        try:
            end = time.thread_time() + 0.1
            while time.thread_time() < end:
                sum(range(1000))
        finally:
            os.sched_setaffinity(0, own)
    starved = counted.starved_s(pid) - before
    # Of five who would compute all the time, one waits four times as long as it computes.
    assert 0.2 < starved < 2 * (time.monotonic() - begin)


# Computing.


def computing(process: Process, hundredths: int, in_kernel: bool = False) -> Iterator[bytes]:
    """Compute for so long, counted from the first look at it, and answer."""
    yield b""
    process.burn(hundredths, in_kernel)
    yield b""
    yield SEVEN


def test_a_call_computes_as_long_as_it_may_and_no_longer(process: Process, clock: Clock) -> None:
    calls = itertools.chain(*(computing(process, hundredths) for hundredths in (7, 7, 1, 14)))
    child = process.child(Wire(clock, calls), call_cpu_s=0.1)
    # What one call took is not counted to the next.
    assert [child.answer(0).value for _ in range(3)] == [7, 7, 7]
    # The last was not the slowest.
    assert child.slowest_call_s == pytest.approx(0.07, abs=0.03)
    with pytest.raises(ChildGone, match=r"^no answer after 0\.1 s of computing$") as gone:
        child.answer(0)
    assert gone.value.reason == "timeout"
    assert child.slowest_call_s == pytest.approx(0.14, abs=0.03)
    assert process.runs.returncode == -signal.SIGKILL


def test_what_the_kernel_computes_for_it_counts_too(process: Process, clock: Clock) -> None:
    child = process.child(Wire(clock, computing(process, 14, in_kernel=True)), call_cpu_s=0.1)
    with pytest.raises(ChildGone, match=r"0\.1 s of computing"):
        child.answer(0)


def test_what_is_computed_is_counted_by_the_kernel(process: Process, clock: Clock) -> None:
    child = process.child(Wire(clock))
    before = child.cpu_s()
    process.burn(10)
    assert child.cpu_s() - before == pytest.approx(0.1, abs=0.03)


# Every order in a thread of its own, which has ended when it answers.
ENDING = """
import os, threading, time
def burn(end):
    while time.process_time() < end:
        sum(range(10_000))
while order := os.read(0, 2):
    thread = threading.Thread(target=burn, args=(time.process_time() + order[0] / 100,))
    thread.start()
    thread.join()
    # For Python it has ended a little earlier than for the kernel.
    while len(os.listdir("/proc/self/task")) > 1:
        pass
    os.write(1, b".")
"""
LIVING = f"import threading\nthreading.Thread(target=exec, args=({BURNER!r}, {{}})).start()\n"


@pytest.mark.parametrize("code", [LIVING, ENDING], ids=["that live", "that ended"])
def test_what_its_threads_compute_is_counted_too(clock: Clock, code: str) -> None:
    process = Process(code)
    with process.runs:
        child = process.child(Wire(clock))
        before = child.cpu_s()
        process.burn(10)
        assert child.cpu_s() - before == pytest.approx(0.1, abs=0.03)
        process.runs.kill()


def test_what_is_computed_counts_as_waited_for_at_least(process: Process, clock: Clock) -> None:
    class Full(handles.Clock):
        """A machine on which it would have been ready without a processor all the time."""

        def starved_s(self, pid: int) -> float:
            return clock.now

    child = process.child(Wire(clock, computing(process, 14)))
    child.clock = Full()
    assert child.answer(0).value == 7
    # And the poll that the call began with.
    assert child.clock.now == pytest.approx(0.05 + 0.14, abs=0.03)


# What an end is told as.


@pytest.mark.parametrize(
    ("end", "reason", "words"),
    [
        ({"cpu_s": 3.0, "signal": 9}, "timeout", "more than 3 s of computing in all"),
        ({"cpu_s": 3.5, "code": 0}, "timeout", "more than 3 s of computing in all"),
        ({"cpu_s": 2.99, "signal": 9}, "crashed", "the process died (SIGKILL)"),
        ({"cpu_s": 0.0, "signal": 11}, "crashed", "the process died (SIGSEGV)"),
        ({"cpu_s": 0.0, "signal": 33}, "crashed", "the process died (signal 33)"),
        ({"cpu_s": 0.0, "signal": 0, "code": 3}, "crashed", "the process ended itself"),
    ],
)
def test_an_end_is_told_by_what_was_used(
    process: Process, clock: Clock, end: dict[str, Any], reason: str, words: str
) -> None:
    process.end = end
    process.runs.kill()
    with pytest.raises(ChildGone) as gone:
        process.child(Wire(clock, [None]), cpu_s=3).answer(0)
    assert (gone.value.reason, gone.value.words) == (reason, words)


@pytest.mark.parametrize("right", [b"", SEVEN], ids=["unknown", "known"])
def test_an_answer_to_another_question_is_none(
    process: Process, clock: Clock, right: bytes
) -> None:
    with pytest.raises(ChildGone, match="the reply is not to this request") as gone:
        process.child(Wire(clock, [SEVEN])).answer_unless(1, right)
    assert gone.value.reason == "crashed"
    assert process.runs.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("given", "right", "known"),
    [
        (7, 7, True),
        (7, 8, False),
        (torch.ones(3), torch.ones(3), True),
        (torch.ones(3), torch.zeros(3), False),
    ],
)
def test_an_answer_that_is_known_is_not_read(
    process: Process, clock: Clock, given: object, right: object, known: bool
) -> None:
    child = process.child(Wire(clock, [encode_reply(Reply(value=given), 0)]))
    # Nothing but the nonce may differ.
    found = child.answer_unless(0, encode_reply(Reply(value=right), 5))
    assert (found is None) is known
