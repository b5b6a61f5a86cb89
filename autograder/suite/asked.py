"""Which call a tensor came back from, so that a message names that one and not the last."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from torch import Tensor

from autograder.suite.answer import Answer, CheckFailed, Question

F = TypeVar("F", bound=Callable[..., object])


class Asked:
    """The answers to what an example has asked so far."""

    def __init__(self) -> None:
        self._answers: list[Answer] = []

    def note(self, answer: Answer) -> None:
        """Note one more answer."""
        self._answers.append(answer)

    def clear(self) -> None:
        """Forget all of them, as another example begins."""
        self._answers.clear()

    def source(self, tensor: object) -> Question | None:
        """Return the call that a tensor, or what it is a part of, came back from, if any."""
        if not isinstance(tensor, Tensor):
            return None
        for answer in reversed(self._answers):
            if answer.brought(tensor):
                return answer.question
        return None


def about_its_call(expectation: F) -> F:
    """Make an expectation on one tensor, its first argument, name the call it came back from."""

    @functools.wraps(expectation)
    def named(self: Any, actual: object, *args: object, **kwargs: object) -> object:
        try:
            return expectation(self, actual, *args, **kwargs)
        except CheckFailed as failure:
            failure.question = failure.question or self.asked.source(actual)
            raise

    return cast(F, named)
