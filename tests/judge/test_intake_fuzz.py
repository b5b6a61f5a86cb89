"""Intake under fuzz: safe names and few bytes, or a rejection; nothing written, little memory."""

import gzip
import io
import itertools
import os
import stat
import struct
import tarfile
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.judge import intake
from autograder.judge.intake import Rejected, take_in

# 100, or fewer in `make test`.
MANY = settings().max_examples

fuzz = settings(
    max_examples=MANY * 3 // 2,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

# All that taking in any of the archives below may need at a time.
MEMORY = 24_000_000

PARTS = st.sampled_from(
    [
        *("..", ".", "", "a", "b.py", "C:", "\\", ".git", "__MACOSX", "\udcff", "ü", "\n"),
        *("\x1b[2J", "x" * 100, "x" * 300, "con", " ", "\u202e", "-rf", "\0", "layer_norm.py"),
    ]
)
NAMES = st.one_of(
    st.lists(PARTS, max_size=8).map("/".join),
    st.lists(PARTS, max_size=4).map(lambda parts: "/" + "/".join(parts)),
    st.lists(PARTS, max_size=8).map(lambda parts: "/".join([*parts, "layer_norm.py"])),
    st.text(max_size=30).map(lambda text: text + ".py"),
    st.text(max_size=30),
)
CONTENTS = st.one_of(
    st.binary(max_size=40),
    st.integers(0, intake.MAX_FILE_BYTES + 2).map(lambda size: b"#" * size),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("intake")


def outside(folder: Path) -> list[tuple[str, int]]:
    """What is in the folder, around it and where relative names lead."""
    places = {folder, folder.parent, Path.cwd(), Path("/")}
    return sorted(
        (str(path), path.lstat().st_ino)
        for place in places
        for path in place.iterdir()
        if not path.name.startswith((".", "__pycache__"))
    )


def checked(path: Path) -> dict[str, bytes] | None:
    """Take a file in and check all that must hold of whatever comes of it."""
    before, whole = outside(path.parent), path.read_bytes()
    tracemalloc.start()
    try:
        found = take_in(path)
    except Rejected as rejection:
        found = None
        assert str(rejection).encode()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < MEMORY
    assert outside(path.parent) == before
    assert path.read_bytes() == whole
    if found is None:
        return None
    assert list(found) == sorted(found)
    assert len(found) <= intake.MAX_FILES
    assert sum(map(len, found.values())) <= intake.MAX_BYTES
    for name, data in found.items():
        assert isinstance(data, bytes)
        assert len(data) <= intake.MAX_FILE_BYTES
        assert not PurePosixPath(name).is_absolute()
        assert not {"..", ".", ""} & set(name.split("/"))
        assert not set(name) & set("\0\\:")
        assert name.endswith(".py")
        assert len(os.fsencode(name)) <= 180
        assert name.count("/") < 6
    return found


def zip_of(entries: list[tuple[str, bytes, int, int]]) -> bytes:
    whole = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(whole, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data, mode, method in entries:
            entry = zipfile.ZipInfo("x")
            # Not through the constructor, which tidies names up.
            entry.filename = name.encode("utf-8", "replace").decode()
            entry.external_attr = mode << 16
            entry.compress_type = method
            archive.writestr(entry, data)
    return whole.getvalue()


ZIPS = st.builds(
    zip_of,
    st.lists(
        st.tuples(
            NAMES,
            CONTENTS,
            st.sampled_from([0, 0o100644, 0o120777, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR]),
            st.sampled_from(
                [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
            ),
        ),
        max_size=5,
    ),
)


def tar_of(entries: list[tuple[str, bytes, bytes, dict[str, str]]], layout: int) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=layout) as archive:
        for name, data, kind, extra in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.pax_headers = kind, "../secret.py", extra
            entry.size = len(data) if kind in tarfile.REGULAR_TYPES else 0
            try:
                archive.addfile(entry, io.BytesIO(data))
            except (ValueError, UnicodeError):
                continue  # a name that this layout cannot hold
    return whole.getvalue()


KINDS = [tarfile.REGTYPE] * 6 + [b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"S", b"V", b"Z"]
PAX = st.dictionaries(
    st.sampled_from(["path", "size", "linkpath", "GNU.sparse.major", "GNU.sparse.map", "comment"]),
    st.sampled_from(["", "1", "0", "-1", "9" * 30, "../x.py", "0,1,5,9", "ü"]),
    max_size=2,
)
TARS = st.builds(
    tar_of,
    st.lists(st.tuples(NAMES, CONTENTS, st.sampled_from(KINDS), PAX), max_size=5),
    st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT]),
)


@fuzz
@given(whole=ZIPS)
def test_any_zip(folder: Path, whole: bytes) -> None:
    (folder / "a.zip").write_bytes(whole)
    checked(folder / "a.zip")


@fuzz
@given(whole=TARS)
def test_any_tarball(folder: Path, whole: bytes) -> None:
    (folder / "a.tar.gz").write_bytes(gzip.compress(whole, 1))
    checked(folder / "a.tar.gz")


def damaged(data: st.DataObject, whole: bytes) -> bytes:
    """Cut, flip and overwrite; mostly near the ends, where the headers are."""
    found = bytearray(whole)
    size = len(found)
    places = st.integers(0, size - 1) | st.integers(0, min(size - 1, 600))
    places |= st.integers(max(0, size - 200), size - 1)
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(places)
        match data.draw(st.integers(0, 3)):
            case 0:
                found[place] ^= 1 << data.draw(st.integers(0, 7))
            case 1:
                new = data.draw(st.binary(min_size=1, max_size=8))
                found[place : place + len(new)] = new
                found = found[:size]
            case 2:
                found[place : place + 4] = b"\xff" * len(found[place : place + 4])
            case 3:
                del found[place + 1 :]
                break
    return bytes(found)


SENT = {"layer_norm.py": b"x = 1\n" * 9, "p" * 120 + "/more.py": b"y = 2\n"}


@settings(fuzz, max_examples=3 * MANY)
@given(data=st.data())
def test_a_damaged_zip(folder: Path, data: st.DataObject) -> None:
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED)
    entries = zip(SENT, SENT.values(), (0o100644, 0o100644), methods, strict=True)
    (folder / "b.zip").write_bytes(damaged(data, zip_of(list(entries))))
    found = checked(folder / "b.zip") or {}
    # A name may be damaged; what is in a file may not.
    assert set(found.values()) <= set(SENT.values())


def small_tar(layout: int = tarfile.PAX_FORMAT) -> bytes:
    extra = {"comment": "ü"}
    entries = [(name, data, tarfile.REGTYPE, extra) for name, data in SENT.items()]
    return tar_of(entries, layout)


def resealed(whole: bytes) -> bytes:
    """Make the checksum of every header right again, or damage would end at the first."""
    blocks = [bytearray(whole[at : at + 512]) for at in range(0, len(whole), 512)]
    for block in blocks:
        if len(block) == 512 and block[257:262] == b"ustar":
            block[148:156] = b" " * 8
            block[148:156] = b"%06o\0 " % sum(block)
    return b"".join(blocks)


LAYOUTS = st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])


@settings(fuzz, max_examples=2 * MANY)
@given(data=st.data(), layout=LAYOUTS, resealing=st.booleans())
def test_a_damaged_tarball(folder: Path, data: st.DataObject, layout: int, resealing) -> None:
    broken = damaged(data, small_tar(layout))
    whole = gzip.compress(resealed(broken) if resealing else broken)
    (folder / "b.tar.gz").write_bytes(whole)
    checked(folder / "b.tar.gz")


@settings(fuzz, max_examples=2 * MANY)
@given(data=st.data(), level=st.sampled_from([0, 6]))
def test_a_damaged_packing_of_a_tarball(folder: Path, data: st.DataObject, level: int) -> None:
    (folder / "b.tar.gz").write_bytes(damaged(data, gzip.compress(small_tar(), level)))
    assert checked(folder / "b.tar.gz") in (None, SENT)


@settings(fuzz, max_examples=MANY)
@given(noise=st.binary(max_size=300), start=st.sampled_from([b"", b"PK\3\4", b"\x1f\x8b\x08\0"]))
@pytest.mark.parametrize("name", ["c.zip", "c.tar.gz"])
def test_noise_is_no_archive(folder: Path, noise: bytes, start: bytes, name: str) -> None:
    (folder / name).write_bytes(start + noise)
    assert not checked(folder / name)


@pytest.mark.parametrize("name", ["d.zip", "d.tar.gz"])
def test_every_beginning_of_an_archive(folder: Path, name: str) -> None:
    if name.endswith(".zip"):
        entries = [("layer_norm.py", b"x = 1\n", 0o100644, zipfile.ZIP_DEFLATED)]
        whole = zip_of(entries)
    else:
        whole = gzip.compress(small_tar())
    for size in range(len(whole)):
        (folder / name).write_bytes(whole[:size])
        assert checked(folder / name) is None
    (folder / name).write_bytes(whole)
    assert "layer_norm.py" in (checked(folder / name) or {})


def header(name: str, kind: bytes, size: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, size
    return entry.tobuf(tarfile.USTAR_FORMAT)


def record(key: str, value: str) -> bytes:
    """One record of a pax header, which begins with its own length."""
    rest = f" {key}={value}\n".encode()
    size = next(n for n in itertools.count(len(rest)) if n == len(rest) + len(str(n)))
    return str(size).encode() + rest


def extended(kind: bytes, data: bytes) -> bytes:
    return header("x", kind, len(data)) + data + bytes(-len(data) % 512)


def deflated(data: bytes, times: int) -> bytes:
    """Compress `data` repeated without making it: a bomb of some size."""
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    parts = [packer.compress(data) for _ in range(times)]
    return b"".join(parts) + packer.flush()


def many_keys() -> bytes:
    return deflated(extended(b"x", b"".join(record(f"k{n}", "v") for n in range(400_000))), 1)


def inherited_keys() -> bytes:
    keys = extended(b"g", b"".join(record(f"k{n}", "v") for n in range(9_000)))
    entry = extended(b"x", record("comment", "v")) + header("a.txt", b"0", 0)
    return deflated(keys, 1) + deflated(entry * 400, 1)


def growing_keys() -> bytes:
    parts = []
    for start in range(0, 100_000, 10_000):
        keys = b"".join(record(f"k{n}", "v") for n in range(start, start + 10_000))
        parts.append(extended(b"g", keys) + header("a.txt", b"0", 0))
    return deflated(b"".join(parts), 1)


def long_name() -> bytes:
    return deflated(header("x", b"L", 60_000_000), 1) + deflated(b"a" * 1_000_000, 60)


def sparse_map() -> bytes:
    first = bytearray(header("a.py", b"S", 0))
    first[482] = 1
    first[148:156] = b" " * 8
    first[148:156] = b"%06o\0 " % sum(first)
    block = b"%011o\0" % 8 * 42 + b"1" + bytes(7)
    return deflated(bytes(first), 1) + deflated(block * 2000, 20)


def sparse_numbers() -> bytes:
    said = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "a.py"}
    said["GNU.sparse.realsize"] = "1"
    numbers = b"1\n" * 256 * 1000
    start = extended(b"x", b"".join(itertools.starmap(record, said.items())))
    start += header("a.py", b"0", 512 + 16 * len(numbers)) + b"2000000\n" + b"1\n" * 252
    return deflated(start, 1) + deflated(numbers, 16)


def sparse_zeros() -> bytes:
    said = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,0"}
    said["GNU.sparse.size"] = "9" * 12
    start = extended(b"x", b"".join(itertools.starmap(record, said.items())))
    return deflated(start + header("a.py", b"0", 0) + bytes(1024), 1)


def much_data() -> bytes:
    return deflated(header("a.bin", b"0", 300_000_000), 1) + deflated(bytes(1_000_000), 300)


def one_large_file() -> bytes:
    return deflated(header("a.py", b"0", 40_000_000), 1) + deflated(bytes(1_000_000), 40)


def nested_headers() -> bytes:
    return deflated(extended(b"x", record("comment", "v")), 5000)


def negative_size() -> bytes:
    entry = bytearray(header("a.txt", b"0", 0))
    entry[124:136] = struct.pack(">Bxxxq", 0xFF, -1024)
    entry[148:156] = b" " * 8
    entry[148:156] = b"%06o\0 " % sum(entry)
    return deflated(bytes(entry) * 50, 1)


TARBALLS = [
    many_keys,
    inherited_keys,
    growing_keys,
    long_name,
    sparse_map,
    sparse_numbers,
    sparse_zeros,
    much_data,
    one_large_file,
    nested_headers,
    negative_size,
]


@pytest.mark.parametrize("make", TARBALLS)
def test_a_tarball_that_unfolds_costs_no_memory(folder: Path, make: Callable[[], bytes]) -> None:
    (folder / "bomb.tar.gz").write_bytes(make())
    assert not checked(folder / "bomb.tar.gz")


METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]


@pytest.mark.parametrize("method", METHODS)
def test_a_zip_that_unfolds_costs_no_memory(folder: Path, method: int) -> None:
    whole = io.BytesIO()
    with (
        zipfile.ZipFile(whole, "w", method) as archive,
        archive.open("layer_norm.py", "w") as file,
    ):
        for _ in range(40):
            file.write(bytes(1_000_000))
    (folder / "bomb.zip").write_bytes(whole.getvalue())
    assert checked(folder / "bomb.zip") is None


def test_a_zip_that_lists_too_much_costs_no_memory(folder: Path) -> None:
    # Written by hand, the same line many times.
    line = struct.pack("<4s6H3I5H2I", b"PK\1\2", *[0] * 9, 1, *[0] * 6) + b"a"
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(line) * 300_000, 0, 0)
    (folder / "list.zip").write_bytes(line * 300_000 + end)
    with pytest.raises(Rejected, match="too long"):
        take_in(folder / "list.zip")
    assert checked(folder / "list.zip") is None


def test_what_is_at_the_caps_is_taken_in(folder: Path) -> None:
    line = b"#" * intake.MAX_FILE_BYTES
    files = {f"{number}.py": line for number in range(intake.MAX_BYTES // len(line))}
    entries = [(name, data, 0o100644, zipfile.ZIP_DEFLATED) for name, data in files.items()]
    (folder / "e.zip").write_bytes(zip_of(entries))
    assert checked(folder / "e.zip") == files
    members = [(name, data, tarfile.REGTYPE, {}) for name, data in files.items()]
    for layout in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        (folder / "e.tar.gz").write_bytes(gzip.compress(tar_of(members, layout), 1))
        assert checked(folder / "e.tar.gz") == files


def test_what_is_beside_the_files_may_be_large(folder: Path) -> None:
    beside = [(f"data/{n}.bin", bytes(1_000_000), tarfile.REGTYPE, {}) for n in range(30)]
    member = ("layer_norm.py", b"x = 1\n", tarfile.REGTYPE, {"SCHILY.xattr.a": "v" * 100_000})
    whole = tar_of([*beside, member, *beside], tarfile.PAX_FORMAT)
    (folder / "f.tar.gz").write_bytes(gzip.compress(whole, 1))
    assert checked(folder / "f.tar.gz") == {"layer_norm.py": b"x = 1\n"}


def test_a_rejection_can_be_written_down_whatever_the_names(folder: Path) -> None:
    member = ("\udcff.py", b"#" * (intake.MAX_FILE_BYTES + 1), tarfile.REGTYPE, {})
    path = folder / "\udcfe.tar.gz"
    for layout in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        path.write_bytes(gzip.compress(tar_of([member], layout), 1))
        with pytest.raises(Rejected) as rejection:
            take_in(path)
        assert str(rejection.value).encode()
        assert "\\udcff.py is larger" in str(rejection.value)
    path.write_bytes(b"")
    with pytest.raises(Rejected, match=r"\\udcfe\.tar\.gz is a damaged archive"):
        take_in(path)


@pytest.mark.parametrize("name", ["pipe.zip", "pipe.tar.gz", "pipe"])
def test_a_named_pipe_is_not_waited_for(folder: Path, name: str) -> None:
    os.mkfifo(folder / name)
    with pytest.raises(Rejected, match="no ordinary file"):
        take_in(folder / name)
