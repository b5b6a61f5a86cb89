"""The table of known mistakes that travels with a release: numbers and words, no code.

By component it holds, as JSON:

- `questions`: requests (`asks`, made up for this purpose), the tolerance (`slack`), the right
  answer, and whether right work may answer otherwise (`free`);
- `mistakes`: words for the student, whether it is in one `branch` of the code alone, the criteria
  that the mistake `loses`, and its `answers` by the question's number, where they are not right;
- `pairs`: two mistakes by their places (`of`), and what they answer together where both show: as
  one of them does (`as`: which), or otherwise (`answers`). Where nothing is kept, it is not known.

Of tensors there are samples, to six digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autograder.api.lazy import Tensor, name_of, torch
from autograder.api.messages import (
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

_DIGITS = 6
# How many numbers of a floating-point tensor are kept.
_KEPT = 12


@dataclass(frozen=True)
class Known:
    """An answer that is known: its replies, and how it is to be compared.

    Attributes:
        drawn: whether it depends on random draws, and only its form is known.
    """

    replies: Sequence[Reply]
    drawn: bool = False


def sampled(replies: Sequence[Reply]) -> list[Reply]:
    """Return replies with NaN in all but few places of every floating-point tensor."""

    def thinned(tensor: Tensor) -> Tensor:
        if not _is_thinned(tensor) or tensor.device.type == "meta":
            return tensor
        kept = torch.full((tensor.numel(),), torch.nan, dtype=tensor.dtype)
        places = _places(tensor.numel())
        kept[places] = tensor.detach().flatten()[places]
        return kept.reshape(tensor.shape)

    return [
        replace(reply, **{name: with_tensors(getattr(reply, name), thinned) for name in PARTS})
        for reply in replies
    ]


def _is_thinned(tensor: Tensor) -> bool:
    return tensor.is_floating_point() and tensor.numel() > _KEPT


def _places(size: int) -> Tensor:
    """Return which places of `size` numbers are kept, the same on every machine."""
    # By steps of the golden section they are spread evenly, and no pattern of rows repeats.
    found: dict[int, None] = {}
    step = 0
    while len(found) < _KEPT:
        found[int(size * (step * 0.6180339887498949 % 1))] = None
        step += 1
    return torch.tensor(list(found))


def write_question(question: Sequence[Request]) -> list[Any]:
    """Return the requests of a question as JSON can hold them; tensors to six digits."""
    return [write_request(request, Writer(_write_tensor)) for request in question]


def read_question(plain: Sequence[Any]) -> list[Request]:
    """Read what `write_question` wrote."""
    return [read_request(request, Reader(_read_tensor)) for request in plain]


def write_known(known: Known) -> dict[str, Any]:
    """Return a known answer as JSON can hold it; of what is drawn, only shapes."""

    def write_sample(tensor: Tensor) -> list[Any]:
        if not _is_thinned(tensor):
            return _write_tensor(tensor)
        kept = tensor.flatten()[_places(tensor.numel())]
        return [*_write_shape(tensor), [_short(number) for number in kept.tolist()]]

    def parts_of(reply: Reply) -> dict[str, Any]:
        parts = write_parts(reply, Writer(write_sample))
        shapes = write_parts(reply, Writer(_write_shape)) if known.drawn else {}
        return {n: shapes[n] if n in shapes and PARTS[n].random else parts[n] for n in parts}

    return {
        "drawn": known.drawn,
        "replies": [
            {
                "gradient": reply.gradient,
                "error": None if reply.error is None else [reply.error.kind, *reply.error.classes],
                "parts": parts_of(reply),
            }
            for reply in known.replies
        ],
    }


def read_known(plain: Mapping[str, Any]) -> Known:
    """Read what `write_known` wrote; tensors without values come back on `meta`."""

    def read_sample(parts: list[Any]) -> Tensor:
        name, shape, *values = parts
        size = torch.Size(shape).numel()
        if not values or len(values[0]) == size:
            return _read_tensor(parts)
        kept = torch.full((size,), torch.nan, dtype=torch.float64)
        kept[_places(size)] = torch.tensor(values[0], dtype=torch.float64)
        return kept.to(DTYPES[name]).reshape(shape)

    replies = [
        Reply(
            gradient=written["gradient"],
            error=_read_error(written["error"]),
            **read_parts(written["parts"], Reader(read_sample)),
        )
        for written in plain["replies"]
    ]
    return Known(replies, plain["drawn"])


def _read_error(plain: Sequence[str] | None) -> StudentError | None:
    return None if plain is None else StudentError(plain[0], "call", classes=tuple(plain[1:]))


def _write_shape(tensor: Tensor) -> list[Any]:
    return [name_of(tensor.dtype), list(tensor.shape)]


def _write_tensor(tensor: Tensor) -> list[Any]:
    return [*_write_shape(tensor), [_short(number) for number in tensor.flatten().tolist()]]


def _read_tensor(parts: list[Any]) -> Tensor:
    name, shape, *values = parts
    if not values:
        return torch.empty(shape, dtype=DTYPES[name], device="meta")
    return torch.tensor(values[0], dtype=torch.float64).to(DTYPES[name]).reshape(shape)


def _short(number: Any) -> Any:
    return float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number
