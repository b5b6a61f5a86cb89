"""Where things are kept between runs: a folder outside every course that is its owner's alone.

Nothing here loads torch, so that code that only names a folder need not either.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

CACHE_VARIABLE = "GRADEFORMER_CACHE"
OFF = "off"


def cache_folder() -> Path | None:
    """Return where things are kept: `GRADEFORMER_CACHE`, or the user's own cache folder.

    None where nothing is to be kept, or can be: the variable is `off`, or there is no folder that
    is this user's alone.
    """
    named = os.environ.get(CACHE_VARIABLE, "")
    if named == OFF:
        return None
    try:
        home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(named) if named else Path(home, "gradeformer")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except (OSError, RuntimeError):
        return None
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    # What is read from here is run, in a sense: nobody else may have written it.
    return folder if private and (os.name != "posix" or found.st_uid == os.geteuid()) else None
