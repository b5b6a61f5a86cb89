"""Which pairs of a class share more than chance, the handout and everybody explain."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from autograder.similar.prints import K
from autograder.similar.work import Work

Mask = NDArray[np.bool_]

THRESHOLD = 75.0
# A whole submission is far longer than a part: by chance two share much less of it.
_OF_THE_WHOLE = 0.4
# Below these many words any share is chance.
_LEAST_PART, _LEAST_WHOLE = 40, 80
# A part of fewer words must share nearly all of them: half of what may else be missing.
_SHORT = 80
# What at least this many have in common, and a third of the class, is no evidence.
_FEW = 4
_AT_ONCE = 4_000_000
# Of what is a student's own: from here on it looks as if the solution had been known.
_LIKE_SOLUTION, _LEAST_LIKE = 0.6, 150


@dataclass(frozen=True)
class Part:
    """What a pair shares of one component, or of a file beside them.

    Attributes:
        name: the component's, or the file's.
        share: of its own words, in the one of the two that has more in the other; 0 to 1.
        words: how many these are.
    """

    name: str
    share: float
    words: int


@dataclass(frozen=True)
class Pair:
    """Two submissions that share more than they should.

    Attributes:
        first, second: their places in the class.
        share: of the whole submission, of the one that has more in the other; 0 to 1.
        words: how many words these are.
        parts: what they share by component; those above the threshold first.
        striking: how many of `parts` are above it.
    """

    first: int
    second: int
    share: float
    words: int
    parts: tuple[Part, ...]
    striking: int

    @property
    def most(self) -> float:
        """The greatest share that is above the threshold, or that of the whole."""
        return max([self.share, *(part.share for part in self.parts[: self.striking])])


@dataclass(frozen=True)
class Comparison:
    """A class, compared.

    Attributes:
        pairs: the most similar first.
        common: how much of what is students' own much of the class has, so that it is left out;
            0 to 1.
        like_solution: places of submissions that are largely the solution, word for word.
    """

    pairs: list[Pair]
    common: float
    like_solution: list[int]


class Class:
    """Fingerprints of a class.

    Args:
        works: the submissions.
        given: fingerprints of what students were given; sorted.
        solutions: those of the solutions; sorted.
        components: their names.
    """

    def __init__(
        self,
        works: Sequence[Work],
        given: NDArray[np.uint64],
        solutions: NDArray[np.uint64],
        components: Collection[str],
    ) -> None:
        self._works = works
        self._components = components
        known = np.union1d(given, solutions)
        unknown = [w.begins & ~_among(w.prints, known) for w in works]
        prints = [np.unique(w.prints[u]) for w, u in zip(works, unknown, strict=True)]
        owners = np.repeat(np.arange(len(works)), [len(p) for p in prints])
        every = np.concatenate([np.zeros(0, np.uint64), *prints])
        distinct, places, counts = np.unique(every, return_inverse=True, return_counts=True)
        many = max(_FEW, -(-len(works) // 3))
        common = distinct[counts >= many]
        shared = (counts >= 2) & (counts < many)
        # Numbers of the fingerprints that are evidence; the last stands for all others.
        numbers = np.where(shared, np.cumsum(shared) - 1, shared.sum())
        self._count = int(shared.sum())
        self._postings = numbers[places], owners
        self._numbers: list[NDArray[np.int64]] = []
        self._given: list[Mask] = []
        self._own: list[Mask] = []
        self._bounds = [self._parts(work) for work in works]
        self._common = self._all = 0
        self.like_solution: list[int] = []
        for place, (work, new) in enumerate(zip(works, unknown, strict=True)):
            mine = np.full(len(work.prints), self._count, dtype=np.int64)
            mine[new] = numbers[np.searchsorted(distinct, work.prints[new])]
            known_words = covered(work.begins & ~new)
            common_words = covered(new & _among(work.prints, common)) & ~known_words
            self._numbers.append(mine)
            self._given.append(known_words)
            self._own.append(~known_words & ~common_words)
            self._common += int(common_words.sum())
            self._all += int((~known_words).sum())
            told = covered(work.begins & _among(work.prints, given))
            solved = known_words & ~told
            own, like = int((~told).sum()), int(solved.sum())
            if like >= max(_LEAST_LIKE, _LIKE_SOLUTION * own):
                self.like_solution.append(place)

    def compare(self, threshold: float = THRESHOLD) -> Comparison:
        """Return the pairs above a threshold, in percent of a component's own words.

        A whole submission is above it from two fifths of that on.
        """
        pairs = []
        marked = np.zeros(self._count + 1, dtype=np.bool_)
        last = -1
        for first, second in self._candidates():
            if first != last:
                marked[:] = False
                marked[self._numbers[first]] = True
                marked[self._count] = False
                last = first
            pair = self._pair(first, second, marked, threshold / 100)
            if pair is not None:
                pairs.append(pair)
        pairs.sort(key=lambda p: (-p.most, -p.words, p.first, p.second))
        return Comparison(pairs, self._common / max(1, self._all), self.like_solution)

    def shared(self, first: int, second: int) -> Mask:
        """Return where in the first submission runs begin that the second has, too: (n,)."""
        mine, others = self._numbers[first], self._numbers[second]
        found: Mask = (mine < self._count) & np.isin(mine, others)
        return found

    def number(self, place: int) -> NDArray[np.int64]:
        """Return the numbers of the runs that begin at the words of a submission: (n,)."""
        return self._numbers[place]

    def given(self, place: int) -> Mask:
        """Return which words of a submission are its teacher's, or the solution's: (n,)."""
        return self._given[place]

    def _candidates(self) -> Iterator[tuple[int, int]]:
        """Yield pairs that share enough fingerprints to be worth a look, in order."""
        numbers, owners = self._postings
        evidence = numbers < self._count
        numbers, owners = numbers[evidence], owners[evidence]
        order = np.lexsort((owners, numbers))
        owners = owners[order]
        sizes = np.bincount(numbers, minlength=self._count)
        starts = np.cumsum(sizes) - sizes
        n = len(self._works)
        total: dict[int, int] = {}
        for size in np.unique(sizes[sizes > 1]):
            one, other = np.triu_indices(size, 1)
            groups = starts[sizes == size]
            step = max(1, _AT_ONCE // len(one))
            for begin in range(0, len(groups), step):
                rows = owners[groups[begin : begin + step, None] + np.arange(size)]
                codes, counts = np.unique(rows[:, one] * n + rows[:, other], return_counts=True)
                for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
                    total[code] = total.get(code, 0) + count
        least = -(-_LEAST_PART // K)
        for code in sorted(code for code, count in total.items() if count >= least):
            yield divmod(code, n)

    def _pair(self, first: int, second: int, marked: Mask, threshold: float) -> Pair | None:
        """Weigh one pair; `marked` are the fingerprints of the first."""
        there = np.zeros(self._count + 1, dtype=np.bool_)
        there[self._numbers[second]] = True
        there[self._count] = False
        sides = [
            self._weigh(first, there[self._numbers[first]]),
            self._weigh(second, marked[self._numbers[second]]),
        ]
        parts: dict[str, Part] = {}
        wholes = []
        for side in sides:
            same = sum(words for words, _ in side.values())
            own = sum(size for _, size in side.values())
            wholes.append((same / max(1, own), same))
            for name, (words, size) in side.items():
                part = Part(name, words / max(1, size), words)
                before = parts.get(name)
                if words and (before is None or _rank(part) > _rank(before)):
                    parts[name] = part
        enough = [whole for whole in wholes if whole[1] >= _LEAST_WHOLE]
        share, words = max(enough, default=max(wholes))
        striking = [part for part in parts.values() if _strikes(part, threshold)]
        if not striking and not (enough and share >= threshold * _OF_THE_WHOLE):
            return None
        striking.sort(key=lambda part: (-part.share, -part.words, part.name))
        rest = [part for part in parts.values() if part not in striking]
        rest.sort(key=lambda part: (-part.words, part.name))
        return Pair(first, second, share, words, (*striking, *rest), len(striking))

    def _parts(self, work: Work) -> tuple[list[int], list[int], list[str]]:
        """Return where the words of every file begin and end, and what it is called here."""
        names = []
        for text in work.texts:
            name = text.name.removesuffix(".py")
            names.append(name if name in self._components else text.name)
        firsts = [text.first for text in work.texts]
        return firsts, [text.first + text.count for text in work.texts], names

    def _weigh(self, place: int, begins: Mask) -> dict[str, tuple[int, int]]:
        """Return by part how many words are shared, and how many are its own."""
        same = covered(begins) & ~self._given[place]
        own = self._own[place] | same
        counts = np.zeros((2, len(same) + 1), dtype=np.int64)
        np.cumsum((same, own), axis=1, out=counts[:, 1:])
        firsts, lasts, names = self._bounds[place]
        words, sizes = (counts[:, lasts] - counts[:, firsts]).tolist()
        return dict(zip(names, zip(words, sizes, strict=True), strict=True))


def _rank(part: Part) -> tuple[bool, float, int]:
    return part.words >= _LEAST_PART, part.share, part.words


def _strikes(part: Part, threshold: float) -> bool:
    needed = threshold if part.words >= _SHORT else (1 + threshold) / 2
    return part.words >= _LEAST_PART and part.share >= needed


def covered(begins: Mask) -> Mask:
    """Return which words lie in runs that begin at the marked ones: (n,)."""
    if not begins.any():
        return begins
    steps = np.zeros(len(begins) + K, dtype=np.int32)
    places = np.flatnonzero(begins)
    steps[places] += 1
    steps[places + K] -= 1
    found: Mask = np.cumsum(steps)[: len(begins)] > 0
    return found


def _among(prints: NDArray[np.uint64], some: NDArray[np.uint64]) -> Mask:
    """Tell which fingerprints are among some sorted ones: (n,)."""
    if not len(some):
        return np.zeros(len(prints), dtype=np.bool_)
    places = np.minimum(np.searchsorted(some, prints), len(some) - 1)
    found: Mask = some[places] == prints
    return found
