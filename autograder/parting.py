"""Write out calls and answers for the instructor, and where an answer parts from the right one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.exchange.messages import Reply, Request
from autograder.suite.answer import SHOWN_VALUES, show_tensor
from autograder.suite.expect import TOLERANCE
from autograder.suite.wording import error_words

_SHOWN = 12
_FORMS = {"pair": "a pair of tensors", "longer sequence": "a longer tuple or list"}


def written_call(requests: Sequence[Request]) -> list[str]:
    """Write out the last operation of an example and what made the module that it is about."""
    handle = requests[-1].ops[-1].get("handle") if requests[-1].ops else None
    return [
        _operation(op, request.tensors)
        for request in requests
        for op in request.ops
        if op["op"] != "reset"
        and (
            request is requests[-1]
            or (handle is not None and op.get("handle") == handle and _makes(op))
        )
    ]


def _makes(op: Mapping[str, Any]) -> bool:
    return op["op"] not in ("call", "state")


def _operation(op: Mapping[str, Any], tensors: Sequence[Tensor]) -> str:
    def value(plain: Any) -> str:
        if isinstance(plain, Mapping) and "embedding" in plain:
            return f"nn.Embedding with weight {_show(tensors[plain['embedding']])}"
        return _show(tensors[plain["tensor"]]) if isinstance(plain, Mapping) else repr(plain)

    arguments = [value(arg) for arg in op.get("args", ())]
    arguments += [f"{key}={value(arg)}" for key, arg in op.get("kwargs", {}).items()]
    listed = ", ".join(arguments)
    module = f"module{op['handle']}" if "handle" in op else ""
    match op["op"]:
        case "build":
            return f"{module} = {op['name']}({listed})"
        case "load":
            state = [f"{key}: {_show(tensors[index])}" for key, index in op["state"].items()]
            return f"{module}.load_state_dict({{{', '.join(state)}}})"
        case "move":
            return f"{module}.to({', '.join(filter(None, (op['dtype'], op['device'])))})"
        case "train":
            return f"{module}.train({op['on']})"
        case "write_given":
            return f"the embedding given to {module} becomes {_show(tensors[op['tensor']])}"
        case "state":
            return f"{module}.state_dict()"
    text = f"{'.'.join(filter(None, (module, op['name'])))}({listed})"
    if "seed" in op:
        text += f", after torch.manual_seed({op['seed']})"
    if "cotangent" in op:
        text += f", and gradients of (output * {_show(tensors[op['cotangent']])}).sum()"
    return text


def _show(tensor: Tensor) -> str:
    if tensor.device.type == "meta":
        return f"{show_tensor(tensor)} on meta"
    if tensor.numel() > SHOWN_VALUES:
        return show_tensor(tensor)
    dtype = str(tensor.dtype).removeprefix("torch.")
    return f"{dtype} tensor{tuple(tensor.shape)} {show_tensor(tensor)}"


def _named(reply: Reply) -> Iterator[tuple[str, Tensor | None]]:
    """Yield all tensors of a reply with their names; names of keys are the student's."""
    for number, output in enumerate(reply.outputs, start=1):
        yield ("output" if len(reply.outputs) == 1 else f"output {number}"), output
    for number, gradient in enumerate(reply.input_gradients, start=1):
        yield f"gradient of tensor argument {number}", gradient
    for number, after in enumerate(reply.inputs_after, start=1):
        yield f"tensor argument {number} after the call", after
    for words, tensors in (
        ("gradient of parameter", reply.parameter_gradients),
        ("state_dict entry", reply.state),
        ("parameter", reply.parameters),
    ):
        for name, tensor in tensors.items():
            yield f"{words} {name}", tensor
    if reply.given is not None:
        yield "weight of the given embedding", reply.given
    if reply.given_gradient is not None:
        yield "gradient of the given embedding", reply.given_gradient


def written_answer(reply: Reply) -> list[str]:
    """Write out a reply."""
    if reply.error is not None:
        return [error_words(reply.error, reveal=True)]
    lines = [f"{n}: {'none' if t is None else _show(t)}" for n, t in _named(reply)]
    if reply.form not in ("tensor", "none") or not lines:
        lines.insert(0, f"returned {_FORMS.get(reply.form, reply.form)}")
    if reply.gradient not in ("not asked", "computed"):
        lines.append(f"gradients: {reply.gradient}")
    return _capped(lines)


def partings(reply: Reply, right: Reply) -> list[str]:
    """Say, tensor by tensor, where an answer parts from the right one."""
    if reply.error is not None or right.error is not None:
        return []
    mine, theirs = dict(_named(reply)), dict(_named(right))
    lines: list[str] = []
    rounding: list[str] = []
    if reply.form != right.form:
        forms = [_FORMS.get(form, form) for form in (reply.form, right.form)]
        lines.append(f"form: answered {forms[0]}, right {forms[1]}")
    if reply.gradient != right.gradient:
        lines.append(f"gradients: answered {reply.gradient}, right {right.gradient}")
    for name in dict.fromkeys((*theirs, *mine)):
        if name not in mine or name not in theirs:
            lines.append(f"{name}: {'not there' if name not in mine else 'not in the right one'}")
            continue
        words, parts = _parting(mine[name], theirs[name])
        if words:
            (lines if parts else rounding).append(f"{name}: {words}")
    return _capped(lines or rounding)


def _capped(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"and {more} more"] if more > 0 else lines


def _parting(mine: Tensor | None, right: Tensor | None) -> tuple[str, bool]:
    """Compare two tensors: in words, and whether they part by more than rounding."""
    if mine is None or right is None:
        words = "none, but there is a right one" if mine is None else "there, but none is right"
        return words, mine is not right
    if mine.shape != right.shape:
        return f"shape {tuple(mine.shape)}, right {tuple(right.shape)}", True
    kinds = [str(dtype).removeprefix("torch.") for dtype in (mine.dtype, right.dtype)]
    dtypes = f"dtype {kinds[0]}, right {kinds[1]}; " if kinds[0] != kinds[1] else ""
    places = [mine.device.type, right.device.type]
    if "meta" in places or not mine.numel():
        clash = f"on {places[0]}, right on {places[1]}" if places[0] != places[1] else ""
        return f"{dtypes}{clash}".removesuffix("; "), bool(dtypes or clash)
    wide = torch.complex128 if mine.is_complex() or right.is_complex() else torch.float64
    got, want = mine.to(wide), right.to(wide)
    equal = (got == want) | (got.isnan() & want.isnan())
    error = (got - want).abs().masked_fill(equal, 0.0)
    relative, absolute = TOLERANCE.get(mine.dtype, TOLERANCE[torch.float32])
    wrong = ~(error <= absolute + relative * want.abs()) & ~equal
    worst = int(error.nan_to_num(nan=torch.inf).flatten().argmax())
    largest = float(error.flatten()[worst])
    if not bool(wrong.any()):
        return f"{dtypes}equal but for rounding (largest error {largest:.3g})", bool(dtypes)
    at = [int(i) for i in torch.unravel_index(torch.tensor(worst), error.shape)]
    values = [tensor.flatten()[worst].item() for tensor in (mine, right)]
    shown = [f"{value:.8g}" if isinstance(value, float) else str(value) for value in values]
    return (
        f"{dtypes}largest error {largest:.6g}{f' at {at}' if at else ''}: answered {shown[0]}, "
        f"right {shown[1]}; {int(wrong.sum())} of {mine.numel()} values part",
        True,
    )
