"""Bare repositories in place of a platform's, and what students do to them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_PERSON = {
    "GIT_AUTHOR_NAME": "Someone",
    "GIT_AUTHOR_EMAIL": "someone@example.org",
    "GIT_COMMITTER_NAME": "Someone",
    "GIT_COMMITTER_EMAIL": "someone@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *words: str, given: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        input=given,
        capture_output=True,
        check=True,
        timeout=120,
        env={**os.environ, **_PERSON},
    )
    return done.stdout.decode().strip()


class Repository:
    """One student's repository; every commit stands on the one before."""

    def __init__(self, server: Path, name: str) -> None:
        self.name = name
        self.folder = server / f"{name}.git"
        self.folder.mkdir(parents=True)
        git(self.folder, "init", "--quiet", "--bare", "--initial-branch=main")
        git(self.folder, "config", "http.getanyfile", "false")

    def blob(self, data: bytes) -> str:
        return git(self.folder, "hash-object", "-w", "--stdin", given=data)

    def tree(self, entries: Mapping[str, str]) -> str:
        """Return a tree of entries: by name `mode kind object`; in folders, too."""
        here, below = {}, {}
        for path, entry in entries.items():
            first, slash, rest = path.partition("/")
            if slash:
                below.setdefault(first, {})[rest] = entry
            else:
                here[first] = entry
        for name, inner in below.items():
            here[name] = f"040000 tree {self.tree(inner)}"
        lines = "".join(f"{entry}\t{name}\n" for name, entry in here.items())
        return git(self.folder, "mktree", "--missing", given=lines.encode())

    def commit(self, tree: str) -> str:
        """Make a tree the newest commit and return it."""
        parents = []
        if (self.folder / "refs" / "heads" / "main").exists():
            parents = ["-p", "refs/heads/main"]
        commit = git(self.folder, "commit-tree", "-m", "work", *parents, tree)
        git(self.folder, "update-ref", "refs/heads/main", commit)
        return commit

    def push(self, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> str:
        """Push a commit that holds just these files and links, and return it."""
        entries = {name: f"100644 blob {self.blob(t.encode())}" for name, t in files.items()}
        for name, target in (links or {}).items():
            entries[name] = f"120000 blob {self.blob(target.encode())}"
        return self.commit(self.tree(entries))
