"""What to tell whoever cannot isolate student code: what failed, and the repair for just that."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from autograder.sandbox.confine import JAIL_UIDS, landlock_version

OTHERWISE = "or grade code you trust with --sandbox none"
# Settings of Linux that forbid namespaces to whoever is not root, and what they then are.
_FORBIDDING = {
    "kernel/apparmor_restrict_unprivileged_userns": "1",
    "kernel/unprivileged_userns_clone": "0",
    "user/max_user_namespaces": "0",
}
_REPAIRED = {"0": "1", "1": "0"}
# What root needs to give processes another user and root folder, and to end and clear them away.
_CAPABILITIES = {
    "CHOWN": 0,
    "DAC_OVERRIDE": 1,
    "FOWNER": 3,
    "KILL": 5,
    "SETGID": 6,
    "SETUID": 7,
    "SYS_CHROOT": 18,
}


def lacking(tier: int, kernel: Path = Path("/")) -> str:
    """Return what is not there that a tier needs, and how to get it; empty if nothing is.

    Args:
        tier: the sandbox's.
        kernel: where the kernel shows itself, in `proc` and `sys`.
    """
    if not hasattr(os, "pidfd_open"):
        return "it needs Linux"
    if tier == 3:
        missing = _missing_rights(kernel / "proc/self")
        if missing:
            return missing
    elif landlock_version() < 1:
        return _no_landlock(kernel / "sys/kernel/security/lsm")
    try:
        import pyseccomp  # noqa: F401
    except ImportError:
        return "the Python package pyseccomp is not installed: pip install pyseccomp"
    except RuntimeError:
        return "libseccomp is not installed: install it (apt-get install libseccomp2)"
    if tier == 1 and shutil.which("bwrap") is None:
        return "bubblewrap is not installed: install it (apt-get install bubblewrap)"
    return ""


def _no_landlock(modules: Path) -> str:
    try:
        active = modules.read_text(encoding="utf-8").strip()
    except OSError:
        active = ""
    if active and "landlock" not in active.split(","):
        return (
            "Landlock is switched off in this kernel: start it with landlock in its parameter "
            f"lsm=landlock,{active}"
        )
    return (
        "this kernel has no Landlock: take Linux 5.13 or newer, and in a container one that does "
        "not forbid it"
    )


def _missing_rights(process: Path) -> str:
    """Return which right to give a user and a root folder of its own there is not."""
    if os.geteuid() != 0:
        return f"it needs the grader to run as root (this is user {os.geteuid()}): start it as root"
    status = dict(
        line.split(":", 1) for line in (process / "status").read_text("latin-1").splitlines()
    )
    effective = int(status["CapEff"], 16)
    missing = [name for name, number in _CAPABILITIES.items() if not effective >> number & 1]
    if missing:
        options = " ".join(f"--cap-add {name}" for name in missing)
        return (
            f"root may not do everything here (it lacks CAP_{', CAP_'.join(missing)}): start the "
            f"container with {options}"
        )
    for path in (process / "uid_map", process / "gid_map"):
        spans = [[int(word) for word in line.split()] for line in path.read_text().splitlines()]
        if not any(
            first <= JAIL_UIDS[0] and JAIL_UIDS[-1] < first + count for first, _, count in spans
        ):
            return (
                f"the users {JAIL_UIDS[0]} to {JAIL_UIDS[-1]} are not there in this container: "
                f"start it with all of 65536 users ({path.name} gives it fewer)"
            )
    place = tempfile.gettempdir()
    if os.statvfs(place).f_flag & os.ST_NOEXEC:
        return f"{place} is mounted noexec: set TMPDIR to a folder that is not"
    return ""


def not_started(tier: int, said: str, kernel: Path = Path("/")) -> str:
    """Return why a sandbox did not start, and what helps.

    Args:
        tier: the sandbox's.
        said: the last that it said.
        kernel: where the kernel shows itself, in `proc`.
    """
    if tier != 1 or not said.partition("bwrap: ")[1]:
        return said
    for setting, forbidding in _FORBIDDING.items():
        if _value(kernel / "proc/sys" / setting) == forbidding:
            name = setting.replace("/", ".")
            if setting.startswith("user"):
                return f"{said}; {name} is 0, which forbids user namespaces: sysctl {name}=10000"
            by = "AppArmor forbids" if "apparmor" in setting else "the kernel forbids"
            return (
                f"{said}; {by} user namespaces ({name} is {forbidding}): "
                f"sysctl {name}={_REPAIRED[forbidding]}"
            )
    words = said.lower()
    if any(word in words for word in ("namespace", "uid map", "not permitted", "mount")):
        return (
            f"{said}; bubblewrap is there and may not make namespaces: in a container, start it "
            "with rights to do so, or take --sandbox tier2, which needs none"
        )
    return said


def _value(setting: Path) -> str:
    try:
        return setting.read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def leaking(escape: str, readable: Sequence[str], tier: int) -> str:
    """Return why an escape may have worked, and what helps.

    Args:
        escape: as the probe names it: what a child could do.
        readable: the paths that children may read.
        tier: where it worked.
    """
    kind, _, path = escape.partition(" ")
    if kind in ("read", "list") and path.startswith("/"):
        real = os.path.realpath(path)
        for place in readable:
            if Path(real).is_relative_to(os.path.realpath(place)):
                return (
                    f"it lies in {place}, which children may read because Python or installed "
                    f"packages lie there: move it elsewhere, {OTHERWISE}"
                )
        rules = "the child's root folder" if tier == 3 else "Landlock's rules"
        return (
            "children are not given it, and could open it all the same: this kernel does not hold "
            f"to {rules}; use another, {OTHERWISE}"
        )
    return (
        "it was forbidden to it and worked all the same: this kernel or container does not hold to "
        f"the confinement; use another, {OTHERWISE}"
    )
