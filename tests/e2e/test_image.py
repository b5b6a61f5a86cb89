"""The image of the Containerfile, built without a daemon, and a class graded in it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.installed import said

ROOT = Path(__file__).resolve().parents[2]
# Of the environment: a mirror of Debian, and options for `buildah build`, such as `-v FILE:FILE`.
MIRROR = os.environ.get("GRADEFORMER_TEST_MIRROR", "http://deb.debian.org/debian")
MORE = shlex.split(os.environ.get("GRADEFORMER_TEST_BUILD", ""))
TOOLS = ("buildah", "debootstrap")
INCLUDE = "--include=python3,python3-venv,ca-certificates"

pytestmark = [
    pytest.mark.release,
    pytest.mark.skipif(
        not all(map(shutil.which, TOOLS)) or os.geteuid() != 0,
        reason=f"THE IMAGE CANNOT BE BUILT HERE: it takes root, {' and '.join(TOOLS)}",
    ),
]


def buildah(folder: Path, *words: str | Path) -> str:
    stores = ("--root", folder / "storage", "--runroot", folder / "run", "--storage-driver", "vfs")
    return said(["buildah", *stores, *words]).strip()


@pytest.fixture(scope="module")
def container(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Build the image from a base that debootstrap makes, and begin a container of it."""
    folder = tmp_path_factory.mktemp("image")
    said(["debootstrap", "--variant=minbase", INCLUDE, "bookworm", folder / "base", MIRROR])
    for inside in ("proc", "sys"):
        subprocess.run(["umount", folder / "base" / inside], capture_output=True, check=False)
    base = buildah(folder, "from", "scratch")
    buildah(folder, "add", "-q", base, folder / "base", "/")
    buildah(folder, "commit", "-q", base, "gradeformer-base")
    build = ["build", "--isolation", "chroot", "-t", "gradeformer", *MORE, "-f"]
    build += [ROOT / "Containerfile", "--build-arg", "BASE=localhost/gradeformer-base", ROOT]
    buildah(folder, *build)
    yield folder, buildah(folder, "from", "gradeformer")
    shutil.rmtree(folder / "storage", ignore_errors=True)


def test_the_demo_class_is_graded_in_it(container: tuple[Path, str], tmp_path: Path) -> None:
    folder, name = container
    shutil.copytree(ROOT / "assignments", tmp_path / "course" / "assignments")
    shutil.copytree(ROOT / "reference", tmp_path / "course" / "reference")
    shutil.copytree(ROOT / "tests" / "classes", tmp_path / "course" / "tests" / "classes")
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "course")
    # Whatever tier there is in a container that is no boundary itself.
    mounted = ["run", "--isolation", "chroot", "-v", f"{tmp_path}/course:/course", name, "--"]
    output = buildah(folder, *mounted, "autograder", "demo", "--root", "/course")
    results = tmp_path / "course" / "demo-results" / "transformer_block" / "results"
    scores = {p.stem: json.loads(p.read_bytes())["score"] for p in results.glob("*.json")}
    assert len(scores) == 20, output
    assert None not in scores.values(), output
