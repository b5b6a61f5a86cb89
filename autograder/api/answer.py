"""A component's answers and the calls they belong to; reading an answer checks its form."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from autograder.api.lazy import Tensor, torch
from autograder.api.loading import Program
from autograder.api.messages import Reply, StudentError
from autograder.api.values import Value, form_of, kind_words, show_value

F = TypeVar("F", bound=Callable[..., object])

# Each with its name, which is empty for one without.
Arguments: TypeAlias = tuple[tuple[str, Any], ...]

# A longer call is shown by its shapes: nobody reads a wall of numbers.
_SHOWN_CALL = 200


class StudentRaised(Exception):
    """The component's own code raised where the test needed an answer."""

    def __init__(self, error: StudentError, question: Question) -> None:
        super().__init__(error.kind)
        self.error = error
        self.question = question


class CheckFailed(AssertionError):
    """An expectation did not hold.

    `fact` says what is wrong, `detail` shows the values, `hint` is the repair, `question` is the
    call that it is about, where that is known.
    """

    def __init__(
        self, fact: str, *, detail: str = "", hint: str = "", question: Question | None = None
    ) -> None:
        super().__init__(fact)
        self.fact = fact
        self.detail = detail
        self.hint = hint
        self.question = question


@dataclass(frozen=True)
class Question:
    """A call in words, for messages; without arguments (None) it is no call.

    `of` is what made the object whose method or attribute `name` is; `again` says that it was
    called before, which may have left something in it; `after` says what was asked of others that
    use the object.
    """

    name: str
    arguments: Arguments | None
    of: Question | None = None
    again: bool = False
    after: str = ""

    def words(self) -> str:
        """Say which call it is, with its values."""
        again = " (the object was called before)" if self.again else ""
        after = f", after {self.after}" if self.after else ""
        return f"in {self.text(values=True)}{again}{after}"

    def text(self, values: bool) -> str:
        """Write the call out; tensors by shape alone unless `values` may be shown."""
        text = self.written(lambda value: show_value(value, values))
        if values and len(text) > _SHOWN_CALL:
            return self.text(values=False)
        return text[:_SHOWN_CALL]

    def written(self, show: Callable[[Any], str]) -> str:
        """Write the call out whole, each of its values as `show` writes it."""
        owner = "" if self.of is None else self.of.text(values=False)
        name = ".".join(filter(None, (owner, self.name)))
        if self.arguments is None:
            return name

        shown = [f"{key}={show(value)}" if key else show(value) for key, value in self.arguments]
        return f"{name}({', '.join(shown)})"


def arguments_of(args: Iterable[object], kwargs: Mapping[str, object]) -> Arguments:
    """Return the arguments of a call as a question has them."""
    return (*(("", arg) for arg in args), *kwargs.items())


@dataclass(frozen=True)
class State:
    """A module's state_dict entries, its parameters, and the weight of a given embedding."""

    entries: dict[str, Tensor]
    parameters: dict[str, Tensor]
    given: Tensor | None


class Answer:
    """A reply together with its question, read through checks that fail in plain words.

    Attributes:
        gradients: gradients of the tensor arguments in order, None where there is none.
        parameter_gradients: gradients by the module's parameter names.
        inputs_after: the tensor arguments as the call left them, if they were to be kept.
        error: what the student's code raised, or None.
    """

    def __init__(self, reply: Reply, question: Question, cotangent: bool) -> None:
        self.question = question
        self.error = reply.error
        self.inputs_after = reply.inputs_after
        self._reply = reply
        self._cotangent = cotangent

    def brought(self, tensor: Tensor) -> bool:
        """Return whether a tensor is one that came back, or a part of one."""
        return any(mine is tensor or _share(mine, tensor) for mine in self._reply.tensors())

    @property
    def value(self) -> Value:
        """Whatever was returned."""
        return self._unraised.value

    @property
    def state(self) -> State:
        """What a module's state is."""
        reply = self._unraised
        return State(reply.state, reply.parameters, reply.given)

    @property
    def output(self) -> Tensor:
        """The one tensor that was returned."""
        value: Tensor = self._of_kind("one tensor", isinstance(self.value, torch.Tensor))
        return value

    def tensors(self, *names: str) -> tuple[Tensor, ...]:
        """Return the tensors that were returned as a tuple or list, as many as there are names."""
        value = self.value
        what = _COUNTED.get(len(names), f"{len(names)} tensors")
        fits = isinstance(value, list | tuple) and len(value) == len(names)
        fits = fits and all(isinstance(item, torch.Tensor) for item in value)
        return tuple(self._of_kind(f"{what} ({', '.join(names)})", fits))

    @property
    def array(self) -> np.ndarray[Any, Any]:
        """The one numpy array that was returned."""
        value: np.ndarray[Any, Any] = self._of_kind(
            "one numpy array", isinstance(self.value, np.ndarray)
        )
        return value

    @property
    def number(self) -> float:
        """The one number that was returned."""
        value: float = self._of_kind("one number", _is_number(self.value))
        return value.item() if isinstance(value, np.ndarray) else value

    @property
    def flag(self) -> bool:
        """True or False, as it was returned."""
        value = self.value
        fits = isinstance(value, bool) or (_is_scalar(value) and value.dtype == np.bool_)
        return bool(self._of_kind("True or False", fits))

    @property
    def text(self) -> str:
        """The text that was returned."""
        value: str = self._of_kind("a text", isinstance(self.value, str))
        return value

    def items(self, count: int | None = None) -> list[Value]:
        """Return the items of the list or tuple that was returned, `count` of them if given."""
        value = self.value
        fits = isinstance(value, list | tuple) and count in (None, len(value))
        of = "" if count is None else f" of {count} item{'' if count == 1 else 's'}"
        return list(self._of_kind(f"a list or tuple{of}", fits))

    def numbers(self, count: int | None = None) -> list[float]:
        """Return the numbers that were returned as a list or tuple, `count` of them if given."""
        value = self.value
        fits = isinstance(value, list | tuple) and count in (None, len(value))
        fits = fits and all(map(_is_number, value))
        of = "" if count is None else f"{count} "
        found = self._of_kind(f"a list of {of}numbers", fits)
        return [item.item() if isinstance(item, np.ndarray) else item for item in found]

    @property
    def program(self) -> Program:
        """What the run of a program came to."""
        found = Program.of(self.value)
        if found is None:
            raise ValueError("no program was run: ask with component.run(...)")
        return found

    @property
    def seconds(self) -> float:
        """CPU seconds of the call, by the kernel's account."""
        return self._counted(self._unraised.seconds)

    @property
    def operations(self) -> int:
        """Floating-point operations of the call as torch counts them, which is a claim."""
        return int(self._counted(self._unraised.operations))

    @property
    def gradients(self) -> list[Tensor | None]:
        """Gradients of (output * cotangent).sum() for the tensor arguments, in order."""
        self._differentiated()
        return self._reply.input_gradients

    @property
    def parameter_gradients(self) -> dict[str, Tensor | None]:
        """Gradients for the module's parameters by name."""
        self._differentiated()
        return self._reply.parameter_gradients

    @property
    def given_gradient(self) -> Tensor | None:
        """Gradient for the weight of the embedding that the module was given."""
        self._differentiated()
        return self._reply.given_gradient

    def _counted(self, found: float | None) -> float:
        if found is None:
            raise ValueError("the cost was not asked for: ask with asking(cost=True)")
        return found

    def _of_kind(self, words: str, fits: bool) -> Any:
        """Return the value if it is of the kind that was asked for."""
        value = self.value
        if not fits:
            asked = "pair" if words.startswith(_COUNTED[2]) else "tensor"
            asked = asked if "tensor" in words else ""
            hint = _FORM_HINTS.get((asked, form_of(value)), "").format(
                words.rpartition("(")[2][:-1]
            )
            fact = f"it must return {words}, but returned {kind_words(value)}"
            raise CheckFailed(fact, hint=hint, question=self.question)
        return value

    def _differentiated(self) -> None:
        if not self._cotangent:
            raise ValueError("gradients were not asked for: pass cotangent=")
        reason = {
            "computed": "",
            "detached": "no gradient flows back: the output is cut off from the inputs",
            "wrong shape": "no gradient could be computed, because the output's shape is wrong",
        }.get(
            self._unraised.gradient, "no gradient could be computed, because no tensor was returned"
        )
        if reason:
            # What is wrong with a form or a shape is no matter of the graph.
            hint = (
                "compute with tensors: .item(), .data, .detach(), numpy and no_grad cut the graph"
                if self._reply.gradient == "detached"
                else ""
            )
            raise CheckFailed(reason, hint=hint, question=self.question)

    @property
    def _unraised(self) -> Reply:
        """The reply; raises StudentRaised if it holds an exception."""
        if self._reply.error is not None:
            raise StudentRaised(self._reply.error, self.question)
        return self._reply


# What was asked for, and what came; {} are the names of what was asked for.
_FORM_HINTS = {
    (
        "tensor",
        "pair",
    ): "return the one tensor alone; what a function gives as a pair is taken apart by a, b = ...",
    ("pair", "tensor"): "return both: return {}",
    ("pair", "longer sequence"): "return these two, and no more",
    ("tensor", "list of one"): "return the tensor itself: a comma at the end of `return x,` or "
    "brackets around it make a sequence of it",
}
_COUNTED = {1: "a tuple of one tensor", 2: "a pair of tensors"}


def _share(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors lie in the same memory, as a tensor and a part of it do."""
    if any(tensor.is_meta or tensor.layout is not torch.strided for tensor in (one, other)):
        return False
    place = one.untyped_storage().data_ptr()
    return place != 0 and place == other.untyped_storage().data_ptr()


def _is_scalar(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 0


def _is_number(value: Value) -> bool:
    if _is_scalar(value):
        # float16 has fewer digits than a plain number, which it would pass for.
        return value.dtype.kind in "iuf" and value.dtype != np.float16
    return isinstance(value, int | float) and not isinstance(value, bool)


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
        if not isinstance(tensor, torch.Tensor):
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
