"""An environment with this project's wheel and no checkout."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.planted import plant

ROOT = Path(__file__).resolve().parents[2]


def said(command: list[str | Path], **options: Any) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=900, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass
class Installed:
    """An installation: how a program is started there, and where its packages are."""

    name: str
    python: Path
    site: Path
    mounts: list[list[str | Path]] = field(default_factory=list)

    def run(self, *args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run the command `autograder` with these arguments."""
        command = ["env", "-i", "PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C.UTF-8"]
        command += list(map(str, (self.python, "-m", "autograder", *args)))
        if self.mounts:
            script = "".join(f"mount {' '.join(map(str, words))} && " for words in self.mounts)
            command = ["unshare", "--mount", "sh", "-c", f'{script} exec "$@"', "sh", *command]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this project as it stands, without what earlier builds may have left."""
    source = folder / "source"
    source.mkdir()
    # What the build reads; the folders of courses are there, so that they could get into it.
    for name in ("autograder", "assignments", "reference"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    said([sys.executable, "-m", "build", "--wheel", "--outdir", folder, source])
    shutil.rmtree(source)
    (found,) = folder.glob("gradeformer-*.whl")
    return found


def install(
    wheel: Path,
    folder: Path,
    python: str | Path = sys.executable,
    resolution: str = "lowest-direct",
    extra: str = "",
) -> Installed:
    """Make an environment with a wheel, a package that courses name, and code in a .pth file.

    Args:
        wheel: this project's.
        folder: where to make the environment.
        python: the interpreter. With this one torch is the release that runs here, for others of
            the same Python are gigabytes.
        resolution: "lowest-direct" for the lowest versions that pyproject.toml names, or "highest".
        extra: an extra of this project that is installed, too.
    """
    start = time.monotonic()
    uv = [sys.executable, "-m", "uv", "--quiet", "--no-python-downloads"]
    said([*uv, "venv", "--python", python, folder])
    found = folder / "bin" / "python"
    wanted = [f"{wheel}[{extra}]" if extra else str(wheel), f"torch=={metadata.version('torch')}"]
    if Path(python) != Path(sys.executable):
        wanted.pop()
    options = ["--python", found, "--resolution", resolution]
    # Where pip is told of a folder with wheels, as with a small build of torch.
    links = said([sys.executable, "-m", "pip", "config", "list"])
    for place in re.findall(r"find-links='([^']*)'", links):
        options += ["--find-links", place]
    said([*uv, "pip", "install", *options, *wanted])
    print(f"\ninstalled from the wheel in {time.monotonic() - start:.0f} s", file=sys.stderr)
    site = Path(said([found, "-c", "import sysconfig as s; print(s.get_path('purelib'))"]).strip())
    plant(site, "wanted-pkg", {"wanted/__init__.py": ""}, ["below-it"])
    plant(site, "below-it", {"below_it.py": ""})
    (site / "canary.pth").write_text("import sys; sys.canary = True\n")
    return Installed("environment", found, site)
