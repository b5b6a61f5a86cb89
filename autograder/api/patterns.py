"""Say how a wrong tensor differs: shapes, places, names, and what was done to the right values.

Of values a sentence claims only what holds for every one, and only where chance cannot explain it:
each value that fits counts as evidence, the more the finer it is known compared with how far the
values spread. No sentence contains a value, so a hidden check may show it too.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from autograder.api.lazy import name_of
from autograder.api.values import DIGITS, SHOWN_VALUES, Array, Numbers, array_of, show_numbers
from autograder.text import clean

# Of a value that stands alone; and of one that is hardly wrong.
_ALONE, _MOST_DIGITS = 6, 9
_SHOWN_KEYS = 6


def shape_pattern(got: Sequence[int], want: Sequence[int], names: str = "") -> str:
    """Say in one sentence how a shape differs from the right one, or nothing if that is unclear."""
    got, want = tuple(got), tuple(want)
    longer, shorter = max(got, want, key=len), min(got, want, key=len)
    spare = [i for i in range(len(longer)) if longer[:i] + longer[i + 1 :] == shorter]
    if len(got) == len(want):
        wrong = [i for i in range(len(want)) if got[i] != want[i]]
        if len(wrong) == 1 < len(want):
            at = wrong[0]
            return f"only {dimension(names, len(want), at)} is wrong: {got[at]}, not {want[at]}"
        if sorted(got) == sorted(want) and wrong == [len(want) - 2, len(want) - 1]:
            return "the last two dimensions are swapped"
        if sorted(got) == sorted(want):
            return "the dimensions are in another order"
    elif spare and longer == want:
        keep = "; keepdim=True keeps it, unsqueeze adds it" if want[spare[0]] == 1 else ""
        gone = " or ".join(dimension(names, len(want), at) for at in spare[:2])
        gone = "one dimension" if len(spare) > 2 else gone
        return f"{gone}, of size {want[spare[0]]}, is missing{keep}"
    elif spare:
        which = f": dimension {spare[0]}" if len(spare) == 1 else ""
        return f"one dimension of size {got[spare[0]]} is too many{which}"
    if math.prod(got) == math.prod(want) > 1:
        return "the number of values is right, but they are divided into other dimensions"
    return ""


def dimension(names: str, dims: int, at: int) -> str:
    """Name a dimension: "T (dimension 1)", or "dimension 1" where it has no name."""
    named = dimension_names(names, dims)
    return f"{named[at]} (dimension {at})" if named and named[at] else f"dimension {at}"


def dimension_names(names: str, dims: int) -> list[str]:
    """Split "B T D", or "... T D" where any may come before; empty if they do not fit."""
    parts = names.split()
    if "..." in parts:
        at = parts.index("...")
        parts[at : at + 1] = [""] * (dims - len(parts) + 1)
    return parts if len(parts) == dims else []


def tuple_of(names: str, dims: int) -> str:
    """Write "(B, T, D)"; nothing where there are no names, or they do not fit.

    They may not fit where a result is compared with another of the student's own.
    """
    if not any(dimension_names(names, dims)):
        return ""
    parts = names.split()
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def worst_place(error: Array) -> tuple[int, ...]:
    """Find the place of the largest error."""
    return tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))


def first_place(wrong: Array) -> tuple[int, ...]:
    """Find the first place in reading order."""
    return tuple(int(i) for i in np.argwhere(wrong)[0])


def place_words(at: tuple[int, ...], names: str) -> str:
    """Write " at [1, 2]", with the names of the dimensions if there are any."""
    named = tuple_of(names, len(at)).replace(",)", ")")
    return f" at {list(at)}" + (f" {named}" if named else "") if at else ""


def share_words(wrong: Array, word: str) -> str:
    """Say how many values are wrong."""
    count = int(wrong.sum())
    are = "is" if count == 1 else "are"
    return f"; {count} of {wrong.size} values {are} {word}" if wrong.size > 1 else ""


def both_shown(actual: Array, expected: Array, at: tuple[int, ...]) -> str:
    """Show both whole where they are short, else the row of the worst place, or that alone."""
    digits = _digits(actual, expected, at)
    where, row = "", at
    if expected.size <= SHOWN_VALUES:
        row = ()
    elif expected.ndim > 1 and expected.shape[-1] <= SHOWN_VALUES:
        row = at[:-1]
        where = f"at [{', '.join([*map(str, row), ':'])}] "
    if row != at or not at:
        right, wrong = (show_numbers(x[row].tolist(), digits) for x in (expected, actual))
        return f"{where}expected {right}\n{where}returned {wrong}"
    digits = max(_ALONE, digits)
    right, wrong = f"{expected[at].item():.{digits}g}", f"{actual[at].item():.{digits}g}"
    return f"there: expected {right}, returned {wrong}"


def _digits(actual: Array, expected: Array, at: tuple[int, ...]) -> int:
    """Return how many digits are needed to tell both values of a place apart."""
    one, other = actual[at].item(), expected[at].item()
    for digits in range(DIGITS, _MOST_DIGITS):
        if f"{one:.{digits}g}" != f"{other:.{digits}g}":
            return digits
    return _MOST_DIGITS


def listed(keys: Sequence[str]) -> str:
    """List keys of a student's, few and harmless."""
    more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
    return ", ".join(clean(key, 80) for key in keys[:_SHOWN_KEYS]) + more


def key_hint(
    missing: Sequence[str],
    actual: Sequence[str],
    extra: Sequence[str],
    learned: Collection[str] | None,
) -> str:
    """Say what to do about keys that are missing or too many.

    Args:
        missing: those that should be there.
        actual: those that are.
        extra: those of them that should not be.
        learned: the names of the parameters, where they are known.
    """
    if missing:
        owner, _, part = missing[0].rpartition(".")
        if owner and any(key.startswith(f"{owner}.") for key in actual):
            layer = "; nn.Linear has one unless bias=False" if part == "bias" else ""
            return f"self.{owner} is there, and has no {part}{layer}"
        attribute = missing[0].partition(".")[0]
        made = "..." if owner else "nn.Parameter(...)"
        hint = f"{missing[0]} comes from self.{attribute} = {made} in __init__"
        return (
            hint
            if extra or owner
            else f"{hint}; a plain tensor makes no key, and a buffer is not learned"
        )
    if all(key.endswith(".bias") for key in extra):
        return "nn.Linear has no bias where it is told so: nn.Linear(..., bias=False)"
    if learned is None:
        return (
            "every nn.Parameter, layer and buffer adds to it, except what is registered by "
            "register_buffer(..., persistent=False)"
        )
    if any(key in learned for key in extra):
        return "more is learned than was asked for: every nn.Parameter and every layer adds to it"
    return "what is not learned stays out of it by register_buffer(..., persistent=False)"


# Relative and absolute at once: twice what decides whether a check passes.
_GRAIN = {"bfloat16": 8e-2}
_FINE = 2e-5
# How unlikely chance must be, as a negative logarithm. Of rearrangements many are tried.
_LIKELY_ENOUGH, _BEYOND_DOUBT = 9.0, 14.0
# Where there is more to compare, rearrangements are not looked for: they must cost nothing.
_MOST_COMPARISONS = 100_000


@dataclass(frozen=True)
class _Pair:
    """A result and the right one, in float64."""

    got: Array
    want: Array
    grain: float
    names: str

    def same(self, one: Array, other: Array | float) -> bool:
        return not bool(self.differ(one, other).any())

    def differ(self, one: Array, other: Array | float) -> Array:
        differ: Array = ~(np.abs(one - other) <= self.grain * (1 + np.abs(other)))
        return differ

    def telling(self, values: Array, spent: int, need: float, grid: bool = False) -> bool:
        """Return whether all these values, except `spent` of them, cannot fit by chance."""
        if values.size < 2:
            return False
        sizes = np.sort(np.abs(values), axis=None)
        steps = np.diff(sizes) > 4 * self.grain * (1 + sizes[1:])
        near = self.grain * (1 + float(sizes.mean()))
        each = math.log(max(1.0, float(values.std()) / near))
        if grid and bool((np.round(4 * values) == 4 * values).all()):
            # Small whole numbers, or quarters, meet by chance far more often.
            each = min(each, math.log(1 + 4 * float(values.max() - values.min())))
        # Values that are the same except for their sign are evidence once.
        return (1 + int(steps.sum()) - spent) * each >= need

    def moved(self, one: Array, other: Array, need: float = _BEYOND_DOUBT) -> bool:
        """Return whether values that are not where they were can be told from each other."""
        return self.telling(one[self.differ(one, other)], 1, need, grid=True)

    def sums_to_one(self, values: Array, dim: int) -> bool:
        return self.same(values.sum(dim), 1.0)

    def square(self, least: int) -> bool:
        shape = self.want.shape
        return len(shape) >= 2 and shape[-1] == shape[-2] >= least

    def along(self, dim: int) -> str:
        return dimension(self.names, self.want.ndim, dim)


@np.errstate(all="ignore")
def pattern(got: Numbers, want: Numbers, names: str = "", slack: float = 1.0) -> str:
    """Say in one sentence what was done to the right values, or nothing if that is unclear.

    Args:
        got: a wrong result.
        want: the right one, of the same shape.
        names: the dimensions' names, as in "B T D".
        slack: multiplies the tolerance, where roundings add up.
    """
    dtypes = name_of(got.dtype), name_of(want.dtype)
    look = _of_masks if dtypes == ("bool", "bool") else _of_values
    mine, right = (array_of(numbers).astype(np.float64) for numbers in (got, want))
    pair = _Pair(mine, right, _GRAIN.get(dtypes[0], _FINE) * slack, names)
    # Within this tolerance nothing is wrong that could be described.
    close = pair.same(mine, right) or not bool(np.isfinite(mine - right).all())
    return "" if close or mine.size < 2 else next(look(pair), "")


# What can be seen, the surest first.


def _of_values(pair: _Pair) -> Iterator[str]:
    got, want = pair.got, pair.want
    constant = pair.same(want, want.flat[0])
    if bool((got == 0).all()):
        yield "every value is 0"
    if not constant:
        if bool((got == got.flat[0]).all()):
            yield "all values are equal; the expected ones are not"
        yield from _scaled(pair)
        yield from _softmaxed(pair)
        yield from _reordered(pair)
        yield from _by_rows(pair)
        yield from _rearranged(pair)
        yield from _cut(pair)
    yield from _place_of(pair)


def _of_masks(pair: _Pair) -> Iterator[str]:
    got, want = pair.got, pair.want
    both = bool(want.any()) and not bool(want.all())
    if both and want.size >= 8 and bool((got == 1 - want).all()):
        yield "True and False are swapped"
    if both and bool((got == got.flat[0]).all()):
        yield f"every value is {bool(got.flat[0])}"
    turned = np.swapaxes(want, -1, -2) if pair.square(3) else want
    if int((want != turned).sum()) >= 6 and bool((got == turned).all()):
        yield "it is transposed: rows and columns are swapped"
    yield from _place_of(pair)


def _scaled(pair: _Pair) -> Iterator[str]:
    """Find one factor, or one amount, by which everything is off."""
    norm = float(np.square(pair.want).sum())
    factor = float((pair.got * pair.want).sum()) / norm
    right, opposite = pair.want * factor, abs(factor + 1) < 3 * pair.grain
    if abs(factor) > 1e-9 and abs(factor - 1) > 3 * pair.grain and pair.same(pair.got, right):
        right = right[pair.differ(right, 0.0)]  # a 0 fits every factor
        if opposite and pair.telling(right, 0, _BEYOND_DOUBT):
            yield "every value has the opposite sign"
        elif not opposite and pair.telling(right, 1, _LIKELY_ENOUGH):
            yield _factor_words(factor, pair.grain, pair.want.shape[-1])
    amount = float((pair.got - pair.want).mean())
    centred, way = pair.want - pair.want.mean(), "large" if amount > 0 else "small"
    shifted = math.inf > abs(amount) > 10 * pair.grain and pair.same(pair.got, pair.want + amount)
    if shifted and pair.telling(centred, 1, _LIKELY_ENOUGH):
        yield f"every value is too {way} by the same amount, {abs(amount):.4g}"


def _factor_words(factor: float, grain: float, last: int) -> str:
    size = max(abs(factor), 1 / abs(factor))
    shown = f"{size:.3g}" if abs(size - round(size)) < 3 * grain * size else f"{size:.6g}"
    named = _root(size, grain, last)
    if grain > 1e-4:
        shown, named = f"about {size:.2g}", ""
    what = f"the right one {'times' if abs(factor) > 1 else 'divided by'} {shown}"
    return f"every value is {'minus ' if factor < 0 else ''}{what}{named}"


def _root(size: float, grain: float, last: int) -> str:
    """Name a factor above 1 by small whole numbers, if one name alone fits."""
    # Of a whole number nobody knows whether it is a root.
    roots = (n for n in range(2, 65) if math.isqrt(n) ** 2 != n)
    names = {f"sqrt({n})": math.sqrt(n) for n in roots}
    for n in range(3, 17):
        names |= {f"{n}/{n - 1}": n / (n - 1), f"sqrt({n}/{n - 1})": math.sqrt(n / (n - 1))}
    fits = [name for name, value in names.items() if abs(size / value - 1) < 2 * grain]
    if len(fits) != 1:
        return ""
    said = f"; the last dimension has size {last}" if f"{last}/{last - 1}" in fits[0] else ""
    return f" = {fits[0]}{said}"


def _softmaxed(pair: _Pair) -> Iterator[str]:
    """Find a softmax that is too much, missing, or along the wrong dimension."""
    got, want, rows = pair.got, pair.want, pair.want.size // pair.want.shape[-1]
    is_one, should_be_one = pair.sums_to_one(got, -1), pair.sums_to_one(want, -1)
    scores, right = (want, got) if is_one else (got, want)
    if is_one == should_be_one:
        return
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    parts /= parts.sum(-1, keepdims=True)
    if pair.same(parts, right) and pair.telling(right, rows, _BEYOND_DOUBT):
        one, other = ("it", "the right result") if is_one else ("the right result", "it")
        yield f"{one} is the softmax of {other} along the last dimension"
    for dim in range(want.ndim - 1 if should_be_one and pair.grain <= 1e-3 else 0):
        if want.shape[dim] > 1 and pair.sums_to_one(got, dim):
            ought = pair.along(want.ndim - 1)
            yield f"the values sum to 1 along {pair.along(dim)} instead of {ought}"


def _reordered(pair: _Pair) -> Iterator[str]:
    """Find two dimensions that are swapped, or one along which slices stand in other places."""
    turned = np.swapaxes(pair.want, -1, -2) if pair.square(2) else pair.want
    if pair.same(pair.got, turned) and pair.moved(pair.want, turned):
        yield "it is transposed: the last two dimensions are swapped"
    for dim, count in enumerate(pair.want.shape):
        least = 3 if dim == pair.want.ndim - 1 else 2  # as in `_rearranged`
        if count < least or count * pair.want.size > _MOST_COMPARISONS:
            continue
        got = np.moveaxis(pair.got, dim, 0).reshape(count, -1)
        want = np.moveaxis(pair.want, dim, 0).reshape(count, -1)
        fits, along = ~pair.differ(got[:, None], want).any(-1), pair.along(dim)
        for by, way in ((1, "early"), (-1, "late")):
            shifted = count > 2 and bool(np.diagonal(fits, by).all())
            if shifted and pair.moved(want[1:], want[:-1]):
                yield f"along {along} the right values stand one place too {way}"
        if not bool((fits.sum(0) == 1).all() and (fits.sum(1) == 1).all()):
            continue
        order = fits.argmax(1)
        away = np.flatnonzero(order != np.arange(count)).tolist()
        if len(away) >= least and pair.moved(want[order], want):
            place = f"index {away[0]} holds what belongs at index {int(order[away[0]])}"
            yield f"along {along} the right values stand in another order: {place}"


def _by_rows(pair: _Pair) -> Iterator[str]:
    """Find rows that are right except for a factor, or an amount, of their own."""
    last = pair.want.shape[-1] if pair.want.ndim > 1 else 0
    if last < 3 or pair.want.size == last:
        return
    got, want = pair.got.reshape(-1, last), pair.want.reshape(-1, last)
    norms = np.square(want).sum(1, keepdims=True).clip(1e-30)
    factors = (got * want).sum(1, keepdims=True) / norms
    amounts = (got - want).mean(1, keepdims=True)
    row = f"each row along {pair.along(pair.want.ndim - 1)} is right except for"
    for right, words in (
        (
            want * factors,
            "a factor, not the same in all rows",
        ),
        (
            want + amounts,
            "an amount, not the same in all rows",
        ),
    ):
        if pair.same(got, right) and pair.telling(right, len(got), _BEYOND_DOUBT):
            yield f"{row} {words}"


def _rearranged(pair: _Pair) -> Iterator[str]:
    """Find the right values in other places, as after a reshape that should be a transpose."""
    got, want = pair.got, pair.want
    if pair.grain > 1e-3 or got.ndim < 2 or got.size > _MOST_COMPARISONS:
        return
    # Two weights of a row change places for many reasons, as when their scores have a wrong sign.
    if pair.same(np.sort(got, -1), np.sort(want, -1)):
        return
    same_values = pair.same(np.sort(got, axis=None), np.sort(want, axis=None))
    if same_values and pair.moved(want, got, 2 * _BEYOND_DOUBT):
        yield "the right values are all there, but in other places"


def _cut(pair: _Pair) -> Iterator[str]:
    below, above = pair.want < -10 * pair.grain, pair.want > 10 * pair.grain
    if min(int(below.sum()), int(above.sum())) >= 2 and pair.same(pair.got, pair.want.clip(0)):
        yield "positive values are right, and every negative one has become 0"


def _place_of(pair: _Pair) -> Iterator[str]:
    """Say where the wrong values are, if they keep to one place and all others are right."""
    # What the check itself calls wrong, not more.
    wrong = replace(pair, grain=pair.grain / 2).differ(pair.got, pair.want)
    if not 1 < int(wrong.sum()) < wrong.size:
        return
    if pair.square(3):
        size = wrong.shape[-1]
        above = np.arange(size) - np.arange(size)[:, None]
        parts = {"on": above == 0, "above": above > 0, "below": above < 0}
        parts |= {"one place above": above == 1, "one place below": above == -1}
        for word, part in parts.items():
            if bool((wrong == part).all()):
                yield f"the wrong values are exactly those {word} the diagonal"
    found = []
    for dim, size in enumerate(wrong.shape):
        hit = np.flatnonzero(np.moveaxis(wrong, dim, 0).reshape(size, -1).any(1))
        # Zeros that nothing has touched are no sign of what was understood.
        rest = np.delete(pair.want, hit, dim) if size > 1 and len(hit) == 1 else pair.want[:0]
        if rest.size and bool((rest != rest.flat[0]).any()):
            found.append(f"index {int(hit[0])} of {pair.along(dim)}")
    if found:
        yield f"all wrong values are at {' and '.join(found)}; the others are right"
