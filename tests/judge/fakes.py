"""A child that answers in this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque

from autograder.api.messages import Reply, Request
from autograder.sandbox.handle import Clock
from autograder.sandbox.wire import decode_request, encode_reply


class AnsweringChild(ABC):
    """Takes frames as a child does, and answers each as `perform` says."""

    def __init__(self) -> None:
        self._posted: deque[Request] = deque()
        self.end_of_time = 0.0
        self.clock = Clock()

    def is_large(self) -> bool:
        return False

    @abstractmethod
    def perform(self, request: Request) -> Reply:
        """Answer one request; the one without operations imports the component."""

    def post(self, frame: bytes) -> int:
        left = memoryview(frame)

        def receive(size: int) -> bytes:
            nonlocal left
            part, left = bytes(left[:size]), left[size:]
            return part

        self._posted.append(decode_request(receive)[1])
        return 0

    def answer(self, nonce: int) -> Reply:
        return self.perform(self._posted.popleft())

    def answer_unless(self, nonce: int, right: bytes) -> Reply | None:
        reply = self.answer(nonce)
        return None if encode_reply(reply, 0) == right else reply
