"""The rules in the student's own process: what the component under test may not use is refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.exchange.guard import PROVIDED, Guard
from autograder.exchange.messages import ForbiddenUse
from autograder.exchange.names import NameGuard
from autograder.exchange.rules import Rules, used_by
from autograder.suite.local import Terms


class Enforcement:
    """Refuses what one component may not use, and nothing else.

    Args:
        folder: where the student's component files are.
        terms: those of every component.
    """

    def __init__(self, folder: Path, terms: Mapping[str, Terms]) -> None:
        self._guard = Guard(folder, (), ours=(PROVIDED, "tests"))
        self._names: NameGuard | None = None
        self._enforced = Rules()
        self._terms = terms
        self._tested = ""

    def begin(self) -> None:
        """Prepare for the rules of all components."""
        rules = [terms.rules for terms in self._terms.values()]
        modules = [name for rule in rules for name in rule.modules]
        functions = [name for rule in rules for name in rule.functions]
        self._names = self._guard.refuse_names(modules, functions, False, self._is_others)

    def component(self, name: str) -> None:
        """Enforce the rules of the component that is tested from now on."""
        self._tested = name
        self._enforce(self._terms[name].rules)

    def nothing(self) -> None:
        """Refuse nothing: what runs now is not the student's alone."""
        self._enforce(Rules())

    def uses(self, component: str) -> list[ForbiddenUse]:
        """Return what a component's own file has used of what was refused."""
        return [use for use in self._guard.uses() if use.file == f"{component}.py"]

    def _is_others(self, file: str) -> bool:
        """Tell whether a file is that of a component that the one that is tested builds on."""
        return file.removesuffix(".py") in used_by(
            self._tested, {name: terms.uses for name, terms in self._terms.items()}
        )

    def _enforce(self, rules: Rules) -> None:
        if self._names is not None:
            self._names.enforce([*rules.modules, *rules.functions])
        if rules.operations != self._enforced.operations:
            self._guard.uninstall()
            self._guard.forbid(rules.operations)
            self._guard.install(reversible=True)
        self._enforced = rules
