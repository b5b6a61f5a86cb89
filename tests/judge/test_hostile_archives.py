"""Hostile archives and folders, graded in one batch with honest ones by the real command.

Every recipe makes one entry of the batch. What it must come to is part of the recipe: `rejected`,
or `graded` with the component counted missing, or with full points where the rest is honest work.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import re
import socket
import stat
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.sources import RIGHT

HONEST = RIGHT.encode()
BROKEN = b"raise SystemExit\n"
NAME = "layer_norm.py"
SECRET = "../../project/reference/norm"
OUTSIDE = "gradeformer-hostile.py"
Files = Mapping[str, bytes]


@dataclass(frozen=True)
class Recipe:
    """One entry of the batch.

    `come_to` are the verdicts that will do: "rejected", "missing", or "full".
    """

    name: str
    goal: str
    come_to: tuple[str, ...]
    make: Callable[[Path], object]


RECIPES: list[Recipe] = []


def recipe(goal: str, *come_to: str) -> Callable[[Callable[[Path], object]], object]:
    """Note a function that makes an entry; it is given the entry's path without a suffix."""

    def note(make: Callable[[Path], object]) -> object:
        RECIPES.append(Recipe(make.__name__, goal, come_to, make))
        return make

    return note


# How to pack.


def zipped(
    *files: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content, None if isinstance(name, zipfile.ZipInfo) else method)
    return data.getvalue()


def tarred(*entries: tuple[str, bytes], **special: Any) -> bytes:
    """Make a tarball; keywords set fields of its last entry."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for number, (name, content) in enumerate(entries, 1):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            if number == len(entries):
                for key, value in special.items():
                    setattr(entry, key, value)
            archive.addfile(entry, io.BytesIO(content))
    return data.getvalue()


def put_zip(place: Path, data: bytes) -> None:
    place.with_name(place.name + ".zip").write_bytes(data)


def put_tar(place: Path, data: bytes, level: int = 1) -> None:
    place.with_name(place.name + ".tar.gz").write_bytes(gzip.compress(data, level))


def put_folder(place: Path, files: Files) -> None:
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)


def header(name: str, kind: bytes, size: int, sparse: bytes = b"") -> bytes:
    """Make one header block of a tarball, with whatever size it claims."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, size
    block = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    if sparse:
        block[386 : 386 + len(sparse)] = sparse
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 512)


# Paths that lead out.


@recipe("write beside the submission by '..'", "rejected")
def dots(place: Path) -> None:
    put_zip(place, zipped((NAME, HONEST), (f"a/../../{OUTSIDE}", BROKEN)))


@recipe("write anywhere by an absolute path", "rejected")
def absolute(place: Path) -> None:
    put_tar(place, tarred((NAME, HONEST), (str(place.parent.parent / OUTSIDE), BROKEN)))


@recipe("write anywhere by a drive letter", "rejected")
def drive_letter(place: Path) -> None:
    put_zip(place, zipped((NAME, HONEST), (f"C:{OUTSIDE}", BROKEN)))


@recipe("hide '..' behind the other kind of slash", "rejected")
def backslashes(place: Path) -> None:
    put_tar(place, tarred((NAME, HONEST), (f"..\\..\\{OUTSIDE}", BROKEN)))


# What is no file.


@recipe("hand in the solution by a link to it", "rejected")
def linked_file(place: Path) -> None:
    place.mkdir()
    (place / NAME).symlink_to(f"{SECRET}/{NAME}")


@recipe("hand in the solution by a link in the place of nbgrader's folder", "missing", "rejected")
def linked_nbgrader_folder(place: Path) -> None:
    place.mkdir()
    (place / "norm").symlink_to(SECRET)


@recipe("hand in a neighbour's work by a link in the place of nbgrader's folder", "missing")
def linked_neighbour(place: Path) -> None:
    place.mkdir()
    (place / "norm").symlink_to("../control-folder")


@recipe("hand in the solution by a linked folder inside of nbgrader's", "missing")
def linked_inner_folder(place: Path) -> None:
    (place / "norm").mkdir(parents=True)
    (place / "norm" / "more").symlink_to(f"../{SECRET}")


@recipe("unpack a link to a folder, then write through it", "missing", "rejected")
def write_through_link(place: Path) -> None:
    link = tarfile.TarInfo("more")
    link.type, link.linkname = tarfile.SYMTYPE, str(place.parent.parent)
    data = tarred(("other.py", b""))[:-10240] + link.tobuf()
    put_tar(place, data + tarred((f"more/{OUTSIDE}", BROKEN)))


@recipe("hand in the solution by a hard link in a tarball", "rejected")
def hard_link(place: Path) -> None:
    put_tar(place, tarred((NAME, b""), type=tarfile.LNKTYPE, linkname=f"{SECRET}/{NAME}"))


@recipe("have the grader wait for a pipe in a tarball", "rejected")
def pipe_in_tarball(place: Path) -> None:
    put_tar(place, tarred((NAME, b""), type=tarfile.FIFOTYPE))


@recipe("have the grader wait for a pipe in the place of a file", "rejected")
def pipe_in_folder(place: Path) -> None:
    place.mkdir()
    os.mkfifo(place / NAME)


@recipe("have the grader wait for a pipe in the place of an archive", "rejected")
def pipe_for_zip(place: Path) -> None:
    os.mkfifo(place.with_name(place.name + ".zip"))


@recipe("have the grader wait for a pipe in the place of a tarball", "rejected")
def pipe_for_tarball(place: Path) -> None:
    os.mkfifo(place.with_name(place.name + ".tar.gz"))


@recipe("have the grader read a socket", "rejected")
def socket_in_folder(place: Path) -> None:
    place.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(place, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{here}/{NAME}")
        os.close(here)


@recipe("have a folder where a file should be", "missing")
def folder_for_file(place: Path) -> None:
    put_folder(place, {f"{NAME}/inner.txt": b""})


@recipe("have a file and a folder of the same name", "rejected", "full")
def file_and_folder(place: Path) -> None:
    bulky = os.urandom(300_000)
    put_zip(place, zipped((NAME, HONEST), (f"{NAME}/inner.py", bulky), ("z.py", bulky)))


# Bombs.


@recipe("unpack a gigabyte into the component", "rejected")
def bomb_in_zip(place: Path) -> None:
    put_zip(place, zipped((NAME, bytes(100_000_000))))


@recipe("unpack gigabytes of what nobody asked for", "rejected")
def bomb_in_tarball(place: Path) -> None:
    megabyte = gzip.compress(bytes(1 << 20))
    data = gzip.compress(tarred((NAME, HONEST))[:-10240] + header("big.bin", b"0", 4 << 30))
    place.with_name(place.name + ".tar.gz").write_bytes(data + megabyte * 4096)


@recipe("pack archives into archives, five deep and ten wide", "missing")
def nested_bomb(place: Path) -> None:
    inner = zipped(("0.bin", bytes(10_000_000)))
    for level in range(5):
        inner = zipped(*((f"{level}{number}.zip", inner) for number in range(10)))
    put_zip(place, inner)


@recipe("have every file's packed bytes hold those of all files after it", "rejected")
def overlapping_bomb(place: Path) -> None:
    content = bytes(900_000)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(content) + packer.flush()
    listed: list[tuple[bytes, bytes, int]] = []
    for number in range(150):
        name = b"%03d.py" % number
        about = struct.pack("<IIIHH", zlib.crc32(content), len(packed), len(content), len(name), 0)
        local = b"PK\3\4" + struct.pack("<HHHHH", 20, 0, 8, 0, 33) + about + name
        listed.append((name, about, len(local) + len(packed)))
        # The file before it begins with a block that holds this one's header as it is.
        quote = b"\0" + struct.pack("<HH", len(local), 0xFFFF ^ len(local))
        content, packed = local + content, quote + local + packed
    whole = packed[5:]
    entries = b"".join(
        b"PK\1\2"
        + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33)
        + about
        + struct.pack("<HHHII", 0, 0, 0, 0, len(whole) - length)
        + name
        for name, about, length in listed
    )
    end = struct.pack("<HHHHIIH", 0, 0, 150, 150, len(entries), len(whole), 0)
    put_zip(place, whole + entries + b"PK\5\6" + end)


@recipe(
    "pack gigabytes by a method that unpacks them in one piece, and claim a few bytes", "rejected"
)
def bomb_in_one_piece(place: Path) -> None:
    claimed = b"x = 1\n" + bytes(94)
    packer = bz2.BZ2Compressor()
    packed = packer.compress(claimed)
    packed += b"".join(packer.compress(bytes(1 << 24)) for _ in range(32)) + packer.flush()
    data = bytearray(zipped((NAME, b""), method=zipfile.ZIP_STORED))
    start = data.index(b"PK\1\2")
    struct.pack_into("<H", data, 8, zipfile.ZIP_BZIP2)
    struct.pack_into("<H", data, start + 10, zipfile.ZIP_BZIP2)
    for at in (14, start + 16):
        struct.pack_into("<III", data, at, zlib.crc32(claimed), len(packed), len(claimed))
    struct.pack_into("<I", data, len(data) - 6, start + len(packed))
    put_zip(place, bytes(data[:start]) + packed + bytes(data[start:]))


@recipe("have a hundred thousand entries looked at in a zip", "rejected")
def entries_in_zip(place: Path) -> None:
    one = zipped(("0.txt", b""), method=zipfile.ZIP_STORED)
    start, end = one.index(b"PK\1\2"), one.index(b"PK\5\6")
    entries = one[start:end] * 60_000
    tail = bytearray(one[end:])
    struct.pack_into("<HHI", tail, 8, 60_000, 60_000, len(entries))
    put_zip(place, one[:start] + entries + tail)


@recipe("have a hundred thousand entries looked at in a tarball", "rejected")
def entries_in_tarball(place: Path) -> None:
    put_tar(place, header("0.txt", b"0", 0) * 100_000 + bytes(1024))


@recipe("hand in more folders than the place where it is run can hold", "rejected", "full")
def more_folders_than_fit(place: Path) -> None:
    bulk = b"#" * 30_000
    deep = [(f"{number}/a/b/c/d/e.py", bulk) for number in range(198)]
    put_zip(place, zipped((NAME, HONEST), *deep))


@recipe("describe an entry in fifty megabytes", "rejected")
def long_description(place: Path) -> None:
    records = b"28 comment=aaaaaaaaaaaaaaaa\n" * 2_000_000
    put_tar(place, header("x", b"x", len(records)) + padded(records) + tarred((NAME, HONEST)))


@recipe("claim an exabyte for an entry", "rejected")
def claimed_size(place: Path) -> None:
    record = b"28 size=1152921504606846976\n"
    put_tar(place, header("x", b"x", len(record)) + padded(record) + tarred((NAME, HONEST)))


@recipe("claim a size below zero for an entry", "rejected")
def negative_size(place: Path) -> None:
    record = b"15 size=-20480\n"
    put_tar(place, header("x", b"x", len(record)) + padded(record) + tarred((NAME, HONEST)))


@recipe("have headers follow headers deeper than Python's stack", "rejected")
def chain_of_headers(place: Path) -> None:
    put_tar(place, (header("n", b"L", 2) + padded(b"a\0")) * 5_000 + tarred((NAME, HONEST)))


@recipe("have a file of terabytes of which only the holes are stored", "rejected")
def sparse_file(place: Path) -> None:
    hole = b"%011o\0%011o\0" % (1 << 32, 1) + bytes(72) + b"\0" + b"%011o\0" % ((1 << 32) + 1)
    put_tar(place, header(NAME, b"S", 1, hole) + padded(b"x") + bytes(1024))


# Damaged, or packed in odd ways.


@recipe("need a password", "rejected")
def encrypted(place: Path) -> None:
    data = bytearray(zipped((NAME, HONEST)))
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    put_zip(place, bytes(data))


@recipe("end in the middle of a zip", "rejected")
def cut_zip(place: Path) -> None:
    data = zipped((NAME, HONEST))
    put_zip(place, data[: len(data) // 2])


@recipe("end before the list of a zip's entries does", "rejected")
def cut_list(place: Path) -> None:
    put_zip(place, zipped((NAME, HONEST))[:-30])


@recipe("end in the middle of a tarball's first file", "rejected")
def cut_tarball(place: Path) -> None:
    data = gzip.compress(tarred((NAME, HONEST)))
    place.with_name(place.name + ".tar.gz").write_bytes(data[: len(data) // 2])


@recipe("be packed by a method that does not exist", "rejected")
def unknown_method(place: Path) -> None:
    data = bytearray(zipped((NAME, HONEST)))
    struct.pack_into("<H", data, 8, 99)
    struct.pack_into("<H", data, data.index(b"PK\1\2") + 10, 99)
    put_zip(place, bytes(data))


@recipe("have a wrong checksum", "rejected")
def wrong_checksum(place: Path) -> None:
    data = zipped((NAME, HONEST), method=zipfile.ZIP_STORED)
    put_zip(place, data.replace(b"square()", b"abs()   "))


@recipe("have an empty file in the place of an archive", "rejected")
def nothing(place: Path) -> None:
    put_zip(place, b"")


@recipe("have an archive without entries", "missing")
def no_entries(place: Path) -> None:
    put_zip(place, zipped())


@recipe("be packed twice", "rejected")
def packed_twice(place: Path) -> None:
    put_tar(place, gzip.compress(tarred((NAME, HONEST))))


@recipe("be a tarball to one reader and a zip to another", "full")
def two_formats(place: Path) -> None:
    put_zip(place, tarred((NAME, BROKEN)) + zipped((NAME, HONEST)))


@recipe("be a zip by its name and a tarball by its bytes", "rejected")
def wrong_suffix(place: Path) -> None:
    put_zip(place, gzip.compress(tarred((NAME, HONEST))))


# Names.


@recipe("have two files of one name, of which the later counts", "full")
def two_of_a_name(place: Path) -> None:
    put_tar(place, tarred((NAME, BROKEN), (NAME, HONEST)))


@recipe("have names that differ in case alone", "full")
def cases(place: Path) -> None:
    put_zip(place, zipped((NAME, HONEST), ("Layer_Norm.py", BROKEN), ("LAYER_NORM.PY", BROKEN)))


@recipe("have names that Windows reserves or cuts", "full")
def reserved_names(place: Path) -> None:
    names = ("con.py", "nul.py", "aux.py", f"{NAME}.", f"{NAME} ", "lpt1.py", "a?.py", "a*|<>.py")
    put_zip(place, zipped((NAME, HONEST), *((name, BROKEN) for name in names)))


@recipe("have names longer than any file system takes", "full")
def long_names(place: Path) -> None:
    names = ("n" * 5_000 + ".py", "n/" * 2_000 + NAME, "\u20ac" * 80 + ".py")
    put_tar(place, tarred((NAME, HONEST), *((name, BROKEN) for name in names)))


@recipe("have a message hold terminal commands, by the name of a link", "full")
def commands_in_name(place: Path) -> None:
    name = "\x1b[2J\x1b]0;owned\x07\r\u202e14.py"
    put_tar(place, tarred((NAME, HONEST), (name, b""), type=tarfile.SYMTYPE, linkname=NAME))


@recipe("have a message hold what no encoding can write, by the name of a link", "full")
def half_characters_in_name(place: Path) -> None:
    name = os.fsdecode(b"\xff\xfe\x80.py")
    put_tar(place, tarred((NAME, HONEST), (name, b""), type=tarfile.SYMTYPE, linkname=NAME))


@recipe("have a message hold what no encoding can write, by the name of a file", "missing")
def half_characters_in_folder(place: Path) -> None:
    place.mkdir()
    (place / os.fsdecode(b"\xff\x1b[2J.py")).symlink_to(NAME)


@recipe("have a helper whose name no encoding can write", "full")
def half_characters_in_helper(place: Path) -> None:
    put_tar(place, tarred((NAME, HONEST), (os.fsdecode(b"\xff\x1b[2J\x80.py"), BROKEN)))


@recipe("make the one file as large as is allowed", "full")
def large_source(place: Path) -> None:
    line = b"# " + b"x" * 97 + b"\n"
    put_folder(place, {NAME: HONEST + line * 9_000})


def build(batch: Path) -> None:
    batch.mkdir()
    put_zip(batch / "control-zip", zipped((NAME, HONEST)))
    put_tar(batch / "control-tarball", tarred((f"my work/{NAME}", HONEST)))
    put_folder(batch / "control-folder", {NAME: HONEST})
    for made in RECIPES:
        made.make(batch / made.name)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """List everything below a folder by its kind and size, but the bytecode of our own suites."""
    found = {}
    for here, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*folders, *names):
            path = os.path.join(here, name)
            status = os.lstat(path)
            size = status.st_size if stat.S_ISREG(status.st_mode) else 0
            found[path] = (stat.S_IFMT(status.st_mode), size)
    return found


def verdict(result: Mapping[str, Any]) -> str:
    if result["status"] != "graded":
        return str(result["status"])
    component = result["components"]["layer_norm"]
    if component["score"] == component["max_score"]:
        return "full"
    return str(component["status"])


def test_every_recipe_says_what_it_wants() -> None:
    assert len({made.name for made in RECIPES}) == len(RECIPES)
    assert len({made.goal for made in RECIPES}) == len(RECIPES)
    assert all({*made.come_to} <= {"rejected", "missing", "full"} for made in RECIPES)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_hostile_archives_come_to_what_they_must(
    small_project: Path,
    tmp_path: Path,
    autograder: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    batch, out = tmp_path / "batch", tmp_path / "out"
    build(batch)
    before = listing(tmp_path)
    command = ("grade", batch, "--assignment", "norm", "--out", out, "--root", small_project)
    done = autograder(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    paths = {path.stem: path for path in (out / "results").iterdir()}
    results = {name: json.loads(path.read_bytes()) for name, path in paths.items()}
    wrong = [
        (made.name, made.goal, verdict(results[made.name]), results[made.name]["message"])
        for made in RECIPES
        if verdict(results[made.name]) not in made.come_to
        or (results[made.name]["status"] == "rejected" and results[made.name]["score"] != 0)
    ]
    assert wrong == []
    controls = {name: verdict(results[name]) for name in results if name.startswith("control-")}
    assert controls == dict.fromkeys(("control-folder", "control-tarball", "control-zip"), "full")
    after = listing(tmp_path)
    assert {path for path in after if not Path(path).is_relative_to(out)} == before.keys()
    assert all(after[path] == kind for path, kind in before.items())
    assert not [path for path in after if OUTSIDE in Path(path).name]
    unsafe = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
    for said in (done.stdout, done.stderr, *(result["message"] for result in results.values())):
        assert not re.search(unsafe, said)
