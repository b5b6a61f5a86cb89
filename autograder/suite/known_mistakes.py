"""Recognise known mistakes by their numbers, which travel with a release; no code does.

The table holds, for every component, questions (inputs, made up for this purpose) and for every
mistake the answers it gives to them, where these are not the right ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.exchange.messages import (
    Reply,
    Request,
    StudentError,
    read_parts,
    read_request,
    write_parts,
    write_request,
)
from autograder.exchange.plain import Reader, Writer
from autograder.exchange.values import DTYPE_NAMES, DTYPES
from autograder.suite.asking import Session
from autograder.suite.likeness import all_alike
from autograder.suite.worth import Worth

_DIGITS = 6


def write_question(question: Sequence[Request]) -> list[Any]:
    """Return the requests of a question as JSON can hold them; tensors to six digits."""
    return [write_request(request, Writer(_write_tensor)) for request in question]


def read_question(plain: Sequence[Any]) -> list[Request]:
    """Read what `write_question` wrote."""
    return [read_request(request, Reader(_read_tensor)) for request in plain]


def write_replies(replies: Sequence[Reply], values: bool) -> list[Any]:
    """Return replies as JSON can hold them.

    Args:
        replies: the answers to a question.
        values: whether a tensor's values are kept, to six digits, or only its shape.
    """
    writer = Writer(_write_tensor if values else _write_shape)
    return [
        {
            "gradient": reply.gradient,
            "error": None if reply.error is None else reply.error.kind,
            "parts": write_parts(reply, writer),
        }
        for reply in replies
    ]


def read_replies(plain: Sequence[Mapping[str, Any]]) -> list[Reply]:
    """Read what `write_replies` wrote; tensors without values come back on `meta`."""
    return [
        Reply(
            gradient=written["gradient"],
            error=None if written["error"] is None else StudentError(written["error"], "call"),
            **read_parts(written["parts"], Reader(_read_tensor)),
        )
        for written in plain
    ]


def _write_shape(tensor: Tensor) -> list[Any]:
    return [DTYPE_NAMES[tensor.dtype], list(tensor.shape)]


def _write_tensor(tensor: Tensor) -> list[Any]:
    return [*_write_shape(tensor), [_short(number) for number in tensor.flatten().tolist()]]


def _read_tensor(parts: list[Any]) -> Tensor:
    name, shape, *values = parts
    if not values:
        return torch.empty(shape, dtype=DTYPES[name], device="meta")
    return torch.tensor(values[0], dtype=torch.float64).to(DTYPES[name]).reshape(shape)


def _short(number: Any) -> Any:
    return float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number


@dataclass(frozen=True)
class KnownMistake:
    """A mistake: its words, the criteria it loses, its answers by the question's number.

    An answer holds whether it hangs on random draws, and its replies.
    """

    words: str
    loses: frozenset[str]
    answers: Mapping[int, tuple[bool, list[Reply]]]


def _mistake_from(plain: Mapping[str, Any]) -> KnownMistake:
    answers = {
        int(number): (answer["drawn"], read_replies(answer["replies"]))
        for number, answer in plain["answers"].items()
    }
    return KnownMistake(plain["words"], frozenset(plain["loses"]), answers)


class KnownMistakes:
    """The mistakes of one component and the questions that show them.

    Attributes:
        worth: which cases of its public criteria take work.
    """

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self.worth = {
            name: Worth(frozenset(earning), frozenset(opening))
            for name, (earning, opening) in plain.get("worth", {}).items()
        }
        self._plain = plain
        self._fitting: list[KnownMistake] | None = None

    def causes(self, criterion: str, session: Session) -> list[str]:
        """Return the words of the known mistakes that a failed criterion may be due to."""
        if self._fitting is None:
            self._fitting = self._recognised(session)
        return [mistake.words for mistake in self._fitting if criterion in mistake.loses]

    def _recognised(self, session: Session) -> list[KnownMistake]:
        """Return the mistakes whose every answer the component gives."""
        questions = [read_question(question) for question in self._plain["questions"]]
        replies: dict[int, list[Reply]] = {}
        fitting = []
        for mistake in map(_mistake_from, self._plain["mistakes"]):
            for number, (drawn, answers) in mistake.answers.items():
                if number not in replies:
                    replies[number] = [session.perform(r) for r in questions[number]]
                if not all_alike(answers, replies[number], questions[number], drawn):
                    break
            else:
                fitting.append(mistake)
        # What shows in fewer places is part of what shows in more.
        return [
            one
            for one in fitting
            if not any(one.answers.keys() < o.answers.keys() for o in fitting)
        ]


def read_known(path: Path) -> dict[str, KnownMistakes]:
    """Read the table of a release, by component; empty where there is none."""
    if not path.is_file():
        return {}
    table = json.loads(path.read_text(encoding="utf-8"))
    return {name: KnownMistakes(plain) for name, plain in table.items()}
