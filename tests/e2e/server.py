"""A Jupyter server of one person, on a port of its own, that is surely gone afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.e2e.waiting import until


class Users(Protocol):
    """Who may run a server: everyone has a home and an environment, below one folder."""

    base: Path

    def home(self, name: str) -> Path: ...
    def environment(self, name: str) -> dict[str, str]: ...
    def serving(self, name: str, argv: Sequence[str | Path]) -> list[str]: ...


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    url: str
    token: str
    log: Path

    def ask(self, path: str, method: str = "GET") -> Any:
        """Call the server's own API."""
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", f"token {self.token}")
        with urllib.request.urlopen(request, timeout=60) as reply:
            text = reply.read()
        return json.loads(text) if text else None


@contextlib.contextmanager
def jupyter(people: Users, name: str, folder: Path) -> Iterator[Server]:
    """Run JupyterLab's server in `folder`, whose nbgrader_config.py is then the one that counts."""
    runtime = people.home(name) / "runtime"
    token = secrets.token_hex(16)
    argv = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    argv += ["--ServerApp.ip=127.0.0.1", "--ServerApp.port=0", f"--IdentityProvider.token={token}"]
    log = people.base / f"{name}-server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            people.serving(name, argv),
            cwd=folder,
            env=people.environment(name),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        server = until(lambda: _answering(process, runtime, token, log), 180, "the server answers")
        yield server
        with contextlib.suppress(OSError):
            server.ask("api/shutdown", "POST")
            process.wait(20)
    finally:
        _end(process)
        # pytest shows it with what failed.
        print(log.read_text())
        for path in runtime.glob("jpserver-*"):
            path.unlink()


def _answering(
    process: subprocess.Popen[bytes], runtime: Path, token: str, log: Path
) -> Server | None:
    assert process.poll() is None, log.read_text()
    for path in runtime.glob("jpserver-*.json"):
        with contextlib.suppress(OSError, ValueError):
            server = Server(json.loads(path.read_text())["url"], token, log)
            server.ask("api/status")
            return server
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.terminate()
            process.wait(10)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
