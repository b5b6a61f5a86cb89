"""A platform on this machine: its HTTP API, for who has the token."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.platforms.ci.repositories import Repository


@dataclass
class Platform:
    """What is there, and what was asked.

    Attributes:
        tokens: one of these must be shown.
        repositories: those of students, by name.
        listed: the repositories of the organisation.
        page: how many entries of a list are on a page; a further page is linked.
        statuses, comments: by repository and commit, oldest first.
        faults: how the next requests are answered instead; "lost" does what is asked and hangs up,
            "done 502" and the like do it and say that it failed, "down" hangs up at once, "says X"
            answers X, "trickles" a byte now and then.
        headers: further headers of these answers.
        asked: method and path of every request.
        shown: what was shown of a token, by the path of every request.
        elsewhere: where archives are; they are refused to who shows a token there.
    """

    tokens: tuple[str, ...]
    repositories: dict[str, Repository] = field(default_factory=dict)
    listed: list[Any] = field(default_factory=list)
    page: int = 100
    statuses: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    comments: dict[tuple[str, str], list[Any]] = field(default_factory=dict)
    faults: list[int | str | None] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=lambda: {"Retry-After": "0"})
    asked: list[tuple[str, str]] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)
    elsewhere: str = ""
    address: str = ""
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def posts(self) -> int:
        return sum(method == "POST" for method, _ in self.asked)

    def repository(self, name: str) -> Repository:
        """Return a repository, and begin it if it is not there."""
        return self.repositories.setdefault(name, Repository(name))


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
        platform.closing.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    shared: Platform
    _more: dict[str, str]

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
        self._more = {}
        platform.asked.append((self.command, self.path))
        shown = self.headers.get("Authorization", "").removeprefix("Bearer ")
        shown = shown or self.headers.get("PRIVATE-TOKEN", "")
        platform.shown.append((self.path, shown))
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
        if fault == "trickles":
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            while not platform.closing.wait(0.05):
                self.wfile.write(b" ")
            return None
        if fault not in (None, "lost") and not str(fault).startswith("done"):
            self.send_response(int(fault))
            if fault == 302:
                self.send_header("Location", f"{platform.address}/elsewhere")
            for name, value in platform.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if self.path.startswith("/codeload/"):
            # What is signed there is the address; a token shown here is one too many.
            if shown:
                return self._say(400, {"message": "a token"})
            name, _, commit = self.path.partition("?")[0].removeprefix("/codeload/").partition(":")
            return self._data(200, platform.repositories[name].archives[commit])
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
        if isinstance(value, bytes):
            return self._data(code, value)
        return self._data(code, json.dumps(value).encode())

    def _data(self, code: int, data: bytes) -> None:
        self.send_response(code)
        for name, value in self._more.items():
            self.send_header(name, value)
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
            each = platform.page
            if len(found) > each * (page + 1):
                onward = f"{platform.address}{parts.path}?page={page + 2}"
                self._more["Link"] = f'<{onward}>; rel="next", <{onward}>; rel="last"'
            return 200, found[each * page : each * page + each]

        match words:
            case ["repos", owner, name, *what] if what and what[0] != "statuses" and len(what) < 4:
                found = self._repository(f"{owner}/{name}", what, "sha")
                if found is not None:
                    return found
            case ["projects", name, "repository", *what] if len(what) < 3:
                found = self._repository(name, what, "id", query.get("sha", [""])[0])
                if found is not None:
                    return found
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

    def _repository(
        self, name: str, what: list[str], key: str, asked: str = ""
    ) -> tuple[int, Any] | None:
        """What is said of commits and their archives; None if it is about something else."""
        platform = self.shared
        match what:
            case ["commits"] | ["branches", *_] | ["tarball", _] | ["archive.tar.gz"]:
                repository = platform.repositories.get(name)
                if repository is None:
                    return 404, {"message": "Not Found"}
        match what:
            case ["commits"]:
                if not repository.branches:
                    return (409, {}) if key == "sha" else (200, [])
                return 200, [{key: repository.branches["main"]}]
            case ["branches", *parts]:
                branch = "/".join(parts)
                if branch not in repository.branches:
                    return 404, {"message": "Branch not found"}
                return 200, {"name": branch, "commit": {key: repository.branches[branch]}}
            case ["tarball", commit]:
                self._more["Location"] = (
                    f"{platform.elsewhere}/codeload/{name}:{commit}?token=SIGNED"
                )
                return 302, b""
            case ["archive.tar.gz"]:
                return 200, repository.archives[asked]
        return None
