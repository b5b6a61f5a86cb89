"""Values that cross between a test and a component: every kind of value is described here, once.

A kind says how its values are copied within the caps, written and read, shown, and compared. In the
plain form, which JSON can hold, None, booleans, numbers and texts stand for themselves; everything
else is a list that begins with its tag, so that no list or dictionary of anybody's can pass for a
tensor. What tensors and arrays hold lies beside the plain form.
"""

from __future__ import annotations

import base64
import cmath
import datetime
import enum
import importlib
import math
import operator
import pathlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

# By name: a student's code may put another in its place.
from ctypes import string_at
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import BuiltinFunctionType, CoroutineType, FunctionType, GeneratorType, ModuleType
from typing import Any, TypeAlias

import numpy as np

from autograder.api.lazy import Tensor, name_of, torch

# A tree of the kinds that are described below. A recursive alias would cost more than it checks.
Value = Any
Array: TypeAlias = np.ndarray[Any, Any]
Numbers: TypeAlias = "Tensor | Array"

MAX_DEPTH = 32
MAX_ITEMS = 20_000
# Of a dictionary or a set: keys can be chosen so that each is compared with all others.
MAX_KEYS = 4_000
MAX_TEXT = 100_000
MAX_DIGITS = 1_000
_MAX_BITS = 3_322

# Of numpy, those that hold numbers and nothing that points elsewhere.
ARRAY_DTYPES: dict[str, np.dtype[Any]] = {
    name: np.dtype(name)
    for name in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128"),
    )
}


class _Dtypes(Mapping[str, "torch.dtype"]):
    """Torch's dtypes by name, those whose values can be compared.

    That leaves out quantised ones and those of 8 bits and less that are no integers.
    """

    def __iter__(self) -> Iterator[str]:
        return iter((*ARRAY_DTYPES, "bfloat16"))

    def __len__(self) -> int:
        return len(ARRAY_DTYPES) + 1

    def __contains__(self, name: object) -> bool:
        return name in ARRAY_DTYPES or name == "bfloat16"

    def __getitem__(self, name: str) -> torch.dtype:
        if name not in self:
            raise KeyError(name)
        found: torch.dtype = getattr(torch, name)
        return found


DTYPES = _Dtypes()

# Longer tensors are named in messages by their shape.
SHOWN_VALUES = 24
# Of each value, where they are enough to tell it from the right one.
DIGITS = 4
# A longer text may be the question itself, and not the name of an option.
_SHOWN_TEXT = 16
_SHOWN_KEYS = 6
# Larger numbers are shown with an exponent.
_WRITTEN_OUT = 10**15
FORM_WORDS = {
    "none": "None (is the `return` missing?)",
    "tensor": "one tensor",
    "pair": "a pair of tensors",
    "list of one": "a tuple or list with one tensor in it",
    "longer sequence": "a longer tuple or list",
    "number": "a plain number",
    "other": "something else",
}


# Objects that are no values: what they are, and what to do instead.
_OPAQUE: dict[type, tuple[str, str]] = {
    GeneratorType: ("a generator", "list(...) collects what a generator yields"),
    CoroutineType: ("a coroutine", "write await before the call of an async function"),
    FunctionType: ("a function", "call the function, with ()"),
    BuiltinFunctionType: ("a function", "call the function, with ()"),
    type: ("a class", "make an object of the class, with ()"),
    ModuleType: ("a module", "name what you mean in the module"),
    range: ("a range", "list(...) collects the numbers of a range"),
    map: ("a map", "list(...) collects what map yields"),
    filter: ("a filter", "list(...) collects what filter yields"),
    zip: ("a zip", "list(...) collects what zip yields"),
    type({}.keys()): ("the keys of a dictionary", "list(...) collects the keys"),
    type({}.values()): ("the values of a dictionary", "list(...) collects the values"),
    type({}.items()): ("the items of a dictionary", "list(...) collects the items"),
    np.ma.MaskedArray: ("a masked array", "x.filled(...) is an array without a mask"),
    np.ndarray: ("a numpy array of another dtype", "look at the array's dtype"),
    enum.Enum: ("a member of an Enum", "x.name and x.value are a member's name and value"),
}
# What to do instead, by the words for such an object.
INSTEAD = {"": "", **dict(_OPAQUE.values())}
# Characters of the name of a student's class that are shown.
_MAX_NAME = 60
_MADE_THERE = "let a function of provided code make it from numbers and texts"


class Unsendable(Exception):
    """A value is none that can be sent, or exceeds a cap; the message says which."""


class Malformed(Exception):
    """A plain form stands for no value."""


@dataclass(frozen=True)
class Handle:
    """Stands for an object that lives beside the component, under a number of the test's."""

    number: int


@dataclass(frozen=True)
class Opaque:
    """Stands for an object that came back and is no value.

    `words` say of what kind it is; of one that is of no such kind `name` is its class's. Nothing is
    compared by the name: it is the student's word.
    """

    words: str = ""
    name: str = field(default="", compare=False)


@dataclass(frozen=True)
class Absent:
    """Stands for nothing at all, where None would be an answer."""


OPAQUE = Opaque()
ABSENT = Absent()


# What ordinary tests hand over and get back beside values. The classes only say what is meant; each
# side makes of them what it allows.


@dataclass(frozen=True)
class Held(Opaque):
    """Stands for an object that stays beside the component, under a number of the component's.

    Attributes:
        number: its number.
        plain: the value of the builtin class that its class extends; ABSENT if it extends none.
        bases: of a class of exceptions, its bases: each a `Held` or, if it is built in, a `Named`.
            Of another object, the public classes that it is an instance of.
    """

    number: int = 0
    plain: Value = field(default=ABSENT, hash=False)
    bases: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Tracked:
    """A tensor, an array or a container that came back, with the number of the one that stays.

    Attributes:
        number: its number.
        numbers: what it holds.
        differentiable: whether gradients flow through it.
        leaf: whether gradients end in it, as in those of a parameter.
    """

    number: int
    numbers: Value
    differentiable: bool = False
    leaf: bool = False


@dataclass(frozen=True)
class Named:
    """Stands for a module, or for a class or function of a library, by its dotted name.

    Without a name it is the component's own module.
    """

    path: str


@dataclass(frozen=True)
class Made:
    """Stands for what a maker of this name makes of values, as `range` of three numbers."""

    maker: str
    parts: tuple[Value, ...] = ()


@dataclass(frozen=True)
class Callback:
    """Stands for a function or an object of the test, under a number of the test's."""

    number: int
    name: str = ""


@dataclass(frozen=True)
class Marks:
    """What marks allow.

    Attributes:
        close: compares two tensors or arrays: the student's, the right one, what they are.
        tolerance: of plain numbers, relative and absolute.
        failed: makes the exception that says what is wrong: fact, detail=, hint=.
    """

    close: Callable[[Numbers, Numbers, str], None]
    tolerance: float
    failed: Callable[..., Exception]


@dataclass(frozen=True)
class Kind:
    """One kind of value.

    Attributes:
        types: the classes of its values; those of torch by name.
        tag: what its plain form begins with; without one, values stand for themselves.
        also: further classes that a component may return or be given in their place.
        copy: copies what a component returned, within the caps.
        write: returns what stands behind the tag.
        read: reads that, each part an argument; whatever it raises, the form is malformed.
        items: what it holds, None if it is one by itself; `remade` is it with other items.
        form: its form as an answer, one of FORM_WORDS.
        words: what kind of value it is, in the student's words; by default those of its form.
        dtype: the name of the dtype of its numbers, where they have one.
        show: writes it out; only by shape unless values may be shown.
        keys: what its parts are found by, None if it is compared whole.
        check: expects a value to be the right one, which is of this kind; not its parts.
    """

    types: tuple[type, ...] | str = ()
    tag: str = ""
    also: tuple[type, ...] = ()
    copy: Callable[[Value, Copier], Value] = lambda value, copier: opaque(value)
    write: Callable[[Value, Writer], Iterable[Any]] = lambda value, writer: ()
    read: Callable[..., Value] = lambda reader, depth: None
    items: Callable[[Value], Iterable[Value] | None] = lambda value: None
    remade: Callable[[Value, list[Value]], Value] = lambda value, items: value
    form: str | Callable[[Value], str] = "other"
    words: str | Callable[[Value], str] = ""
    dtype: Callable[[Value], str | None] = lambda value: None
    show: Callable[[Value, bool], str] = lambda value, values: repr(value)
    keys: Callable[[Value], Collection[Any] | None] = lambda value: None
    check: Callable[[Value, Value, str, Marks], None] = lambda *args: _check_single(*args)

    @property
    def classes(self) -> tuple[type, ...]:
        """The classes of its values."""
        return (getattr(torch, self.types),) if isinstance(self.types, str) else self.types


def opaque(value: object) -> Opaque:
    """Return what stands for an object that is no value."""
    # Its own word for its class does not count.
    cls = type(value)
    for base in cls.__mro__:
        if base in _OPAQUE:
            return Opaque(_OPAQUE[base][0])
    return Opaque(name=_shown_name(name_of_class(cls)))


def name_of_class(cls: type) -> str:
    """Return a class's name; not `cls.__name__`, which the student's class of it may answer."""
    return str(type.__dict__["__name__"].__get__(cls))


def _shown_name(text: object) -> str:
    """Return a name that a class can have, and nothing for any other text."""
    fits = isinstance(text, str) and len(text) <= _MAX_NAME and text.isascii()
    return str(text) if fits and str(text).isidentifier() else ""


def _opaque_words(value: Opaque) -> str:
    return value.words or f"an object of {f'class {value.name}' if value.name else 'another class'}"


def _check_opaque(value: Value, right: Value, what: str, marks: Marks) -> None:
    raise TypeError(
        f"{what}: the right value is {kind_words(right)}, which cannot be compared: ask for a "
        'number, a text or a list that says the same, as under "Other kinds of values" in '
        "docs/recipes.md"
    )


# Numbers and texts.


def _itself(value: Value, copier: Copier) -> Value:
    return value


def _copy_int(value: Value, copier: Copier) -> Value:
    # A subclass may say anything of itself; an enumeration's member is a number, too.
    number = int.__index__(value)
    if number.bit_length() > _MAX_BITS:
        raise Unsendable(f"a whole number has more than {MAX_DIGITS} digits")
    return number


def _copy_text(value: Value, copier: Copier) -> Value:
    if len(value) > MAX_TEXT:
        raise Unsendable(f"a text has more than {MAX_TEXT} characters")
    return str.__str__(value) if isinstance(value, str) else bytes(value)


def _as_text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _from_text(text: Any) -> bytes:
    return base64.b64decode(text, validate=True)


def _show_text(value: Value, values: bool) -> str:
    return repr(value) if values or len(value) <= _SHOWN_TEXT else f"a text of {len(value)}"


# Tensors and arrays.


def _dtype_name(dtype: torch.dtype) -> str:
    name = name_of(dtype)
    if name not in DTYPES:
        raise KeyError(dtype)
    return name


def array_of(numbers: Numbers) -> Array:
    """Return the values of a dense tensor, exactly, as an array; an array is its own."""
    if not isinstance(numbers, torch.Tensor):
        return numbers
    tensor = numbers.float() if numbers.dtype == torch.bfloat16 else numbers
    return tensor.numpy(force=True)


def plain_tensor(tensor: Tensor) -> Tensor:
    """Return a tensor detached, of torch's own class: another one may say anything of itself."""
    if type(tensor) is torch.Tensor:
        return tensor.detach()
    with torch._C.DisableTorchFunctionSubclass():
        return torch.Tensor.detach(tensor)


def tensor_bytes(tensor: Tensor) -> bytes:
    """Return a CPU tensor's values in row-major order, as they lie in memory."""
    contiguous = tensor.contiguous()
    # A tenth of the cost of going through numpy, which has no bfloat16 either.
    return string_at(contiguous.data_ptr(), contiguous.nbytes)


def is_sendable(tensor: Tensor) -> bool:
    """Return whether a tensor's numbers can cross."""
    return tensor.layout is torch.strided and name_of(tensor.dtype) in DTYPES


def _copy_tensor(value: Value, copier: Copier) -> Value:
    tensor = plain_tensor(value)
    if is_sendable(tensor):
        return tensor
    raise Unsendable(f"it is a tensor of {tensor.dtype} with layout {tensor.layout}")


def _write_tensor(value: Value, writer: Writer) -> Iterable[Any]:
    return writer.tensor(value)


def _check_tensor(value: Value, right: Value, what: str, marks: Marks) -> None:
    _check_kind(isinstance(value, torch.Tensor), value, right, what, marks)
    marks.close(value, right, what)


def _copy_array(value: Value, copier: Copier) -> Value:
    # What a mask hides would be taken for a number.
    if isinstance(value, np.ma.MaskedArray) or value.dtype.name not in ARRAY_DTYPES:
        return opaque(value)
    array = np.array(value, copy=True, subok=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _write_array(value: Value, writer: Writer) -> Iterable[Any]:
    array = np.asarray(value)
    if array.dtype.name not in ARRAY_DTYPES or isinstance(value, np.ma.MaskedArray):
        kind = "a masked array" if array is not value else f"an array of {array.dtype}"
        raise TypeError(f"a component cannot be given {kind}: {_MADE_THERE}")
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return array.dtype.name, list(array.shape), writer.data(native.tobytes())


def _read_array(reader: Reader, depth: int, name: Any, shape: Any, beside: Any) -> Value:
    dtype, data = ARRAY_DTYPES[name], np.frombuffer(reader.data(beside), np.uint8)
    if type(shape) is not list:
        raise ValueError
    # Any byte but 0 is true.
    found = data != 0 if dtype == np.bool_ else data.copy().view(dtype)
    return found.reshape(shape)


def _array_words(value: Value) -> str:
    if value.ndim:
        return "a numpy array"
    # Of those that a plain number does not stand for, the dtype is what is wrong.
    odd = value.dtype.kind == "c" or value.dtype == np.float16
    return f"a numpy number of {value.dtype}" if odd else "a numpy number"


def _show_array(value: Value, values: bool) -> str:
    short = values and value.size <= SHOWN_VALUES
    return str(_rounded(value.tolist())) if short else f"{value.dtype} array of shape {value.shape}"


def _check_array(value: Value, right: Value, what: str, marks: Marks) -> None:
    if not right.ndim:
        _check_single(value, right, what, marks)
        return
    _check_kind(isinstance(value, np.ndarray), value, right, what, marks)
    _check_array_dtype(value.dtype, right.dtype, what, marks)
    # Compared in one width, whatever the machine's integers are. Never in a narrower one: what does
    # not fit into it would be infinite there, and so equal.
    wide = "" if right.dtype == np.float16 else "iubfc"
    mine, theirs = widened(value, wide), widened(right, wide)
    marks.close(mine, theirs if wide else theirs.astype(mine.dtype), what)


_WIDE = dict(zip("iubfc", (np.int64, np.int64, np.bool_, np.float64, np.complex128), strict=True))


def widened(array: Array, wide: str) -> Array:
    """Return an array with numbers of the kinds in `wide` in their widest dtype."""
    kind = array.dtype.kind
    return array.astype(_WIDE[kind]) if kind in wide else array


# Of Python's library.


def _copy_exactly(value: Value, copier: Copier) -> Value:
    """Copy an object whose class is Python's own: another one may say anything of itself."""
    if type(value) not in _OF_CLASS:
        return opaque(value)
    if type(getattr(value, "tzinfo", None)) not in (type(None), datetime.timezone):
        return OPAQUE
    if isinstance(value, Fraction):
        return Fraction(*(_copy_int(part, copier) for part in value.as_integer_ratio()))
    if isinstance(value, pathlib.PurePath):
        value = pathlib.PurePosixPath(value.as_posix())
    _copy_text(str(value), copier)
    return value


def _read_time(cls: Any, reader: Reader, depth: int, text: Any) -> Value:
    return cls.fromisoformat(text)


def _check_path(value: Value, right: Value, what: str, marks: Marks) -> None:
    _check_kind(isinstance(value, pathlib.PurePath), value, right, what, marks)
    if value.as_posix() != right.as_posix():
        raise marks.failed(f"{what} is wrong", detail=_both(value, right))


# Containers.


def _form_of_sequence(value: Value) -> str:
    tensors = sum(isinstance(item, torch.Tensor) for item in value)
    if tensors == len(value) and len(value) in (1, 2):
        return "pair" if len(value) == 2 else "list of one"
    return "longer sequence" if len(value) > 2 else "other"


def _sequence_words(value: Value) -> str:
    form = _form_of_sequence(value)
    if form not in ("other", "longer sequence"):
        return FORM_WORDS[form]
    name = "list" if isinstance(value, list) else "tuple"
    return f"a {name} of {len(value)}" if value else f"an empty {name}"


def _show_sequence(value: Value, values: bool) -> str:
    if not values:
        return f"{type(value).__name__} of {len(value)}"
    items = ", ".join(show_value(item) for item in value[:SHOWN_VALUES])
    more = ", ..." if len(value) > SHOWN_VALUES else ""
    if isinstance(value, list):
        return f"[{items}{more}]"
    return f"({items}{',' if len(value) == 1 else ''}{more})"


def _check_sequence(value: Value, right: Value, what: str, marks: Marks) -> None:
    # A list and a tuple are one kind.
    fits = isinstance(value, list | tuple) and not isinstance(value, torch.Size)
    _check_kind(fits, value, right, what, marks)
    if len(value) != len(right):
        fact = f"{what} has length {len(value)}, expected {len(right)}"
        raise marks.failed(fact, detail=_both(value, right))


def _read_size(reader: Reader, depth: int, *sizes: Any) -> Value:
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError
    # A request may be the first to bring something of torch's.
    return importlib.import_module("torch").Size(sizes)


def _copy_dict(value: Value, copier: Copier) -> Value:
    if not isinstance(value, dict):
        return opaque(value)
    _check_count(value)
    parts = copier.items(part for pair in dict.items(value) for part in pair)
    return dict(zip(map(_as_key, parts[::2]), parts[1::2], strict=True))


def _copy_set(value: Value, copier: Copier) -> Value:
    if not isinstance(value, set | frozenset):
        return opaque(value)
    _check_count(value)
    return set(map(_as_key, copier.items(iter(value))))


def _check_count(value: Any) -> None:
    if len(value) > MAX_KEYS:
        raise Unsendable(f"a dictionary or set has more than {MAX_KEYS} keys")


def _as_key(value: Value) -> Value:
    """Return a value that can be a key or in a set."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value.item()
    if isinstance(value, set):
        return frozenset(value)
    try:
        hash(value)
    except TypeError:
        return opaque(value)
    # A tensor can be one, by its identity, which nothing keeps.
    return OPAQUE if isinstance(value, torch.Tensor) else value


def _read_dict(reader: Reader, depth: int, *parts: Any) -> Value:
    found = reader.keyed(parts, depth, 2)
    return dict(zip(found[::2], found[1::2], strict=True))


def _show_dict(value: Value, values: bool) -> str:
    if not values:
        return f"{type(value).__name__} of {len(value)}"
    pairs = list(value.items())[:SHOWN_VALUES]
    shown = ", ".join(f"{show_value(key)}: {show_value(item)}" for key, item in pairs)
    return f"{{{shown}{', ...' if len(value) > SHOWN_VALUES else ''}}}"


def _check_dict(value: Value, right: Value, what: str, marks: Marks) -> None:
    _check_kind(isinstance(value, dict), value, right, what, marks)
    _check_keys(value, right, what, "key", marks)


def _check_set(value: Value, right: Value, what: str, marks: Marks) -> None:
    _check_kind(isinstance(value, set | frozenset), value, right, what, marks)
    _check_keys(value, right, what, "element", marks)


def _sized(value: Value, values: bool) -> str:
    return repr(value) if values else f"{type(value).__name__} of {len(value)}"


# What stands for an object.


def _show_made(value: Value, values: bool) -> str:
    shape = "".join(str(tuple(part.shape)) for part in value.parts if value.maker == "embedding")
    return f"nn.Embedding{shape}" if shape else repr(value)


def _read_held(
    reader: Reader, depth: int, words: Any, name: Any, number: Any, plain: Any, *bases: Any
) -> Value:
    known = words if INSTEAD[words] else ""
    read = tuple(reader.items(bases, depth))
    found = reader.read(plain, depth + 1)
    return Held(known, "" if known else _shown_name(name), operator.index(number), found, read)


def _read_tracked(
    reader: Reader, depth: int, number: Any, numbers: Any, differentiable: Any, leaf: Any
) -> Value:
    found = reader.read(numbers, depth + 1)
    if not isinstance(found, np.ndarray | torch.Tensor | list | dict | set):
        raise ValueError
    return Tracked(operator.index(number), found, differentiable is True, leaf is True)


_SEQUENCE: dict[str, Any] = {
    "write": lambda value, writer: map(writer.write, value),
    "items": lambda value: value,
    "form": _form_of_sequence,
    "words": _sequence_words,
    "show": _show_sequence,
    "check": _check_sequence,
    "keys": lambda value: range(len(value)),
}
# The first that fits: numpy's floats are Python's, too, and so is every truth value a number.
KINDS: tuple[Kind, ...] = (
    Kind(
        "Tensor",
        "tensor",
        copy=_copy_tensor,
        write=_write_tensor,
        form="tensor",
        dtype=lambda value: name_of(value.dtype),
        show=lambda v, values: show_tensor(v) if values else f"tensor of shape {tuple(v.shape)}",
        check=_check_tensor,
    ),
    Kind((type(None),), copy=_itself, form="none"),
    Kind((bool,), copy=_itself, form="number", words="True or False"),
    Kind(
        "dtype",
        "dtype",
        copy=_itself,
        write=lambda value, writer: [_dtype_name(value)],
        read=lambda reader, depth, name: DTYPES[name],
        words="a dtype",
    ),
    Kind(
        (float,),
        copy=lambda value, copier: float.__float__(value),
        form="number",
        dtype=lambda value: "float64" if type(value) is float else None,
    ),
    Kind(
        (complex,),
        "complex",
        copy=lambda value, copier: complex.__complex__(value),
        write=lambda value, writer: [value.real, value.imag],
        read=lambda reader, depth, real, imaginary: complex(real, imaginary),
        form="number",
        words="a complex number",
        dtype=lambda value: "complex128" if type(value) is complex else None,
    ),
    Kind((int,), copy=_copy_int, form="number"),
    Kind((str,), copy=_copy_text, words="a text", show=_show_text),
    Kind(
        (bytes,),
        "bytes",
        (bytearray,),
        copy=_copy_text,
        write=lambda value, writer: [_as_text(value)],
        read=lambda reader, depth, text: _from_text(text),
        words="bytes",
        show=_show_text,
    ),
    Kind(
        (np.ndarray,),
        "array",
        (np.generic,),
        copy=_copy_array,
        write=_write_array,
        read=_read_array,
        words=_array_words,
        dtype=lambda value: value.dtype.name if value.dtype.name in DTYPES else None,
        show=_show_array,
        check=_check_array,
    ),
    Kind(
        "Size",
        "size",
        copy=lambda value, copier: torch.Size(value),
        write=lambda value, writer: value,
        read=_read_size,
        form=_form_of_sequence,
        words="a shape",
        show=_sized,
        keys=lambda value: range(len(value)),
    ),
    Kind(
        (tuple,),
        "tuple",
        copy=lambda value, copier: tuple(copier.items(iter(value))),
        read=lambda reader, depth, *parts: tuple(reader.items(parts, depth)),
        remade=lambda value, items: tuple(items),
        **_SEQUENCE,
    ),
    Kind(
        (list,),
        "list",
        copy=lambda value, copier: copier.items(iter(value)),
        read=lambda reader, depth, *parts: reader.items(parts, depth),
        remade=lambda value, items: items,
        **_SEQUENCE,
    ),
    Kind(
        (dict,),
        "dict",
        (Mapping,),
        copy=_copy_dict,
        write=lambda value, writer: [writer.write(x) for pair in value.items() for x in pair],
        read=_read_dict,
        items=lambda value: value.values(),
        remade=lambda value, items: dict(zip(value, items, strict=True)),
        words="a dictionary",
        show=_show_dict,
        check=_check_dict,
        keys=lambda value: value.keys(),
    ),
    Kind(
        (set,),
        "set",
        (frozenset, AbstractSet),
        copy=_copy_set,
        # In an order that is the same in every process.
        write=lambda value, writer: sorted(map(writer.write, value), key=repr),
        read=lambda reader, depth, *parts: set(reader.keyed(parts, depth, 1)),
        words="a set",
        show=_sized,
        check=_check_set,
    ),
    Kind(
        (Handle,),
        "handle",
        write=lambda value, writer: [value.number],
        read=lambda reader, depth, number: Handle(operator.index(number)),
        show=lambda value, values: f"object{value.number}",
    ),
    Kind(
        (Opaque,),
        "opaque",
        write=lambda value, writer: [value.words, value.name],
        read=lambda reader, depth, words, name: Opaque(
            words if INSTEAD[words] else "", "" if words else _shown_name(name)
        ),
        words=_opaque_words,
        check=_check_opaque,
    ),
    Kind(
        (Decimal,),
        "decimal",
        copy=_copy_exactly,
        write=lambda value, writer: [str(value)],
        read=lambda reader, depth, text: Decimal(text),
        words="a Decimal",
    ),
    Kind(
        (Fraction,),
        "fraction",
        copy=_copy_exactly,
        write=lambda value, writer: [value.numerator, value.denominator],
        read=lambda reader, depth, *parts: Fraction(*map(operator.index, parts)),
        words="a Fraction",
    ),
    Kind(
        (datetime.timedelta,),
        "timedelta",
        copy=_copy_exactly,
        write=lambda value, writer: [value.days, value.seconds, value.microseconds],
        read=lambda reader, depth, *parts: datetime.timedelta(*map(operator.index, parts)),
        words="a timedelta",
    ),
    *(
        Kind(
            (cls,),
            cls.__name__,
            copy=_copy_exactly,
            write=lambda value, writer: [value.isoformat()],
            read=partial(_read_time, cls),
            words=f"a {cls.__name__}",
        )
        for cls in (datetime.datetime, datetime.date, datetime.time)
    ),
    Kind(
        (pathlib.PurePosixPath, pathlib.PosixPath, pathlib.PureWindowsPath, pathlib.WindowsPath),
        "path",
        copy=_copy_exactly,
        write=lambda value, writer: [value.as_posix()],
        read=lambda reader, depth, text: pathlib.PurePosixPath(text),
        words="a path",
        show=lambda value, values: repr(value.as_posix()),
        check=_check_path,
    ),
    Kind((Absent,), "absent", read=lambda reader, depth: ABSENT, form="none"),
    Kind(
        (Held,),
        "held",
        write=lambda value, writer: [
            *(value.words, value.name, value.number, writer.write(value.plain)),
            *map(writer.write, value.bases),
        ],
        read=_read_held,
        words=_opaque_words,
        show=lambda value, values: f"object{value.number}",
        check=_check_opaque,
    ),
    Kind(
        (Tracked,),
        "tracked",
        write=lambda value, writer: [
            *(value.number, writer.write(value.numbers), value.differentiable, value.leaf),
        ],
        read=_read_tracked,
        items=lambda value: [value.numbers],
        remade=lambda value, items: replace(value, numbers=items[0]),
        form=lambda value: form_of(value.numbers),
        words=lambda value: kind_words(value.numbers),
        show=lambda value, values: show_value(value.numbers, values),
    ),
    Kind(
        (Named,),
        "named",
        write=lambda value, writer: [value.path],
        read=lambda reader, depth, path: Named(str.__str__(path)),
        show=lambda value, values: value.path,
    ),
    Kind(
        (Made,),
        "made",
        write=lambda value, writer: [value.maker, *map(writer.write, value.parts)],
        read=lambda reader, depth, maker, *parts: Made(
            str.__str__(maker), tuple(reader.items(parts, depth))
        ),
        items=lambda value: value.parts,
        remade=lambda value, items: Made(value.maker, tuple(items)),
        show=_show_made,
    ),
    Kind(
        (Callback,),
        "callback",
        write=lambda value, writer: [value.number, value.name],
        read=lambda reader, depth, number, name: Callback(
            operator.index(number), str.__str__(name)
        ),
        show=lambda value, values: value.name,
    ),
)
_OF_CLASS: dict[type, Kind] = {
    cls: kind for kind in KINDS if not isinstance(kind.types, str) for cls in kind.types
}
_TAGGED = {kind.tag: kind for kind in KINDS if kind.tag}
# Of an object that is no value, and of what only stands for one.
_OTHER = Kind()


def kind_of(value: object, also: bool = False) -> Kind:
    """Return the kind of a value.

    Args:
        value: any object.
        also: whether what may be given or returned in the place of a value counts as one.
    """
    cls = type(value)
    kind = _OF_CLASS.get(cls)
    if kind is not None:
        return kind
    for kind in KINDS:
        classes = kind.classes
        if cls in classes:
            # One of torch's, met for the first time.
            return _OF_CLASS.setdefault(cls, kind)
        if isinstance(value, classes) or (also and isinstance(value, kind.also)):
            return kind
    return _OTHER


# Copied, written and read.


def answered(value: object) -> Value:
    """Return what a component returned as a value: tensors detached, unknown objects opaque.

    Raises:
        Unsendable: it exceeds a cap.
    """
    return Copier().copy(value)


class Copier:
    """Copies what a component returned, within the caps."""

    def __init__(self) -> None:
        self._left = MAX_ITEMS
        self._depth = 0

    def copy(self, value: object) -> Value:
        """Copy a value of any kind."""
        self._left -= 1
        if self._left < 0:
            raise Unsendable(f"it has more than {MAX_ITEMS} parts")
        return kind_of(value, also=True).copy(value, self)

    def items(self, values: Iterable[object]) -> list[Value]:
        """Copy what a container holds."""
        if self._depth == MAX_DEPTH:
            raise Unsendable(f"it is nested more than {MAX_DEPTH} deep")
        self._depth += 1
        copied = [self.copy(value) for value in values]
        self._depth -= 1
        return copied


class Writer:
    """Writes values in plain form.

    Args:
        tensor: writes a tensor; returns what stands behind its tag.
        data: writes the bytes of an array; returns what stands for them.
    """

    def __init__(
        self, tensor: Callable[[Tensor], list[Any]], data: Callable[[bytes], Any] = _as_text
    ) -> None:
        self.tensor = tensor
        self.data = data

    def write(self, value: Value) -> Any:
        """Return the plain form of a value.

        Raises:
            TypeError: it is none.
        """
        kind = kind_of(value, also=True)
        if kind is _OTHER:
            raise TypeError(f"a component cannot be given a {type(value).__name__}: {_MADE_THERE}")
        return [kind.tag, *kind.write(value, self)] if kind.tag else value


class Reader:
    """Reads values from their plain form, which may be hostile.

    Args:
        tensor: reads a tensor from what stands behind its tag.
        data: reads the bytes of an array from what stands for them.
        is_capped: whether it may be hostile; what a test hands over is as large as it likes.
    """

    def __init__(
        self,
        tensor: Callable[[list[Any]], Tensor],
        data: Callable[[Any], bytes] = _from_text,
        is_capped: bool = True,
    ) -> None:
        self.tensor = tensor
        self.data = data
        self._is_capped = is_capped

    def read(self, plain: Any, depth: int = 0) -> Value:
        """Return the value of a plain form.

        Raises:
            Malformed: it has none.
        """
        if not isinstance(plain, list):
            if isinstance(plain, dict):
                raise Malformed("an object stands for no value")
            return plain
        if plain and plain[0] == "tensor":
            return self.tensor(plain[1:])
        # What comes back is at most so deep in a part that may hold one level more.
        if not plain or (self._is_capped and depth > MAX_DEPTH + 2):
            raise Malformed("a list has no tag, or is nested too deep")
        try:
            return _TAGGED[plain[0]].read(self, depth, *plain[1:])
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise Malformed(f"a tag stands for nothing: {str(plain[0])[:20]}") from error

    def items(self, parts: Sequence[Any], depth: int) -> list[Value]:
        """Read what a container holds."""
        read = self.read
        return [read(part, depth + 1) if isinstance(part, list | dict) else part for part in parts]

    def keyed(self, parts: Sequence[Any], depth: int, step: int) -> list[Value]:
        """Read what a dictionary or set holds; the first of every `step` parts is a key."""
        if self._is_capped and len(parts) > 2 * MAX_KEYS:
            raise Malformed("there are too many keys")
        found = self.items(parts, depth)
        keys = found[::step]
        found[::step] = [frozenset(key) if isinstance(key, set) else key for key in keys]
        return found


# What values hold.


def leaves(value: Value) -> Iterator[Value]:
    """Yield what lists, tuples, mappings and stand-ins hold, in order; else the value itself."""
    items = kind_of(value, also=True).items(value)
    if items is None:
        yield value
    else:
        for item in items:
            yield from leaves(item)


def tensors_in(value: Value) -> Iterator[Tensor]:
    """Yield every tensor of a value, in order."""
    # Most values are one, or hold none: they are asked for all the time.
    if type(value) is torch.Tensor:
        yield value
    elif value is not None and type(value) not in (int, float, str, bool):
        yield from (leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor))


def mapped(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return a value of the same form, with everything that `leaves` yields changed."""
    kind = kind_of(value, also=True)
    items = kind.items(value)
    if items is None:
        return change(value)
    return kind.remade(value, [mapped(item, change) for item in items])


def with_tensors(value: Value, change: Callable[[Tensor], Tensor]) -> Value:
    """Return a value with every tensor changed."""
    return mapped(value, lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf)


# Shown.


def form_of(value: Value) -> str:
    """Return what kind of answer a value is, one of FORM_WORDS."""
    form = kind_of(value).form
    return form if isinstance(form, str) else form(value)


def kind_words(value: Value) -> str:
    """Say in the student's words what kind of value something is."""
    words = kind_of(value).words or FORM_WORDS[form_of(value)]
    return words if isinstance(words, str) else words(value)


def show_value(value: object, values: bool = True) -> str:
    """Write a value out; tensors and arrays by shape alone unless `values` may be shown."""
    return kind_of(value).show(value, values)


def show_tensor(tensor: Tensor) -> str:
    """Write a tensor out, or only its dtype and shape where it is long."""
    if tensor.device.type == "meta" or tensor.numel() > SHOWN_VALUES:
        return f"{name_of(tensor.dtype)} tensor of shape {tuple(tensor.shape)}"
    return show_numbers(tensor.tolist())


def show_numbers(numbers: Any, digits: int = DIGITS) -> str:
    """Write a number, or lists of them, out to `digits` digits."""
    return str(_rounded(numbers, digits)).replace("'", "")


def _rounded(item: Any, digits: int = DIGITS) -> Any:
    if isinstance(item, list):
        return [_rounded(part, digits) for part in item]
    return float(f"{item:.{digits}g}") if isinstance(item, float) else item


# Compared with the right one.


def keys_of(value: Value) -> Collection[Any] | None:
    """Return what the parts of a value are found by; None if it is compared whole."""
    return kind_of(value, also=True).keys(value)


def aligned(
    value: Value,
    right: Value,
    what: str = "",
    beside: Value = None,
    loose: bool = False,
) -> Iterator[tuple[str, Value, Value, Value]]:
    """Yield two values, then their parts if they have the same, each time with its name.

    Args:
        value: what came back.
        right: what it is compared with.
        what: names the value, and with [3] or ["key"] behind it a part of it.
        beside: a third value; of it comes what stands where they do, or None.
        loose: whether values and parts are `loosened`.
    """
    pending = [(what, value, right, beside)]
    while pending:
        what, value, right, beside = pending.pop()
        value = loosened(value, right) if loose else value
        yield what, value, right, beside

        keys = keys_of(right)
        if keys is None or keys_of(value) != keys:
            continue

        there = keys_of(beside) or ()
        shared = there if there == keys or isinstance(beside, dict) else ()
        parts = [
            (f"{what}[{key!r}]", value[key], right[key], beside[key] if key in shared else None)
            for key in keys
        ]
        pending += reversed(parts)


def loosened(value: Value, right: Value) -> Value:
    """Return a value as the kind of the right one, where it says the same in another kind.

    A list or a tensor stands for an array and the other way round, an array of one number for that
    number, and a whole number for one with a fraction and the other way round.
    """
    numbers = np.ndarray | torch.Tensor
    if isinstance(right, torch.Size) or (isinstance(value, torch.Tensor) and value.is_meta):
        return value
    if isinstance(right, list | tuple):
        items = value.tolist() if isinstance(value, numbers) else value
        return list(items) if isinstance(items, torch.Size) else items
    if isinstance(right, numbers):
        return _as_numbers(value, right)
    if isinstance(value, numbers) and math.prod(value.shape) == 1:
        value = value.item()
    whole = isinstance(right, int) and isinstance(value, float) and value.is_integer()
    return int(value) if whole and not isinstance(right, bool) else value


def _as_numbers(value: Value, right: Numbers) -> Value:
    """Return numbers in the class of the right ones, and in their dtype if that changes none."""
    try:
        found = array_of(value) if isinstance(value, torch.Tensor) else np.asarray(value)
    except ValueError:
        return value
    if not isinstance(value, list | tuple | np.ndarray | torch.Tensor):
        return value
    if found.dtype.kind not in "biufc":
        return value
    wanted = array_of(right).dtype
    with np.errstate(all="ignore"):
        cast = found.astype(wanted) if (found.dtype.kind == "c") <= (wanted.kind == "c") else found
        # A fraction, and what does not fit, is another value; a truth is no number.
        same = wanted.kind in "fc" or bool((cast == found).all())
    fits = same and (found.dtype.kind == "b") == (wanted.kind == "b")
    if isinstance(right, np.ndarray):
        return cast if fits else found
    return torch.as_tensor(cast).to(right.dtype) if fits else torch.as_tensor(found)


def _check_kind(fits: bool, value: Value, right: Value, what: str, marks: Marks) -> None:
    if not fits:
        got, wanted = kind_words(value), kind_words(right)
        hint = INSTEAD.get(got, "")
        if got == wanted and isinstance(right, int):
            # Both are numbers, and one of them can have a fraction.
            got, wanted = f"{show_value(value)}, a float", "a whole number (int)"
            hint = "/ always gives a float, and // a whole number of whole numbers"
        raise marks.failed(f"{what} is {got}, expected {wanted}", hint=hint)


def _check_keys(value: Any, right: Any, what: str, word: str, marks: Marks) -> None:
    odd = {
        "missing": [key for key in right if key not in value],
        "too many": [key for key in value if key not in right],
    }
    if any(odd.values()):
        facts = [f"{len(keys)} {word}(s) {name}" for name, keys in odd.items() if keys]
        lines = [
            f"{name}: {', '.join(map(show_value, keys[:_SHOWN_KEYS]))}"
            for name, keys in odd.items()
            if keys
        ]
        raise marks.failed(f"{what} has {' and '.join(facts)}", detail="\n".join(lines))


def _check_array_dtype(dtype: np.dtype[Any], right: np.dtype[Any], what: str, marks: Marks) -> None:
    """Expect an array's dtype to be of the right one's kind, and half only where that is."""
    coarse = dtype == np.float16 and right != np.float16
    if dtype.kind != right.kind or coarse:
        hint = "look at what dtype the numbers had that it is made of"
        raise marks.failed(f"{what} has dtype {dtype}, expected {right}", hint=hint)


def _check_single(value: Value, right: Value, what: str, marks: Marks) -> None:
    if isinstance(value, np.ndarray) and value.dtype == np.float16:
        # As a plain number it would be one of fewer digits than it seems.
        kind = right.dtype if isinstance(right, np.ndarray) else np.dtype(np.float64)
        _check_array_dtype(value.dtype, kind, what, marks)
    mine, theirs = _scalar(value), _scalar(right)
    numbers = int | float | complex
    if isinstance(theirs, numbers) and not isinstance(theirs, bool):
        fits = isinstance(mine, numbers) and not isinstance(mine, bool)
        # A whole number is right where any number is; where it is counted, only a whole one.
        fits = fits and not (isinstance(theirs, int) and not isinstance(mine, int))
        fits = fits and not (isinstance(mine, complex) and not isinstance(theirs, complex))
        _check_kind(fits, value, right, what, marks)
        if not _near(mine, theirs, marks.tolerance):
            detail = f"expected {theirs!r}\nreturned {mine!r}"
            raise marks.failed(f"{what} is wrong{_off_by(mine, theirs)}", detail=detail)
        return
    _check_kind(type(mine) is type(theirs), value, right, what, marks)
    if mine != theirs:
        place = ""
        if isinstance(theirs, str | bytes):
            at = next((i for i, (a, b) in enumerate(zip(mine, theirs, strict=False)) if a != b), -1)
            place = f", first at {at}" if at >= 0 else ", one is the beginning of the other"
        raise marks.failed(f"{what} is wrong{place}", detail=_both(value, right))


def _scalar(value: Value) -> Value:
    return value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _off_by(mine: Any, right: Any) -> str:
    try:
        return f"; off by {size_words(abs(mine - right))}"
    except OverflowError:
        return ""


def size_words(size: float) -> str:
    """Write the size of a difference: a whole number as it is, others with three digits."""
    if isinstance(size, int) or (size < _WRITTEN_OUT and (size == int(size) or size >= 1000)):
        return f"{size:.0f}" if size < _WRITTEN_OUT else f"{float(size):.3g}"
    return f"{size:.3g}"


def _near(mine: Any, right: Any, tolerance: float) -> bool:
    if mine == right:
        return True
    if isinstance(right, int):
        return False
    try:
        got, want = complex(mine), complex(right)
    except OverflowError:
        return False
    allowed = tolerance * (1 + (abs(want) if cmath.isfinite(want) else 0.0))
    # An infinity is near nothing but itself, and NaN is near NaN.
    return all(
        one == other or (math.isnan(one) and math.isnan(other)) or abs(one - other) <= allowed
        for one, other in ((got.real, want.real), (got.imag, want.imag))
    )


def _both(value: Value, right: Value) -> str:
    return f"expected {show_value(right)}\nreturned {show_value(value)}"
