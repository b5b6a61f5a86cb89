"""A platform on this machine: its HTTP API, and its repositories for who has the token."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass
class Platform:
    """What is there, and what was asked.

    Attributes:
        repositories: the folder of the bare repositories.
        tokens: one of these must be shown.
        listed: the repositories of the organisation.
        statuses, comments: by repository and commit, oldest first.
        faults: how the next requests are answered instead; "lost" does what is asked and hangs up,
            "done 502" and the like do it and say that it failed, "down" hangs up at once, "says X"
            answers X.
        headers: further headers of these answers.
        asked: method and path of every request.
        shown: the authorization that each request for a repository brought.
        elsewhere: where requests for repositories are sent on to.
    """

    repositories: Path
    tokens: tuple[str, ...]
    listed: list[str] = field(default_factory=list)
    statuses: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    comments: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    faults: list[int | str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=lambda: {"Retry-After": "0"})
    asked: list[tuple[str, str]] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    elsewhere: str = ""
    address: str = ""

    @property
    def posts(self) -> int:
        return sum(method == "POST" and "/git/" not in path for method, path in self.asked)


@contextmanager
def serving(platform: Platform) -> Iterator[Platform]:
    class Handler(_Handler):
        shared = platform

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    platform.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    shared: Platform

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, body: bytes) -> None:
        platform = self.shared
        platform.asked.append((self.command, self.path))
        if self.path.startswith("/git/"):
            return self._git(body)
        shown = self.headers.get("Authorization", "").removeprefix("Bearer ")
        shown = shown or self.headers.get("PRIVATE-TOKEN", "")
        fault = platform.faults.pop(0) if platform.faults else None
        if fault == "down":
            self.close_connection = True
            return None
        if str(fault).startswith("says "):
            data = str(fault).removeprefix("says ").encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return None
        if fault not in (None, "lost") and not str(fault).startswith("done"):
            self.send_response(int(fault))
            if fault == 302:
                self.send_header("Location", f"{platform.address}/elsewhere")
            for name, value in platform.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if shown not in platform.tokens:
            return self._say(401, {"message": "Bad credentials"})
        code, said = self._api(body)
        if fault == "lost":
            self.close_connection = True
            return None
        if fault is not None:
            return self._say(int(str(fault).removeprefix("done")), {"message": "Bad gateway"})
        return self._say(code, said)

    def _say(self, code: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _api(self, body: bytes) -> tuple[int, Any]:
        """Do what GitHub and GitLab do, as far as it is used."""
        platform = self.shared
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        page = int(query.get("page", ["1"])[0]) - 1
        words = [unquote(word) for word in parts.path.strip("/").split("/")]
        sent = json.loads(body) if body else None

        def paged(found: list[Any]) -> tuple[int, Any]:
            return 200, found[100 * page : 100 * page + 100]

        match words:
            case ["orgs", _, "repos"]:
                return paged([{"full_name": name} for name in platform.listed])
            case ["groups", _, "projects"]:
                return paged([{"path_with_namespace": name} for name in platform.listed])
            case ["repos", owner, name, "commits", commit, "statuses"]:
                found = platform.statuses.get((f"{owner}/{name}", commit), [])
                return paged(found[::-1])
            case ["repos", owner, name, "statuses", commit]:
                platform.statuses.setdefault((f"{owner}/{name}", commit), []).append(sent)
                return 201, {}
            case ["projects", name, "repository", "commits", commit, "statuses"]:
                found = platform.statuses.get((name, commit), [])
                newest = {entry["name"]: entry for entry in found}
                named = {**newest}.values()
                return paged([{**entry, "status": entry["state"]} for entry in named])
            case ["projects", name, "statuses", commit]:
                platform.statuses.setdefault((name, commit), []).append(sent)
                return 201, {}
            case ["repos", owner, name, "commits", commit, "comments"]:
                return self._comments((f"{owner}/{name}", commit), sent, "body", paged)
            case ["projects", name, "repository", "commits", commit, "comments"]:
                return self._comments((name, commit), sent, "note", paged)
        return 404, {"message": "Not Found"}

    def _comments(self, place: Any, sent: Any, key: str, paged: Any) -> tuple[int, Any]:
        there = self.shared.comments.setdefault(place, [])
        if sent is None:
            return paged([{key: text} for text in there])
        there.append(sent[key])
        return 201, {}

    def _git(self, body: bytes) -> None:
        """Serve a repository, by the program that comes with git."""
        shown = self.headers.get("Authorization", "").removeprefix("Basic ")
        self.shared.shown.append(base64.b64decode(shown).decode())
        if self.shared.elsewhere:
            self.send_response(302)
            self.send_header("Location", f"{self.shared.elsewhere}{self.path}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if base64.b64decode(shown).decode().partition(":")[2] not in self.shared.tokens:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
            self.send_header("Content-Length", "0")
            return self.end_headers()
        parts = urlsplit(self.path)
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            timeout=60,
            env={
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(self.shared.repositories),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_GLOBAL": "/dev/null",
                "PATH_INFO": parts.path.removeprefix("/git"),
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "REMOTE_USER": "someone",
            },
        )
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(lines.pop("Status", "200").split()[0]))
        for name, value in lines.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        return None
