"""The root folder of tier 3 holds what children are given, and lets none of them change it."""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.sandbox import jail as jails
from autograder.sandbox.confine import JAIL_UIDS
from autograder.sandbox.jail import Jail
from autograder.sandbox.packages import View

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="tier 3 CANNOT BE TESTED HERE: not root")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for a machine's files; jails are made beside it."""
    folder = tmp_path / "machine" / "site"
    (folder / "given" / "inner").mkdir(parents=True)
    (folder / "given" / "inner" / "code.py").write_text("code\n")
    (folder / "given" / "header.h").write_text("")
    (folder / "secret.py").write_text("secret\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(jails.tempfile, "gettempdir", lambda: str(temporary))
    return folder


def view(*readable: Path, links: tuple[Path, ...] = ()) -> View:
    given = tuple(map(str, readable))
    return View(
        links=tuple(map(str, links)),
        shown=(),
        readable=given,
        sites=given[:1],
    )


@pytest.fixture
def made(machine: Path) -> Iterator:
    """Make a jail."""
    open_ones = []

    def make(seen: View, pid: int = 0) -> Jail:
        jail = Jail(seen)
        open_ones.append(jail)
        jail.fill(pid or os.getpid())
        return jail

    yield make
    for jail in open_ones:
        jail.close()


def leave(seen: View, last: Callable[[Jail], None]) -> None:
    """Fill a jail, do what comes last, and leave it as a grader does that is killed."""
    pid = os.fork()
    if pid == 0:
        jail = Jail(seen)
        jail.fill(os.getpid())
        last(jail)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0


def refuse(*_: object) -> None:
    raise OSError(18, "Invalid cross-device link")


def within(jail: Jail, path: Path) -> Path:
    return jail.folder / str(path).lstrip("/")


def test_what_is_given_is_there_and_nothing_beside_it(machine: Path, made) -> None:
    jail = made(view(machine / "given"))
    inside = within(jail, machine)
    assert (inside / "given" / "inner" / "code.py").read_text() == "code\n"
    assert [entry.name for entry in inside.iterdir()] == ["given"]
    assert [entry.name for entry in (inside / "given").iterdir()] == ["inner"]
    # What is not given as a whole cannot be listed.
    modes = {path: path.stat().st_mode & 0o777 for path in (inside, inside / "given", jail.folder)}
    assert list(modes.values()) == [0o711, 0o755, 0o711]
    assert jail.folder.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("mode", "owner"), [(0o644, 0), (0o600, 0), (0o666, 0), (0o644, JAIL_UIDS[7]), (0o755, 1000)]
)
def test_a_child_reads_every_file_and_writes_none(
    machine: Path, made, mode: int, owner: int
) -> None:
    file = machine / "given" / "inner" / "code.py"
    file.chmod(mode)
    os.chown(file, owner, owner)
    os.utime(file, (1000, 1000))
    there = within(made(view(machine / "given")), file)
    status = there.stat()
    assert status.st_mode & 0o004
    assert not status.st_mode & 0o002
    assert status.st_uid not in JAIL_UIDS
    assert status.st_gid not in JAIL_UIDS
    assert int(status.st_mtime) == 1000


def test_where_no_links_can_be_made_it_is_copied(
    machine: Path, made, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = machine / "given" / "inner" / "code.py"
    linked = within(made(view(machine / "given")), file)
    assert linked.samefile(file)

    monkeypatch.setattr(os, "link", refuse)
    copied = within(made(view(machine / "given" / "inner")), file)
    assert not copied.samefile(file)
    assert copied.read_text() == "code\n"


def test_of_pythons_own_its_tests_and_other_packages_are_left_out(machine: Path, made) -> None:
    python, site = machine / "python", machine / "python" / "site-packages"
    for folder in (python, python / "json", python / "json" / "tests", site / "one" / "tests"):
        folder.mkdir(parents=True)
        (folder / "code.py").write_text("")
    alone = within(made(view(machine / "given", python)), python)
    assert [entry.name for entry in alone.rglob("*") if entry.is_dir()] == ["json"]
    both = within(made(view(site, python)), python)
    names = {entry.name for entry in both.rglob("*") if entry.is_dir()}
    assert names == {"json", "site-packages", "one", "tests"}
    assert not (both / "json" / "tests").exists()


def test_links_lead_where_they_led(machine: Path, made) -> None:
    (machine / "elsewhere").symlink_to(machine / "given")
    (machine / "relative").symlink_to("given")
    (machine / "given" / "alias.py").symlink_to("inner/code.py")
    (machine / "given" / "away.py").symlink_to(machine / "secret.py")
    jail = made(view(machine / "elsewhere" / "inner", machine / "relative", machine / "given"))
    inside = within(jail, machine)
    assert os.readlink(inside / "relative") == "given"
    assert os.readlink(inside / "elsewhere") == str(machine / "given")
    assert (inside / "given" / "alias.py").read_text() == "code\n"
    # Inside, the file that it leads to is not there.
    assert not within(jail, machine / "secret.py").exists()


def test_a_large_library_that_is_loaded_is_not_copied(
    machine: Path, made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jails.os, "link", refuse)
    loaded = Path(next(path for path in loaded_files() if ".so" in path))
    other = machine / "given" / "large.so"
    other.write_bytes(bytes(2 << 20))
    program = machine / "given" / "large"
    program.write_bytes(bytes(2 << 20))
    program.chmod(0o755)
    jail = made(view(machine / "given", loaded))
    assert within(jail, other).exists()
    assert not within(jail, loaded).exists()
    assert not within(jail, program).exists()


def loaded_files() -> list[str]:
    """The large files that this process has mapped."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    mapped = {line.split(maxsplit=5)[5] for line in lines if "/" in line}
    return [path for path in sorted(mapped) if os.path.isfile(path) and large(path)]


def large(path: str) -> bool:
    return os.stat(path).st_size > 1 << 20


def test_those_who_are_given_the_same_share_it_and_the_last_removes_it(machine: Path, made) -> None:
    first, second = made(view(machine / "given")), made(view(machine / "given"))
    assert first.folder == second.folder
    first.close()
    assert within(second, machine / "given").exists()
    second.close()
    assert not second.folder.parent.exists()
    other = made(view(machine / "given" / "inner"))
    assert other.folder != first.folder


@pytest.mark.parametrize("whole", [True, False])
def test_what_an_ended_grader_left_is_not_taken_over(machine: Path, made, whole: bool) -> None:
    seen = view(machine / "given")
    code = machine / "given" / "inner" / "code.py"

    def end(jail: Jail) -> None:
        if not whole:
            # As one that was killed before it came to the last.
            within(jail, code).unlink()
            jail.scratches.rmdir()

    leave(seen, end)
    jail = Jail(seen)
    jail.fill(os.getpid())
    assert within(jail, code).exists()
    assert jail.scratches.is_dir()
    jail.close()


def test_what_others_left_is_swept_up_and_what_they_use_is_not(machine: Path, made) -> None:
    used = made(view(machine / "given"))
    place = used.folder.parents[1]
    before = {*place.iterdir()}
    leave(view(machine / "given" / "inner"), lambda jail: None)
    (left,) = {*place.iterdir()} - before
    made(view(machine / "given" / "inner" / "code.py"))
    assert used.folder.exists()
    assert not left.exists()


def test_those_who_come_together_wait_for_none_but_the_one_that_fills(machine: Path, made) -> None:
    seen = view(machine / "given")
    jails_ = [Jail(seen) for _ in range(3)]
    # As one that has come at the same moment, and has got no further.
    folder = jails_[0].folder.parent
    come = os.open(folder, os.O_RDONLY)
    fcntl.flock(come, fcntl.LOCK_SH)

    graders = [
        threading.Thread(target=jail.fill, args=(os.getpid(),), daemon=True) for jail in jails_
    ]
    for grader in graders:
        grader.start()
    for grader in graders:
        grader.join(30)
    assert not any(grader.is_alive() for grader in graders)
    assert within(jails_[2], machine / "given" / "inner" / "code.py").exists()
    os.close(come)
    for jail in jails_:
        assert folder.exists()
        jail.close()
    assert not folder.exists()


def test_a_folder_of_somebody_else_is_refused(machine: Path) -> None:
    jail = Jail(view(machine / "given"))
    jail.close()
    folder = jail.folder.parent
    folder.mkdir()
    os.chown(folder, 1000, 1000)
    with pytest.raises(OSError, match="belongs to another user: remove it"):
        Jail(view(machine / "given"))
    folder.rmdir()
    folder.symlink_to(machine)
    with pytest.raises(OSError, match=r"."):
        Jail(view(machine / "given"))


def test_it_is_made_where_files_can_be_linked(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = view(machine / "given")
    assert jails.place_for(seen) == jails.tempfile.gettempdir()
    if os.stat("/dev/shm").st_dev == os.stat(machine).st_dev:
        pytest.skip("ONE FILE SYSTEM ALONE: nothing to choose")
    monkeypatch.setattr(jails.tempfile, "gettempdir", lambda: "/dev/shm")
    monkeypatch.setattr(jails, "OTHER_PLACE", str(machine))
    assert jails.place_for(seen) == str(machine)
    monkeypatch.setattr(jails, "OTHER_PLACE", "/nowhere")
    assert jails.place_for(seen) == "/dev/shm"
