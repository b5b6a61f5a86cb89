"""Choose how student code is isolated here, and prove it before any of it runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.sandbox.confine import JAIL_UIDS, ConfinementError, landlock_version
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget
from autograder.sandbox.scratch import temporary_folder

# Ours that no child may import, wherever it lies.
_OUR_MODULES = ("autograder", "autograder.judge", "autograder.sandbox.host")
OTHERWISE = "or grade code you trust with --sandbox none"
# Settings of Linux that forbid namespaces to users other than root: their value then, and the value
# that repairs it.
_FORBIDDING = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("user.max_user_namespaces", "0", "10000"),
)
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


class NotIsolated(Exception):
    """Student code cannot be isolated on this machine as asked; the message says why."""


def open_sandbox(
    choice: str,
    budget: Budget,
    forbidden: Sequence[str],
    secrets: Sequence[Path],
    packages: Sequence[str] = (),
    meanwhile: Callable[[], None] = lambda: None,
    tensors: bool = True,
) -> tuple[Sandbox, str]:
    """Start the strongest sandbox that `choice` allows and that holds against the canaries.

    Args:
        choice: one of `autograder.sandbox.CHOICES`.
        budget: limits of every child.
        forbidden: all that profiles may forbid, as `Sandbox` takes it.
        secrets: files and folders that no child may open. This package is kept from them, too, and
            need not be named; but one that is installed among others can be read as these can.
        packages: distributions that children may use, beside torch and numpy.
        meanwhile: is called whenever a fork server starts, so that the time is not lost.
        tensors: whether children use torch, as `Sandbox` takes it.

    Returns:
        The sandbox and its description.

    Raises:
        NotIsolated: none of them can be started, or one leaks.
        PackageFault: one of the packages cannot be given to children.
    """
    if choice == "none":
        sandbox = Sandbox(0, budget, forbidden, packages, meanwhile, tensors)
        return sandbox, "none: student code is not isolated"
    tiers = {"auto": (1, 2, 3), "tier1": (1,), "tier2": (2,), "tier3": (3,)}[choice]
    reasons = []
    for tier in tiers:
        reason = lacking(tier)
        if not reason:
            try:
                sandbox = Sandbox(tier, budget, forbidden, packages, meanwhile, tensors)
                return _tested(sandbox, secrets), ", ".join([_describe(tier), *sandbox.notes])
            except (SandboxFault, ConfinementError, ImportError, OSError) as error:
                reason = not_started(tier, str(error))
        reasons.append(f"tier {tier}: {reason}")
    raise NotIsolated(f"student code cannot be isolated here ({'; '.join(reasons)}); {OTHERWISE}")


def _tested(sandbox: Sandbox, secrets: Sequence[Path]) -> Sandbox:
    """Return a sandbox that holds against the canaries, and close any other."""
    try:
        leaks = _leaks(sandbox, secrets)
        if leaks:
            repair = leaking(leaks[0], sandbox.view.readable, sandbox.tier)
            raise NotIsolated(
                f"tier {sandbox.tier} does not hold here: a child could {leaks[0]}; {repair}"
            )
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def _describe(tier: int) -> str:
    landlock = f"Landlock {landlock_version()}, seccomp, rlimits"
    return {
        1: f"tier 1: bubblewrap, own namespaces, {landlock}",
        2: f"tier 2: {landlock}; no namespaces",
        3: "tier 3: a user and a root folder of its own, seccomp, rlimits; no namespaces, "
        "no Landlock",
    }[tier]


def _leaks(sandbox: Sandbox, secrets: Sequence[Path]) -> list[str]:
    hidden = [*secrets, *_ours(sandbox.view.readable)]
    files = [file for path in hidden for file in ([path] if path.is_file() else _first_file(path))]
    with temporary_folder() as outside:
        os.chmod(outside, 0o777)  # noqa: S103 - so that only the sandbox forbids the write
        canary = Path(outside, "secret")
        canary.write_text("canary", encoding="utf-8")
        return sandbox.probe(
            {
                "read": [str(path) for path in dict.fromkeys([canary, *files])],
                "list": [str(path) for path in (outside, *hidden) if path.is_dir()],
                "import": _OUR_MODULES,
                "write": str(outside),
                "keep": os.__file__,
                "pid": os.getpid(),
            }
        )


def _ours(readable: Sequence[str]) -> list[Path]:
    """Return the paths of this package, which no child may open; none if children may read it.

    The package holds no secrets, but it may lie in a project that does.
    """
    folder = Path(__file__).resolve().parents[1]
    if any(folder.is_relative_to(os.path.realpath(place)) for place in readable):
        return []
    return [folder, *(entry for entry in sorted(folder.iterdir()) if entry.name[0] not in "_.")]


def _first_file(folder: Path) -> list[Path]:
    """Return the first file of a folder; empty if there is none or it cannot be listed."""
    try:
        return [entry for entry in sorted(folder.iterdir()) if entry.is_file()][:1]
    except OSError:
        return []


def lacking(tier: int, kernel: Path = Path("/")) -> str:
    """Return what a tier needs and this machine lacks, and how to get it; empty if nothing.

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
    """Return what tier 3 lacks here to give a child a user and a root folder; empty if nothing."""
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
    for name, forbidding, repaired in _FORBIDDING:
        setting = kernel / "proc/sys" / name.replace(".", "/")
        with contextlib.suppress(OSError):
            if setting.read_text(encoding="utf-8").strip() == forbidding:
                return (
                    f"{said}; {name} is {forbidding}, which forbids user namespaces: "
                    f"sysctl {name}={repaired}"
                )
    words = said.lower()
    if any(word in words for word in ("namespace", "uid map", "not permitted", "mount")):
        return (
            f"{said}; bubblewrap is there and may not make namespaces: in a container, start it "
            "with rights to do so, or take --sandbox tier2, which needs none"
        )
    return said


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
