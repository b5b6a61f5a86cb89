"""The requests that every criterion makes, known from grading the solutions.

Everyone is asked the same questions, so a child can be sent a criterion's requests ahead and
works on while the judge compares; a request is encoded once for all submissions.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass

from autograder.exchange.messages import Reply, Request
from autograder.sandbox.wire import encode_request, tensor_bytes
from autograder.suite.component import Session


def request_digest(request: Request) -> bytes:
    """Return a hash of a request's operations and tensors."""
    layouts = [(t.dtype, tuple(t.shape), t.stride()) for t in request.tensors]
    parts = [repr((request.ops, layouts)).encode()]
    parts += [tensor_bytes(t) for t in request.tensors if not t.is_meta]
    return hashlib.blake2b(b"".join(parts), digest_size=16).digest()


@dataclass(frozen=True)
class Planned:
    """One request of a plan: its hash, its frame with a nonce of 0, and the solution's reply."""

    digest: bytes
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
        digest = request_digest(request)
        # A copy, because the test may go on to write into its tensors.
        kept = copy.deepcopy(request)
        reply = self._session.perform(request)
        self.plan.append(Planned(digest, frame, kept, copy.deepcopy(reply)))
        return reply
