"""Folders that children write to, where these are of this machine's. Judge's side."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path


def make_scratch(folder: Path, owner: int | None) -> None:
    """Make the scratch folder of one child, for its `owner` alone."""
    folder.mkdir(mode=0o700)
    if owner is not None:
        os.chown(folder, owner, owner)


def remove_scratch(folder: Path) -> None:
    """Remove a folder, whatever a child made in it."""
    try:
        # A student can make folders that not even their owner may look into, unless asked first.
        for place, names, _ in os.walk(folder):
            for name in names:
                with contextlib.suppress(OSError):
                    os.chmod(os.path.join(place, name), 0o700)
        shutil.rmtree(folder, ignore_errors=True)
    except RecursionError:
        # Folders nested deeper than Python's stack, which a student can make.
        subprocess.run(["rm", "-rf", "--", str(folder)], check=False)
