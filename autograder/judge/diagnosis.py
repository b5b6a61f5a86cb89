"""Name the mistake behind lost points: misconceptions that answer as the student did.

A misconception explains an example if its outputs, gradients and effects equal the student's and
differ from the right answer. It is reported if it explains every example that went wrong and goes
wrong nowhere else; so is a pair, where no single one does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from autograder.assignment import Assignment
from autograder.judge.evidence import Ask
from autograder.judge.expected import Expected
from autograder.judge.replay import Case, Heard
from autograder.solutions.cache import AnswerStore
from autograder.solutions.misconceptions import Misconception, read
from autograder.solutions.plan import Planned
from autograder.solutions.variants import Variants, examples_of, variants_of
from autograder.suite.likeness import Slack


@dataclass(frozen=True)
class Diagnosis:
    """The misconceptions found; `either` means one of them, else all of them together.

    `explained` names the criteria that were lost by them.
    """

    found: tuple[Misconception, ...] = ()
    either: bool = False
    explained: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """What to tell the student."""
        joined = (" or: " if self.either else "; and ").join(m.words for m in self.found)
        return ("one of these: " if self.either else "") + joined


class Diagnoser:
    """Knows an assignment's misconceptions.

    Args:
        assignment: the assignment.
        plans: what every component's public criteria ask, with the right answers.
        looking: whether any are looked for; reading them is checked all the same.
        stores: returns where the answers of a component's mistakes are kept.

    Raises:
        UsageError, ReferenceFault: a file of misconceptions is broken.
    """

    def __init__(
        self,
        assignment: Assignment,
        plans: Mapping[str, Sequence[Sequence[Planned]]],
        looking: bool = True,
        stores: Callable[[str], AnswerStore] = lambda name: AnswerStore(None),
    ) -> None:
        self._plans = plans
        self._known = {name: read(assignment, name) for name in assignment.totals}
        self._expected = {
            name: _expected_of(
                variants_of(assignment, name, tuple(known), stores(name)), plans[name]
            )
            for name, known in self._known.items()
            if known and looking
        }

    def flush(self) -> None:
        """Keep what was computed of mistakes' answers, for later submissions and runs."""
        for expected in self._expected.values():
            expected.variants.store.flush()

    def diagnose(self, component: str, heard: Sequence[Heard], ask: Ask) -> Diagnosis:
        """Find the misconceptions that explain what a component answered.

        Args:
            component: its name.
            heard: what was asked, and what was answered.
            ask: puts the requests of a further example to the component; None if it is gone.
        """
        if component not in self._expected:
            return Diagnosis()
        plans = [[planned.request for planned in plan] for plan in self._plans[component]]
        case = Case(self._expected[component], heard, ask)
        names, either, explained = case.solve(plans)
        known = self._known[component]
        # In the order of the table, which is that of the file.
        found = tuple(misconception for name, misconception in known.items() if name in names)
        return Diagnosis(found, either, explained)


def _expected_of(variants: Variants, plans: Sequence[Sequence[Planned]]) -> Expected:
    """Tell a component with mistakes what its criteria ask, with the right answers."""
    slack: dict[int, Slack] = {}
    for plan in plans:
        slack |= {id(planned.request): planned.slack for planned in plan}
        requests = [planned.request for planned in plan]
        for indices in examples_of(requests):
            example = [requests[index] for index in indices]
            work = sum(plan[index].work for index in indices)
            variants.know(example, [plan[index].reply for index in indices], work)
    usual = widest([planned.slack for plan in plans for planned in plan])
    return Expected(variants, slack, usual)


def widest(slacks: Sequence[Slack]) -> Slack:
    """Return the widest of several tolerances for every fineness."""
    kinds = {kind for slack in slacks for kind in slack}
    return {kind: max(slack.get(kind, 0.0) for slack in slacks) for kind in kinds}
