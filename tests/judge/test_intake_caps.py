"""Every cap of the intake by itself: what is at it is taken in, and the least bit more is not."""

import gzip
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.judge.intake import Rejected, digest, take_in
from tests.packing import FILES, make_folder, make_tar, make_zip

Make = Callable[[dict[str, bytes]], Path]


@pytest.fixture(params=["folder", "zip", "tar.gz"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Hand in files, once as a folder and once in each archive."""
    made = {"folder": make_folder, "zip": make_zip, "tar.gz": make_tar}[request.param]
    places = (tmp_path / f"s{number:02}.{request.param}" for number in range(99))
    return lambda files: made(next(places), files)


def test_files_are_at_most_200(make: Make) -> None:
    files = {f"{number:03}.py": b"" for number in range(200)}
    assert take_in(make(files)) == files
    with pytest.raises(Rejected, match="too many Python files; at most 200"):
        take_in(make({**files, "one_more.py": b""}))


def test_a_file_has_at_most_a_million_bytes(make: Make) -> None:
    assert take_in(make({"a.py": b"#" * 1_000_000})) == {"a.py": b"#" * 1_000_000}
    with pytest.raises(Rejected, match=r"a\.py is larger than 1000000 bytes"):
        take_in(make({"a.py": b"#" * 1_000_001}))


def test_all_files_together_have_at_most_eight_million(make: Make) -> None:
    files = {f"{number}.py": b"#" * 1_000_000 for number in range(8)}
    assert take_in(make(files)) == files
    with pytest.raises(Rejected, match="too large; at most 8000000 bytes in all"):
        take_in(make({**files, "one_more.py": b"#"}))


def test_folders_are_at_most_200_with_the_one_they_lie_in(make: Make) -> None:
    files = {f"{number:03}/a.py": b"" for number in range(199)}
    assert take_in(make({"a.py": b"", **files})) == {**files, "a.py": b""}
    with pytest.raises(Rejected, match="too many folders; at most 200"):
        take_in(make({"000/deeper/a.py": b"", **files}))


def test_a_name_has_at_most_180_bytes_and_six_parts(make: Make) -> None:
    # Of more no module could be made that a component imports: these are passed over.
    kept = ["x" * 177 + ".py", "ü" * 88 + ".py", "a/b/c/d/e/f.py"]
    left = ["x" * 178 + ".py", "ü" * 89 + ".py", "a/b/c/d/e/f/g.py"]
    assert sorted(take_in(make(dict.fromkeys([*kept, *left], b"")))) == sorted(kept)


def entries_in_folder(place: Path, count: int) -> Path:
    # What a student's tools leave in a folder of their own is not counted.
    (place / ".git").mkdir(parents=True, exist_ok=True)
    (place / ".git" / "index").touch()
    for number in range(len(os.listdir(place)) - 1, count):
        os.mknod(place / f"{number}.txt")
    return place


def entries_in_zip(place: Path, count: int) -> Path:
    """List one entry so many times."""
    whole = make_zip(place, {"0.txt": b""}).read_bytes()
    start, end = whole.index(b"PK\1\2"), whole.index(b"PK\5\6")
    listed = whole[start:end] * count
    tail = bytearray(whole[end:])
    struct.pack_into("<HHI", tail, 8, count, count, len(listed))
    place.write_bytes(whole[:start] + listed + tail)
    return place


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size = kind, size
    return entry.tobuf(tarfile.USTAR_FORMAT)


def entries_in_tarball(place: Path, count: int) -> Path:
    place.write_bytes(gzip.compress(header("0.txt", 0) * count + bytes(1024), 1))
    return place


@pytest.mark.parametrize(
    ("fill", "suffix"),
    [(entries_in_folder, ""), (entries_in_zip, ".zip"), (entries_in_tarball, ".tar.gz")],
)
def test_entries_are_at_most_ten_thousand_whatever_they_are(
    tmp_path: Path, fill: Callable[[Path, int], Path], suffix: str
) -> None:
    assert take_in(fill(tmp_path / f"s01{suffix}", 10_000)) == {}
    with pytest.raises(Rejected, match=r"more than 10000|10001 entries"):
        take_in(fill(tmp_path / f"s01{suffix}", 10_001))


def test_a_zip_lists_its_entries_in_at_most_four_million_bytes(tmp_path: Path) -> None:
    def listing(size: int) -> Path:
        place = tmp_path / f"{size}.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for number in range(80):
                entry = zipfile.ZipInfo(f"{number:02}.txt")
                entry.comment = b"x" * (size // 80 - 46 - 6)
                archive.writestr(entry, b"")
            archive.infolist()[-1].comment += b"x" * (size % 80)
        return place

    assert take_in(listing(4_000_000)) == {}
    with pytest.raises(Rejected, match="list of entries is too long"):
        take_in(listing(4_000_001))


def test_a_tarball_unpacks_to_at_most_256_million_bytes(tmp_path: Path) -> None:
    def claiming(size: int) -> Path:
        place = tmp_path / f"{size}.tar.gz"
        place.write_bytes(gzip.compress(header("big.bin", size)))
        return place

    # Its own header of 512 bytes comes before it.
    most = 256_000_000 - 512
    with pytest.raises(Rejected, match="damaged"):
        take_in(claiming(most))
    with pytest.raises(Rejected, match="unpacks to more than 256000000 bytes"):
        take_in(claiming(most + 1))


def test_a_tarball_says_at_most_256_000_bytes_about_one_file(tmp_path: Path) -> None:
    def saying(size: int) -> bytes:
        start = f"{size} comment="
        record = start.encode() + b"x" * (size - len(start) - 1) + b"\n"
        return header("x", size, b"x") + record + bytes(-size % 512)

    def telling(first: int, later: int) -> Path:
        one = saying(first) + header("a.txt", 0) + saying(later) + header("b.py", 1)
        place = tmp_path / f"{first}-{later}.tar.gz"
        place.write_bytes(gzip.compress(one + b"#" + bytes(511 + 1024)))
        return place

    # Beside it there are two headers of 512 bytes.
    most = 256_000 - 1024
    assert take_in(telling(most, most)) == {"b.py": b"#"}
    for sizes in ((most + 1, most), (most, most + 1)):
        with pytest.raises(Rejected, match="says more about its files than is taken in"):
            take_in(telling(*sizes))


# What does not count, and what is no submission.


def test_what_machines_leave_does_not_count_whatever_its_name(make: Make) -> None:
    left = {"__MACOSX/layer_norm.py": b"junk", "__pycache__/layer_norm.py": b"junk"}
    left |= {"helpers/__MACOSX/parts.py": b"junk", ".git/layer_norm.py": b"junk", ".x.py": b"junk"}
    assert take_in(make({**FILES, **left})) == dict(sorted(FILES.items()))


def test_what_machines_leave_beside_the_one_top_folder_does_not_count(tmp_path: Path) -> None:
    files = {f"my work/{name}": data for name, data in FILES.items()}
    for pack, suffix in ((make_zip, "zip"), (make_tar, "tar.gz")):
        place = pack(tmp_path / f"s01.{suffix}", {**files, "__MACOSX/layer_norm.py": b"junk"})
        assert take_in(place) == dict(sorted(FILES.items()))


@pytest.mark.parametrize(
    "name", ["s01.tar", "s01.tar.xz", "s01.rar", "s01zip", "s01.zip.bak", "s01.py"]
)
def test_another_suffix_is_refused_with_those_that_there_are(tmp_path: Path, name: str) -> None:
    with pytest.raises(Rejected, match=r"is no folder, \.zip or \.tar\.gz"):
        take_in(make_zip(tmp_path / name, FILES))


def test_a_link_is_no_submission_whatever_it_leads_to(tmp_path: Path) -> None:
    make_folder(tmp_path / "neighbour", {"deeper/layer_norm.py": b"the answer"})
    make_zip(tmp_path / "neighbour.zip", FILES)
    for name, target in (("s01", "neighbour"), ("s02.zip", "neighbour.zip"), ("s03", "nowhere")):
        (tmp_path / name).symlink_to(target)
        with pytest.raises(Rejected, match=f"{name} is a link"):
            take_in(tmp_path / name)


def test_a_linked_folder_inside_is_not_entered(tmp_path: Path) -> None:
    make_folder(tmp_path / "neighbour", {"deeper/layer_norm.py": b"the answer"})
    (tmp_path / "s01").mkdir()
    (tmp_path / "s01" / "work").symlink_to("../neighbour")
    assert take_in(tmp_path / "s01") == {}


def test_a_file_and_a_folder_of_one_name_are_refused(tmp_path: Path) -> None:
    both = {"a.py": b"", "a.py/b.py": b""}
    for pack, suffix in ((make_zip, "zip"), (make_tar, "tar.gz")):
        with pytest.raises(Rejected, match=r"both a file and a folder a\.py"):
            take_in(pack(tmp_path / f"s01.{suffix}", both))


def test_a_zip_that_cannot_be_read_is_refused_with_the_reason(tmp_path: Path) -> None:
    whole = make_zip(tmp_path / "s01.zip", {"a.py": b"x = 1\n"}).read_bytes()
    listed = whole.index(b"PK\1\2")
    for at, word, reason in ((8, 1, "encrypted"), (10, zipfile.ZIP_LZMA, "use plain zip")):
        changed = bytearray(whole)
        struct.pack_into("<H", changed, at - 2, word)
        struct.pack_into("<H", changed, listed + at, word)
        (tmp_path / "s01.zip").write_bytes(changed)
        with pytest.raises(Rejected, match=reason):
            take_in(tmp_path / "s01.zip")


def test_two_folders_on_top_stay(tmp_path: Path) -> None:
    files = {"one/a.py": b"1", "two/a.py": b"2"}
    assert take_in(make_zip(tmp_path / "s01.zip", files)) == files
    files = {"one/a.py": b"1", "b.py": b"2"}
    assert take_in(make_zip(tmp_path / "s02.zip", files)) == {"b.py": b"2", "one/a.py": b"1"}
    wrapped = {f"one/two/{name}": data for name, data in FILES.items()}
    assert take_in(make_zip(tmp_path / "s03.zip", wrapped)) == dict(sorted(FILES.items()))


def test_a_fault_of_the_machine_is_none_of_the_submission(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        take_in(tmp_path / "gone.zip")


def test_the_digest_hangs_on_where_one_file_ends_and_the_next_begins() -> None:
    # As they would stand one behind the other, were one of the two lengths left out.
    assert digest({"a": b"x", "b": b"y"}) != digest({"a": b"x1 by"})
    assert digest({"a": b"x", "b": b"y"}) != digest({"a": b"x1 1 by"})
    assert digest({"a": b"", "b": b"1"}) != digest({"a": b"1", "b": b""})


def test_a_tarball_whose_checksum_is_wrong_is_damaged(tmp_path: Path) -> None:
    place = make_tar(tmp_path / "s01.tar.gz", FILES)
    whole = bytearray(place.read_bytes())
    whole[-8] ^= 1
    place.write_bytes(whole)
    with pytest.raises(Rejected, match="damaged"):
        take_in(place)


def test_a_name_with_a_zero_byte_leads_out(tmp_path: Path) -> None:
    record = b"15 path=a\0b.py\n"
    said = header("x", len(record), b"x") + record + bytes(512 - len(record))
    place = tmp_path / "s01.tar.gz"
    place.write_bytes(gzip.compress(said + header("a.py", 0) + bytes(1024)))
    with pytest.raises(Rejected, match="leads out"):
        take_in(place)


def test_a_file_with_holes_is_no_ordinary_one(tmp_path: Path) -> None:
    entry = tarfile.TarInfo("a.py")
    entry.type, entry.size = tarfile.GNUTYPE_SPARSE, 1
    block = bytearray(entry.tobuf(tarfile.GNU_FORMAT))
    # Its one byte, and how long it claims to be.
    block[386:410] = b"%011o\0%011o\0" % (999, 1)
    block[483:495] = b"%011o\0" % 1000
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    place = tmp_path / "s01.tar.gz"
    place.write_bytes(gzip.compress(bytes(block) + b"#" + bytes(511 + 1024)))
    with pytest.raises(Rejected, match="is a link or device; hand in the file"):
        take_in(place)
