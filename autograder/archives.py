"""Archives: which files are some, and zips that are the same bytes for the same files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

# The earliest that a zip can say.
_DATE = (1980, 1, 1, 0, 0, 0)
# As they end, in capitals, too.
_ENDINGS = (".zip", ".tar.gz", ".tgz")


def is_archive(name: str) -> bool:
    """Return whether a file of this name is an archive."""
    return name.lower().endswith(_ENDINGS)


def without_ending(name: str) -> str:
    """Return the name of an archive, or of another file, without what says that it is one."""
    cut = next((len(end) for end in _ENDINGS if name.lower().endswith(end)), 0)
    return name[: len(name) - cut]


def archive(files: Iterable[tuple[str, bytes, bool]]) -> bytes:
    """Return a zip of files: their names, what they hold, and whether they are programs.

    A name that ends in a slash is a folder.
    """
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data, program in files:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if program else 0o100644) << 16
            packed.writestr(entry, data)
    return made.getvalue()
