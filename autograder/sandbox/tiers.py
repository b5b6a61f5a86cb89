"""Choose how student code is isolated here, and prove it before any of it runs."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from pathlib import Path

from autograder.sandbox import advice
from autograder.sandbox.confine import ConfinementError, landlock_version
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.packages import SITES, strangers
from autograder.sandbox.terms import Budget

# So many of what is installed beside the packages of children are tried; all, on most machines.
_STRANGERS = 1000
_IMPORTS = 20
# Ours that a child may not even import, as a student's file of that name would be.
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
    sealed: Sequence[str] = (),
) -> tuple[Sandbox, str]:
    """Start the strongest sandbox that `choice` allows and that holds against the canaries.

    Args:
        choice: one of `autograder.sandbox.CHOICES`.
        budget: limits of every child.
        forbidden: operations that raise in a child.
        secrets: files and folders that no child may open. What is installed beside the packages
            that children may use is kept from them, too, and need not be named.
        packages: distributions that children may use, beside torch and numpy.
        meanwhile: is called whenever a zygote starts, so that the time is not lost.
        sealed: operations that terms may forbid, beside `forbidden`.

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
                sandbox = Sandbox(tier, budget, forbidden, packages, meanwhile, sealed)
            except (SandboxFault, ConfinementError, ImportError, OSError) as error:
                reason = advice.not_started(tier, str(error))
            else:
                try:
                    leaks = _leaks(sandbox, secrets)
                    answering = _answering(sandbox, forbidden)
                except SandboxFault as error:
                    sandbox.close()
                    reasons.append(f"tier {tier}: {error}")
                    continue
                if answering:
                    sandbox.close()
                    raise NotIsolated(
                        f"tier {tier} does not hold here: torch's {answering[0]} answers though it "
                        f"is sealed; {advice.OTHERWISE}"
                    )
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


def _answering(sandbox: Sandbox, operations: Sequence[str]) -> list[str]:
    """Return the operations whose kernels answer, of those that are sealed."""
    return [o for o in operations if sandbox.seals and not sandbox.ends_over(o)]


def _leaks(sandbox: Sandbox, secrets: Sequence[Path]) -> list[str]:
    packages = sandbox.view.packages
    hidden = [*secrets, *_ours(), *islice(strangers(packages), _STRANGERS)]
    given = {os.path.realpath(path) for path in sandbox.view.readable}
    files = [
        file
        for path in hidden
        for file in ([path] if path.is_file() else _first_file(path))
        if os.path.realpath(file) not in given
    ]
    with tempfile.TemporaryDirectory(prefix="gradeformer-canary-") as outside:
        os.chmod(outside, 0o777)  # noqa: S103 - so that only the sandbox forbids the write
        canary = Path(outside, "secret")
        canary.write_text("canary", encoding="utf-8")
        return sandbox.probe(
            {
                "read": [str(path) for path in dict.fromkeys([canary, *files])],
                "list": [outside, *(str(path) for path in hidden if path.is_dir())],
                "import": [*_OUR_MODULES, *_importable(hidden, packages.modules)],
                "write": outside,
                "keep": next(path for path in sandbox.view.readable if path.endswith(".py")),
                "pid": os.getpid(),
                "sealed": sandbox.seals,
            }
        )


def _ours() -> list[Path]:
    """Return what of this package no child may open: all of it."""
    folder = Path(__file__).resolve().parents[1]
    return [folder, *(entry for entry in sorted(folder.iterdir()) if entry.name[0] not in "_.")]


def _first_file(folder: Path) -> list[Path]:
    """Return a file of a folder, for whom a name is not enough."""
    try:
        return [entry for entry in sorted(folder.iterdir()) if entry.is_file()][:1]
    except OSError:
        return []


def _importable(paths: Sequence[Path], given: Collection[str]) -> list[str]:
    """Return what some of these would be imported as, where nothing else goes by that name."""
    names = [
        path.stem
        for path in paths
        if path.parent.name in SITES and (path.suffix == ".py" or (path / "__init__.py").is_file())
    ]
    taken = sys.stdlib_module_names.union(given)
    return [name for name in names if name.isidentifier() and name not in taken][:_IMPORTS]
