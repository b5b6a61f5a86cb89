"""What running one criterion came to, how much of it a student is told, and what it is paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from autograder.exchange.messages import Reply, Request
from autograder.judge.check import Attempt
from autograder.results import HIDDEN_WORDS, Outcome
from autograder.suite.criterion import COUNTS_LATER, Criterion, form_counts
from autograder.suite.wording import lines_of


@dataclass
class Verdict:
    """What running one criterion came to.

    Attributes:
        outcome: what happened.
        share: how much of the criterion's points it earns, from 0 to 1.
        facts: what is wrong, as the student is told.
        hints: what to do about it.
        found: what is wrong, as the instructor is told, where that is more.
        not_attempted: the component's own stub stopped it.
        heard: what was asked and answered.
        silent: whether nothing is told of it but what passed.
        unsteady: whether the same calls were answered rightly a second time.
        cases: how many cases share the points.
    """

    outcome: Outcome
    share: float = 0.0
    facts: Sequence[str] = ()
    hints: Sequence[str] = ()
    found: Sequence[str] = ()
    not_attempted: bool = False
    heard: Sequence[tuple[Request, Reply]] = field(default_factory=list)
    cases: int = 1
    silent: bool = False
    unsteady: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether the criterion is fulfilled; None where it never ran."""
        return None if self.outcome == "not_run" else self.outcome == "passed"

    @property
    def message(self) -> str:
        """Facts and hints, a line each."""
        return "\n".join(lines_of(self.facts, self.hints))


def of_cases(attempt: Attempt) -> list[str]:
    """Say how many cases passed, where there are several."""
    if attempt.cases == 1:
        return []
    return [
        f"{attempt.passed} of {attempt.cases} cases pass; the first that does not: {attempt.case}"
    ]


def hidden(verdict: Verdict, attempt: Attempt) -> Verdict:
    """Return the verdict on a hidden criterion, of which only what passed is told.

    Whatever else the student's code decides (how far off a value is, which exception is raised,
    where) could carry out what it was asked.
    """
    cases = [f"{attempt.passed} of {attempt.cases} cases pass"] if attempt.cases > 1 else []
    facts = [*cases, HIDDEN_WORDS]
    found = (*verdict.facts, *verdict.hints)
    return replace(verdict, facts=facts, hints=(), found=found, silent=True)


def fulfilled() -> Verdict:
    """Return the verdict on a criterion that earns all its points."""
    return Verdict("passed", 1.0)


def counted(criteria: Sequence[Criterion], verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Withhold the points of form until another criterion holds, at least in part.

    Args:
        criteria: all of a component.
        verdicts: on each of them.
    """
    pairs = list(zip(criteria, verdicts, strict=True))
    if form_counts((criterion, verdict.share) for criterion, verdict in pairs):
        return list(verdicts)
    return [_withheld(v) if criterion.form and v.share else v for criterion, v in pairs]


def _withheld(verdict: Verdict) -> Verdict:
    outcome: Outcome = "failed" if verdict.passed else verdict.outcome
    return replace(verdict, outcome=outcome, share=0.0, facts=[*verdict.facts, COUNTS_LATER])
