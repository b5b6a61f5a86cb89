"""What is closed to other accounts: modes under both umasks, who reads what, shared folders."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder import private
from autograder.errors import UsageError
from tests.accounts import GRADERS, NEEDS_ROOT, OTHER, OWNER, SECOND, as_account


@pytest.fixture(params=[0o022, 0o077, 0o000], ids=lambda umask: f"umask {umask:03o}")
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_made_is_its_owners_alone(umask: int, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    private.make_folder(folder)
    private.write_file(folder / "file", b"x")
    private.open_file(folder / "lock").close()
    with private.umask_of(folder):
        (folder / "other").mkdir()
        (folder / "other" / "file").write_text("x")
    assert [mode(tmp_path / "a"), mode(folder), mode(folder / "other")] == [0o700] * 3
    files = ["file", "lock", "other/file"]
    assert [mode(folder / name) for name in files] == [0o600] * 3
    assert sorted(path.name for path in folder.iterdir()) == ["file", "lock", "other"]
    assert os.umask(umask) == umask


def test_in_a_shared_folder_it_is_the_groups(umask: int, tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    folder = tmp_path / "a" / "b"
    private.make_folder(folder)
    private.write_file(folder / "file", b"x")
    private.open_file(folder / "lock").close()
    with private.umask_of(folder):
        (folder / "other").mkdir()
        (folder / "other" / "file").write_text("x")
    assert [mode(tmp_path / "a"), mode(folder), mode(folder / "other")] == [0o2770] * 3
    files = ["file", "lock", "other/file"]
    assert [mode(folder / name) for name in files] == [0o660] * 3
    assert private.unshared(tmp_path) == ""
    (folder / "file").chmod(0o640)
    assert f"{folder}/file" in private.unshared(tmp_path)


def test_a_folder_that_is_there_is_closed_or_stays_shared(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private.close_folder(tmp_path, None)
    assert mode(tmp_path) == 0o700
    tmp_path.chmod(0o2775)
    private.close_folder(tmp_path, None)
    assert mode(tmp_path) == 0o2770
    with pytest.raises(UsageError, match="there is no such group"):
        private.close_folder(tmp_path, "no-such-group")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    private.write_file(tmp_path / "file", b"before")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        private.write_file(tmp_path / "folder", b"after")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def secret_in(reachable: Path) -> Path:
    (reachable / "reference" / "norm").mkdir(parents=True)
    (reachable / "reference" / "norm" / "norm.py").write_text("pass")
    for path in (reachable / "reference", reachable / "reference" / "norm"):
        path.chmod(0o755)
    (reachable / "reference" / "norm" / "norm.py").chmod(0o644)
    return reachable / "reference"


def close_file(secret: Path) -> None:
    (secret / "norm" / "norm.py").chmod(0o600)


def close_above(secret: Path) -> None:
    secret.parent.chmod(0o700)


def hide_the_list(secret: Path) -> None:
    # Names that are known can be read all the same.
    secret.chmod(0o711)
    (secret / "norm").chmod(0o711)


def close_one_of_both(secret: Path) -> None:
    (secret / "norm").chmod(0o700)


def nothing(secret: Path) -> None:
    pass


@pytest.mark.parametrize(
    "change, exposed",
    [
        (nothing, True),
        (hide_the_list, True),
        (close_file, False),
        (close_above, False),
        (close_one_of_both, False),
    ],
)
@NEEDS_ROOT
def test_what_is_called_open_is_what_another_account_can_read(
    reachable: Path, change: Callable[[Path], None], exposed: bool
) -> None:
    secret = secret_in(reachable)
    change(secret)
    assert as_account(OTHER, lambda: (secret / "norm" / "norm.py").read_text()) is exposed
    assert private.is_open(secret) is exposed
    said = private.exposed([secret])
    assert (f"norm/norm.py): chmod -R go-rwx {secret}" in said) is exposed, said
    assert bool(said) is exposed


@NEEDS_ROOT
def test_what_is_typed_closes_it(reachable: Path) -> None:
    secret = secret_in(reachable)
    command = private.exposed([secret]).rsplit("): ", 1)[1]
    assert os.system(command) == 0
    assert private.exposed([secret]) == ""


@NEEDS_ROOT
def test_a_group_counts_unless_the_folder_is_set_up_for_it(reachable: Path) -> None:
    secret = secret_in(reachable)
    for path in [secret, *secret.rglob("*")]:
        os.chown(path, OWNER, GRADERS)
        path.chmod(0o750 if path.is_dir() else 0o640)
    read = (secret / "norm" / "norm.py").read_text
    assert not as_account(OTHER, read)
    assert as_account(SECOND, read)
    assert private.is_open(secret)
    secret.chmod(0o2750)
    assert not private.is_open(secret)
    # Its repair leaves the group what it has.
    (secret / "norm").chmod(0o755)
    (secret / "norm" / "norm.py").chmod(0o644)
    secret.chmod(0o2755)
    assert private.exposed([secret]).endswith(f"chmod -R o-rwx {secret}")


def test_of_what_is_not_there_nothing_is_said(tmp_path: Path) -> None:
    assert private.exposed([tmp_path / "none"]) == ""


@NEEDS_ROOT
def test_a_second_grader_goes_on_with_what_the_first_has_made(reachable: Path) -> None:
    os.chown(reachable, OWNER, GRADERS)
    reachable.chmod(0o2770)
    file = reachable / "a" / "b" / "file"

    def write() -> None:
        os.umask(0o022)
        private.make_folder(file.parent)
        private.write_file(file, str(os.geteuid()).encode())
        private.open_file(file.with_name("lock")).close()

    for account in (OWNER, SECOND, OWNER):
        assert as_account(account, write)
        assert file.read_text() == str(account)
    assert not as_account(OTHER, file.read_text)
    assert file.stat().st_gid == GRADERS


@NEEDS_ROOT
def test_whose_a_closed_folder_is_is_said_with_the_repair(reachable: Path) -> None:
    folder = reachable / "gradeformer"
    folder.mkdir()
    os.chown(folder, OWNER, GRADERS)
    folder.chmod(0o755)

    def refused() -> None:
        try:
            private.make_folder(folder / "norm")
        except OSError as error:
            said = str(private.unwritable(folder / "norm", error, "give another"))
            assert "Permission denied" in said
            assert f"{folder} is account {OWNER}'s" in said
            assert f"chmod -R g+rwX {folder} && find {folder} -type d" in said
            return
        raise AssertionError("it was made")

    assert as_account(SECOND, refused)
