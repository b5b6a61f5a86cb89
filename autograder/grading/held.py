"""Results of a class that are held in memory, written and compressed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar, overload

from pydantic import TypeAdapter

_T = TypeVar("_T")


class Held(Sequence[_T], Generic[_T]):
    """Values that pydantic can write, each read when it is asked for.

    Args:
        form: of the values: that of a model, or of a tuple of models.
    """

    def __init__(self, form: TypeAdapter[_T], written: Iterable[bytes] = ()) -> None:
        self._form = form
        self._written = list(written)

    def append(self, value: _T) -> None:
        """Hold one more."""
        data = self._form.dump_json(value, by_alias=True, exclude_defaults=True)
        self._written.append(zlib.compress(data, level=1))

    def ordered(self, places: Iterable[int]) -> Held[_T]:
        """Return those at these places, in this order."""
        return Held(self._form, (self._written[place] for place in places))

    def __len__(self) -> int:
        return len(self._written)

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> Held[_T]: ...

    def __getitem__(self, index: int | slice) -> _T | Held[_T]:
        if isinstance(index, slice):
            return self.ordered(range(len(self))[index])
        return self._form.validate_json(zlib.decompress(self._written[index]))
