"""A memory cgroup bounds what a sandbox holds, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.api.messages import Request
from autograder.sandbox.cgroup import MemoryGroup, open_group
from autograder.sandbox.host import Sandbox
from tests.asking import asks
from tests.conftest import BUDGET

# Touches more memory than any limit below, once it is told to.
HOG = "input(); held = bytearray(512 << 20); print(len(held))"
HELD = "held = bytearray(b'x') * (64 << 20); print(len(held), flush=True); input()"


@pytest.fixture
def group() -> Iterator[MemoryGroup]:
    made = open_group()
    if made is None:
        pytest.skip("NO MEMORY CGROUP CAN BE MADE HERE: not root, or none is delegated")
    yield made
    made.close()


def hold(group: MemoryGroup, more: int) -> subprocess.CompletedProcess[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOG],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=group.join,
    )
    group.limit(more)
    output, _ = process.communicate(b"\n", timeout=60)
    return subprocess.CompletedProcess([], process.returncode, output)


def test_what_goes_beyond_the_limit_is_ended(group: MemoryGroup) -> None:
    assert hold(group, 32 << 20).returncode == -signal.SIGKILL


def test_what_stays_within_it_is_left_alone(group: MemoryGroup) -> None:
    done = hold(group, 1024 << 20)
    assert (done.returncode, done.stdout.strip()) == (0, str(512 << 20).encode())


def test_it_may_hold_what_it_holds_and_so_much_more(group: MemoryGroup) -> None:
    line = [sys.executable, "-S", "-c", HELD]
    with subprocess.Popen(
        line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=group.join
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        group.limit(32 << 20)
        process.communicate(b"\n", timeout=60)
    names = ("memory.max", "memory.limit_in_bytes")
    (limit,) = (int((group.folder / n).read_text()) for n in names if (group.folder / n).exists())
    # 64 MiB are held, and as much comes on top for the sandbox's own bookkeeping.
    assert (160 << 20) <= limit < (192 << 20)


def test_it_may_have_so_many_threads_and_no_more(group: MemoryGroup) -> None:
    # With version 1 they are counted in a group of their own.
    found = [*Path("/sys/fs/cgroup").rglob(f"{group.folder.name}/pids.max")]
    if not found:
        pytest.skip("THREADS ARE NOT COUNTED HERE")
    assert [path.read_text().strip() for path in found] == ["512"]
    with subprocess.Popen(
        [sys.executable, "-S", "-c", HELD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        preexec_fn=group.join,
    ) as process:
        joined = [path.with_name("cgroup.procs").read_text().split() for path in found]
        process.communicate(b"\n", timeout=60)
    assert joined == [[str(process.pid)]]


def test_what_it_may_hold_is_held_in_memory_alone(group: MemoryGroup) -> None:
    group.limit(32 << 20)
    # With version 1 memory and swap together have a limit, with version 2 swap has one of its own.
    if (swap := group.folder / "memory.swap.max").exists():
        assert swap.read_text().strip() == "0"
    elif (both := group.folder / "memory.memsw.limit_in_bytes").exists():
        assert both.read_text() == (group.folder / "memory.limit_in_bytes").read_text()
    else:
        pytest.skip("SWAP IS NOT COUNTED HERE")


def test_a_closed_group_is_gone(group: MemoryGroup) -> None:
    assert group.folder.is_dir()
    group.close()
    assert not group.folder.exists()


def test_what_a_killed_grader_left_is_swept_up(group: MemoryGroup) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = group.folder.with_name(f"gradeformer-{ended.pid}-0")
    left.mkdir()
    again = open_group()
    assert again is not None
    again.close()
    assert not left.exists()
    assert group.folder.exists()


def test_what_all_children_hold_together_is_bounded(sandbox: Sandbox) -> None:
    if "memory cgroup" not in sandbox.notes:
        pytest.skip("NO MEMORY CGROUP CAN BE MADE HERE: not root, or none is delegated")
    child = sandbox.fork("norm", {"norm.py": b"x = 1\n"})
    try:
        child.perform(Request())
        groups = Path(f"/proc/{child.host_pid}/cgroup").read_text()
    finally:
        child.close()
    (name,) = set(re.findall(rf"/(gradeformer-{os.getpid()}-\d+)$", groups, re.M))
    limits = [
        int(path.read_text())
        for kind in ("memory.max", "memory.limit_in_bytes")
        for path in Path("/sys/fs/cgroup").rglob(f"{name}/{kind}")
    ]
    # What one child may and another that is not large, on top of what the fork server holds.
    assert BUDGET.memory < limits[0] < 2 * BUDGET.memory


def test_a_child_is_large_by_what_it_holds_itself(sandbox: Sandbox) -> None:
    keeps = b"kept = []\ndef keep(megabytes):\n    kept.append(bytearray(megabytes << 20))\n"
    child = sandbox.fork("holder", {"holder.py": keeps})
    try:
        child.perform(Request())
        assert not child.is_large()
        third = BUDGET.memory // 3 >> 20
        child.perform(Request([asks("keep", third)]))
        assert not child.is_large()
        child.perform(Request([asks("keep", third)]))
        assert child.is_large()
    finally:
        child.close()
    assert not child.is_large()


def test_a_childs_user_is_as_the_description_says(sandbox: Sandbox) -> None:
    before = {path.name for path in Path("/proc").glob("[0-9]*")}
    child = sandbox.fork("norm", {"norm.py": b"x = 1\n"})
    try:
        # Once it answers, it has given up all that it gives up.
        child.perform(Request())
        # The handle's process id is the sandbox's own; its user is read from outside, by its name.
        owners = {
            int(line.split()[1])
            for path in Path("/proc").glob("[0-9]*/status")
            if path.parent.name not in before and _below(int(path.parent.name), os.getpid())
            for line in path.read_text().splitlines()
            if line.startswith("Uid:")
        }
    finally:
        child.close()
    if os.geteuid() != 0:
        assert owners == {os.geteuid()}
    elif "as an unprivileged user" in sandbox.notes:
        assert owners - {0}
    else:
        assert "as root, without its rights" in sandbox.notes


def _below(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            status = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return False
        pid = int(status.rpartition(")")[2].split()[1])
    return pid == ancestor
