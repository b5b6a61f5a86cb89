"""Runs what is written for GitHub and GitLab: the commands of its steps as they stand, in order.

What needs a network, or is the platform's own (an action), is left out and named.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
NETWORK = "(network)"
_SECRET = re.compile(r"\$\{\{ secrets\.(\w+) \}\}")


@dataclass
class Run:
    """What came of a workflow.

    Attributes:
        left_out: names of steps and actions that were not run.
        said: what each step printed, by its name.
        codes: their exit codes.
    """

    left_out: list[str] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)

    @property
    def output(self) -> str:
        return "".join(self.said.values())


def load(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def programs(folder: Path) -> str:
    """Make a folder with the command as pip would install it, and return a PATH with it first."""
    folder.mkdir(exist_ok=True)
    for name, words in (("autograder", "-m autograder"), ("python", "")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {words} "$@"\n')
        path.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def github(
    path: Path,
    repository: Path,
    environment: Mapping[str, str],
    secrets: Mapping[str, str],
    before: Mapping[str, Callable[[], None]] | None = None,
) -> Run:
    """Run the only job of a workflow in a repository.

    Args:
        path: the workflow.
        repository: where it runs.
        environment: what the platform puts into every step's environment.
        secrets: by name.
        before: what happens before the step of a name.
    """
    (job,) = load(path)["jobs"].values()
    found = Run()
    failed = False
    common = {k: _filled(v, repository, secrets) for k, v in job.get("env", {}).items()}
    for step in job["steps"]:
        name = step.get("name", step.get("uses", ""))
        if "uses" in step or NETWORK in name:
            found.left_out.append(name)
            continue
        when = step.get("if", "")
        assert when in ("", "${{ !cancelled() }}", "${{ always() }}"), when
        if failed and not when:
            continue
        if before and name in before:
            before[name]()
        env = {k: _filled(v, repository, secrets) for k, v in step.get("env", {}).items()}
        assert not set(re.findall(r"\$\{\{.*?\}\}", step["run"])), "no expression in a script"
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        code = _run(found, name, script, repository, {**environment, **common, **env})
        failed = failed or code != 0
    return found


def gitlab(
    path: Path,
    repository: Path,
    environment: Mapping[str, str],
    variables: Mapping[str, Mapping[str, str]],
) -> Run:
    """Run the jobs of a pipeline, stage by stage, each in a folder as GitLab gives it to a job.

    Args:
        path: the pipeline.
        repository: where it runs.
        environment: what the platform puts into every job's environment.
        variables: those that are limited to an environment, by that.
    """
    pipeline = load(path)
    found = Run()
    found.left_out += [f"before_script: {line}" for line in pipeline["default"]["before_script"]]
    common = {
        name: text.replace("$CI_PROJECT_DIR", str(repository))
        for name, text in pipeline.get("variables", {}).items()
    }
    for stage in pipeline["stages"]:
        for name, job in pipeline.items():
            if not isinstance(job, dict) or job.get("stage") != stage or name.startswith("."):
                continue
            scope = job.get("environment", {}).get("name", "")
            env = {**environment, **common, **variables.get(scope, {})}
            script = ["bash", "-eo", "pipefail", "-c", "\n".join(job["script"])]
            code = _run(found, name, script, repository, env)
            if code not in (0, *job.get("allow_failure", {}).get("exit_codes", ())):
                return found
            keep = job.get("artifacts", {}).get("paths", [])
            # The next job has of this one what it hands on, and nothing else.
            for left in repository.glob("ci-work/*"):
                if str(left.relative_to(repository)) not in keep:
                    shutil.rmtree(left)
    return found


def _filled(text: str, repository: Path, secrets: Mapping[str, str]) -> str:
    text = str(text).replace("${{ github.workspace }}", str(repository))
    text = _SECRET.sub(lambda match: secrets[match[1]], text)
    assert "${{" not in text, text
    return text


def _run(
    found: Run, name: str, script: list[str], repository: Path, environment: Mapping[str, str]
) -> int:
    done = subprocess.run(
        script,
        cwd=repository,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
    )
    found.said[name], found.codes[name] = done.stdout, done.returncode
    return done.returncode
