"""No two children that live are one user, and nothing is left of an earlier one."""

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.jail import Pool

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="tier 3 CANNOT BE TESTED HERE: not root")
# Nobody's on this machine, and no grader's.
UIDS = range(64200, 64206)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "users"


@pytest.fixture
def holder(folder: Path, tmp_path: Path) -> Iterator[int]:
    """A process, a fork of this one, that holds all users but two; it never ends by itself."""
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        pool = Pool(folder, UIDS)
        held = [pool.take(tmp_path / "scratch") for _ in UIDS[2:]]
        os.write(there, b"x" * len(held))
        signal.pause()
    os.read(here, 1)
    yield pid
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


@pytest.fixture
def sleepers() -> Iterator[list[subprocess.Popen[bytes]]]:
    """A process of the first user's, and one of the second's."""
    found = [subprocess.Popen(["sleep", "1000"], user=uid) for uid in UIDS[:2]]
    yield found
    for process in found:
        process.kill()
        process.wait()


def test_every_user_is_given_once_until_it_is_given_back(folder: Path, tmp_path: Path) -> None:
    pools = [Pool(folder, UIDS) for _ in range(2)]
    taken = [pools[n % 2].take(tmp_path / "scratch") for n in range(len(UIDS))]
    assert Counter(user.uid for user in taken) == Counter(UIDS)
    with pytest.raises(SandboxFault, match="users 64200 to 64205 is a child's already: let"):
        pools[0].take(tmp_path / "scratch")
    taken[3].give_back()
    assert pools[1].take(tmp_path / "scratch").uid == taken[3].uid


def test_graders_side_by_side_have_none_in_common(
    folder: Path, tmp_path: Path, holder: int
) -> None:
    pool = Pool(folder, UIDS)
    mine = {pool.take(tmp_path / "scratch").uid for _ in range(2)}
    assert len(mine) == 2
    with pytest.raises(SandboxFault):
        pool.take(tmp_path / "scratch")


def test_a_killed_grader_gives_its_users_back(folder: Path, tmp_path: Path, holder: int) -> None:
    pool = Pool(folder, UIDS)
    os.kill(holder, signal.SIGKILL)
    os.waitid(os.P_PID, holder, os.WEXITED | os.WNOWAIT)
    taken = [pool.take(tmp_path / "scratch") for _ in UIDS]
    assert {user.uid for user in taken} == set(UIDS)


def test_what_a_killed_grader_left_of_a_user_is_gone_when_another_is_it(
    folder: Path, tmp_path: Path, sleepers: list[subprocess.Popen[bytes]]
) -> None:
    scratch = tmp_path / "scratch"
    pid = os.fork()
    if pid == 0:
        uid = Pool(folder, UIDS[:1]).take(scratch).uid
        scratch.mkdir()
        (scratch / "left.py").touch()
        os.chown(scratch, uid, uid)
        os._exit(0)
    os.waitpid(pid, 0)
    assert scratch.exists()
    child, other = sleepers
    taken = Pool(folder, UIDS[:1]).take(tmp_path / "another")
    assert taken.uid == UIDS[0]
    assert child.poll() == -signal.SIGKILL
    assert not scratch.exists()
    # Another's is no business of its.
    assert other.poll() is None


def test_a_fork_of_its_holder_keeps_no_user(folder: Path, tmp_path: Path) -> None:
    pool = Pool(folder, UIDS[:1])
    taken = pool.take(tmp_path / "scratch")
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(there)
        os.read(here, 1)
        os._exit(0)
    taken.give_back()
    assert pool.take(tmp_path / "scratch").uid == UIDS[0]
    os.close(there)
    os.waitpid(pid, 0)


def test_a_folder_that_others_may_enter_is_refused(folder: Path) -> None:
    folder.mkdir(0o755)
    with pytest.raises(OSError, match="is open to others than root: remove it"):
        Pool(folder, UIDS)
    folder.chmod(0o700)
    Pool(folder, UIDS)
    os.chown(folder, UIDS[0], 0)
    with pytest.raises(OSError, match="is open to others than root: remove it"):
        Pool(folder, UIDS)
