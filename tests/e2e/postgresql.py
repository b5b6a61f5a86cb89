"""A PostgreSQL cluster of our own, in a temporary folder and on a socket."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

DATABASE = "gradebook"


def find() -> Path | None:
    """Return the folder of PostgreSQL's programs, which Debian does not put on the path."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    newest = max(versions, key=lambda path: int(path.parts[-3]), default=None)
    return newest.parent if newest else None


def _owner() -> str:
    """Return whom the cluster belongs to: never root, which PostgreSQL refuses."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(owner: str, argv: Sequence[str | Path]) -> None:
    command = [*map(str, argv)]
    if os.geteuid() == 0:
        user = pwd.getpwnam(owner)
        who = ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid)]
        command = [*who, "--clear-groups", "--", *command]
    # The server inherits what it is started with: a pipe would stay open as long as it runs.
    subprocess.run(
        command,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )


@dataclass(frozen=True)
class Cluster:
    """A running server with one database."""

    programs: Path
    folder: Path
    owner: str

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://{self.owner}@/{DATABASE}?host={self.folder}"

    def run(self, program: str, *args: str | Path) -> None:
        _run(self.owner, [self.programs / program, "--host", self.folder, *args])


@contextlib.contextmanager
def cluster(programs: Path, folder: Path) -> Iterator[Cluster]:
    """Run a cluster in a new folder, with an empty database."""
    owner = _owner()
    data, log = folder / "data", folder / "log"
    # Whoever reaches the socket is let in.
    folder.mkdir(mode=0o700)
    shutil.chown(folder, owner)
    # Durability is of no use to what is thrown away.
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
    control: list[str | Path] = [programs / "pg_ctl", "--pgdata", data, "--wait", "--log", log]
    _run(owner, [programs / "initdb", "--pgdata", data, "--auth=trust", "--no-sync", "-E", "UTF8"])
    _run(owner, [*control, "--options", options, "start"])
    try:
        running = Cluster(programs, folder, owner)
        running.run("createdb", DATABASE)
        yield running
    finally:
        _run(owner, [*control, "--mode", "immediate", "stop"])
