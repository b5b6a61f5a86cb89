"""What is written for platforms, against the platforms' schemas and a checker of shell scripts."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.platforms.ci import packing
from tests import tiny
from tests.e2e.conftest import _need

_need("check_jsonschema")
_need("yaml")

from tests.e2e import steps  # noqa: E402

OPTIONS = [
    [],
    ["--repositories", "lists/students.csv", "--attempts", "0", "--no-comments"],
    ["--organisation", "course-1", "--prefix", "hw1-", "--fail-under", "62.5"],
]
SCHEMAS = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tiny.write_tiny(tmp_path / "home")


def write(autograder, home: Path, *words: str | Path) -> None:
    done = autograder("ci", *words, "--root", home)
    assert done.returncode == 0, done.stderr


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=120)


def program(name: str) -> Path:
    path = Path(sys.executable).parent / name
    if not path.exists():
        pytest.skip(f"{name.upper()} IS NOT INSTALLED: run `make test-e2e`, which installs it")
    return path


def check_shell(script: Path) -> None:
    done = run(program("shellcheck"), "--shell=bash", script)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("platform", "options"),
    [
        pytest.param("github", OPTIONS[0], id="github-list", marks=pytest.mark.release),
        pytest.param("gitlab", OPTIONS[0], id="gitlab-list"),
        pytest.param("github", OPTIONS[1], id="github-named"),
        pytest.param("gitlab", OPTIONS[1], id="gitlab-named", marks=pytest.mark.release),
        pytest.param("github", OPTIONS[2], id="github-organisation", marks=pytest.mark.release),
        pytest.param("gitlab", OPTIONS[2], id="gitlab-organisation", marks=pytest.mark.release),
    ],
)
def test_pipelines_are_as_the_platform_wants_them(
    autograder, home, tmp_path, platform, options
) -> None:
    out = tmp_path / "out"
    write(autograder, home, platform, "--assignment", "norm", "--out", out, *options)
    pipelines = sorted(out.rglob("*.yml"))
    assert len(pipelines) == 2
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", SCHEMAS[platform]]
    done = run(*check, *pipelines)
    assert done.returncode == 0, done.stdout
    for number, path in enumerate(pipelines):
        for place, script in enumerate(scripts(path)):
            shell = tmp_path / f"{number}-{place}.sh"
            shell.write_text(script)
            check_shell(shell)
    # A schema that takes anything would take this.
    broken = tmp_path / "broken.yml"
    broken.write_text(pipelines[0].read_text().replace("timeout", "timeoutt"))
    assert run(*check, broken).returncode == 1


def scripts(path: Path) -> list[str]:
    found = []
    loaded = steps.load(path)
    for job in (loaded.get("jobs") or loaded).values():
        if isinstance(job, dict):
            found += [step["run"] for step in job.get("steps", []) if "run" in step]
            for key in ("before_script", "script"):
                found.append("\n".join(job.get(key, [])))
    return list(filter(None, found))


def test_no_secret_reaches_a_step_that_grades(autograder, home, tmp_path) -> None:
    out = tmp_path / "out"
    write(autograder, home, "github", "--assignment", "norm", "--out", out)
    (path,) = (out / "teacher").rglob("*.yml")
    workflow = steps.load(path)
    (job,) = workflow["jobs"].values()
    assert workflow["permissions"] == {"contents": "read"}
    # YAML reads `on` as a truth.
    assert set(workflow[True]) == {"schedule", "workflow_dispatch", "repository_dispatch"}
    with_secret = [s["name"] for s in job["steps"] if "secrets." in str(s)]
    assert with_secret == ["Fetch the students' repositories", "Tell the students"]
    for step in job["steps"]:
        if step.get("name") in with_secret:
            (line,) = step["run"].replace("\\\n", " ").strip().splitlines()
            assert line.startswith(("autograder ci fetch ", "autograder ci post "))


def test_the_programs_in_the_zip_are_sound(autograder, home, tmp_path) -> None:
    out = tmp_path / "autograder.zip"
    write(autograder, home, "gradescope", "norm", "--out", out)
    with zipfile.ZipFile(out) as archive:
        for name in ("setup.sh", "run_autograder"):
            script = tmp_path / name
            script.write_bytes(archive.read(name))
            check_shell(script)
        names = set(archive.namelist())
    assert {"project/reference/norm/layer_norm.py", packing.WHEEL_NAME} <= names


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(steps.ROOT, marks=pytest.mark.release, id="checkout"),
        pytest.param(Path("/"), id="elsewhere"),
    ],
)
def test_the_wheel_that_is_packed_can_be_installed(tmp_path, place) -> None:
    wheel = tmp_path / packing.WHEEL_NAME
    # In a checkout its metadata are another's than where it is installed.
    made_by = "from autograder.platforms.ci import packing"
    code = f"import sys; {made_by}; sys.stdout.buffer.write(packing.wheel())"
    made = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, timeout=60)
    wheel.write_bytes(made.stdout)
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    done = run(*pip, "--target", target, wheel)
    assert done.returncode == 0, done.stderr
    code = "import autograder, sys; print(autograder.__file__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env={"PYTHONPATH": str(target)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == str(target / "autograder" / "__init__.py")
    assert (target / "bin" / "autograder").is_file()


def test_the_containerfile_is_sound() -> None:
    done = run(program("hadolint"), steps.ROOT / "Containerfile")
    assert done.returncode == 0, done.stdout
