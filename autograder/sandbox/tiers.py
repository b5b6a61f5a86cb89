"""Choose how student code is isolated here, and prove it before any of it runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.sandbox import advice
from autograder.sandbox.confine import ConfinementError, landlock_version
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.terms import Budget

# Ours that no child may import, wherever it lies.
_OUR_MODULES = ("autograder", "autograder.judge", "autograder.sandbox.host")


class NotIsolated(Exception):
    """Student code cannot be isolated on this machine as asked; the message says why."""


def open_sandbox(
    choice: str,
    budget: Budget,
    forbidden: Sequence[str],
    secrets: Sequence[Path],
    packages: Sequence[str] = (),
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[Sandbox, str]:
    """Start the strongest sandbox that `choice` allows and that holds against the canaries.

    Args:
        choice: one of `autograder.sandbox.CHOICES`.
        budget: limits of every child.
        forbidden: all that terms may forbid, as `Sandbox` takes it.
        secrets: files and folders that no child may open. This package is kept from them, too, and
            need not be named; but one that is installed among others can be read as these can.
        packages: distributions that children may use, beside torch and numpy.
        meanwhile: is called whenever a zygote starts, so that the time is not lost.

    Returns:
        The sandbox and its description.

    Raises:
        NotIsolated: none of them can be started, or one leaks.
        PackageFault: one of the packages cannot be given to children.
    """
    if choice == "none":
        sandbox = Sandbox(0, budget, forbidden, packages, meanwhile)
        return sandbox, "none: student code is not isolated"
    tiers = {"auto": (1, 2, 3), "tier1": (1,), "tier2": (2,), "tier3": (3,)}[choice]
    reasons = []
    for tier in tiers:
        reason = advice.lacking(tier)
        if not reason:
            try:
                sandbox = Sandbox(tier, budget, forbidden, packages, meanwhile)
            except (SandboxFault, ConfinementError, ImportError, OSError) as error:
                reason = advice.not_started(tier, str(error))
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
                repair = advice.leaking(leaks[0], sandbox.view.readable, tier)
                raise NotIsolated(
                    f"tier {tier} does not hold here: a child could {leaks[0]}; {repair}"
                )
        reasons.append(f"tier {tier}: {reason}")
    raise NotIsolated(
        f"student code cannot be isolated here ({'; '.join(reasons)}); {advice.OTHERWISE}"
    )


def _describe(tier: int) -> str:
    if tier == 3:
        return (
            "tier 3: a user and a root folder of its own, seccomp, rlimits; no namespaces, "
            "no Landlock"
        )
    landlock = f"Landlock {landlock_version()}, seccomp, rlimits"
    if tier == 1:
        return f"tier 1: bubblewrap, own namespaces, {landlock}"
    return f"tier 2: {landlock}; no namespaces"


def _leaks(sandbox: Sandbox, secrets: Sequence[Path]) -> list[str]:
    hidden = [*secrets, *_ours(sandbox.view.readable)]
    files = [file for path in hidden for file in ([path] if path.is_file() else _first_file(path))]
    with tempfile.TemporaryDirectory(prefix="gradeformer-canary-") as outside:
        os.chmod(outside, 0o777)  # noqa: S103 - so that only the sandbox forbids the write
        canary = Path(outside, "secret")
        canary.write_text("canary", encoding="utf-8")
        return sandbox.probe(
            {
                "read": [str(path) for path in dict.fromkeys([canary, *files])],
                "list": [outside, *(str(path) for path in hidden if path.is_dir())],
                "import": _OUR_MODULES,
                "write": outside,
                "keep": os.__file__,
                "pid": os.getpid(),
            }
        )


def _ours(readable: Sequence[str]) -> list[Path]:
    """Return what of this package no child may open: all of it, or nothing where it is installed.

    It holds nothing that is secret; but where it lies in a project, so does what is.
    """
    folder = Path(__file__).resolve().parents[1]
    if any(folder.is_relative_to(os.path.realpath(place)) for place in readable):
        return []
    return [folder, *(entry for entry in sorted(folder.iterdir()) if entry.name[0] not in "_.")]


def _first_file(folder: Path) -> list[Path]:
    """Return a file of a folder, for whom a name is not enough."""
    try:
        return [entry for entry in sorted(folder.iterdir()) if entry.is_file()][:1]
    except OSError:
        return []
