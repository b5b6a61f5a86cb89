"""Choose how student code is isolated here, and prove it before any of it runs."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.sandbox.confine import ConfinementError, landlock_version
from autograder.sandbox.handle import Budget, SandboxFault
from autograder.sandbox.host import Sandbox

_REPAIR = "install bubblewrap and libseccomp, or grade code you trust with --sandbox none"


class NotIsolated(Exception):
    """Student code cannot be isolated on this machine as asked; the message says why."""


def open_sandbox(
    choice: str,
    budget: Budget,
    forbidden: Sequence[str],
    secrets: Sequence[Path],
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Sandbox, str]:
    """Start the strongest sandbox that `choice` allows and that holds against the canaries.

    Args:
        choice: one of `autograder.sandbox.CHOICES`.
        budget: limits of every child.
        forbidden: operations that raise in a child.
        secrets: files and folders that no child may open.
        meanwhile: is called whenever a zygote starts, so that the time is not lost.

    Returns:
        The sandbox and its description.

    Raises:
        NotIsolated: none of them can be started, or one leaks.
    """
    if choice == "none":
        return Sandbox(3, budget, forbidden, meanwhile), "none: student code is not isolated"
    tiers = {"auto": (1, 2), "tier1": (1,), "tier2": (2,)}[choice]
    reasons = []
    for tier in tiers:
        reason = _lacking(tier)
        if not reason:
            try:
                sandbox = Sandbox(tier, budget, forbidden, meanwhile)
            except (SandboxFault, ConfinementError, ImportError, OSError) as error:
                reason = str(error)
            else:
                try:
                    leaks = _leaks(sandbox, secrets)
                except SandboxFault as error:
                    sandbox.close()
                    reasons.append(f"tier {tier}: {error}")
                    continue
                if not leaks:
                    return sandbox, ", ".join([_describe(tier), *sandbox.notes])
                sandbox.close()
                raise NotIsolated(
                    f"tier {tier} does not hold here: a child could {leaks[0]}; {_REPAIR}"
                )
        reasons.append(f"tier {tier}: {reason}")
    raise NotIsolated(f"student code cannot be isolated here ({'; '.join(reasons)}); {_REPAIR}")


def _lacking(tier: int) -> str:
    if not hasattr(os, "pidfd_open"):
        return "needs Linux"
    if landlock_version() < 1:
        return "this kernel has no Landlock"
    if tier == 1 and shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    return ""


def _describe(tier: int) -> str:
    landlock = f"Landlock {landlock_version()}, seccomp, rlimits"
    if tier == 1:
        return f"tier 1: bubblewrap, own namespaces, {landlock}"
    return f"tier 2: {landlock}; no namespaces"


def _leaks(sandbox: Sandbox, secrets: Sequence[Path]) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="gradeformer-canary-") as outside:
        os.chmod(outside, 0o777)  # noqa: S103 - so that only the sandbox forbids the write
        canary = Path(outside, "secret")
        canary.write_text("canary", encoding="utf-8")
        return sandbox.probe(
            {
                "read": [str(canary), *(str(path) for path in secrets if path.is_file())],
                "list": [outside, *(str(path) for path in secrets if path.is_dir())],
                "write": outside,
                "pid": os.getpid(),
            }
        )
