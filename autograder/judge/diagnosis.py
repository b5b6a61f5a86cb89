"""The judge's diagnosis: the search of `autograder.diagnosis`, on answers of the wrong variants.

A misconception explains an example if its outputs, gradients and effects equal the student's and
differ from the right answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from autograder.assignment import Assignment
from autograder.diagnosis.fits import Ask, Example, Fits, Mistakes, examples_of
from autograder.diagnosis.search import Search
from autograder.diagnosis.table import Names, Question
from autograder.judge.cache import Cache
from autograder.judge.misconceptions import Misconception, read
from autograder.judge.session import Planned
from autograder.judge.variants import variants_of, widest
from autograder.text import together

# Beyond this a diagnosis costs more than it helps: short questions computed.
_MAX_COMPUTED = 1500
# So many of torch's operations are a short question: a few milliseconds.
_SHORT = 500
# Two ways to write the same differ by this share of what marks allow.
_ROUNDING = 0.05


@dataclass(frozen=True)
class Diagnosis:
    """The misconceptions found; `either` means one of them, else all of them together.

    `explained` has, for each criterion that was lost by them, those that show there.
    """

    found: tuple[Misconception, ...] = ()
    either: bool = False
    explained: Mapping[str, tuple[Misconception, ...]] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What to tell the student."""
        return self._said(self.found)

    def words_at(self, criterion: str) -> list[str]:
        """Return what to tell the student of one criterion, if it was lost by them."""
        return [self._said(self.explained[criterion])] if criterion in self.explained else []

    def _said(self, found: Sequence[Misconception]) -> str:
        words = [one.words for one in found]
        if not self.either:
            return together(words)
        return ("one of these: " if len(words) > 1 else "") + " or: ".join(words)


class Diagnoser:
    """Knows an assignment's misconceptions.

    What they answer is computed when a component is first diagnosed, and kept.

    Args:
        assignment: the assignment.
        plans: what every component's public criteria ask, with the right answers.
        looking: whether any are looked for; reading them is checked all the same.
        cache: where answers are kept.
        tell: is told what is computed, question by question.

    Raises:
        UsageError, ReferenceFault: a file of misconceptions is broken.
    """

    def __init__(
        self,
        assignment: Assignment,
        plans: Mapping[str, Sequence[Sequence[Planned]]],
        looking: bool = True,
        cache: Cache | None = None,
        tell: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._assignment, self._cache, self._tell = assignment, cache, tell
        self._known = {name: read(assignment, name) for name in assignment.totals}
        self._plans = {name: list(_examples_in(plans[name])) for name in plans}
        self._variants = {
            name: variants_of(assignment, name, known)
            for name, known in self._known.items()
            if known and looking
        }
        self._tables: dict[str, list[Question]] = {}

    def prepare(self, component: str) -> list[Question]:
        """Return a component's questions with what mistakes answer, kept or computed now."""
        if component not in self._variants:
            return []
        if component not in self._tables:
            make = partial(self._computed, component)
            if self._cache is None:
                self._tables[component] = make()
            else:
                asked = hashlib.sha256()
                for planned in self._plans[component]:
                    asked.update(b"".join(one.frame for one in planned))
                what = f"answers to {asked.hexdigest()}"
                key = self._cache.key_of(self._assignment, component, what)
                self._tables[component] = self._cache.kept(key, make)
        return self._tables[component]

    def _computed(self, component: str) -> list[Question]:
        variants, found = self._variants[component], []
        # Of a criterion that compares no values.
        usual = widest(planned[0].slack for planned in self._plans[component])
        for planned in self._plans[component]:
            self._tell(f"computing what the known mistakes answer: {component}")
            requests, right = [one.request for one in planned], [one.reply for one in planned]
            question = variants.question(requests, right, planned[0].slack or usual)
            question.cost = max(1, sum(one.work for one in planned) // _SHORT)
            variants.complete(question)
            found.append(question)
        return found

    def diagnose(self, component: str, examples: Sequence[Example], ask: Ask) -> Diagnosis:
        """Find the misconceptions that explain what a component answered.

        Args:
            component: its name.
            examples: what was asked, and what was answered.
            ask: puts the requests of a further example to the component; None if it is gone.
        """
        if component not in self._variants:
            return Diagnosis()
        variants, table = self._variants[component], self.prepare(component)
        known = self._known[component]
        # By its requests, in which nobody else's answers had a part.
        asked = {
            tuple(id(one.request) for one in planned): question
            for planned, question in zip(self._plans[component], table, strict=True)
        }
        slack = widest(question.slack for question in table)

        def question_of(example: Example) -> Question:
            question = asked.get(tuple(map(id, example.requests)))
            return question or variants.question(example.requests, slack=slack)

        mistakes = Mistakes(
            names=tuple(name for name, one in known.items() if not one.in_branch),
            in_branches=tuple(name for name, one in known.items() if one.in_branch),
            can_be=variants.can_be,
            together=variants.known,
            rounding=_ROUNDING,
            most=_MAX_COMPUTED,
        )
        questions = {example: question_of(example) for example in examples}
        further = [question for question in table if question not in questions.values()]
        solution = Search(Fits(mistakes, questions, ask), further).solve()

        def told(names: Names) -> tuple[Misconception, ...]:
            # In the order of the table, which is that of the file.
            return tuple(one for name, one in known.items() if name in names)

        explained = {criterion: told(names) for criterion, names in solution.explained.items()}
        return Diagnosis(told(solution.names), solution.either, explained)


def _examples_in(plans: Sequence[Sequence[Planned]]) -> Iterator[list[Planned]]:
    for plan in plans:
        for part in examples_of([planned.request for planned in plan]):
            yield [plan[index] for index in part]
