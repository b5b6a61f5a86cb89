"""Archives that are the same bytes whenever the same files are put into them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

# The earliest that a zip can say.
_DATE = (1980, 1, 1, 0, 0, 0)


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
