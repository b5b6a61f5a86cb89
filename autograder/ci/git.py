"""Git over repositories that are not trusted: objects are read, nothing is checked out.

No hook, submodule, filter, attribute or LFS object of theirs takes effect, as there is no work
tree; sizes, time and protocol are limited, and configuration of the machine is not read.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from typing import IO
from urllib.parse import urlsplit

from autograder.ci.harmless import LIMITED, SETTINGS, environment
from autograder.text import clean

# What is given up rather than read; what is handed in as a submission is less by far.
MAX_FETCHED = 100_000_000
MAX_ENTRIES = 10_000
MAX_FILES = 1000
MAX_FILE_BYTES = 2_000_000
MAX_BYTES = 20_000_000
_MAX_MEMORY = 4 << 30
_MAX_NAME = 1000
_MAX_SAID = 1_000_000
_COMMIT = re.compile(rb"[0-9a-f]{40}|[0-9a-f]{64}")


class GitFault(Exception):
    """A repository that cannot be fetched; the message is one line that says why."""

    def __init__(self, message: str) -> None:
        super().__init__(clean(message, 300))


@dataclass(frozen=True)
class Taken:
    """What was taken of a repository.

    Attributes:
        commit: which commit it is.
        files: the Python files by their relative POSIX path.
        left_out: what was not taken, and why.
    """

    commit: str
    files: dict[str, bytes]
    left_out: list[str]

    @property
    def content(self) -> str:
        """A hash of the files."""
        total = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            total.update(f"{len(name)} {len(data)} {name}".encode())
            total.update(data)
        return total.hexdigest()


class Git:
    """Fetches from one server.

    Args:
        token: what the server is shown, if anything.
        user: the name that goes with it.
        seconds: how long everything about one repository may take.
    """

    def __init__(self, token: str | None, user: str, seconds: float) -> None:
        self._token = token
        self._user = user
        self._seconds = seconds

    def newest(self, url: str, ref: str) -> str | None:
        """Return the commit that a repository has to offer; None if it has none yet.

        Raises:
            GitFault: the repository cannot be read.
        """
        with self._place() as place:
            said = self._said(place, url, ["ls-remote", "--", url, ref])
        for line in said.splitlines():
            commit, _, name = line.partition(b"\t")
            if name in (ref.encode(), b"refs/heads/" + ref.encode()) and _COMMIT.fullmatch(commit):
                return commit.decode()
        return None

    def take(self, url: str, ref: str) -> Taken:
        """Fetch what a repository has to offer and return its Python files.

        Raises:
            GitFault: it cannot be read, or is too large.
        """
        with self._place() as place:
            self._said(place, url, ["init", "--quiet", "--bare", "--template=", "."])
            words = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"]
            self._said(place, url, [*words, "--no-write-commit-graph", "--", url, ref])
            said = self._said(place, url, ["rev-parse", "--verify", "FETCH_HEAD^{commit}"])
            commit = said.strip().decode()
            wanted, left_out = self._listed(place, commit)
            return Taken(commit, self._read(place, wanted), left_out)

    def _listed(self, place: Path, commit: str) -> tuple[dict[str, str], list[str]]:
        """Return the objects of the Python files by their paths, and what is left out."""
        wanted: dict[str, str] = {}
        left_out: list[str] = []
        total = 0
        with self._run(place, "", ["ls-tree", "-r", "-l", "-z", commit]) as out:
            for number, line in enumerate(_records(out)):
                if number >= MAX_ENTRIES:
                    raise GitFault(f"it has more than {MAX_ENTRIES} files")
                about, _, raw = line.partition(b"\t")
                mode, kind, name, size = about.split()
                try:
                    path = raw.decode()
                except UnicodeDecodeError:
                    continue
                if not path.endswith(".py") or not _inside(path):
                    continue
                if kind != b"blob" or mode not in (b"100644", b"100755", b"100664"):
                    left_out.append(clean(f"{path} is a link", 300))
                    continue
                if int(size) > MAX_FILE_BYTES:
                    raise GitFault(f"{path} is larger than {MAX_FILE_BYTES} bytes")
                total += int(size)
                wanted[path] = name.decode()
                if len(wanted) > MAX_FILES or total > MAX_BYTES:
                    raise GitFault(
                        f"it has more than {MAX_FILES} Python files or {MAX_BYTES} bytes of them"
                    )
        return wanted, left_out[:20]

    def _read(self, place: Path, wanted: dict[str, str]) -> dict[str, bytes]:
        names = place / "wanted"
        names.write_text("".join(f"{name}\n" for name in wanted.values()), encoding="ascii")
        found: dict[str, bytes] = {}
        with (
            names.open("rb") as listed,
            self._run(place, "", ["cat-file", "--batch"], listed) as out,
        ):
            for path, name in wanted.items():
                head = out.readline(200).split()
                if len(head) != 3 or head[0] != name.encode() or int(head[2]) > MAX_FILE_BYTES:
                    raise GitFault(f"{path} cannot be read")
                found[path] = out.read(int(head[2]))
                if len(found[path]) != int(head[2]) or out.read(1) != b"\n":
                    raise GitFault(f"{path} cannot be read")
        return found

    def _said(self, place: Path, url: str, words: Sequence[str]) -> bytes:
        with self._run(place, url, words) as out:
            said = out.read(_MAX_SAID)
        return said

    @contextmanager
    def _run(
        self, place: Path, url: str, words: Sequence[str], listed: IO[bytes] | None = None
    ) -> Iterator[IO[bytes]]:
        """Run git, lend what it says, and see that it ends well and in time."""
        settings = dict(SETTINGS)
        scheme = urlsplit(url).scheme
        if scheme:
            settings[f"protocol.{scheme}.allow"] = "always"
        passed: tuple[int, ...] = ()
        if self._token is not None and scheme in ("https", "http"):
            passed = (self._credential(),)
            settings[f"credential.{_server(url)}.helper"] = f"!cat /proc/self/fd/{passed[0]} #"
        command = ["git", *(part for k, v in settings.items() for part in ("-c", f"{k}={v}"))]
        # POSIX counts a file's size in blocks of 512 bytes, and memory in units of 1024.
        limits = [str(MAX_FETCHED // 512), str(_MAX_MEMORY // 1024), str(int(self._seconds) + 1)]
        with tempfile.TemporaryFile() as complaints:
            try:
                process = subprocess.Popen(
                    ["sh", "-c", LIMITED, "sh", *limits, *command, *words],
                    cwd=place,
                    env=environment(place),
                    stdin=listed or subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=complaints,
                    pass_fds=passed,
                    start_new_session=True,
                )
            finally:
                for descriptor in passed:
                    os.close(descriptor)
            late = Event()

            def stop() -> None:
                late.set()
                _end(process)

            timer = Timer(self._seconds, stop)
            timer.start()
            assert process.stdout is not None
            try:
                yield process.stdout
                if process.stdout.read(1):
                    raise GitFault("it says more than is read")
                code = process.wait()
            except GitFault as fault:
                # Whatever was missing then is what was not said in time.
                if late.is_set():
                    raise GitFault(self._too_late) from fault
                raise
            finally:
                timer.cancel()
                _end(process)
                process.stdout.close()
                process.wait()
            if late.is_set():
                raise GitFault(self._too_late)
            if code:
                complaints.seek(0)
                raise GitFault(_reason(complaints.read(20_000), code, words[0]))

    @property
    def _too_late(self) -> str:
        return f"it took longer than {self._seconds:g} s"

    def _credential(self) -> int:
        """Return a descriptor of what git asks for: no file, argument or environment has it."""
        descriptor = os.memfd_create("credential")
        os.write(descriptor, f"username={self._user}\npassword={self._token}\n".encode())
        return descriptor

    @contextmanager
    def _place(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="gradeformer-fetch-") as place:
            yield Path(place)


def _server(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _records(out: IO[bytes]) -> Iterator[bytes]:
    """Yield records that end in a zero byte, none of them longer than is sensible."""
    left = b""
    while data := out.read(1 << 16):
        *whole, left = (left + data).split(b"\0")
        yield from whole
        if len(left) > _MAX_NAME * 10:
            raise GitFault("a name in it is too long")


def _inside(path: str) -> bool:
    """Tell whether a path of a tree names a file within its folder, whoever wrote the tree."""
    parts = path.split("/")
    plain = all(part not in ("", ".", "..") and len(part.encode()) < 250 for part in parts)
    return plain and path.isprintable() and "\\" not in path and len(path) < _MAX_NAME


def _reason(said: bytes, code: int, what: str) -> str:
    # What writes the file is ended by the limit, and git says no more of it than this.
    if b"File too large" in said or b"invalid index-pack output" in said:
        return f"it is larger than {MAX_FETCHED} bytes, or damaged"
    lines = [line for line in said.decode(errors="replace").splitlines() if line.strip()]
    last = [line for line in lines if line.startswith(("fatal:", "error:"))] or lines
    return f"git {what}: {last[0] if last else f'exit code {code}'}"


def _end(process: subprocess.Popen[bytes]) -> None:
    # It is not waited for yet, so its number is still its own.
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
