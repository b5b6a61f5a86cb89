"""The teacher and the students on one computer, as nbgrader's exchange wants them: different users.

nbgrader takes a student's name from the operating system. So that the system's users stay as they
are, a student's commands run with another /etc/passwd mounted over the real one (bubblewrap). Where
the tests run as root a student is a real other user, and permissions hold between them; an ordinary
user can only lend the students their own identity under other names.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.conftest import ROOT

TEACHER = "teacher"
COURSE_ID = "demo"
AS_ROOT = os.geteuid() == 0
# Above what adduser and systemd give away.
FIRST_UID = 64001
# As students have them, wherever the tests were installed.
INSTALLED = (Path(sys.prefix), Path(sys.base_prefix))


class Impossible(Exception):
    """This machine cannot hold more than one user."""


def _closed_above(path: Path) -> Path | None:
    """Return the topmost folder on the way to `path` that other users may not enter."""
    for folder in (*reversed(path.parents), path):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


class People:
    """A computer with a teacher (who is us) and students, an exchange, and a home for everyone."""

    def __init__(self, students: Sequence[str]) -> None:
        if shutil.which("bwrap") is None:
            raise Impossible("BUBBLEWRAP IS NOT INSTALLED: students need a name of their own")
        # pytest's own temporary folders are closed to other users.
        self.base = Path(tempfile.mkdtemp(prefix="gradeformer-e2e-"))
        self.base.chmod(0o755)
        self.students = tuple(students)
        self.exchange = self.base / "exchange"
        self.exchange.mkdir()
        self.exchange.chmod(0o777)
        self._uids = {name: FIRST_UID + i for i, name in enumerate(students)}
        self._passwd = self._lines(Path("/etc/passwd"), "{name}:x:{uid}:{uid}::{home}:/bin/sh\n")
        self._group = self._lines(Path("/etc/group"), "{name}:x:{uid}:\n")
        for name in (TEACHER, *students):
            self._make_home(name)
        if students:
            self._see_that_it_works(students[0])

    def _lines(self, original: Path, line: str) -> Path:
        text = original.read_text()
        for name, uid in self._uids.items():
            text += line.format(name=name, uid=uid, home=self.home(name))
        copy = self.base / original.name
        copy.write_text(text)
        return copy

    def home(self, name: str) -> Path:
        return self.base / name

    def _make_home(self, name: str) -> None:
        config = self.home(name) / ".jupyter"
        (config / "labconfig").mkdir(parents=True)
        (config / "nbgrader_config.py").write_text(
            "c = get_config()\n"
            f"c.CourseDirectory.course_id = {COURSE_ID!r}\n"
            f"c.Exchange.root = {str(self.exchange)!r}\n"
        )
        # JupyterLab would look for news on the internet, and for whoever reads them.
        (config / "labconfig" / "page_config.json").write_text(
            '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}'
        )
        self.home(name).chmod(0o700)
        self.give(name, self.home(name))

    def _see_that_it_works(self, student: str) -> None:
        code = "import os, pwd, nbgrader; print(pwd.getpwuid(os.getuid()).pw_name)"
        done = self.run(student, [sys.executable, "-c", code], check=False)
        said = done.stdout.strip().rpartition("\n")[2]
        if said != student:
            self.remove()
            raise Impossible(f"STUDENTS CANNOT BE OTHER USERS HERE: {said}")

    def give(self, name: str, folder: Path) -> None:
        """Make a student the owner of a folder and all that is in it."""
        if AS_ROOT and name in self._uids:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, self._uids[name], self._uids[name], follow_symlinks=False)

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of somebody who has this Python and nothing else configured."""
        home = self.home(name)
        return {
            "HOME": str(home),
            "USER": name,
            "LANG": "C.UTF-8",
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), "/usr/bin", "/bin")),
            "JUPYTER_CONFIG_DIR": str(home / ".jupyter"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTER_PLATFORM_DIRS": "1",
            "IPYTHONDIR": str(home / "ipython"),
            "MPLCONFIGDIR": str(home / "matplotlib"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def knowing(self, argv: Sequence[str | Path], view: Sequence[str] = ()) -> list[str]:
        """Return the command that runs `argv` where the students have names."""
        command = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/"]
        command += ["--ro-bind", str(self._passwd), "/etc/passwd"]
        command += ["--ro-bind", str(self._group), "/etc/group"]
        return [*command, *view, "--", *map(str, argv)]

    def command(self, name: str, argv: Sequence[str | Path], apart: bool = False) -> list[str]:
        """Return the command that has somebody run `argv`.

        The teacher has the machine as it is. A student sees neither this project nor what is the
        teacher's; nothing that a student starts `apart` outlives the command.
        """
        if name == TEACHER:
            return [*map(str, argv)]
        uid = str(self._uids[name])
        view = [*self._view()]
        if apart:
            view += ["--unshare-pid", "--proc", "/proc"]
        if AS_ROOT:
            who = ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--no-new-privs"]
            argv = [*who, *argv]
        else:
            view += ["--unshare-user", "--uid", uid, "--gid", uid]
        return self.knowing(argv, view)

    def serving(self, name: str, argv: Sequence[str | Path]) -> list[str]:
        """Return the command of a server: whatever it starts ends with it."""
        return self.command(name, argv, apart=True)

    def _view(self) -> Iterator[str]:
        """Hide folders, and show again what must be seen of them."""
        shown = [*INSTALLED, self.base]
        closed = [_closed_above(path) for path in shown] if AS_ROOT else []
        folders = {ROOT, *filter(None, closed)}
        hidden = [folder for folder in folders if folders.isdisjoint(folder.parents)]
        for folder in hidden:
            yield from ("--tmpfs", str(folder))
        for folder in shown:
            above = [parent for parent in hidden if folder.is_relative_to(parent)]
            if above:
                for parent in reversed(folder.relative_to(above[0]).parents[:-1]):
                    # bubblewrap would make these folders for root alone.
                    yield from ("--perms", "0755", "--dir", str(above[0] / parent))
                yield from ("--bind", str(folder), str(folder))
        yield from ("--tmpfs", str(self.home(TEACHER)))

    def run(
        self,
        name: str,
        argv: Sequence[str | Path],
        cwd: Path | None = None,
        check: bool = True,
    ) -> subprocess.CompletedProcess[str]:
        """Have somebody run a command; standard output and errors come back as one text."""
        done = subprocess.run(
            self.command(name, argv),
            cwd=cwd or self.home(name),
            env=self.environment(name),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0 or not check, f"{name}: {argv}\n{done.stdout}"
        return done

    def nbgrader(self, name: str, *args: str | Path, cwd: Path | None = None) -> str:
        """Have somebody run an nbgrader command and return all it says."""
        return self.run(name, [sys.executable, "-m", "nbgrader", *args], cwd).stdout

    def each(self, task: Callable[[str], object]) -> None:
        """Do something for every student, side by side."""
        with ThreadPoolExecutor() as pool:
            # Asking for the answers is what raises their errors.
            list(pool.map(task, self.students))

    def remove(self) -> None:
        shutil.rmtree(self.base)
