"""Students' repositories as a platform hands them out: each commit is an archive."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass
class Repository:
    """One student's repository; the last commit of a branch is its newest."""

    name: str
    branches: dict[str, str] = field(default_factory=dict)
    archives: dict[str, bytes] = field(default_factory=dict)

    def push(
        self,
        files: Mapping[str, str],
        links: Mapping[str, str] | None = None,
        branch: str = "main",
    ) -> str:
        """Push a commit that holds just these files and links, and return it."""
        return self.push_archive(packed(self.name.rpartition("/")[2], files, links or {}), branch)

    def push_archive(self, data: bytes, branch: str = "main") -> str:
        """Push a commit that is handed out as these bytes, and return it."""
        said = f"{len(self.archives)} {self.name}".encode()
        commit = hashlib.sha1(said + data).hexdigest()
        self.branches[branch] = commit
        self.archives[commit] = data
        return commit


def packed(top: str, files: Mapping[str, str], links: Mapping[str, str]) -> bytes:
    """Return a .tar.gz as `git archive` makes it, with a top folder and a global header."""
    made = io.BytesIO()
    about = {"comment": "0" * 40}
    with tarfile.open(
        fileobj=made, mode="w:gz", format=tarfile.PAX_FORMAT, pax_headers=about
    ) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{top}-0000000/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
        for name, target in links.items():
            entry = tarfile.TarInfo(f"{top}-0000000/{name}")
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return made.getvalue()
