"""A wheel grades a course where there is no checkout: from a virtual environment, and system-wide.

One environment is made and filled from the wheel. System-wide it is the same folder of packages,
mounted where such an installation has it, in a mount namespace that ends with the command.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.installed import Installed

ROOT = Path(__file__).resolve().parents[2]
COMPONENTS = ("tokenizer", "k_means", "linear_model", "word_count")
# The first line of a submission that raises what it came at, and otherwise does nothing.
ATTACK = """\
def _escapes(paths, modules):
    import importlib, os, sys
    worked = []
    for path in paths:
        for attempt in (os.listdir, lambda path: open(path, "rb").read(1)):
            try:
                attempt(path)
            except OSError:
                continue
            worked.append(path)
    importlib.invalidate_caches()
    for name in modules:
        try:
            importlib.import_module(name)
        except (ImportError, OSError):
            continue
        worked.append(name)
    return worked + [name for name in vars(sys) if name == "canary"]


_worked = _escapes(PATHS, MODULES)
if _worked:
    raise RuntimeError("ESCAPED: " + ", ".join(_worked[:50]))
"""
HAS = """\
import importlib.metadata
import wanted
import jinja2, pydantic
assert importlib.metadata.version("wanted-pkg") == "1.0"
"""


@pytest.fixture(
    scope="module",
    params=[
        "environment",
        pytest.param("dist-packages", marks=pytest.mark.release),
        pytest.param("prefix", marks=pytest.mark.release),
    ],
)
def installed(request: pytest.FixtureRequest, environment: Installed) -> Iterator[Installed]:
    """The environment; a system's Python with packages below /usr/local; a Python at /usr/local."""
    if request.param == "environment":
        yield environment
        return
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("A SYSTEM-WIDE INSTALLATION CANNOT BE TRIED: it takes root and unshare")
    if subprocess.run(["unshare", "--mount", "true"], check=False).returncode != 0:
        pytest.skip("A SYSTEM-WIDE INSTALLATION CANNOT BE TRIED: mounting is forbidden here")
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if request.param == "prefix":
        base = Path(sys.base_prefix)
        if base in (Path("/usr"), Path("/usr/local")):
            pytest.skip(f"A PYTHON OF ITS OWN AT /usr/local CANNOT BE TRIED: this one is in {base}")
        site = Path("/usr/local/lib", version, "site-packages")
        mounts: list[list[str | Path]] = [["--bind", base, "/usr/local"]]
        python = Path("/usr/local/bin", version)
    else:
        site = Path("/usr/local/lib", version, "dist-packages")
        python = Path("/usr/bin", version)
        if not python.exists() or not site.is_dir():
            pytest.skip(f"PACKAGES IN {site} CANNOT BE TRIED: the system has no such Python")
        mounts = []
    mounts.append(["--bind", environment.site, site])
    yield Installed(request.param, python, site, mounts)


@pytest.fixture(scope="module")
def course(workplace: Path) -> Path:
    """A course with an assignment that names a package, and right, untouched and hostile work."""
    folder = workplace / "course"
    shutil.copytree(ROOT / "tests" / "courses" / "basics", folder)
    path = folder / "assignments" / "basics" / "assignment.toml"
    text = path.read_text().replace("\nseed =", '\npackages = ["wanted-pkg"]\nseed =', 1)
    # What is out of the ordinary runs: it is the sandbox that is tried here.
    text = text.replace("\n[[components]]", '\n[rules]\nreview = "note"\n\n[[components]]', 1)
    path.write_text(text)
    return folder


def hand_in(folder: Path, course: Path, installed: Installed) -> Path:
    """Write a batch; `uses` and `hostile` are right where what stands first in them passes."""
    right = {name: course / "reference" / "basics" / f"{name}.py" for name in COMPONENTS}
    batch = folder / "batch"
    for student in ("right", "uses", "hostile"):
        (batch / student).mkdir(parents=True)
        for name, path in right.items():
            shutil.copy(path, batch / student / f"{name}.py")
    shutil.copytree(course / "assignments" / "basics", batch / "stubs")
    site = installed.site
    paths = [site.parents[1], course, course / "reference", course / "reference" / "basics"]
    paths += [right["tokenizer"], course / "assignments" / "basics" / "assignment.toml"]
    paths += [batch, batch / "right", folder / "out", Path("/proc/self/maps"), Path("/etc/passwd")]
    paths += [Path("/usr/local"), Path("/usr/local/lib"), Path("/usr/lib"), Path("/")]
    modules = ["autograder", "autograder.judge", "autograder.sandbox.host", "reference"]
    for student, first in (("hostile", ATTACK), ("uses", HAS)):
        first = first.replace("PATHS", repr(list(map(str, paths))))
        first = first.replace("MODULES", repr(modules))
        path = batch / student / "linear_model.py"
        path.write_text(first + path.read_text())
    return batch


def grade(
    installed: Installed, course: Path, folder: Path, *options: str
) -> tuple[dict[str, Any], str]:
    """Grade a batch from a folder that holds no project; return the results by submission."""
    batch = hand_in(folder, course, installed)
    # A folder that is imported from before all others, if the current one is.
    (folder / "torch.py").write_text("raise RuntimeError('taken from the current folder')\n")
    start = time.monotonic()
    command = ["grade", batch, "--assignment", "basics", "--root", course, "--out", folder / "out"]
    done = installed.run(*command, *options, cwd=folder)
    took = time.monotonic() - start
    print(f"\n{installed.name} {' '.join(options)}: {took:.0f} s", file=sys.stderr)
    if done.returncode == 2 and "isolated" in done.stderr:
        pytest.skip(f"{options[-1]} CANNOT BE TESTED HERE: {done.stderr.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    results = (folder / "out" / "results").glob("*.json")
    return {path.stem: json.loads(path.read_text()) for path in results}, done.stdout


def test_it_holds_the_package_and_nothing_of_a_course(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        everything = b"".join(map(archive.read, names))
    tops = {name.partition("/")[0] for name in names}
    version = re.search(r'__version__ = "(.+)"', (ROOT / "autograder" / "__init__.py").read_text())
    assert tops == {"autograder", f"gradeformer-{version[1]}.dist-info"}
    assert not [name for name in names if "reference/" in name or "assignments/" in name]
    sources = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "autograder").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("autograder/")} == sources
    for solution in (ROOT / "reference").rglob("*.py"):
        for region in re.findall(
            r"BEGIN SOLUTION\n(.*?)### END", solution.read_text("utf-8"), re.S
        ):
            lines = [line.strip() for line in region.splitlines() if len(line.strip()) > 40]
            assert not any(line.encode() in everything for line in lines), solution
    assert str(ROOT).encode() not in everything


@pytest.mark.parametrize("tier", [pytest.param("tier1", marks=pytest.mark.release), "tier2"])
def test_it_grades_and_keeps_all_else_from_students(
    installed: Installed, course: Path, tmp_path: Path, tier: str
) -> None:
    found, output = grade(installed, course, tmp_path, "--sandbox", tier)
    assert f"tier {tier[-1]}: " in output
    assert found.keys() == {"right", "stubs", "uses", "hostile"}
    for student in ("right", "uses", "hostile"):
        messages = [found[student]["components"][name]["message"] for name in COMPONENTS]
        assert found[student]["score"] == 40, (student, messages)
        assert found[student]["graded"]["versions"]["wanted-pkg"] == "1.0"
    assert found["stubs"]["score"] == 0


@pytest.mark.release
def test_where_nothing_is_kept_apart_the_attack_works(
    environment: Installed, course: Path, tmp_path: Path
) -> None:
    found, _ = grade(environment, course, tmp_path, "--sandbox", "none")
    hostile = found["hostile"]["components"]["linear_model"]
    assert hostile["status"] == "import_error"
    assert "ESCAPED" in hostile["message"]
    assert found["right"]["score"] == 40


@pytest.mark.release
def test_a_package_that_is_not_installed_refuses_the_batch(
    environment: Installed, course: Path, tmp_path: Path
) -> None:
    other = shutil.copytree(course, tmp_path / "other")
    path = other / "assignments" / "basics" / "assignment.toml"
    path.write_text(path.read_text().replace('["wanted-pkg"]', '["not-there"]'))
    batch = hand_in(tmp_path, other, environment)
    command = ["grade", batch, "--assignment", "basics", "--root", other]
    done = environment.run(*command, "--out", tmp_path / "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "the package 'not-there' is not installed where the grader runs" in done.stderr


def test_the_command_and_a_release_need_no_checkout(
    environment: Installed, course: Path, tmp_path: Path
) -> None:
    out = tmp_path / "handout"
    done = environment.run("release", "basics", "--root", course, "--out", out, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    conftest = (out / "tests" / "conftest.py").read_text()
    assert "wanted-pkg" in conftest
    assert str(environment.site) not in conftest
    assert (environment.python.parent / "autograder").is_file()
