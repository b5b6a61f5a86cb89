"""Tell every student how the commit that was graded stands: a status on it, and a comment."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from autograder.grading import store
from autograder.platforms.ci.api import ApiFault, Unsure
from autograder.platforms.ci.platforms import Platform, State
from autograder.platforms.ci.work import Commit, Work, waiting
from autograder.reports.exports.documents import markdown
from autograder.reports.shown import About, Shown
from autograder.results import SubmissionResult
from autograder.text import clean, out_of

_ATTEMPTS = 5
# Of a comment, in characters.
_MAX_TEXT = 60_000


class Told(NamedTuple):
    """What a student was told, or why they could not be."""

    student: str
    said: str
    done: bool = True


@dataclass(frozen=True)
class Poster:
    """Posts to one platform.

    Attributes:
        work: the folder with commits and results.
        platform: where repositories are.
        about: the assignment, and what it says about hidden criteria.
        fail_under: the percentage of the points below which a commit's state is a failure.
        comments: comment on a commit, too.
        attempts: how many commits of a student are graded a day; 0 for all.
    """

    work: Work
    platform: Platform
    about: About
    fail_under: float
    comments: bool
    attempts: int

    @property
    def context(self) -> str:
        """What the status of a commit is called."""
        return f"gradeformer/{self.about.assignment}"

    def post(self) -> Iterator[Told]:
        """Tell everyone what they were not told; yield each thing said, or that could not be."""
        for commit in filter(None, map(self.work.commit, self.work.students())):
            try:
                for said in self._one(commit):
                    yield Told(commit.student, said)
            except (ApiFault, OSError) as fault:
                yield Told(commit.student, str(fault), done=False)

    def _one(self, commit: Commit) -> Iterator[str]:
        """Tell one student; yield what was said."""
        before = self.work.posted(commit.student)
        # Of older commits nothing is said any more.
        told = {
            k: v for k, v in before.items() if k.endswith((commit.commit, commit.waiting or " "))
        }
        result = store.read(self.work.graded, commit.student)
        if result is not None and result.assignment == self.about.assignment:
            seen = None if result.score is None else self.about.shown(result)
            state, words = status_of(result, seen, self.fail_under)
            if self._status(commit, commit.commit, state, words, told):
                yield f"{words} ({state}) at {commit.commit[:10]}"
            if self.comments and seen is not None and self._comment(commit, result, told):
                yield f"comment at {commit.commit[:10]}"
        if commit.waiting is not None:
            words = f"Not graded yet: {waiting(self.attempts)}"
            if self._status(commit, commit.waiting, "pending", words, told):
                yield f"waiting: {commit.waiting[:10]}"

    def _status(self, of: Commit, at: str, state: State, words: str, told: dict[str, str]) -> bool:
        on, what = self.platform, (of.repository, at, self.context, state, words)
        text = f"{on.named(state)}\n{words}"
        there, send = partial(on.has_status, *what), partial(on.set_status, *what)
        return self._once(of, f"status {at}", text, told, there, send)

    def _comment(self, of: Commit, result: SubmissionResult, told: dict[str, str]) -> bool:
        on, place = self.platform, (of.repository, of.commit)
        text = markdown([result], self.about)
        if len(text) > _MAX_TEXT:
            text = f"{text[:_MAX_TEXT]}\n\n(cut off here)\n"
        mark = f"<!-- {self.context} {_hash(text)[:16]} -->"
        there = partial(on.has_comment, *place, mark)
        send = partial(on.comment, *place, f"{mark}\n\n{text}")
        return self._once(of, f"comment {of.commit}", text, told, there, send)

    def _once(
        self,
        of: Commit,
        key: str,
        text: str,
        told: dict[str, str],
        there: Callable[[], bool],
        send: Callable[[], None],
    ) -> bool:
        """Say something unless it was said, by this folder or as the platform has it."""
        if told.get(key) == _hash(text):
            return False
        said = False
        for attempt in range(1, _ATTEMPTS + 1):
            if there():
                break
            try:
                send()
                said = True
                break
            except Unsure as unsure:
                self.platform.wait(unsure.pause)
                if attempt == _ATTEMPTS and not there():
                    raise
        told[key] = _hash(text)
        self.work.tell(of.student, told)
        return said


def status_of(result: SubmissionResult, seen: Shown | None, fail_under: float) -> tuple[State, str]:
    """Return the state of a commit and the line that goes with it.

    Args:
        result: what the commit was graded.
        seen: what of it its student may see; None if it has no points.
        fail_under: the percentage of the points that are seen below which its state is a failure.
    """
    if result.status == "rejected":
        return "failure", f"Not accepted: {clean(result.message)}"
    if seen is None or seen.score is None:
        return "error", "The grader failed; that is not your fault, and it is tried again"
    line = f"{out_of(seen.score, seen.max_score)} points"
    if seen.withheld:
        line += "; hidden checks are not shown"
    if result.standing == "empty":
        return "failure", f"{line}: there is no file of {result.assignment} in it"
    if result.held:
        # A person is to say what becomes of it.
        return "pending", f"{line}; held for review: {', '.join(result.held)}"
    # A sum of shares is as near to a round number as floats come.
    below = 100 * seen.score < (fail_under - 1e-9) * seen.max_score
    return ("failure" if below else "success"), line


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
