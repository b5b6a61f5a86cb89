"""The course `basics`, graded as a class: right, untouched and hostile work in one batch a tier."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# On every change, test_without_torch and test_small_course grade courses of their own.
pytestmark = pytest.mark.release
COURSE = ROOT / "tests" / "courses" / "basics"
PUBLIC = COURSE / "assignments" / "basics"
SECRET = COURSE / "reference" / "basics"
COMPONENTS = ("tokenizer", "k_means", "linear_model", "word_count")


@dataclass(frozen=True)
class Hostile:
    """One hostile submission, and the most that its component may earn."""

    name: str
    path: Path
    component: str
    at_most: float


def read(path: Path) -> Hostile:
    source = path
    if path.is_dir():
        source = next(p for p in sorted(path.glob("*.py")) if "Goal:" in p.read_text())
    header = dict(re.findall(r"^(Component|At most): *(.+?)$", source.read_text("utf-8"), re.M))
    return Hostile(path.stem, path, header["Component"], float(header["At most"]))


HOSTILE = [read(path) for path in sorted((COURSE / "hostile").iterdir()) if path.name[0] != "_"]


def solution(folder: Path) -> Path:
    """Hand in the solutions."""
    folder.mkdir(parents=True)
    for name in COMPONENTS:
        shutil.copy(SECRET / f"{name}.py", folder)
    return folder


def hand_in(batch: Path) -> None:
    solution(batch / "solution")
    for variant in sorted((SECRET / "right_variants").iterdir()):
        if variant.is_dir() and variant.name[0] != "_":
            shutil.copytree(variant, batch / f"right_{variant.name}")
    (batch / "stubs").mkdir()
    for name in COMPONENTS:
        shutil.copy(PUBLIC / f"{name}.py", batch / "stubs")
    for hostile in HOSTILE:
        folder = solution(batch / f"hostile_{hostile.name}")
        if hostile.path.is_dir():
            shutil.copytree(hostile.path, folder, dirs_exist_ok=True)
        else:
            shutil.copy(hostile.path, folder / f"{hostile.component}.py")
    # What is provided, in versions of one's own that would spoil everything.
    folder = solution(batch / "own_provided")
    for path in sorted((PUBLIC / "provided").glob("*.py")):
        target = folder / "provided" / path.name
        target.parent.mkdir(exist_ok=True)
        target.write_text("raise RuntimeError('mine')\n")
    (folder / "data").mkdir()
    (folder / "data" / "corpus.txt").write_text("mine")
    (folder / "provided.py").write_text("raise RuntimeError('mine')\n")
    folder = solution(batch / "other_provided")
    shutil.copytree(PUBLIC / "provided", folder / "provided")
    text = (folder / "provided" / "line.py").read_text()
    assert "SLOPE = 3.0" in text
    (folder / "provided" / "line.py").write_text(text.replace("SLOPE = 3.0", "SLOPE = 0.0"))


@pytest.fixture(scope="module", params=["tier1", pytest.param("tier2", marks=pytest.mark.release)])
def tier(request: pytest.FixtureRequest) -> str:
    """Each of the sandboxes, one after the other."""
    return request.param


@pytest.fixture(scope="module")
def graded(tier: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of one batch, by submission."""
    folder = tmp_path_factory.mktemp("basics")
    hand_in(folder / "batch")
    command = [sys.executable, "-m", "autograder", "grade", str(folder / "batch")]
    command += ["--assignment", "basics", "--root", str(COURSE), "--out", str(folder / "out")]
    command += ["--sandbox", tier]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=540)
    if done.returncode == 2 and "isolated" in done.stderr:
        pytest.skip(f"{tier} CANNOT BE TESTED HERE: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    found = {path.stem: json.loads(path.read_text()) for path in (folder / "out").rglob("*.json")}
    assert found.keys() >= {path.name for path in (folder / "batch").iterdir()}
    return found


def lost(result: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (criterion["id"], criterion["message"])
        for component in result["components"].values()
        for criterion in component["criteria"]
        if not criterion["passed"]
    ]


@pytest.mark.parametrize("student", ["solution", "right_v01", "right_v02"])
def test_right_work_has_every_point(graded: dict[str, Any], student: str) -> None:
    result = graded[student]
    assert (result["score"], result["max_score"]) == (40, 40), lost(result)
    assert all(component["status"] == "graded" for component in result["components"].values())
    assert not any(component["misconceptions"] for component in result["components"].values())


def test_stubs_have_none(graded: dict[str, Any]) -> None:
    assert graded["stubs"]["score"] == 0
    assert [c["status"] for c in graded["stubs"]["components"].values()] == ["not_attempted"] * 4


def test_every_submission_has_a_mark(graded: dict[str, Any]) -> None:
    assert {name: r["status"] for name, r in graded.items() if r["status"] != "graded"} == {}


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
def test_a_hostile_file_has_at_most_its_honest_part(
    graded: dict[str, Any], hostile: Hostile
) -> None:
    result = graded[f"hostile_{hostile.name}"]
    assert 0 <= result["components"][hostile.component]["score"] <= hostile.at_most
    for name, component in result["components"].items():
        if name != hostile.component:
            assert component["score"] == component["max_score"] == 10, (name, lost(result))


def test_every_component_has_somebody_against_it() -> None:
    assert {hostile.component for hostile in HOSTILE} == set(COMPONENTS)


@pytest.mark.parametrize("student", ["own_provided", "other_provided"])
def test_provided_code_and_data_of_a_submission_have_no_effect(
    graded: dict[str, Any], student: str
) -> None:
    assert graded[student]["score"] == 40, lost(graded[student])
    marks = [
        [(c["id"], c["score"], c["outcome"]) for c in component["criteria"]]
        for component in graded[student]["components"].values()
    ]
    right = [
        [(c["id"], c["score"], c["outcome"]) for c in component["criteria"]]
        for component in graded["solution"]["components"].values()
    ]
    assert marks == right


@pytest.mark.parametrize(
    "student, component, words",
    [
        ("torch_by_importlib", "tokenizer", "held for review: tokenizer.py, line "),
        ("lstsq_by_alias", "k_means", "held for review: k_means.py, line "),
    ],
)
def test_what_reaches_around_is_named_with_its_line(
    graded: dict[str, Any], student: str, component: str, words: str
) -> None:
    found = graded[f"hostile_{student}"]["components"][component]
    assert (found["status"], found["score"]) == ("forbidden", 0)
    assert words in found["message"]


# The student's folder.


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("released") / "basics"
    command = [sys.executable, "-m", "autograder", "release", "basics", "--out", str(out)]
    done = subprocess.run(
        [*command, "--root", str(COURSE)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def own_run(released: Path, folder: Path, files: dict[str, Path]) -> str:
    """Run plain pytest as a student does, with these files in the place of the stubs."""
    shutil.copytree(released, folder)
    for name, source in files.items():
        shutil.copy(source, folder / name)
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        line, cwd=folder, capture_output=True, text=True, timeout=300, env=environment
    )
    return done.stdout + done.stderr


def summary(output: str) -> dict[str, str]:
    return dict(re.findall(rf"^({'|'.join(COMPONENTS)}) +(.*)$", output, re.M))


def test_the_release_holds_what_is_public_and_nothing_else(released: Path) -> None:
    found = {
        path.relative_to(released).as_posix() for path in released.rglob("*") if path.is_file()
    }
    assert found >= {f"{name}.py" for name in COMPONENTS} | {"README.md", "tests/conftest.py"}
    for part in ("provided", "data", "tests"):
        for path in (PUBLIC / part).iterdir():
            if path.is_file():
                copy = released / part / path.name
                assert copy.read_bytes() == path.read_bytes()
    everything = "\n".join(
        (released / name).read_text("utf-8") for name in sorted(found) if name.endswith(".py")
    )
    for secret in SECRET.rglob("*.py"):
        text = secret.read_text("utf-8")
        regions = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", text, re.S)
        if secret.parent.name == "tests":
            regions = re.findall(r'"""(.{20,}?)"""', text)
        for line in "\n".join(regions).splitlines():
            if len(line.strip()) > 30:
                assert line not in everything, (secret.name, line)
    assert "BEGIN SOLUTION" not in everything
    assert "MISCONCEPTIONS" not in everything


def test_a_students_run_with_the_solutions(released: Path, tmp_path: Path) -> None:
    files = {f"{name}.py": SECRET / f"{name}.py" for name in COMPONENTS}
    output = own_run(released, tmp_path / "own", files)
    found = summary(output)
    assert found.keys() == set(COMPONENTS), output
    for component, line in found.items():
        earned, of = re.match(r"(\S+) of (\S+) public points \(worth 10 in all\)$", line).groups()
        assert earned == of, (component, output)


@pytest.mark.release
def test_a_students_run_with_untouched_stubs(released: Path, tmp_path: Path) -> None:
    output = own_run(released, tmp_path / "own", {})
    assert summary(output) == dict.fromkeys(COMPONENTS, "not attempted (worth 10)"), output


@pytest.mark.release
def test_a_students_run_names_a_forbidden_import(released: Path, tmp_path: Path) -> None:
    tokenizer = tmp_path / "tokenizer.py"
    tokenizer.write_text("import torch\n" + (SECRET / "tokenizer.py").read_text("utf-8"))
    files = {f"{name}.py": SECRET / f"{name}.py" for name in COMPONENTS}
    output = own_run(released, tmp_path / "own", {**files, "tokenizer.py": tokenizer})
    said = "torch was imported (tokenizer.py, line 1): it is not allowed in this component"
    assert said in output
    found = summary(output)
    assert "of" not in found["tokenizer"].split()[:2]
    # The others may import it.
    for component in COMPONENTS[1:]:
        assert re.match(r"(\S+) of \1 public points", found[component]), output
