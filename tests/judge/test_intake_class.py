"""Any class at all, by the real command: what is faulty costs one sentence, and nobody else.

A class is drawn from a grammar: honest work however it is packed, archives that are allowed, that
are not and that are damaged, and earlier results that are valid or not. The command ends, every
entry has a result, a rejection says why in one line, nothing is written outside of `--out`, and
honest work has the result that it has alone.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import itertools
import json
import os
import re
import struct
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from autograder.assignment import load_assignment
from autograder.cli import main
from autograder.grading import batch as batches
from autograder.grading.workers import CannotGrade, WorkerPool
from tests.judge.test_hostile_archives import NAME, header, padded, tarred, zipped
from tests.judge.test_intake_fuzz import TARBALLS, TARS, ZIPS, damaged
from tests.sources import RIGHT, STUB, WRONG
from tests.tiny import write_tiny

AT_LENGTH = settings.get_profile("at-length")

# Honest work, by a name.
WORK: dict[str, dict[str, bytes]] = {
    "right": {NAME: RIGHT.encode()},
    "wrong": {NAME: WRONG.encode()},
    "stub": {NAME: STUB.encode(), "helper.py": b"y = 1\n"},
    "nothing": {},
}
# What students' machines leave beside it.
NOISE = {
    f"{NAME}:Zone.Identifier": b"[ZoneTransfer]",
    "Screenshot 12:30.png": b"png",
    "__MACOSX/._layer_norm.py": b"\0\5",
    ".git/hooks/x.py": b"x",
    "notes.txt": b"",
}


def folder_of(place: Path, files: Mapping[str, bytes]) -> None:
    place.mkdir()
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)


def zip_of(place: Path, files: Mapping[str, bytes]) -> None:
    place.with_name(place.name + ".zip").write_bytes(zipped(*files.items()))


def tar_as(layout: int) -> Callable[[Path, Mapping[str, bytes]], None]:
    def pack(place: Path, files: Mapping[str, bytes]) -> None:
        name = place.with_name(place.name + ".tar.gz")
        with tarfile.open(name, "w:gz", format=layout, compresslevel=1) as archive:
            for path, data in files.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))

    return pack


PACKINGS = {
    "folder": folder_of,
    "zip": zip_of,
    "pax": tar_as(tarfile.PAX_FORMAT),
    "gnu": tar_as(tarfile.GNU_FORMAT),
    "ustar": tar_as(tarfile.USTAR_FORMAT),
}


# The cases that were found by attacks.


def digits(count: int, entries: int = 1) -> bytes:
    """Make a tarball with headers of digits, over which some versions of Python take minutes."""
    said = header("x", b"x", count) + padded(b"1" * count) + header("a.txt", b"0", 0)
    return gzip.compress(said * entries + bytes(1024), 1)


def one_stream(entries: int) -> bytes:
    """Make a zip that lists one packed file many times."""
    data = b"x = 1\n" * 150_000
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(data) + packer.flush()
    about = struct.pack("<IIIHH", zlib.crc32(data), len(packed), len(data), 4, 0)
    local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 33) + about + b"a.py"
    listed = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33) + about
    listed += struct.pack("<HHHII", 0, 0, 0, 0, 0) + b"a.py"
    start = len(local) + len(packed)
    end = struct.pack("<HHHHIIH", 0, 0, entries, entries, entries * len(listed), start, 0)
    return local + packed + listed * entries + b"PK\5\6" + end


def leading_out() -> bytes:
    return zipped((NAME, RIGHT.encode()), ("../../outside.py", b"x = 1\n"))


def link() -> bytes:
    found = tarred((NAME, b""), type=tarfile.SYMTYPE, linkname="../../project/reference")
    return gzip.compress(found, 1)


FOUND: dict[str, tuple[str, Callable[[], bytes]]] = {
    "digits": (".tar.gz", lambda: digits(250_000)),
    "digits-below-the-cap": (".tar.gz", lambda: digits(999, 40)),
    "overlap": (".zip", lambda: one_stream(10_000)),
    "leads-out": (".zip", leading_out),
    "link": (".tar.gz", link),
    **{made.__name__: (".tar.gz", made) for made in TARBALLS},
}


@functools.cache
def attack(name: str) -> bytes:
    return FOUND[name][1]()


ALLOWED = [zipped((NAME, RIGHT.encode())), tarred((NAME, RIGHT.encode()))]

honest = st.tuples(
    st.just("honest"),
    st.sampled_from(sorted(WORK)),
    st.sampled_from(sorted(PACKINGS)),
    st.booleans(),  # wrapped in a folder
    st.booleans(),  # with noise
)
named = st.tuples(st.just("named"), st.sampled_from(sorted(FOUND)))
drawn = st.one_of(
    st.tuples(st.just("drawn"), st.just(".zip"), ZIPS),
    st.tuples(st.just("drawn"), st.just(".tar.gz"), TARS.map(lambda b: gzip.compress(b, 1))),
    st.tuples(st.just("drawn"), st.sampled_from([".zip", ".tar.gz"]), st.binary(max_size=200)),
)


@st.composite
def broken(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """Damage an archive that was fine."""
    data = draw(st.data())
    if draw(st.booleans()):
        return "drawn", ".zip", damaged(data, ALLOWED[0])
    if draw(st.booleans()):
        return "drawn", ".tar.gz", damaged(data, gzip.compress(ALLOWED[1], 1))
    return "drawn", ".tar.gz", gzip.compress(damaged(data, ALLOWED[1]), 1)


# What may lie where an earlier result was: None for nothing.
VALID = {
    "schema": 1,
    "submission": "{}",
    "assignment": "norm",
    "status": "graded",
    "score": 1.0,
    "max_score": 2.0,
    "sandbox": "none",
}
SCORES = [
    *("NaN", "Infinity", "-1", "2.5", "null", '"1"x', "[]", "1e999", "{}", "true7", "1" * 5000)
]
earlier = st.one_of(
    st.none(),
    st.none(),
    st.just("folder"),
    st.sampled_from(SCORES).map(
        lambda score: json.dumps(VALID).replace('"score": 1.0', f'"score": {score}').encode()
    ),
    st.sampled_from([b"", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000, b"null", bytes(4096)]),
    st.binary(max_size=30),
)
CLASSES = st.lists(
    st.tuples(st.one_of(honest, named, drawn, broken()), earlier), min_size=1, max_size=5
)

Grade = Callable[[Path, Path], tuple[int, str, str]]


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Run the command in this process, with workers that stay for the next class."""
    project = write_tiny(tmp_path_factory.mktemp("class") / "project")
    pool = WorkerPool(load_assignment(project, "norm"), "auto")
    try:
        isolation = pool.start(2)
    except CannotGrade as reason:
        pytest.skip(f"NO CLASS CAN BE GRADED HERE: {reason}")

    class Kept:
        stopped = False

        def __init__(self, *_: object) -> None:
            self.grade = pool.grade

        def start(self, *_: object) -> str:
            return isolation

        def stop(self) -> None:
            self.stopped = True

        close = stop

    def run(folder: Path, out: Path) -> tuple[int, str, str]:
        words = ["autograder", "grade", str(folder), "--assignment", "norm", "--out", str(out)]
        said, warned, code = io.StringIO(), io.StringIO(), 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "WorkerPool", Kept)
            patch.setattr(sys, "argv", [*words, "--root", str(project)])
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(warned):
                try:
                    main()
                except SystemExit as ended:
                    code = ended.code if isinstance(ended.code, int) else 0
        return code, said.getvalue(), warned.getvalue()

    yield run
    pool.close()


@pytest.fixture(scope="module")
def alone(grade: Grade, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Grade each honest work by itself."""
    found = {}
    for name, files in WORK.items():
        place = tmp_path_factory.mktemp("alone")
        (place / "batch").mkdir()
        folder_of(place / "batch" / "s0", files)
        code, _, warned = grade(place / "batch", place / "out")
        assert code == 0, warned
        found[name] = comparable(place / "out" / "results" / "s0.json")
    return found


def comparable(path: Path) -> Any:
    """Read what a result says, but for whose it is and how long it took."""
    found = json.loads(path.read_bytes())
    for key in ("submission", "path", "duration_s"):
        found.pop(key)
    for component in found["components"].values():
        component.pop("usage")
    return found


def listing(*places: Path) -> list[tuple[str, int, int]]:
    """What is in folders and below, with sizes."""
    found = []
    for place in places:
        for path in sorted(place.rglob("*")):
            about = path.lstat()
            # Bytecode of our own suites is written by the workers.
            if "__pycache__" not in path.parts:
                found.append((str(path), about.st_ino, about.st_size))
    return found


def build(place: Path, drawn: list[tuple[Any, Any]]) -> None:
    """Write a class and what lies where its results will be."""
    folder, results = place / "batch", place / "out" / "results"
    folder.mkdir()
    results.mkdir(parents=True)
    for number, (what, before) in enumerate(drawn):
        entry = folder / f"s{number}"
        match what:
            case "honest", work, packing, wrapped, noisy:
                # Beside nothing, it would be named as what was handed in.
                files = {**WORK[work], **(NOISE if noisy and WORK[work] else {})}
                # Archives alone may wrap everything in a folder.
                top = "my work/" if wrapped and packing != "folder" else ""
                PACKINGS[packing](entry, {f"{top}{name}": data for name, data in files.items()})
            case "named", name:
                suffix, _ = FOUND[name]
                entry.with_name(entry.name + suffix).write_bytes(attack(name))
            case "drawn", suffix, data:
                entry.with_name(entry.name + suffix).write_bytes(data)
        if before == "folder":
            (results / f"s{number}.json" / "inner").mkdir(parents=True)
        elif before is not None:
            (results / f"s{number}.json").write_bytes(before.replace(b"{}", b"s%d" % number))


UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def check(grade: Grade, alone: dict[str, Any], drawn: list[tuple[Any, Any]]) -> None:
    """Grade a class and check all that must hold of any."""
    with tempfile.TemporaryDirectory(prefix="gradeformer-class-") as name:
        place = Path(name)
        build(place, drawn)
        around = (place / "batch", Path.cwd())
        before, beside = listing(around[0]), sorted(os.listdir(around[1]))
        code, said, warned = grade(place / "batch", place / "out")
        # Whatever was handed in, the grader is not at fault, and everyone has a mark.
        assert code == 0, said + warned
        assert listing(around[0]) == before
        assert sorted(os.listdir(around[1])) == beside
        assert sorted(os.listdir(place)) == ["batch", "out"]
        assert not UNSAFE.search(said + warned)
        for number, (what, earlier) in enumerate(drawn):
            path = place / "out" / "results" / f"s{number}.json"
            result = json.loads(path.read_bytes())
            assert result["submission"] == f"s{number}"
            # One sentence for what is faulty, and none for what is not.
            again = said.count(f"graded again: s{number}:")
            assert again == (earlier is not None), (earlier, said)
            if what[0] == "honest":
                assert comparable(path) == alone[what[1]]
                continue
            assert result["status"] in ("graded", "rejected")
            if result["status"] == "rejected":
                assert result["score"] == 0
                assert result["message"]
                assert "\n" not in result["message"]
                assert not UNSAFE.search(result["message"])
        rows = (place / "out" / "results.csv").read_text().splitlines()
        assert [row.partition(",")[0] for row in rows[1:]] == [f"s{n}" for n in range(len(drawn))]


RIGHT_ZIP = ("honest", "right", "zip", False, True)
NAN = json.dumps(VALID).replace("1.0", "NaN").encode()


@example(drawn=[(("named", "digits"), None), (RIGHT_ZIP, None)])
@example(drawn=[(("named", "overlap"), None), (RIGHT_ZIP, None)])
@example(drawn=[(RIGHT_ZIP, NAN), (("honest", "wrong", "pax", True, True), None)])
@example(drawn=[(RIGHT_ZIP, "folder"), (("honest", "stub", "folder", True, True), None)])
@example(drawn=[(("named", "leads-out"), b"["), (("named", "link"), None), (RIGHT_ZIP, None)])
@settings(max_examples=max(1, settings().max_examples // 2))
@given(drawn=CLASSES)
def test_any_class_is_graded_and_nobody_loses_by_another(grade, alone, drawn) -> None:
    check(grade, alone, drawn)


@pytest.mark.release
@settings(AT_LENGTH)
@given(drawn=CLASSES)
def test_any_class_at_length(grade, alone, drawn) -> None:
    check(grade, alone, drawn)


@pytest.mark.parametrize(("name", "other"), list(itertools.pairwise(sorted(FOUND))))
@pytest.mark.slow
def test_each_attack_beside_honest_work(grade, alone, name, other) -> None:
    check(grade, alone, [(("named", name), None), (("named", other), None), (RIGHT_ZIP, None)])
