"""Values in words: what kind they are, and what is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exchange.values import Absent, Embedding, Opaque, Value

# Longer tensors are named in messages by their shape.
SHOWN_VALUES = 24
# Of each value, where they are enough to tell it from the right one.
DIGITS = 4


# A longer text may be the question itself, and not the name of an option.
_SHOWN_TEXT = 16


FORM_WORDS = {
    "none": "None (is the `return` missing?)",
    "tensor": "one tensor",
    "pair": "a pair of tensors",
    "list of one": "a tuple or list with one tensor in it",
    "longer sequence": "a longer tuple or list",
    "number": "a plain number",
    "other": "something else",
}


_KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "True or False"),
    (complex, "a complex number"),
    (str, "a text"),
    (bytes, "bytes"),
    (dict, "a dictionary"),
    (set, "a set"),
    (torch.Size, "a shape"),
    (torch.dtype, "a dtype"),
    (Opaque, "an object of another class"),
)


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


def kind_words(value: Value) -> str:
    """Say in the student's words what kind of value something is."""
    for kind, words in _KINDS:
        if isinstance(value, kind):
            return words
    if isinstance(value, np.ndarray):
        if value.ndim:
            return "a numpy array"
        # Of those that a plain number does not stand for, the dtype is what is wrong.
        odd = value.dtype.kind == "c" or value.dtype == np.float16
        return f"a numpy number of {value.dtype}" if odd else "a numpy number"
    form = form_of(value)
    if isinstance(value, list | tuple) and form == "other":
        name = "list" if isinstance(value, list) else "tuple"
        return f"an empty {name}" if not value else f"a {name} of {len(value)}"
    return FORM_WORDS[form]


def show_value(value: object, values: bool = True) -> str:
    """Write a value out; tensors and arrays by shape alone unless `values` may be shown."""
    if isinstance(value, Embedding):
        return f"nn.Embedding{tuple(value.weight.shape)}"
    if isinstance(value, Tensor):
        return show_tensor(value) if values else f"tensor{tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        short = values and value.size <= SHOWN_VALUES
        return str(_rounded(value.tolist())) if short else f"{value.dtype} array{value.shape}"
    if not values and isinstance(value, list | tuple | dict | set):
        return f"{type(value).__name__} of {len(value)}"
    if not values and isinstance(value, str | bytes) and len(value) > _SHOWN_TEXT:
        return f"a text of {len(value)}"
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        items = ", ".join(show_value(item, values) for item in value[:SHOWN_VALUES])
        more = ", ..." if len(value) > SHOWN_VALUES else ""
        if isinstance(value, list):
            return f"[{items}{more}]"
        return f"({items}{',' if len(value) == 1 else ''}{more})"
    if isinstance(value, dict):
        shown = [
            f"{show_value(key, values)}: {show_value(item, values)}"
            for key, item in list(value.items())[:SHOWN_VALUES]
        ]
        return f"{{{', '.join(shown)}{', ...' if len(value) > SHOWN_VALUES else ''}}}"
    return repr(value)


def show_tensor(tensor: Tensor, digits: int = DIGITS) -> str:
    """Write a tensor out to so many digits, or only its dtype and shape where it is long."""
    if tensor.device.type == "meta" or tensor.numel() > SHOWN_VALUES:
        return f"{str(tensor.dtype).removeprefix('torch.')} tensor{tuple(tensor.shape)}"
    return str(_rounded(tensor.tolist(), digits)).replace("'", "")


def _rounded(item: Any, digits: int = DIGITS) -> Any:
    if isinstance(item, list):
        return [_rounded(part, digits) for part in item]
    return float(f"{item:.{digits}g}") if isinstance(item, float) else item
