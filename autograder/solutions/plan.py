"""The requests that every criterion makes, known from grading the solutions.

Everyone is asked the same questions, so a child can be sent a criterion's requests ahead and
works on while the judge compares; a request is written once for all submissions.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

from autograder.exchange.messages import Reply, Request
from autograder.sandbox.wire import encode_request
from autograder.suite.asking import Session


@dataclass(frozen=True)
class Planned:
    """One request of a plan: its frame with a nonce of 0, and the solution's reply."""

    frame: bytes
    request: Request
    reply: Reply


class Recorder:
    """Passes requests on to a session and keeps them as a plan."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.plan: list[Planned] = []

    def perform(self, request: Request) -> Reply:
        """Note the request, then have it answered."""
        frame = encode_request(request, 0)
        # A copy, because the test may go on to write into its tensors.
        kept = copy.deepcopy(request)
        reply = self._session.perform(request)
        self.plan.append(Planned(frame, kept, copy.deepcopy(reply)))
        return reply
