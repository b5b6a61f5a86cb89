"""Any answers of a platform: who cannot be fetched or told is named in a line, and nobody else.

A platform is drawn for every student: what it answers before it does as it should. Fetching and
posting end, wait for a bounded time, show the token to nobody else and do not print it, write only
into their own folder, post nothing twice, and do for the others what they do without the faults.
"""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.grading import store
from autograder.platforms.ci import api
from autograder.platforms.ci.fetching import Fetcher
from autograder.platforms.ci.platforms import PLATFORMS, Platform
from autograder.platforms.ci.posting import Poster
from autograder.platforms.ci.roster import Student
from autograder.platforms.ci.work import Work
from tests.platforms.ci.conftest import TOKEN
from tests.platforms.ci.repositories import Repository, packed
from tests.platforms.ci.test_posting import ABOUT, fetched, graded

_LONG = settings.get_profile("at-length")
AT_LENGTH = settings(_LONG, max_examples=10 * _LONG.max_examples)
ROOT = "https://platform.test/api"
# Enough for every page and attempt of a student, with redirects.
MANY = 200
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in TOKEN)

TIMES = st.sampled_from(
    [*("nan", "inf", "-5", "0", "1e999", "", "Wed, 21 Oct 2015 07:28:00 GMT", "9" * 400, "\xff")]
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "Retry-After": TIMES,
        "X-RateLimit-Remaining": st.sampled_from(["0", "1", "x"]),
        "X-RateLimit-Reset": TIMES,
        "Content-Encoding": st.sampled_from(["gzip", "identity", "br"]),
        "Location": st.sampled_from(
            [
                *(
                    "",
                    "/api",
                    "http://elsewhere.test/",
                    "https://elsewhere.test/x",
                    "//",
                    "http://[",
                ),
                *("file:///etc/passwd", "https://a:b@elsewhere.test/", f"https://{TOKEN}.test/"),
            ]
        ),
        "Link": st.sampled_from(
            [
                *('<https://elsewhere.test/x>; rel="next"', '<?page=2>; rel="next"', "<", "x"),
                *(f'<{ROOT}/loop>; rel="next"', '<http://[>; rel="next"', f"<{TOKEN}>; rel=next"),
            ]
        ),
    },
)
BODIES = st.one_of(
    st.sampled_from(
        [
            *(b"", b"null", b"[]", b"{}", b"[1]", b"[[]]", b"\xff\xfe", b"[" * 100_000, b"NaN"),
            *(b'{"a":' * 50_000, b"1" * 5000, b'[{"sha": 5}]', b'[{"id": "../.."}]', b'"x"'),
            f'[{{"sha": "{TOKEN}"}}]'.encode(),
            f'[{{"full_name": "{ESCAPED}", "sha": "{ESCAPED}"}}]'.encode(),
            b'[{"sha": "' + b"a" * 40 + b'\\n"}]',
            b" " * 200_000,
        ]
    ),
    st.binary(max_size=50),
)
CODES = st.sampled_from([200, 201, 204, 301, 302, 308, 400, 401, 403, 404, 408, 409, 425, 429])
CODES |= st.sampled_from([500, 502, 503, 504, 599, 999])
# Neither lies about what is there.
HONEST_FAULT = st.one_of(
    st.tuples(st.just("says"), CODES.filter(lambda code: code >= 300), HEADERS, st.just(b"")),
    st.tuples(st.just("does and says"), CODES, HEADERS, BODIES),
    st.tuples(st.just("fails"), st.sampled_from(["connect", "read", "protocol", "write"])),
)
FAULT = HONEST_FAULT | st.tuples(st.just("says"), CODES, HEADERS, BODIES)
FAULTS = st.lists(FAULT, max_size=7)
HONEST_FAULTS = st.lists(HONEST_FAULT, max_size=7)
# What lies where notes of an earlier run should be.
NOTES = st.one_of(
    st.none(),
    st.just("folder"),
    st.sampled_from([b"", b"[", b"[" * 100_000, b'{"told": 7}', b'{"told": {"a": 1}}', b"\xff"]),
)


@dataclass
class There:
    """A platform that answers as it is told, and then as it should."""

    faults: dict[str, list[Any]]
    repositories: dict[str, Repository] = field(default_factory=dict)
    posted: dict[str, list[Any]] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)
    leaks: list[str] = field(default_factory=list)

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        home = request.url.host == "platform.test"
        shown = (request.headers.get(name) for name in ("Authorization", "PRIVATE-TOKEN"))
        if not home and any(shown):
            self.leaks.append(str(request.url))
        path = request.url.path
        student = next((name for name in self.faults if f"/course/{name}/" in path + "/"), "")
        self.asked[student] = self.asked.get(student, 0) + 1
        assert self.asked[student] < MANY, "it does not end"
        queued = self.faults.get(student, [])
        match queued.pop(0) if queued else None:
            case None:
                return self._rightly(request, student)
            case "fails", how:
                raise {
                    "connect": httpx.ConnectError(f"no way to {TOKEN}"),
                    "read": httpx.ReadTimeout("late"),
                    "write": httpx.WriteError(f"lost {TOKEN}"),
                    "protocol": httpx.RemoteProtocolError("junk"),
                }[how]
            case "does and says", code, headers, body:
                if request.method == "POST":
                    self._rightly(request, student)
                    return httpx.Response(code, headers=pairs(headers), stream=Body(body))
                return self._rightly(request, student)
            case _, code, headers, body:
                return httpx.Response(code, headers=pairs(headers), stream=Body(body))

    def _rightly(self, request: httpx.Request, student: str) -> httpx.Response:
        if student not in self.repositories:
            return httpx.Response(404, stream=Body(b""))
        words, sent = request.url.path.rpartition("/")[2], json.loads(request.content or b"null")
        there = [body for _, body in self.posted.get(student, [])]
        commits = self.repositories[student].branches
        if sent is not None:
            self.posted.setdefault(student, []).append((words, sent))
            return httpx.Response(201, stream=Body(b"{}"))
        if words == "statuses":
            found = [{**body, "status": body["state"]} for body in there if "state" in body]
        elif words == "comments":
            found = [body for body in there if "state" not in body]
        elif words == "commits":
            found = [{"sha": commits["main"], "id": commits["main"]}]
        else:
            # A link may lead anywhere; only a repository with commits has an archive.
            archive = self.repositories[student].archives.get(commits.get("main", ""))
            if archive is None:
                return httpx.Response(404, stream=Body(b""))
            return httpx.Response(200, stream=Body(archive))
        return httpx.Response(200, stream=Body(json.dumps(found).encode()))


def pairs(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


class Body(httpx.AsyncByteStream):
    """Bytes as they come from a socket: nothing is unpacked or counted for the reader."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> Any:
        for start in range(0, len(self._data), 65536):
            yield self._data[start : start + 65536]


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small ones, so that what exceeds them is small."""
    monkeypatch.setattr(api, "MAX_ANSWER", 150_000)
    monkeypatch.setattr(api, "MAX_PAGES", 5)


@dataclass
class Run:
    """One run against a platform, in a folder of its own."""

    there: There
    platform: Platform
    work: Work
    place: Path
    waits: list[float]

    def check(self, said: list[str]) -> None:
        """Check what must hold however it went."""
        assert self.there.leaks == []
        assert all(0 <= pause <= 120 and math.isfinite(pause) for pause in self.waits)
        assert sorted(path.name for path in self.place.iterdir()) == ["work"]
        for words in said:
            assert words
            assert TOKEN not in words
            assert words.isprintable()


class against:  # noqa: N801 - it reads as what it does
    """Lend a run against a platform with these faults, by student."""

    def __init__(self, kind: str, faults: dict[str, list[Any]]) -> None:
        self.there = There({name: [*queued] for name, queued in faults.items()})
        self.kind = kind

    def __enter__(self) -> Run:
        self._patch = pytest.MonkeyPatch()
        self._folder = tempfile.TemporaryDirectory(prefix="gradeformer-answers-")
        real = httpx.AsyncClient
        transport = httpx.MockTransport(self.there.answer)
        self._patch.setattr(httpx, "AsyncClient", lambda **how: real(transport=transport, **how))
        place = Path(self._folder.name)
        waits: list[float] = []
        platform = PLATFORMS[self.kind](ROOT, TOKEN, waits.append)
        return Run(self.there, platform, Work(place / "work"), place, waits)

    def __exit__(self, *_: object) -> None:
        self._patch.undo()
        self._folder.cleanup()


def damage(path: Path, note: bytes | str | None) -> None:
    if note == "folder":
        (path / "inner").mkdir(parents=True)
    elif isinstance(note, bytes):
        path.write_bytes(note)


ANSWERS = {
    "kind": st.sampled_from(sorted(PLATFORMS)),
    "ada": FAULTS,
    "bob": FAULTS,
    "note": NOTES,
}


def lies(faults: list[Any]) -> bool:
    """Tell whether a platform answers as if all were well, with something else."""
    return any(fault[0] == "says" and fault[1] < 300 for fault in faults)


def check_fetching(kind: str, ada: list[Any], bob: list[Any], note: bytes | str | None) -> None:
    faults = {"ada": ada, "bob": bob, "zoe": []}
    with against(kind, faults) as run:
        for name in faults:
            repository = run.there.repositories[name] = Repository(f"course/{name}")
            repository.push_archive(packed(name, {"layer_norm.py": name}, {}))
        damage(run.work.folder / "commits" / "ada.json", note)
        students = [Student(name, f"course/{name}") for name in faults]
        fetcher = Fetcher(run.work, run.platform, None, 0, 30)
        found = list(fetcher.fetch(students))
        assert [one.student for one in found] == students
        assert found[-1].outcome == "taken"
        run.check([one.reason for one in found if one.outcome == "failed"])
        for one in found:
            taken = run.work.submissions / one.student.id
            assert taken.is_dir() <= (one.outcome == "taken")
            # What a lying platform handed out instead is not this repository's.
            if one.outcome == "taken" and taken.is_dir() and not lies(faults[one.student.id]):
                assert (taken / "layer_norm.py").read_text() == one.student.id


def check_posting(kind: str, ada: list[Any], bob: list[Any], note: bytes | str | None) -> None:
    faults = {"ada": ada, "bob": bob, "zoe": []}
    with against(kind, faults) as run:
        for name in faults:
            run.there.repositories[name] = Repository(f"course/{name}")
            fetched(run.work, name)
            graded(run.work, name, 1.0)
        damage(run.work.folder / "posted" / "ada.json", note)
        poster = Poster(run.work, run.platform, ABOUT, 50.0, True, 3)
        failed = [(name, words) for name, words, fine in poster.post() if not fine]
        assert len(failed) == len({name for name, _ in failed})
        run.check([words for _, words in failed])
        for name in faults:
            posts = run.there.posted.get(name, [])
            if not lies(faults[name]):
                assert len({json.dumps(sent, sort_keys=True) for _, sent in posts}) == len(posts)
        assert len(run.there.posted["zoe"]) == 2
        assert store.read(run.work.graded, "zoe") is not None


def doing(code: int) -> list[Any]:
    """A GET that is right, and a POST that is done and called a failure."""
    return [("does and says", 200, {}, b""), ("does and says", code, {"Retry-After": "nan"}, b"")]


NESTED = [("says", 200, {}, b"[" * 100_000)]
ECHO = [("says", 200, {}, f'[{{"sha": "{ESCAPED}"}}]'.encode())]


@example(kind="github", ada=NESTED, bob=ECHO, note=b"[")
@example(kind="gitlab", ada=[("fails", "connect")] * 5, bob=[], note="folder")
@example(
    kind="github",
    ada=[("says", 200, {}, b"[]"), ("says", 429, {"Retry-After": "nan"}, b"")],
    bob=[("says", 302, {"Location": f"https://{TOKEN}.test/"}, b"")],
    note=None,
)
@given(**ANSWERS)
def test_whatever_is_answered_the_others_are_fetched(kind, ada, bob, note) -> None:
    check_fetching(kind, ada, bob, note)


@example(kind="github", ada=doing(408), bob=doing(429), note=None)
@example(kind="gitlab", ada=doing(502), bob=doing(425), note=b'{"told": 7}')
@example(kind="github", ada=NESTED, bob=ECHO, note="folder")
@example(
    kind="github", ada=[], bob=[("says", 200, {"Link": f"<{TOKEN}>; rel=next"}, b"[]")], note=None
)
@given(**ANSWERS)
def test_whatever_is_answered_the_others_are_told_and_nobody_twice(kind, ada, bob, note) -> None:
    check_posting(kind, ada, bob, note)


@pytest.mark.release
@settings(AT_LENGTH)
@given(**ANSWERS)
def test_fetching_at_length(kind, ada, bob, note) -> None:
    check_fetching(kind, ada, bob, note)


@pytest.mark.release
@settings(AT_LENGTH)
@given(**{**ANSWERS, "ada": HONEST_FAULTS})
def test_posting_at_length(kind, ada, bob, note) -> None:
    check_posting(kind, ada, bob, note)
