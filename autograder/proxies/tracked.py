"""Arrays, tensors and containers that came back, which the test may write into."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograder.api.lazy import torch
from autograder.api.objects import is_tensor, rewrite
from autograder.api.values import Tracked, Value, plain_tensor

# References that the table and the call itself have.
_ALONE = 2
_Container = (list, dict, set)


class TrackedValues:
    """What a test has of a component's arrays, tensors and containers, by their numbers.

    Args:
        local: returns what the test gets for a value.
        hand: returns what crosses for something of the test's.
    """

    def __init__(self, local: Callable[[Value], Any], hand: Callable[[object], Value]) -> None:
        self._local = local
        self._hand = hand
        # With what they held when they were last looked at.
        self._there: dict[int, tuple[Any, Any]] = {}
        self._numbers: dict[int, int] = {}
        # Gradients of parameters that come with the same answer.
        self._coming: dict[int, Any] = {}

    def number_of(self, value: object) -> int | None:
        """Return the number of one that came back; None for any other object."""
        return self._numbers.get(id(value))

    def get(self, value: Tracked) -> Any:
        """Return what the test has for one: the same object as long as it keeps it."""
        new = value.numbers
        if isinstance(new, _Container):
            new = self._local(new)
        if value.number in self._there and _fits(self._there[value.number][0], new):
            there = self._there[value.number][0]
            write_back(there, new)
            self._note(value.number, there)
            return there
        if value.number in self._there:
            self._numbers.pop(id(self._there[value.number][0]), None)
        if value.leaf:
            new = torch.nn.Parameter(new)
            new.grad = self._coming.pop(value.number, None)
        self._numbers[id(new)] = value.number
        self._note(value.number, new)
        return new

    def refresh(self, number: int, numbers: Any, gradient: Any) -> None:
        """Take what became of a parameter where the component is."""
        if number not in self._there:
            self._coming[number] = gradient
            return
        there = self._there[number][0]
        write_back(there, numbers)
        there.grad = gradient
        self._note(number, there)

    def written(self) -> Iterator[Value]:
        """Yield what the test has written into them since they were last looked at."""
        for number in list(self._there):
            yield from self._written_into(number)
            # Nobody but this table has it any more.
            if sys.getrefcount(self._there[number][0]) <= _ALONE:
                there, _ = self._there.pop(number)
                self._numbers.pop(id(there), None)

    def _note(self, number: int, there: Any) -> None:
        if isinstance(there, np.ndarray | list | dict | set):
            self._there[number] = there, there.copy()
            return
        gradient = None if there.grad is None or not there.is_leaf else there.grad.clone()
        self._there[number] = there, (plain_tensor(there).clone(), gradient)

    def _written_into(self, number: int) -> Iterator[Value]:
        there, before = self._there[number]
        if isinstance(there, np.ndarray):
            if there.tobytes() != before.tobytes():
                self._note(number, there)
                yield [number, there.copy()]
        elif isinstance(there, _Container):
            if not _has_same_items(there, before):
                self._note(number, there)
                yield [number, self._hand(there.copy())]
        else:
            numbers, gradient = before
            now = there.grad if there.is_leaf else None
            if torch.equal(plain_tensor(there), numbers) and _same_gradient(now, gradient):
                return
            self._note(number, there)
            sent = None if now is None else plain_tensor(now).clone()
            yield [number, plain_tensor(there).clone(), *([sent] if there.requires_grad else [])]


def _has_same_items(there: Any, before: Any) -> bool:
    """Return whether a container holds the very objects that it held before."""
    if isinstance(there, set):
        return bool(there == before)
    mine, theirs = ([*x.items()] if isinstance(x, dict) else x for x in (there, before))
    if isinstance(there, dict):
        mine, theirs = ([part for pair in x for part in pair] for x in (mine, theirs))
    return len(mine) == len(theirs) and all(map(operator.is_, mine, theirs))


def _fits(there: Any, new: Any) -> bool:
    if isinstance(there, list | dict | set):
        return type(there) is type(new)
    return type(there) is type(new) and there.shape == new.shape and there.dtype == new.dtype


def _same_gradient(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(torch.equal(one, other))


def write_back(there: Any, now: Any) -> None:
    """Change in place what the component has changed in place."""
    if isinstance(there, list | dict | set):
        rewrite(there, now)
    elif isinstance(there, np.ndarray) and isinstance(now, np.ndarray):
        if there.shape == now.shape and there.dtype == now.dtype:
            there[...] = now
    elif is_tensor(there) and is_tensor(now) and there.shape == now.shape:
        with torch.no_grad():
            there.copy_(now)


def with_graph(numbers: Any, backward: Callable[[Any], list[Any]], sources: list[Any]) -> Any:
    """Return a tensor through which gradients flow to the sources, as `backward` computes them."""

    class Remote(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, begin: Any, *given: Any) -> Any:
            return numbers.clone()

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            found = backward(gradient)
            padded = [*found, *[None] * len(sources)][: len(sources)]
            fits = [
                g if isinstance(g, torch.Tensor) and g.shape == source.shape else None
                for g, source in zip(padded, sources, strict=True)
            ]
            return (None, *fits)

    begin = torch.zeros((), requires_grad=True)
    return Remote.apply(begin, *sources)  # type: ignore[no-untyped-call]
