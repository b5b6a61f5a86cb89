"""Errors: what a user may see, and what the rooms tell one another.

Seen by users, each through one door with one exit code (`ExitCode`):

    UsageError                 main: one sentence and code 2
        CannotGrade            likewise; `grade --one` prints it and ends with code 3
            SuiteBroken        likewise; `selftest` says first what `check` does
        Busy                   somebody else grades into the folder; `--wait` waits
    ApiFault                   `ci`: a line for a student, and code 1
        Unsure

In a result, with its message:

    Rejected                   the submission is `rejected`
    StudentRaised              the criterion failed by the component's own error
    CheckFailed                the criterion failed by its answer
    Timeout                    a call of the student's own run never ended
    WorkerLost                 the submission is an `error`, at the second time

Refusals of the judge or a child, which become one of those above before anybody sees them:

    ForbiddenOperation         a child used what is forbidden
    Malformed                  a plain form stands for no value
    Unsendable                 a value cannot be sent
    Stop                       a request ends early
    WireError                  what came from a child is not a reply
    ChildGone                  a child ended before it answered
        OverLimits             an ordinary test used too much with what it was given
    OutOfLimits                likewise, before it is known whose loss it is
    Ended                      a case of an ordinary test is over
    CannotCross                an ordinary test hands over what cannot be: `check` names it
    NotRun                     the component is over
    SuiteFault                 the suite is broken
    ReferenceFault             a solution failed
    NotCarried                 `import` cannot rewrite a test: its table gives the reason
    PackageFault               a package cannot be given to children
    NotOrdinary                an entry of a folder is a link, a pipe or the like
    TooMany                    a folder holds too many entries
    NotIsolated                student code cannot be isolated here
    ConfinementError           the kernel refused a step of it
    SandboxFault               the sandbox itself failed
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    DONE = 0
    NOT_ALL = 1  # an error, or a mark that is not there, is held or is below --fail-under
    MISUSED = 2
    FAULT = 3  # only with `grade --one`
    INTERRUPTED = 130  # as shells have it: 128 and the number of the signal


class UsageError(Exception):
    """Something the user gave is unusable; the message is one sentence with the repair."""

    @property
    def lines(self) -> list[str]:
        """The message as it is printed; only a suite has a line for each of its faults."""
        return [str(self)]


@contextlib.contextmanager
def repairable(what: str, repair: str) -> Iterator[None]:
    """Turn an error of the system into a UsageError: what cannot be done, why, and the repair."""
    try:
        yield
    except OSError as error:
        raise UsageError(f"{what} ({error.strerror}): {repair}") from error
