"""What is one mistake for marks, whatever it leads to: a name, a device, a changed argument."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from autograder.api.lazy import Tensor, torch
from autograder.api.messages import Reply, Request
from autograder.api.values import Value, tensors_in


def raised_wrongly(reply: Reply, right: Reply) -> bool:
    """Tell whether there is an exception, and not the right one."""
    if reply.error is None:
        return False
    return right.error is None or not reply.error.is_a(right.error.name)


def with_one_symptom(
    one: Reply, other: Reply, right: Reply, request: Request
) -> tuple[Reply, Reply]:
    """Take for one what only another way of going wrong tells apart, where marks do not.

    A result on the wrong device is one with a clash of devices, and an argument that is not to be
    changed is changed, to whatever.
    """
    # A call without values, where it is right to stay on its device.
    stays = {tensor.device.type for tensor in right.tensors()} == {"meta"}
    if stays and _leaves(one) and _leaves(other):
        return right, right
    if not (one.inputs_after or other.inputs_after) or one.error or other.error:
        return one, other
    given = request.tensors()
    kept = [any(_same(after, tensor) for tensor in given) for after in right.inputs_after]
    if not all(kept) or len(one.inputs_after) != len(kept) or len(other.inputs_after) != len(kept):
        return one, other
    triples = zip(one.inputs_after, other.inputs_after, right.inputs_after, strict=True)
    changed = [not (_same(mine, r) or _same(theirs, r)) for mine, theirs, r in triples]
    alike = [
        theirs if both else mine
        for mine, theirs, both in zip(one.inputs_after, other.inputs_after, changed, strict=True)
    ]
    return replace(one, inputs_after=alike), other


def _leaves(reply: Reply) -> bool:
    """Tell whether a call on a device without values left it."""
    if reply.error is not None:
        return reply.error.kind == "DeviceMismatch"
    return any(tensor.device.type != "meta" for tensor in tensors_in(reply.value))


def _same(one: Tensor, other: Tensor) -> bool:
    if one.device != other.device or (one.shape, one.dtype) != (other.shape, other.dtype):
        return False
    return one.device.type == "meta" or torch.equal(one, other)


def with_one_name(
    one: Mapping[str, Value], other: Mapping[str, Value], right: Mapping[str, Value]
) -> tuple[Mapping[str, Value], Mapping[str, Value]]:
    """Take what is not asked for as one: another name is a mistake, whatever it is and holds."""
    spare = [[key for key in named if key not in right] for named in (one, other)]
    if not spare[0] or len(spare[0]) != len(spare[1]):
        return one, other
    names = dict(zip(spare[0], spare[1], strict=True))
    mine = {key: value for key, value in one.items() if key not in names}
    return mine | {key: other[key] for key in names.values()}, other
