"""What a component answered, read through checks that fail in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from autograder.exchange.messages import Reply, StudentError
from autograder.exchange.values import Absent, Embedding, Value

# Longer tensors are named in messages by their shape.
SHOWN_VALUES = 24
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

    `fact` may always be shown; `detail` holds values, which only a public check may show;
    `hint` is the repair.
    """

    def __init__(self, fact: str, *, detail: str = "", hint: str = "") -> None:
        super().__init__(fact)
        self.fact = fact
        self.detail = detail
        self.hint = hint
        self.question: Question | None = None


@dataclass(frozen=True)
class Question:
    """A call in words, for messages."""

    name: str
    arguments: tuple[tuple[str, Any], ...]

    def text(self, values: bool) -> str:
        """Write the call out; tensors by shape alone unless `values` may be shown."""
        parts = [
            f"{key}={_show(v, values)}" if key else _show(v, values) for key, v in self.arguments
        ]
        text = f"{self.name}({', '.join(parts)})"
        if len(text) <= _SHOWN_CALL or not values:
            return text[:_SHOWN_CALL]
        return self.text(values=False)


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

    @property
    def output(self) -> Tensor:
        """The one tensor that was returned."""
        value = self._of_form("tensor", "one tensor")
        assert isinstance(value, Tensor)
        return value

    @property
    def pair(self) -> tuple[Tensor, Tensor]:
        """The two tensors that were returned as a pair."""
        first, second = self._of_form("pair", "a pair of tensors (output, weights)")
        return first, second

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

    def _of_form(self, form: str, words: str) -> Value:
        if self._reply.error is not None:
            raise StudentRaised(self._reply.error, self.question)
        found = form_of(self._reply.value)
        if found != form:
            fact = f"it must return {words}, but returned {FORM_WORDS[found]}"
            raise self._failure(CheckFailed(fact, hint=_FORM_HINTS.get((form, found), "")))
        return self._reply.value

    def _differentiated(self) -> None:
        if not self._cotangent:
            raise ValueError("gradients were not asked for: pass cotangent=")
        if self._reply.error is not None:
            raise StudentRaised(self._reply.error, self.question)
        reason = {
            "computed": "",
            "detached": "no gradient flows back: the output is cut off from the inputs",
            "wrong shape": "no gradient could be computed, because the output's shape is wrong",
        }.get(self._reply.gradient, "no gradient could be computed, because no tensor was returned")
        if reason:
            hint = (
                "compute with tensors: .item(), .data, .detach(), numpy and no_grad cut the graph"
            )
            raise self._failure(CheckFailed(reason, hint=hint))

    def _failure(self, failure: CheckFailed) -> CheckFailed:
        failure.question = self.question
        return failure


# What was asked for, and what came.
_FORM_HINTS = {
    ("tensor", "pair"): "return the first of the two alone; of another component's pair, take "
    "apart what you need: output, weights = ...",
    ("pair", "tensor"): "return both: return output, weights",
    ("pair", "longer sequence"): "return the two that the handout names, and no more",
    ("tensor", "list of one"): "a comma at the end of `return x,` makes a tuple",
}
FORM_WORDS = {
    "none": "None (is the `return` missing?)",
    "tensor": "one tensor",
    "pair": "a pair of tensors",
    "list of one": "a tuple or list with one tensor in it",
    "longer sequence": "a longer tuple or list",
    "number": "a plain number",
    "other": "something else",
}


def form_of(value: Value) -> str:
    """Return what kind of answer a value is, one of FORM_WORDS."""
    if value is None or isinstance(value, Absent):
        return "none"
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, tuple | list):
        tensors = sum(isinstance(item, Tensor) for item in value)
        if tensors == len(value) and len(value) in (1, 2):
            return "pair" if len(value) == 2 else "list of one"
        return "longer sequence" if len(value) > 2 else "other"
    return "number" if isinstance(value, int | float | complex) else "other"


def _show(value: object, values: bool) -> str:
    if isinstance(value, Embedding):
        return f"nn.Embedding{tuple(value.weight.shape)}"
    if not isinstance(value, Tensor):
        return repr(value)
    return show_tensor(value) if values else f"tensor{tuple(value.shape)}"


def show_tensor(tensor: Tensor) -> str:
    """Write a tensor out to four digits, or only its dtype and shape where it is long."""
    if tensor.device.type == "meta" or tensor.numel() > SHOWN_VALUES:
        return f"{str(tensor.dtype).removeprefix('torch.')} tensor{tuple(tensor.shape)}"
    return str(_rounded(tensor.tolist())).replace("'", "")


def _rounded(item: Any) -> Any:
    if isinstance(item, list):
        return [_rounded(part) for part in item]
    return float(f"{item:.4g}") if isinstance(item, float) else item
