"""Accounts that are there for one program alone, and whose nbgrader commands it runs.

As root: other accounts' names are mounted over /etc/passwd and /etc/group for a program of its own
(bubblewrap), so the machine's stay as they are and nothing is left to delete. The program imports
nbgrader once; every command is a fork of it that becomes the account and runs nbgrader's own
application, so that its files and permissions are the account's, at a tenth of the time.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.platforms.nbgrader.conftest import Course

ROOT = Path(__file__).resolve().parents[3]
# Above what adduser and systemd give away, and what tests/e2e uses.
_FIRST = 64101
STAFF, GROUP = 64199, "staff29"
INSTRUCTOR, GRADER = "inst", "grader"
STUDENTS = ("ada", "bob", "eve")
KEY = "PRIVATE-KEY-OF-THE-INSTRUCTOR"


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    code: int
    said: str


class Accounts:
    """An instructor and a second grader, who share a group, and three students.

    Args:
        base: a new folder that all of them can reach; each has a home in it.
    """

    def __init__(self, base: Path) -> None:
        self.base = base
        self.uids = {n: _FIRST + i for i, n in enumerate((INSTRUCTOR, GRADER, *STUDENTS))}
        self.exchange = base / "exchange"
        self.exchange.mkdir()
        self.exchange.chmod(0o777)
        for name, uid in self.uids.items():
            self.home(name).mkdir()
            os.chown(self.home(name), uid, self._group(name))
            self.home(name).chmod(0o700)
        command = [*self._view(), sys.executable, "-m", "tests.platforms.nbgrader.accounts"]
        self._program = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def home(self, name: str) -> Path:
        return self.base / name

    def _group(self, name: str) -> int:
        return STAFF if name in (INSTRUCTOR, GRADER) else self.uids[name]

    def _view(self) -> list[str]:
        """Return bubblewrap's words: the names, and what was installed where others can read it."""
        passwd, group = Path("/etc/passwd").read_text(), Path("/etc/group").read_text()
        group += f"{GROUP}:x:{STAFF}:{INSTRUCTOR},{GRADER}\n"
        for name, uid in self.uids.items():
            passwd += f"{name}:x:{uid}:{self._group(name)}::{self.home(name)}:/bin/sh\n"
            group += f"{name}:x:{uid}:\n" if name in STUDENTS else ""
        command = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/"]
        for name, text in (("passwd", passwd), ("group", group)):
            (self.base / name).write_text(text)
            command += ["--ro-bind", str(self.base / name), f"/etc/{name}"]
        shown = {Path(sys.prefix), Path(sys.base_prefix), ROOT}
        closed = {folder for path in shown for folder in path.parents if not _is_open(folder)}
        outer = [folder for folder in sorted(closed) if closed.isdisjoint(folder.parents)]
        for folder in outer:
            command += ["--perms", "0755", "--tmpfs", str(folder)]
            for path in sorted(path for path in shown if path.is_relative_to(folder)):
                for parent in reversed(path.relative_to(folder).parents[:-1]):
                    command += ["--perms", "0755", "--dir", str(folder / parent)]
                command += ["--ro-bind", str(path), str(path)]
        return [*command, "--"]

    def give(self, name: str, folder: Path) -> None:
        """Make an account the owner of a folder and all that is in it."""
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self.uids[name], self._group(name), follow_symlinks=False)

    def run(
        self, name: str, *argv: str | Path, cwd: Path | None = None, umask: int = 0o022, **env: str
    ) -> Done:
        """Have an account run `nbgrader …` or `autograder …`, or Python `code …` with arguments."""
        asked = {
            "argv": [str(word) for word in argv],
            "uid": self.uids[name],
            "gid": self._group(name),
            "cwd": str(cwd or self.home(name)),
            "umask": umask,
            "env": {**self.environment(name), **env},
            "out": str(self.base / "said"),
        }
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(json.dumps(asked) + "\n")
        self._program.stdin.flush()
        code = int(self._program.stdout.readline())
        return Done(code, (self.base / "said").read_text(errors="replace"))

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of an account that has this Python and nothing else configured."""
        home = self.home(name)
        names = ("PATH", "LANG", "LD_LIBRARY_PATH")
        kept = {key: os.environ[key] for key in names if key in os.environ}
        kept["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}"
        kept["JUPYTER_RUNTIME_DIR"] = str(home / "runtime")
        return {**kept, "HOME": str(home), "USER": name, "PYTHONWARNINGS": "ignore"}

    def serving(self, name: str, argv: Sequence[str | Path]) -> list[str]:
        """Return the command that runs a server as an account."""
        uid, gid = str(self.uids[name]), str(self._group(name))
        who = ["setpriv", "--reuid", uid, "--regid", gid, "--clear-groups", "--no-new-privs"]
        return [*self._view(), *who, *map(str, argv)]

    def close(self) -> None:
        # Its end of input is the end of it.
        self._program.communicate(timeout=60)


def _is_open(folder: Path) -> bool:
    return bool(folder.stat().st_mode & stat.S_IXOTH)


@contextlib.contextmanager
def accounts() -> Iterator[Accounts]:
    """Lend the accounts; nothing of them is left."""
    # pytest's own temporary folders are closed to other users.
    base = Path(tempfile.mkdtemp(prefix="gradeformer-accounts-"))
    base.chmod(0o755)
    try:
        found = Accounts(base)
        try:
            yield found
        finally:
            found.close()
    finally:
        shutil.rmtree(base)


class Department:
    """The accounts, and a course and its project that the graders share.

    Args:
        people: the accounts.
        blank: a course of one person, whose project is copied.
        command: whether the instructor makes the course by our command; else a copy of the other
            one is opened to the group, as somebody would who has never heard of it.
    """

    def __init__(self, people: Accounts, blank: Course, command: bool = False) -> None:
        self.people = people
        self.project = people.base / "project"
        self.course = people.base / "department" / "course"
        self.course.parent.mkdir()
        people.give(INSTRUCTOR, self.course.parent)
        shutil.copytree(blank.project, self.project)
        self._share(self.project)
        if command:
            init = ("autograder", "course", "init", self.course, "--group", GROUP)
            made = people.run(INSTRUCTOR, *init, "--root", self.project, cwd=self.course.parent)
            assert made.code == 0, made.said
        else:
            shutil.copytree(blank.folder, self.course)
            shutil.rmtree(self.course / "gradeformer", ignore_errors=True)
            self._share(self.course)
        self.url = f"sqlite:///{self.course}/gradebook.db"
        exchange = f"\nc.Exchange.root = {str(people.exchange)!r}\n"
        with (self.course / "nbgrader_config.py").open("a") as config:
            config.write(exchange)
            if not command:
                config.write("c.CourseDirectory.groupshared = True\n")
        if command:
            made = self.staff(INSTRUCTOR, "nbgrader", "generate_assignment", "norm")
            assert made.code == 0, made.said
        key = people.home(INSTRUCTOR) / ".ssh" / "id_rsa"
        key.parent.mkdir(mode=0o700)
        key.write_text(KEY)
        people.give(INSTRUCTOR, key.parent)
        for student in STUDENTS:
            config = people.home(student) / ".jupyter" / "nbgrader_config.py"
            config.parent.mkdir()
            config.write_text(f"c = get_config()\nc.CourseDirectory.course_id = 'course'{exchange}")
            people.give(student, config.parent)

    def _share(self, folder: Path) -> None:
        self.people.give(INSTRUCTOR, folder)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o2770 if path.is_dir() else 0o660)

    def staff(self, name: str, *argv: str | Path, umask: int = 0o022) -> Done:
        """Have a grader run a command in the course."""
        named = {"GRADEFORMER_ROOT": str(self.project)}
        return self.people.run(name, *argv, cwd=self.course, umask=umask, **named)

    def hand_in(self, student: str, text: str, umask: int = 0o022) -> Path:
        """Have a student submit, and return where the submission lies."""
        path = self.people.home(student) / "norm" / "layer_norm.py"
        path.write_text(text)
        said = self.people.run(student, "nbgrader", "submit", "norm", umask=umask).said
        (line,) = [line for line in said.splitlines() if "Destination: " in line]
        return Path(line.partition("Destination: ")[2])

    def collected(self, student: str) -> dict[str, str]:
        """Return what the course has of a student, by path."""
        folder = self.course / "submitted" / student / "norm"
        found = [path for path in folder.rglob("*") if not path.is_dir()]
        return {str(p.relative_to(folder)): p.read_text(errors="replace") for p in found}


def _serve() -> None:
    """Run commands, one line of JSON each, and answer with their exit codes."""
    import nbgrader.apps
    import nbgrader.converters
    import nbgrader.exchange  # noqa: F401

    import autograder.cli
    import autograder.platforms.nbgrader.cells
    import autograder.platforms.nbgrader.gradebook
    import autograder.platforms.nbgrader.pages
    import autograder.platforms.nbgrader.preprocessors  # noqa: F401

    for line in sys.stdin:
        asked = json.loads(line)
        out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        pid = os.fork()
        if pid == 0:
            os._exit(_child(asked, out))
        os.close(out)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _child(asked: Mapping[str, Any], out: int) -> int:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.environ.clear()
    os.environ.update(asked["env"])
    os.setgroups([asked["gid"]])
    os.setresgid(*[asked["gid"]] * 3)
    os.setresuid(*[asked["uid"]] * 3)
    os.umask(asked["umask"])
    os.chdir(asked["cwd"])
    try:
        _act(asked["argv"])
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 70
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _act(argv: Sequence[str]) -> None:
    program, *words = argv
    sys.argv = [program, *words]
    if program == "nbgrader":
        from nbgrader.apps import NbGraderApp

        NbGraderApp.launch_instance(words)
    elif program == "autograder":
        from autograder.cli import main

        sys.exit(main())
    else:
        exec(words[0], {"args": words[1:]})


if __name__ == "__main__":
    _serve()
