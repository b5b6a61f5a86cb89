"""The table of known mistakes: questions, what is right, what each mistake answers otherwise.

The judge's holds answers as they are. One that travels with a release holds numbers and words, no
code. By component it has, as JSON:

- `questions`: requests (`asks`, made up for this purpose), the tolerance (`slack`), the right
  answer, and whether right work may answer otherwise (`free`);
- `mistakes`: words for the student, whether it is in one `branch` of the code alone, the criteria
  that the mistake `loses`, and its `answers` by the question's number, where they are not right;
- `pairs`: two mistakes by their places (`of`), and what they answer together where both show: as
  one of them does (`as`: which), or otherwise (`answers`). Where nothing is kept, it is not known;
- `apart`: two mistakes, by their places, that cannot be in one component.

Of what was answered there are samples, of what was drawn quantiles, too, and of long tensors that
were asked with a few values, which repeat; all to six digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.likeness import Slack
from autograder.api.messages import (
    GRADIENTS,
    PARTS,
    Reply,
    Request,
    StudentError,
    read_parts,
    read_request,
    write_parts,
    write_request,
)
from autograder.api.values import DTYPES, Reader, Writer, with_tensors

# Mistakes that are there together, by name.
Names = frozenset[str]
RIGHT: Names = frozenset()

_DIGITS = 6
# How many numbers of a floating-point tensor are kept of an answer; of drawn ones more, since few
# values are the same by chance; of two mistakes together less, since there are hundreds of pairs.
_KEPT = 12
_KEPT_DRAWN = 24
_KEPT_OF_PAIRS = 5
# Of an answer with more tensors than these fewer of each, but never fewer than the least.
_FEW_TENSORS = 3
_LEAST_KEPT = 4
# How many numbers of a floating-point tensor are asked with, and repeat: a prime number, so that no
# two rows are the same.
_REPEATED = 37
# Of how many values the distribution of a drawn tensor is kept.
_QUANTILES = 24


@dataclass(frozen=True)
class Known:
    """An answer that is known: its replies, and how it is to be compared.

    Attributes:
        drawn: whether it depends on random draws, so that right work may draw otherwise.
        shows: whether it is another than the right one, other draws aside.
        again: if it is drawn, the replies with other seeds, where they are kept.
        raised: whether it ends in an exception where none is right, as of many mistakes.
        of_pair: whether it is that of two mistakes together, of which less is kept.
        distributed: if it is drawn, the replies with values of the same distribution, where that is
            kept.
        right: the right replies; by default these are.
    """

    replies: Sequence[Reply]
    drawn: bool = False
    shows: bool = True
    again: Sequence[Reply] = ()
    raised: bool = False
    of_pair: bool = False
    distributed: Sequence[Reply] = ()
    right: Sequence[Reply] = ()

    @cached_property
    def kept(self) -> list[int]:
        """How many numbers are kept of each tensor of a reply, by reply."""
        most = _KEPT_OF_PAIRS if self.of_pair else _KEPT_DRAWN if self.drawn else _KEPT
        counts = (
            sum(tensor.is_floating_point() for tensor in reply.tensors())
            for reply in self.right or self.replies
        )
        return [max(_LEAST_KEPT, most * _FEW_TENSORS // max(_FEW_TENSORS, n)) for n in counts]


@dataclass(eq=False)
class Question:
    """One question on a component, and all that is known to be answered to it.

    Attributes:
        requests: what is asked.
        right: the right answer.
        wrong: the answers of mistakes, by their names, where they are not the right one.
        slack: by how much more than usual answers may be off.
        free: whether right work may answer otherwise.
        cost: for how many short questions it counts.
        complete: whether `wrong` has all mistakes.
    """

    requests: Sequence[Request]
    right: Known
    wrong: Mapping[str, Known] = field(default_factory=dict)
    slack: Slack = field(default_factory=dict)
    free: bool = False
    cost: int = 1
    complete: bool = True

    @cached_property
    def size(self) -> int:
        """How many numbers are asked with."""
        return sum(tensor.numel() for request in self.requests for tensor in request.tensors())


def with_drawn(reply: Reply, drawn: Reply) -> Reply:
    """Return a reply with those parts of another that may depend on random draws."""
    random = [name for name, part in PARTS.items() if part.random]
    return replace(reply, **{name: getattr(drawn, name) for name in random})


def sampled(replies: Sequence[Reply], kept: Sequence[int]) -> list[Reply]:
    """Return replies with NaN in all but few places of every floating-point tensor.

    Args:
        replies: the replies.
        kept: in how many, by reply.
    """

    def thinned(tensor: Tensor, most: int) -> Tensor:
        count = _count(tensor, most)
        if count == tensor.numel():
            return tensor
        thin = torch.full((tensor.numel(),), torch.nan, dtype=tensor.dtype)
        places = _places(tensor.numel(), count)
        thin[places] = tensor.detach().flatten()[places]
        return thin.reshape(tensor.shape)

    def thin(reply: Reply, most: int) -> Reply:
        parts = {name: getattr(reply, name) for name in PARTS}
        return replace(
            reply, **{n: with_tensors(p, lambda t: thinned(t, most)) for n, p in parts.items()}
        )

    return list(map(thin, replies, kept))


def _count(tensor: Tensor, kept: int) -> int:
    """Return how many numbers of a tensor are kept."""
    if tensor.is_meta or not tensor.is_floating_point():
        return tensor.numel()
    return min(tensor.numel(), kept)


def _places(size: int, count: int) -> Tensor:
    """Return which places of `size` numbers are kept, the same on every machine.

    Of fewer they are the first of those of more.
    """
    # By steps of the golden section they are spread evenly, and no pattern of rows repeats.
    found: dict[int, None] = {}
    step = 0
    while len(found) < count:
        found[int(size * (step * 0.6180339887498949 % 1))] = None
        step += 1
    return torch.tensor(list(found))


def write_question(question: Sequence[Request]) -> list[Any]:
    """Return the requests of a question as JSON can hold them, made shorter where it is long."""

    def write(tensor: Tensor) -> list[Any]:
        if tensor.is_meta:
            return _write_shape(tensor)
        # Numbers that repeat serve as well; but truths and whole numbers say what goes where.
        count = _REPEATED if tensor.is_floating_point() else tensor.numel()
        values = _written(tensor.flatten()[:count])
        turned = [] if tensor.is_contiguous() or tensor.dim() < 2 else ["turned"]
        return [*_write_shape(tensor), values, *turned]

    return [write_request(request, Writer(write)) for request in question]


def read_question(plain: Sequence[Any]) -> list[Request]:
    """Read what `write_question` wrote."""
    return [read_request(request, Reader(_read_tensor)) for request in plain]


def write_known(known: Known, right: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a known answer as JSON can hold it; of `right`, written so, parts are not repeated."""

    def write_sample(tensor: Tensor, most: int) -> list[Any]:
        count = _count(tensor, most)
        if count == tensor.numel():
            return _write_tensor(tensor)
        kept = tensor.flatten()[_places(tensor.numel(), count)]
        written = [*_write_shape(tensor), _written(kept)]
        if known.drawn and not known.of_pair:
            ordered = tensor.flatten().sort().values
            written.append(_written(ordered[_of_blocks(_QUANTILES, tensor.numel())]))
        return written

    replies: list[dict[str, Any]] = []
    for number, reply in enumerate(known.replies):
        parts = write_parts(reply, Writer(partial(write_sample, most=known.kept[number])))
        beside = right["replies"][number].get("parts", {}) if right else {}
        # 2.0 equals 2, and is another answer.
        same = [
            name for name in parts if name in beside and repr(parts[name]) == repr(beside[name])
        ]
        error = reply.error and [reply.error.kind, *reply.error.classes]
        gradient = reply.gradient if reply.gradient != GRADIENTS[0] else ""
        rest = {name: part for name, part in parts.items() if name not in same}
        written = {"gradient": gradient, "error": error, "right": same, "parts": rest}
        # There are thousands of them.
        replies.append({name: value for name, value in written.items() if value})
    about = {"drawn": known.drawn, "raised": known.raised, "of_pair": known.of_pair}
    return {**{name: flag for name, flag in about.items() if flag}, "replies": replies}


def read_known(plain: Mapping[str, Any], right: Known | None = None) -> Known:
    """Read what `write_known` wrote; tensors without values come back on `meta`."""

    def read_sample(parts: list[Any]) -> Tensor:
        name, shape, *values = parts[:3]
        size = torch.Size(shape).numel()
        if not values or len(values[0]) == size:
            return _read_tensor(parts)
        kept = torch.full((size,), torch.nan, dtype=torch.float64)
        kept[_places(size, len(values[0]))] = torch.tensor(values[0], dtype=torch.float64)
        return kept.to(DTYPES[name]).reshape(shape)

    def read_distributed(parts: list[Any]) -> Tensor:
        name, shape, *values = parts
        if len(values) < 2:
            return _read_tensor(parts)
        size = torch.Size(shape).numel()
        quantiles = torch.tensor(values[1], dtype=torch.float64)
        return quantiles[_blocks(len(quantiles), size)].to(DTYPES[name]).reshape(shape)

    def read(sample: Callable[[list[Any]], Tensor], beside: Sequence[Reply]) -> list[Reply]:
        return [
            Reply(
                gradient=written.get("gradient", GRADIENTS[0]),
                error=_read_error(written.get("error")),
                **read_parts(written.get("parts", {}), Reader(sample)),
                **{name: getattr(beside[number], name) for name in written.get("right", ())},
            )
            for number, written in enumerate(plain["replies"])
        ]

    flags: dict[str, Any] = {name: name in plain for name in ("drawn", "raised", "of_pair")}
    beside = right.replies if right else ()
    known = Known(read(read_sample, beside), **flags, right=beside)
    if known.of_pair:
        return replace(known, replies=sampled(known.replies, known.kept))
    if not known.drawn:
        return known
    found = read(read_distributed, right.distributed or beside if right else ())
    return replace(known, distributed=list(map(with_drawn, known.replies, found)))


def _blocks(count: int, size: int) -> Tensor:
    """Return for each of `size` values in order which of `count` equal blocks it is in."""
    return torch.arange(size) * count // size


def _of_blocks(count: int, size: int) -> Tensor:
    """Return the places of the values in the middle of these blocks."""
    return ((torch.arange(count) + 0.5) * size / count).long()


def _read_error(plain: Sequence[str] | None) -> StudentError | None:
    return None if plain is None else StudentError(plain[0], "call", classes=tuple(plain[1:]))


def _write_shape(tensor: Tensor) -> list[Any]:
    return [name_of(tensor.dtype), list(tensor.shape)]


def _write_tensor(tensor: Tensor) -> list[Any]:
    if tensor.is_meta:
        return _write_shape(tensor)
    return [*_write_shape(tensor), _written(tensor.flatten())]


def _read_tensor(parts: list[Any]) -> Tensor:
    name, shape, *values = parts
    if not values:
        return torch.empty(shape, dtype=DTYPES[name], device="meta")
    size = torch.Size(shape).numel()
    found = torch.tensor(values[0], dtype=torch.float64)
    if found.numel() < size:
        found = found.repeat(-(-size // found.numel()))[:size]
    found = found.to(DTYPES[name]).reshape(shape)
    # Its values do not lie in memory in their order.
    return found.mT.contiguous().mT if values[1:] else found


def _written(values: Tensor) -> list[Any]:
    return [_short(number) for number in values.tolist()]


def _short(number: Any) -> Any:
    return float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number
