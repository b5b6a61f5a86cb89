"""The rules in the student's own process: what the component under test may not use is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.exchange.guard import PROVIDED, Guard
from autograder.exchange.messages import ForbiddenUse
from autograder.exchange.reading import Finding, Ordinary, each_reading, read
from autograder.exchange.rules import Rules, used_by
from autograder.suite.local import Terms


class Enforcement:
    """Refuses what one component may not use, and tells what is out of the ordinary in it.

    Args:
        folder: where the student's component files are.
        terms: those of every component.
        packages: the modules that it may import beside torch and numpy.
    """

    def __init__(
        self, folder: Path, terms: Mapping[str, Terms], packages: Sequence[str] = ()
    ) -> None:
        rules = [terms.rules for terms in terms.values()]
        names = [name for rule in rules for name in (*rule.operations, *rule.functions)]
        self._guard = Guard(names, ours=(PROVIDED, "tests"))
        self._folder = folder
        self._terms = terms
        self._packages = packages
        self._uses = {name: terms.uses for name, terms in terms.items()}

    def begin(self) -> None:
        """Prepare for the rules of all components."""
        self._guard.install()

    def read(self) -> dict[str, list[Finding]]:
        """Return what is out of the ordinary in what every component runs."""
        files = {
            path.relative_to(self._folder).as_posix(): path.read_bytes()
            for path in self._folder.rglob("*.py")
            if path.relative_to(self._folder).parts[0] not in (PROVIDED, "tests")
            and not any(part.startswith((".", "_")) for part in path.parent.parts[1:])
        }
        programs = [f"{name}.py" for name, terms in self._terms.items() if terms.program]
        own = [*self._terms, PROVIDED]
        kinds = {name: (terms.ordinary, terms.unusual) for name, terms in self._terms.items()}
        readings = each_reading(
            kinds,
            self._uses,
            lambda kind: read(files, Ordinary(self._packages, own, programs, *kind)),
        )
        return {name: found.about(f"{name}.py", without) for name, found, without in readings}

    def end(self) -> None:
        """Refuse nothing from now on."""
        self._guard.uninstall()

    def component(self, name: str) -> None:
        """Enforce the rules of the component that is tested from now on."""
        others = [f"{other}.py" for other in used_by(name, self._uses)]
        self._guard.begin(self._folder, self._terms[name].rules, others=others)

    def nothing(self) -> None:
        """Refuse nothing: what runs now is not the student's alone."""
        self._guard.begin(self._folder, Rules())

    def uses(self, component: str) -> list[ForbiddenUse]:
        """Return what a component's own file has used of what was refused."""
        return [use for use in self._guard.uses() if use.file == f"{component}.py"]
