"""Which submissions share more than the handout, the solution and most of the class explain.

Pygments reads a file: comments and layout are dropped, and every name becomes one letter. What two
submissions share are runs of RUN characters of that. Nothing of a submission is imported or run.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import chain, combinations
from pathlib import Path
from typing import Any

from pygments.lexers.python import PythonLexer
from pygments.token import Comment, Name, String, Text

from autograder.assignment import Assignment
from autograder.authoring.release import conftest
from autograder.errors import UsageError
from autograder.grading.entries import discover
from autograder.judge.intake import Rejected
from autograder.judge.limited import take_in_limited
from autograder.text import clean

RUN = 25
# Of one submission, in characters and seconds of computing; an honest one needs a tenth of both.
MAX_TEXT, _MAX_CPU_S = 200_000, 5.0
# Below these many characters any share is chance; of a short part nearly all must be shared.
_LEAST_PART, _LEAST_WHOLE, _SHORT = 160, 400, 300
# A whole submission is far longer than a part: by chance two share much less of it.
_OF_THE_WHOLE = 0.55
# What at least this many have in common, and a third of the class, is no evidence.
_FEW = 4
# So much of one's own text in the solution looks as if it had been known.
_LIKE_SOLUTION, _LEAST_LIKE = 0.25, 500
# Of an id these many characters are told.
ID = 60
_KINDS = (".py", ".ipynb", ".md", ".txt")
_FENCED = re.compile(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.DOTALL)


class File:
    """A file, the place in it of each character that is compared, and where each run begins."""

    def __init__(self, text: str, until: float = math.inf) -> None:
        self.text, self.places, code = text, list[int](), ""
        for place, kind, token in PythonLexer(stripnl=False).get_tokens_unprocessed(text):
            letter = _letter(kind)
            code += token if letter is None else letter
            self.places += range(place, place + len(code) - len(self.places))
            if time.process_time() > until:
                raise Rejected("it takes too long to read as Python; look at it by hand")
        self.runs: dict[int, list[int]] = {}
        for start in range(len(code) - RUN + 1):
            self.runs.setdefault(hash(code[start : start + RUN]), []).append(start)

    def passages(self, runs: Set[int]) -> list[tuple[int, int]]:
        """Return begin and end of each passage that consists of these runs."""
        found: list[tuple[int, int]] = []
        for start in sorted(start for run in runs & self.runs.keys() for start in self.runs[run]):
            begin = found.pop()[0] if found and start < found[-1][1] else start
            found.append((begin, start + RUN))
        return found

    def size(self, runs: Set[int]) -> int:
        """Return how many characters consist of these runs."""
        return sum(end - begin for begin, end in self.passages(runs))


@cache
def _letter(kind: Any) -> str | None:
    """Return what stands for a token, "" where it does not count; None: the token itself."""
    if kind in Text or kind in Comment:
        return ""
    if kind in (Name, Name.Variable, Name.Attribute):
        return "V"
    kinds = {"F": Name.Function, "O": Name.Class, "S": String}
    return next((letter for letter, some in kinds.items() if kind in some), None)


@dataclass(frozen=True)
class Work:
    """A submission: its files, components first, and the runs that count as its own."""

    id: str
    files: Mapping[str, File]
    own: Set[int]

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many characters of each file are its own, and, without a name, of all."""
        return self.shared(self.own)

    def shared(self, runs: Set[int]) -> dict[str, int]:
        """Return how many characters of each file consist of these runs, and of all."""
        sizes = {name: file.size(runs) for name, file in self.files.items()}
        return {**sizes, "": sum(sizes.values())}


@dataclass(frozen=True)
class Part:
    """What a pair shares of a component or other file, or, without a name, of everything.

    `share` is of the file's own text, in the one of the two that has more in the other; 0 to 1.
    """

    name: str
    share: float
    size: int

    @property
    def rank(self) -> tuple[bool, float, int]:
        """The order of parts: one of enough text comes before one of less."""
        return self.size >= (_LEAST_PART if self.name else _LEAST_WHOLE), self.share, self.size

    def strikes(self, threshold: float) -> bool:
        """Return whether so much is shared that a person should look at it."""
        if not self.name:
            threshold *= _OF_THE_WHOLE
        elif self.size < _SHORT:
            threshold = (1 + threshold) / 2
        return self.rank >= (True, threshold, 0)


@dataclass(frozen=True)
class Pair:
    """Two submissions that share more than they should; the first `striking` parts say where."""

    first: Work
    second: Work
    whole: Part
    parts: Sequence[Part]
    striking: int

    @property
    def most(self) -> float:
        """The greatest share that is above the threshold, or that of the whole."""
        return max([self.whole.share, *(part.share for part in self.parts[: self.striking])])


@dataclass(frozen=True)
class Findings:
    """How many submissions were compared, the pairs, the most similar first, and notes."""

    assignment: Assignment
    threshold: float
    compared: int
    pairs: list[Pair]
    notes: list[str]


def find(
    batch: Path,
    assignment: Assignment,
    threshold: float = 75.0,
    public: Iterable[Path] = (),
    tell: Callable[[str], None] = lambda words: None,
) -> Findings:
    """Compare the submissions in a folder.

    Args:
        threshold: the percentage of a component's own text from which on two are similar; a whole
            submission is from 55 % of that on.
        public: files and folders of code that anybody may use.
        tell: called with each stage, in words.

    Raises:
        UsageError: `batch` holds no class, or something public is not there.
    """
    tell("reading what is given and public")
    given = _runs([*_texts(assignment.public), *_stand_ins(assignment), *_public(public)])
    paths = (assignment.secret / f"{name}.py" for name in assignment.totals)
    solution = _runs(text for path in paths if path.is_file() for text in _texts(path))
    tell("reading the submissions")
    read, skipped = _read(batch, assignment)
    tell(f"comparing {len(read)} submissions")
    theirs = [replace(work, own=work.own - given) for work in read]
    counts = Counter(chain(*(work.own - solution for work in theirs)))
    many = max(_FEW, -(-len(read) // 3))
    common = {run for run, count in counts.items() if count >= many}
    works = [replace(work, own=work.own - solution - common) for work in theirs]
    notes, like, before = [], [], 0
    for work in theirs:
        size, left = work.sizes[""], work.shared(work.own - solution)[""]
        before += left
        if size - left >= max(_LEAST_LIKE, _LIKE_SOLUTION * size):
            like.append(clean(work.id, ID))
    gone = 1 - sum(work.sizes[""] for work in works) / max(1, before)
    if gone >= 0.005:
        notes.append(f"left out, since a third of the class has it: {gone:.0%} of what is theirs")
    if like:
        notes.append(f"much as in the reference solution: {named(like, 20)}")
    weighed = (_weigh(one, two, threshold / 100) for one, two in combinations(works, 2))
    pairs = [pair for pair in weighed if pair is not None]
    pairs.sort(key=lambda p: (-p.most, -p.whole.size, p.first.id, p.second.id))
    return Findings(assignment, threshold, len(works), pairs, [*notes, *skipped])


def _weigh(one: Work, two: Work, threshold: float) -> Pair | None:
    """Return two submissions as a pair if they share more than they should."""
    both = one.own & two.own
    if len(both) * RUN < _LEAST_PART:
        return None
    found: dict[str, Part] = {}
    for work in (one, two):
        for name, size in work.shared(both).items():
            if size:
                part = Part(name, size / work.sizes[name], size)
                found[name] = max(found.get(name, part), part, key=lambda part: part.rank)
    whole = found.pop("")
    parts = sorted(found.values(), key=lambda p: (not p.strikes(threshold), -p.share, -p.size))
    striking = sum(part.strikes(threshold) for part in parts)
    return Pair(one, two, whole, parts, striking) if striking or whole.strikes(threshold) else None


def _read(batch: Path, assignment: Assignment) -> tuple[list[Work], list[str]]:
    """Return the submissions with all of their runs, and what was not read, or not whole."""
    components = [f"{name}.py" for name in assignment.totals]
    listing = discover(batch, assignment.name, list(assignment.totals))
    notes = [
        f"not compared: {clean(' and '.join(paths[:3]), ID)}: they are both of "
        f"{clean(name, ID)!r}: keep one of them"
        for name, paths in listing.doubled.items()
    ]
    works = []
    for entry in listing.entries:
        files, cut, left, until = {}, [], MAX_TEXT, time.process_time() + _MAX_CPU_S
        try:
            texts = {name: decoded(data) for name, data in take_in_limited(entry.path).items()}
            for name in sorted(texts, key=[*components, *sorted(texts)].index):
                short = name.removesuffix(".py") if name in components else name
                files[short] = File(texts[name][:left], until)
                left -= len(files[short].text)
                cut += [name] if files[short].text != texts[name] else []
        except (Rejected, OSError) as error:
            why = f"it cannot be read ({error.strerror})" if isinstance(error, OSError) else error
            notes.append(f"not compared: {clean(entry.id, ID)}: {clean(str(why))}")
            continue
        works.append(Work(entry.id, files, set(chain(*(file.runs for file in files.values())))))
        if cut:
            names = clean(", ".join(cut))
            notes.append(f"compared in part, for its size: {clean(entry.id, ID)}: {names}")
    if len(works) < 2:
        raise UsageError(
            f"{batch} holds {len(works)} submissions that can be read, and to compare takes two: "
            "name the folder of the whole class"
        )
    return works, notes


def _runs(texts: Iterable[str]) -> set[int]:
    return {run for text in texts for run in File(text).runs}


def _stand_ins(assignment: Assignment) -> Iterator[str]:
    """Yield what a release writes; an assignment that cannot be released yet has none."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        yield conftest(assignment)


def _public(places: Iterable[Path]) -> Iterator[str]:
    for place in places:
        try:
            found = list(_texts(place))
        except OSError as error:
            raise UsageError(f"--public {place} cannot be read: {error.strerror}") from error
        if not found:
            raise UsageError(f"--public {place} holds no code: give {', '.join(_KINDS)} files")
        yield from found


def _texts(place: Path) -> Iterator[str]:
    """Yield the code of each file: of a notebook its cells, of a page the fenced blocks."""
    found = (p for p in sorted(place.rglob("*")) if p.suffix in _KINDS and p.is_file())
    for path in found if place.is_dir() else [place]:
        text = decoded(path.read_bytes())
        if path.suffix == ".ipynb":
            # A damaged one is text.
            with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
                cells = json.loads(text)["cells"]
                text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        yield "\n".join(_FENCED.findall(text)) if path.suffix == ".md" else text


def decoded(data: bytes) -> str:
    """Return a file's text whatever its bytes are, its lines ended by `\\n`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def named(names: Sequence[str], most: int) -> str:
    """Return names as words; of many, so many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
