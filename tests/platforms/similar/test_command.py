"""`autograder similar`: what it takes, prints and writes."""

import csv
import io
import re
import sys
import tarfile
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from autograder import cli
from autograder.errors import UsageError
from tests.conftest import ROOT

NAME = "transformer_block"
VARIANTS = ROOT / "reference" / NAME / "right_variants"
SOURCES = ("v06", "v07", "v09")
EVIL = "<script>alert(1)</script>"


def run(*arguments: object, columns: int = 80) -> Result:
    words = ["similar", *map(str, arguments), "--assignment", NAME, "--root", str(ROOT)]
    return CliRunner().invoke(cli.app, words, env={"COLUMNS": str(columns)})


def files_of(variant: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((VARIANTS / variant).glob("*.py"))}


def put(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    """Make a class of three that worked apart, and a copy of one."""
    place = tmp_path / "batch"
    for name in SOURCES:
        put(place / name, files_of(name))
    put(place / "copy", files_of("v06"))
    return place


def rows(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "similar.csv").read_text())))


class Page(HTMLParser):
    """A page as a browser reads it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.marked: list[str] = []
        self._in_mark = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_mark += tag == "mark"

    def handle_endtag(self, tag: str) -> None:
        self._in_mark -= tag == "mark"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_mark:
            self.marked.append(data)


def test_a_copy_is_in_the_table_the_csv_and_the_page(batch: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(batch, "--out", out)
    assert done.exit_code == 0, done.output
    assert re.search(r"copy +v06 +100 % +100 %", done.output)
    assert "1 similar pair among 4 submissions" in done.output
    (row,) = rows(out)
    assert (row["first"], row["second"], row["most"], row["all"]) == ("copy", "v06", "100", "100")
    assert row["attention"] == "100"
    page = Page((out / "similar.html").read_text())
    assert "copy and v06: 100 %" in page.text
    marked = "".join(page.marked)
    assert "centred = vector - vector.mean()" in marked
    assert "hidden.unbind(dim=1)" in marked


def test_a_page_needs_no_network_and_runs_nothing(batch: Path, tmp_path: Path) -> None:
    run(batch, "--out", tmp_path)
    text = (tmp_path / "similar.html").read_text()
    page = Page(text)
    (policy,) = [a["content"] for _, a in page.tags if a.get("http-equiv")]
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "script" not in {tag for tag, _ in page.tags}
    linked = [a[key] for _, a in page.tags for key in ("src", "href") if key in a]
    assert linked
    assert all(link is not None and link.startswith("#") for link in linked)
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"url\(|https?:", text.partition("</style>")[0])


def test_a_block_has_the_same_number_and_words_on_both_sides(batch: Path, tmp_path: Path) -> None:
    run(batch, "--out", tmp_path)
    page = Page((tmp_path / "similar.html").read_text())
    assert len(page.marked) > 20
    sides = (tmp_path / "similar.html").read_text().split("<section>")[1:]
    assert len(sides) == 2
    first, second = (
        re.findall(r'<mark title="shared part (\d+)"><span.*?</span>([^<]*)', side)
        for side in sides
    )
    assert first == second
    assert len({number for number, _ in first}) > 5


def test_a_moved_function_is_a_block_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "batch"
    names = ("a", "b", "c")
    parts = {
        name: "".join(f"    x = x.{name}({n + 1000 * ord(name)}) @ x\n" for n in range(20))
        for name in names
    }
    for student, order in (("one", "abc"), ("two", "cab")):
        bodies = (f"{parts[name]}    return x + {ord(name)}\n" for name in order)
        text = "".join(f"def part(x):\n{body}" for body in bodies)
        put(place / student, {"attention.py": text.encode()})
    run(place, "--out", tmp_path)
    page = (tmp_path / "similar.html").read_text()
    orders = [
        list(dict.fromkeys(re.findall(r"shared part (\d+)", side)))
        for side in page.split("<section>")[1:]
    ]
    assert orders == [["1", "2"], ["2", "1"]]


def test_hostile_texts_and_names_stay_text(tmp_path: Path) -> None:
    place = tmp_path / "batch"
    evil = f"# {EVIL} \x1b[31m \u202e\nx = '{EVIL}'\n".encode()
    files = {name: evil + data for name, data in files_of("v06").items()}
    files[f"{EVIL.replace('/', '')}.py"] = files["attention.py"]
    put(place / "=1+1 [red]x", files)
    put(place / EVIL.replace("/", ""), files)
    done = run(place, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "[red]x" in done.output
    assert "\x1b" not in done.output
    (row,) = rows(tmp_path)
    assert row["first"] == EVIL.replace("/", "")
    assert row["second"] == "'=1+1 [red]x"
    text = (tmp_path / "similar.html").read_text()
    assert EVIL in Page(text).text
    assert "<script" not in text.lower()
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_folders_archives_and_nbgraders_layout_are_read_alike(tmp_path: Path) -> None:
    place = tmp_path / "batch"
    put(place / "folder", files_of("v06"))
    put(place / "course" / NAME, files_of("v06"))
    with zipfile.ZipFile(place / "zipped.zip", "w") as archive:
        for name, data in files_of("v06").items():
            archive.writestr(f"mine/{name}", data)
    with tarfile.open(place / "tarred.tar.gz", "w:gz") as tar:
        for name, data in files_of("v07").items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    (place / "class-list.csv").write_text("a,b\n")
    run(place, "--out", tmp_path)
    found = {(row["first"], row["second"]) for row in rows(tmp_path)}
    assert found == {("course", "folder"), ("course", "zipped"), ("folder", "zipped")}


def test_what_cannot_be_read_is_named_and_the_rest_compared(batch: Path, tmp_path: Path) -> None:
    (batch / "broken.zip").write_bytes(b"nothing")
    (batch / "link").symlink_to(VARIANTS / "v09")
    put(batch / "odd", {"attention.py": b"\xff\xfe\x00" * 50, "layer_norm.py": b"(" * 90_000})
    put(batch / "empty", {})
    with zipfile.ZipFile(batch / "v09.zip", "w") as archive:
        archive.writestr("layer_norm.py", b"")
    done = run(batch, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert "not compared: broken: broken.zip is a damaged archive" in done.output
    assert "not compared: link: link is a link" in done.output
    assert "not compared: v09 and v09.zip: they are both of 'v09'" in done.output
    assert [(row["first"], row["second"]) for row in rows(tmp_path)] == [("copy", "v06")]


@pytest.mark.parametrize("columns", [80, 200])
def test_no_line_is_wider_than_80_columns(tmp_path: Path, columns: int) -> None:
    place = tmp_path / "batch"
    for number in range(45):
        copies = files_of(SOURCES[number % 3])
        put(place / f"{'a-very-long-name-' * 3}{number:03}", copies if number < 6 else {})
    done = run(place, "--out", tmp_path / "out", columns=columns)
    table = done.output.partition("most:")[0]
    assert "very" in table
    assert max(map(len, table.splitlines())) <= 80
    assert all(f"{number:03}" in re.sub(r"\s", "", table) for number in range(6))


def test_the_same_class_gives_the_same_bytes(batch: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        run(batch, "--out", tmp_path / name)
        made.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    assert len(made[0]) == 2
    assert made[0] == made[1]


def test_without_out_nothing_is_written(
    batch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert run(batch).exit_code == 0
    assert not list((tmp_path / "here").iterdir())


def test_the_threshold_decides(tmp_path: Path) -> None:
    place = tmp_path / "batch"
    lines = [f"x = x.f{number}(x, k={1000 + number}) @ x\n".encode() for number in range(90)]
    for name, part in (("a", lines[:60]), ("b", lines[30:])):
        own = b"".join(b"y = y.g(%d%d) ** y.h\n" % (n, ord(name)) for n in range(300))
        put(place / name, {"attention.py": b"".join(part), "layer_norm.py": own})
    done = {value: run(place, "--threshold", value).output for value in (45, 55)}
    assert "1 similar pair among 2" in done[45]
    assert "no similar pair among 2" in done[55]


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda place: place, "does not exist"),
        (lambda place: put(place, {}), "is empty"),
        (lambda place: put(place, files_of("v06")), "one submission and no batch"),
        (lambda place: put(place / "alone", files_of("v06")).parent, "takes two"),
    ],
)
def test_what_is_no_class_is_refused(tmp_path: Path, make: object, words: str) -> None:
    assert callable(make)
    done = run(make(tmp_path / "batch"))
    assert isinstance(done.exception, UsageError)
    assert words in str(done.exception)


@pytest.mark.parametrize("name, words", [("none", "does not exist"), ("hollow", "holds no code")])
def test_public_code_that_is_not_there_is_refused(
    batch: Path, tmp_path: Path, name: str, words: str
) -> None:
    (tmp_path / "hollow").mkdir()
    done = run(batch, "--public", tmp_path / name)
    assert isinstance(done.exception, UsageError)
    assert words in str(done.exception)


def test_a_place_that_takes_nothing_is_refused(batch: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(batch, "--out", tmp_path / "file")
    assert isinstance(done.exception, UsageError)
    assert "cannot be written" in str(done.exception)


def test_without_its_extra_it_says_what_to_install(
    batch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("autograder.platforms.similar")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "copydetect", None)
    done = run(batch)
    assert isinstance(done.exception, UsageError)
    assert "pip install 'gradeformer[similar]'" in str(done.exception)
