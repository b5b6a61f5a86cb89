"""How git is started over repositories that are not trusted: limits, settings, environment."""

from __future__ import annotations

import os
from pathlib import Path

# A file's size, memory and computing time, then the program.
LIMITED = 'ulimit -f "$1" && ulimit -v "$2" && ulimit -t "$3" && shift 3 && exec "$@"'
SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.bigFileThreshold": "1m",
    "core.fsmonitor": "false",
    "fetch.fsckObjects": "true",
    # Or a repository that is right but for an old tool's slip could not be handed in.
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.fsck.missingSpaceBeforeDate": "ignore",
    "fetch.fsck.badTimezone": "ignore",
    # One file, so that its size is the limit.
    "fetch.unpackLimit": "1",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    # A token goes to the server that was named, and nowhere else.
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "30",
    "credential.helper": "",
}


def environment(place: Path) -> dict[str, str]:
    """Return all that git's environment holds: nothing of ours, and no configuration."""
    kept = {k: os.environ[k] for k in ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR") if k in os.environ}
    return kept | {
        "HOME": str(place),
        # Nor that of a repository which the place may lie in.
        "GIT_CEILING_DIRECTORIES": str(place.resolve().parent),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_NO_LAZY_FETCH": "1",
    }
