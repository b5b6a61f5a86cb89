"""Values of a class that are each read when they are asked for: a class may exceed the memory."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Self, TypeVar, overload

from pydantic import TypeAdapter

_T = TypeVar("_T")


class Lazy(Sequence[_T], Generic[_T]):
    """Values, each read by its key whenever it is asked for."""

    def __init__(self, read: Callable[[Any], _T], keys: Iterable[Any] = ()) -> None:
        self.keys = list(keys)
        self._read = read

    def ordered(self, places: Iterable[int]) -> Self:
        """Return those at these places, in this order."""
        found = copy.copy(self)
        found.keys = [self.keys[place] for place in places]
        return found

    def __len__(self) -> int:
        return len(self.keys)

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> Self: ...

    def __getitem__(self, index: int | slice) -> _T | Self:
        if isinstance(index, slice):
            return self.ordered(range(len(self))[index])
        return self._read(self.keys[index])


class Held(Lazy[_T]):
    """Values that pydantic can write, in memory and compressed; `form` is their type."""

    def __init__(self, form: TypeAdapter[_T]) -> None:
        super().__init__(lambda data: form.validate_json(zlib.decompress(data)))
        self._form = form

    def append(self, value: _T) -> None:
        """Hold one more."""
        data = self._form.dump_json(value, by_alias=True, exclude_defaults=True)
        self.keys.append(zlib.compress(data, level=1))
