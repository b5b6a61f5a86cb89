"""Pipelines as they are written: their steps grade a class of repositories on this machine."""

from __future__ import annotations

import html
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.cli.accepting import accept
from tests import sources, tiny
from tests.e2e.conftest import _need
from tests.platforms.ci.platform import Platform, serving

_need("yaml")

from tests.e2e import steps  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FETCH, POST = "ghp_fetch_5e7a91", "ghp_post_5e7a91"
TOKENS = (FETCH, POST)
# Prints what it is started with, and what it can read of those that started it.
CURIOUS = """\
import ctypes
import os
import sys

said = dict(os.environ)
for pid in (os.getpid(), os.getppid(), 1):
    try:
        said[pid] = open(f"/proc/{pid}/environ").read()
    except OSError as error:
        said[pid] = str(error)
print("SAID", said, file=sys.stderr)
raise RuntimeError(str(said))
"""
WORKFLOW = "on: push\njobs:\n  x:\n    steps:\n      - run: touch HOSTILE; printenv\n"


class World:
    """A platform, the instructor's repository, and the students'."""

    def __init__(self, folder: Path, platform: Platform, kind: str) -> None:
        self.kind = kind
        self.platform = platform
        self.folder = folder
        self.home = folder / "teacher"
        self.work = self.home / "ci-work" / "norm"
        tiny.write_tiny(self.home)
        students = ("ada", "bob", "eve", "pat", "pia")
        self.students = {name: platform.repository(f"course/{name}") for name in students}
        (self.home / "students.csv").write_text(
            "student,repository\n"
            + "".join(f"{name},course/{name}\n" for name in students)
            + "new,course/new\ngone,course/gone\n"
        )
        platform.repository("course/new")
        self.write()

    def write(self, *options: str) -> None:
        out = self.folder / "written"
        shutil.rmtree(out, ignore_errors=True)
        words = ["--assignment", "norm", "--out", out, "--root", self.home, "--fail-under", "60"]
        words += ["--repositories", "students.csv", *options]
        run(["-m", "autograder", "ci", self.kind, *words])
        shutil.copytree(out / "teacher", self.home, dirs_exist_ok=True)

    @property
    def environment(self) -> dict[str, str]:
        address = self.platform.address
        return {
            "PATH": steps.programs(self.folder / "bin"),
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "GITHUB_API_URL": address,
            "CI_API_V4_URL": address,
        }

    def run(self, **options: Any) -> steps.Run:
        if self.kind == "github":
            (path,) = (self.home / ".github" / "workflows").glob("grade-*.yml")
            secrets = {"GRADEFORMER_FETCH_TOKEN": FETCH, "GRADEFORMER_POST_TOKEN": POST}
            return steps.github(path, self.home, self.environment, secrets, **options)
        variables = {
            "gradeformer-fetch": {"GRADEFORMER_FETCH_TOKEN": FETCH},
            "gradeformer-post": {"GRADEFORMER_POST_TOKEN": POST},
        }
        path = self.home / ".gitlab-ci.yml"
        return steps.gitlab(path, self.home, self.environment, variables)

    def marks(self, student: str) -> dict[str, list[str]]:
        """What a student's commits were told, by commit."""
        told = self.platform.statuses
        return {
            commit: [f"{entry['state']}: {entry['description']}" for entry in entries]
            for (name, commit), entries in told.items()
            if name == f"course/{student}"
        }

    def result(self, student: str) -> dict[str, Any]:
        return json.loads((self.work / "graded" / "results" / f"{student}.json").read_text())

    def holds(self, words: str) -> list[Path]:
        """Return the files of the instructor's folders that hold some words."""
        found = [p for p in self.folder.rglob("*") if p.is_file() and not p.is_symlink()]
        return [p for p in found if words.encode() in p.read_bytes()]


def run(words: list[Any], **options: Any) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, words)], cwd=ROOT, capture_output=True, text=True, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(params=["github", pytest.param("gitlab", marks=pytest.mark.release)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with serving(Platform(TOKENS)) as platform:
        yield World(tmp_path / "world", platform, request.param)


def push_all(world: World) -> dict[str, str]:
    hostile = {"layer_norm.py": CURIOUS, ".github/workflows/grade-norm.yml": WORKFLOW}
    hostile |= {".gitlab-ci.yml": WORKFLOW, "conftest.py": "open('HOSTILE', 'w')\n"}
    hostile |= {"sitecustomize.py": "open('HOSTILE', 'w')\n", "torch.py": "open('HOSTILE', 'w')\n"}
    return {
        "ada": world.students["ada"].push({"layer_norm.py": sources.RIGHT}),
        "bob": world.students["bob"].push({"layer_norm.py": sources.WRONG}),
        "eve": world.students["eve"].push(hostile, {"students.csv": "/etc/passwd"}),
        "pat": world.students["pat"].push({"a.py": ""}, {"layer_norm.py": "/etc/passwd"}),
        "pia": world.students["pia"].push({"layer_norm.py": sources.WRONG}),
    }


def test_a_class_is_graded_and_told(world: World) -> None:
    commits = push_all(world)
    later: list[str] = []
    options = {}
    if world.kind == "github":
        # Between fetching and grading, as it happens.
        push = {"layer_norm.py": sources.RIGHT}
        options = {"before": {"Grade": lambda: later.append(world.students["pia"].push(push))}}
    found = world.run(**options)
    print("left out:", *found.left_out, sep="\n  ")
    # One of the repositories is not there: it is named, and all others are graded.
    first = list(found.codes)
    assert {name: code for name, code in found.codes.items() if code} == {
        first[1 if world.kind == "github" else 0]: 1
    }, found.output
    assert "gone: failed" in found.output
    assert "new: empty" in found.output
    assert "pat: taken (not accepted: " in found.output
    if world.kind == "github":
        # While students' words may be printed, the runner takes none of them for a command.
        said = found.said["Grade"].splitlines()
        assert said[0].removeprefix("::stop-commands::") == said[-1].strip(":")
    bad = "failure" if world.kind == "github" else "failed"
    assert world.marks("ada") == {commits["ada"]: ["success: 2 of 2 points"]}
    assert world.marks("bob") == {commits["bob"]: [f"{bad}: 0 of 2 points"]}
    held = "pending: 0 of 2 points; held for review: layer_norm"
    assert world.marks("eve") == {commits["eve"]: [held]}
    assert world.marks("pia") == {commits["pia"]: [f"{bad}: 0 of 2 points"]}
    ((told,),) = world.marks("pat").values()
    assert told.startswith(f"{bad}: Not accepted: layer_norm.py is a link")
    (comment,) = world.platform.comments["course/bob", commits["bob"]]
    assert "Norm: 0 of 2 points" in comment
    (comment,) = world.platform.comments["course/eve", commits["eve"]]
    assert "layer_norm.py, line " in html.unescape(comment)
    # What is held is run when the instructor's repository says that it is accepted.
    accept(world.work / "graded", "eve")
    (world.work / "graded" / "accepted.json").rename(world.home / "ci" / "norm" / "accepted.json")
    # No token was anywhere but where it is needed, and nothing of a student's was run elsewhere.
    for token in TOKENS:
        assert world.holds(token) == []
        assert token not in found.output
        assert token not in json.dumps([*world.platform.comments.values()])
    assert not [p for p in world.folder.rglob("*") if p.name == "HOSTILE"]
    # Where nobody pushed and nothing was accepted, nothing is fetched, graded or said again; what
    # is rejected is looked at again, which takes no worker.
    posts = world.platform.posts
    took = {p.name: p.stat().st_mtime_ns for p in (world.work / "graded" / "results").iterdir()}
    again = world.run()
    now = {p.name: p.stat().st_mtime_ns for p in (world.work / "graded" / "results").iterdir()}
    changed = {name for name in now if now[name] != took[name]}
    assert world.result("eve")["components"]["layer_norm"]["status"] == "import_error"
    assert f"{bad}: 0 of 2 points" in world.marks("eve")[commits["eve"]]
    for token in TOKENS:
        assert world.holds(token) == []
        assert token not in again.output
    assert not [p for p in world.folder.rglob("*") if p.name == "HOSTILE"]
    if later:
        assert changed == {"eve.json", "pat.json", "pia.json"}
        assert world.marks("pia")[later[0]] == ["success: 2 of 2 points"]
        assert world.platform.posts == posts + 4
    else:
        assert changed == {"eve.json", "pat.json"}
        assert world.platform.posts == posts + 2, again.output


@pytest.mark.release
def test_what_is_pushed_too_often_waits(world: World) -> None:
    world.write("--attempts", "1")
    push_all(world)
    world.run()
    kept = world.result("bob")
    commit = world.students["bob"].push({"layer_norm.py": sources.RIGHT})
    world.run()
    assert world.result("bob") == kept
    ((told,),) = [v for c, v in world.marks("bob").items() if c == commit]
    assert told.startswith("pending: Not graded yet: at most 1 commit a day")


@pytest.mark.release
def test_a_run_that_was_killed_goes_on(world: World) -> None:
    if world.kind == "gitlab":
        pytest.skip("the commands are the same, and so is what they keep")
    push_all(world)
    world.students["ada"].push({"layer_norm.py": sources.RIGHT})
    (path,) = (world.home / ".github" / "workflows").glob("grade-*.yml")
    job = steps.load(path)["jobs"]["grade"]
    script = next(step["run"] for step in job["steps"] if step.get("name") == "Grade")
    options = ["--repositories", "students.csv", "--work", "ci-work/norm"]
    environment = {**world.environment, "GRADEFORMER_CACHE": str(world.home / "ci-cache" / "norm")}
    fetch = ["autograder", "ci", "fetch", *options]
    subprocess.run(
        fetch,
        cwd=world.home,
        env={**environment, "GRADEFORMER_FETCH_TOKEN": FETCH},
        capture_output=True,
    )
    results = world.work / "graded" / "results"
    process = subprocess.Popen(
        ["bash", "-c", script.replace("autograder grade", "autograder grade --jobs 1")],
        cwd=world.home,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    while not list(results.glob("*.json")) and process.poll() is None:
        os.sched_yield()
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = {p.name: p.stat().st_mtime_ns for p in results.glob("*.json")}
    assert done
    found = world.run()
    assert found.codes["Tell the students"] == 0
    now = {p.name: p.stat().st_mtime_ns for p in results.glob("*.json")}
    assert {name: now[name] for name in done} == done
    assert len(now) == 5
    assert len(world.marks("ada")) == 1


@pytest.mark.release
def test_with_a_token_nothing_is_graded_on_gitlab(world: World) -> None:
    if world.kind == "github":
        pytest.skip("a token is there for one step alone")
    push_all(world)
    path = world.home / ".gitlab-ci.yml"
    everywhere = {"GRADEFORMER_POST_TOKEN": POST}
    fetching = {"gradeformer-fetch": {"GRADEFORMER_FETCH_TOKEN": FETCH}}
    found = steps.gitlab(path, world.home, {**world.environment, **everywhere}, fetching)
    assert found.codes["grade"] == 2
    assert "must not reach this job" in found.said["grade"]
    assert "post" not in found.codes


@pytest.mark.parametrize("kind", ["github", pytest.param("gitlab", marks=pytest.mark.release)])
def test_students_run_the_public_checks_and_need_no_secret(
    small_project: Path, tmp_path: Path, kind: str
) -> None:
    out, handout = tmp_path / "written", tmp_path / "handout"
    words = ["--assignment", "norm", "--root", small_project, "--out", out]
    run(["-m", "autograder", "ci", kind, *words])
    run(["-m", "autograder", "release", "norm", "--root", small_project, "--out", handout])
    (handout / "layer_norm.py").write_text(sources.RIGHT)
    environment = {"PATH": steps.programs(tmp_path / "bin"), "HOME": str(tmp_path)}
    if kind == "github":
        path = out / "student" / ".github" / "workflows" / "public-checks.yml"
        assert steps.load(path)["permissions"] == {"contents": "read"}
        found = steps.github(path, handout, environment, {})
        said, code = found.output, found.codes["Run the public checks"]
    else:
        path = out / "student" / ".gitlab-ci.yml"
        script = "\n".join(steps.load(path)["checks"]["script"])
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script],
            cwd=handout,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        said, code = done.stdout, done.returncode
    assert code == 0, said
    assert " passed" in said
    for word in ("secrets.", "TOKEN", "reference"):
        assert word not in path.read_text()
