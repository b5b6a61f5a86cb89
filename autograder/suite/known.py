"""Recognise known mistakes by their numbers, which travel with a release; no code does.

The table holds, for every component, questions (inputs, made up for this purpose) and for every
mistake the answers it gives to them, where these are not the right ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from autograder.exchange.messages import Reply, Request, StudentError
from autograder.suite.component import Session
from autograder.suite.likeness import alike

_DIGITS = 6


def to_plain(value: Any, values: bool = True) -> Any:
    """Turn requests, replies and tensors into what JSON can hold.

    Args:
        value: what to turn.
        values: whether a tensor's values are kept, rounded to six digits, or only its shape.
    """
    if isinstance(value, Tensor):
        plain: dict[str, Any] = {
            "dtype": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
        }
        if values:
            plain["values"] = [_short(number) for number in value.flatten().tolist()]
        return plain
    if isinstance(value, StudentError):
        return {"kind": value.kind}
    if isinstance(value, Reply):
        kept = {f.name: getattr(value, f.name) for f in fields(value) if f.name != "forbidden"}
        # What is not there is not written.
        return {name: to_plain(v, values) for name, v in kept.items() if v not in (None, [], {})}
    if isinstance(value, Request):
        return {"ops": value.ops, "tensors": to_plain(value.tensors, values)}
    if isinstance(value, list | tuple):
        return [to_plain(item, values) for item in value]
    if isinstance(value, Mapping):
        return {key: to_plain(item, values) for key, item in value.items()}
    return value


def tensor_from(plain: Mapping[str, Any] | None) -> Tensor | None:
    """Read a tensor written by `to_plain`; one without values comes back on `meta`."""
    if plain is None:
        return None
    dtype: torch.dtype = getattr(torch, plain["dtype"])
    if "values" not in plain:
        return torch.empty(plain["shape"], dtype=dtype, device="meta")
    return torch.tensor(plain["values"], dtype=torch.float64).to(dtype).reshape(plain["shape"])


def request_from(plain: Mapping[str, Any]) -> Request:
    """Read a request written by `to_plain`."""
    tensors = [tensor for tensor in map(tensor_from, plain["tensors"]) if tensor is not None]
    return Request(plain["ops"], tensors)


def reply_from(plain: Mapping[str, Any]) -> Reply:
    """Read a reply written by `to_plain`."""
    reply = Reply()
    for name, value in plain.items():
        if name == "error":
            reply.error = StudentError(value["kind"], "call")
        elif name in ("form", "gradient"):
            setattr(reply, name, value)
        elif name in ("given", "given_gradient"):
            setattr(reply, name, tensor_from(value))
        elif isinstance(value, list):
            setattr(reply, name, [tensor_from(item) for item in value])
        else:
            setattr(reply, name, {key: tensor_from(item) for key, item in value.items()})
    return reply


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
        int(number): (answer["drawn"], [reply_from(reply) for reply in answer["replies"]])
        for number, answer in plain["answers"].items()
    }
    return KnownMistake(plain["words"], frozenset(plain["loses"]), answers)


class KnownMistakes:
    """The mistakes of one component and the questions that show them."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._plain = plain
        self._fitting: list[KnownMistake] | None = None

    def cause(self, criterion: str, session: Session) -> str:
        """Name the known mistake that a failed criterion is due to, or return an empty string."""
        if self._fitting is None:
            self._fitting = self._recognised(session)
        causes = [mistake.words for mistake in self._fitting if criterion in mistake.loses]
        return "likely cause: " + "\nor: ".join(causes) if causes else ""

    def _recognised(self, session: Session) -> list[KnownMistake]:
        """Return the mistakes whose every answer the component gives."""
        questions = [[request_from(r) for r in question] for question in self._plain["questions"]]
        replies: dict[int, list[Reply]] = {}
        fitting = []
        for mistake in map(_mistake_from, self._plain["mistakes"]):
            for number, (drawn, answers) in mistake.answers.items():
                if number not in replies:
                    replies[number] = [session.perform(r) for r in questions[number]]
                if not same(answers, replies[number], questions[number], drawn):
                    break
            else:
                fitting.append(mistake)
        # What shows in fewer places is part of what shows in more.
        return [
            one
            for one in fitting
            if not any(one.answers.keys() < o.answers.keys() for o in fitting)
        ]


def same(
    one: Sequence[Reply],
    other: Sequence[Reply],
    requests: Sequence[Request],
    drawn: bool = False,
) -> bool:
    """Tell whether two answers to the same requests are alike."""
    # Where no floating-point tensor goes in, more than one dtype is right.
    given = any(t.is_floating_point() for request in requests for t in request.tensors)
    return all(
        alike(mine, theirs, drawn=drawn, dtypes=given)
        for mine, theirs in zip(one, other, strict=True)
    )


def read_known(path: Path) -> dict[str, KnownMistakes]:
    """Read the table of a release, by component; empty where there is none."""
    if not path.is_file():
        return {}
    table = json.loads(path.read_text(encoding="utf-8"))
    return {name: KnownMistakes(plain) for name, plain in table.items()}
