"""One run at a time grades into a folder: who comes second is told, waits, or takes over."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.grading.lock import NAME, Busy, alone
from tests.accounts import GRADERS, NEEDS_ROOT, OWNER, SECOND, as_account


def silent(words: str) -> None:
    raise AssertionError(words)


def test_a_second_run_is_told_who_is_first(tmp_path: Path) -> None:
    second = alone(tmp_path, False, silent, "x = True")
    with alone(tmp_path, False, silent), pytest.raises(Busy) as refused, second:
        pass
    said = str(refused.value)
    assert f" on {socket.gethostname()} (process {os.getpid()}, since 20" in said
    assert f"{tmp_path}: " in said
    assert said.endswith("wait for it with x = True")
    assert (tmp_path / NAME).read_bytes() == b""
    with alone(tmp_path, False, silent):
        pass


def test_a_second_run_that_waits_goes_on_when_the_first_has_ended(tmp_path: Path) -> None:
    said: list[str] = []
    with contextlib.ExitStack() as first:
        first.enter_context(alone(tmp_path, False, silent))

        def tell(words: str) -> None:
            said.append(words)
            first.close()

        with alone(tmp_path, True, tell):
            assert (tmp_path / NAME).read_bytes()
    assert len(said) == 1
    assert f"process {os.getpid()}" in said[0]


def test_what_a_killed_run_leaves_stops_nobody(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        with alone(tmp_path, False, silent):
            os.write(writer, b"x")
            signal.pause()
        os._exit(0)
    try:
        assert os.read(reader, 1) == b"x"
        with pytest.raises(Busy, match=f"process {pid}"), alone(tmp_path, False, silent):
            pass
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert f"process {pid}".encode() in (tmp_path / NAME).read_bytes()
    with alone(tmp_path, False, silent):
        assert f"process {os.getpid()}".encode() in (tmp_path / NAME).read_bytes()
    for end in (reader, writer):
        os.close(end)


def test_folders_do_not_keep_each_other(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with alone(tmp_path / "a", False, silent), alone(tmp_path / "b", False, silent):
        pass


@NEEDS_ROOT
def test_graders_of_a_group_take_turns(reachable: Path) -> None:
    os.chown(reachable, OWNER, GRADERS)
    reachable.chmod(0o2770)

    def take() -> None:
        os.umask(0o077)
        with alone(reachable, False, silent):
            pass

    assert all([as_account(OWNER, take), as_account(SECOND, take), as_account(OWNER, take)])


Command = Callable[..., object]


def test_grade_leaves_a_folder_alone_that_somebody_grades_into(
    autograder: Command, small_project: Path, write_class: Callable[..., Path], tmp_path: Path
) -> None:
    batch, out = write_class({"s01": {}}), tmp_path / "out"
    out.mkdir()
    with alone(out, False, silent):
        for more in ([batch], [batch / "s01", "--one"]):
            options = ("--assignment", "norm", "--root", small_project, "--out", out)
            done = autograder("grade", *more, *options)
            assert done.returncode == 2
            words = " ".join(done.stderr.split())
            assert f"(process {os.getpid()}, since" in words
            assert "wait for it with --wait" in words
    assert sorted(path.name for path in out.rglob("*")) == [NAME, "results"]
