"""Which submissions share more than the handout, the solution and most of the class explain.

copydetect reads a text without its comments, layout and names (each becomes a V), and hashes every
run of RUN characters of what is left. Nothing of a submission is imported or run.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
import signal
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from autograder.assignment import Assignment
from autograder.authoring.release import conftest
from autograder.errors import UsageError, repairable
from autograder.given import texts_of
from autograder.grading.entries import discover
from autograder.judge.intake import Rejected
from autograder.judge.limited import take_in_limited
from autograder.reports.terminal import named
from autograder.text import clean, counted

try:
    from copydetect import CodeFingerprint
    from copydetect.utils import get_copied_slices, get_token_coverage
except ModuleNotFoundError:
    raise UsageError("copydetect is not installed: pip install 'gradeformer[similar]'") from None

RUN = 25
THRESHOLD = 75.0
# Of one submission, in characters and seconds of computing; an honest one needs a tenth of both.
MAX_TEXT, _MAX_CPU_S = 200_000, 5.0
# A whole submission is far longer than a part: by chance two share much less of it.
_OF_THE_WHOLE = 0.55
# Below these many characters any share is chance.
_LEAST_PART, _LEAST_WHOLE = 200, 400
# What at least this many have in common, and a third of the class, is no evidence.
_FEW = 4
# Of what is a student's own: from here on it looks as if the solution had been known.
_LIKE_SOLUTION, _LEAST_LIKE = 0.25, 500
# Of an id these many characters are told, and these many ids.
ID, NAMED = 60, 20
_GIVEN = (".py", ".ipynb", ".md")
# Not of an assignment, whose data may be texts.
_KINDS = (*_GIVEN, ".txt")
_FENCED = re.compile(r"^```[^\n]*\n(.*?)(?:^```|\Z)", re.MULTILINE | re.DOTALL)


@dataclass
class Work:
    """One submission: copydetect's fingerprint of each file, components first, and all hashes."""

    id: str
    files: Mapping[str, Any]
    hashes: set[int]

    def leave_out(self, hashes: set[int]) -> int:
        """Take runs that have these hashes out and return how many characters are left."""
        self.hashes = self.hashes - hashes
        for prints in self.files.values():
            prints.hashes = prints.hashes - hashes
            prints.hash_idx = {h: prints.hash_idx[h] for h in prints.hashes}
            size = len(prints.filtered_code)
            prints.token_coverage = int(get_token_coverage(prints.hash_idx, RUN, size))
        return sum(prints.token_coverage for prints in self.files.values())

    def given(
        self, components: Collection[str], hashes: set[int], threshold: float
    ) -> dict[str, Part]:
        """Return the components that are given text, by name, as parts.

        Args:
            components: those of the assignment; what else lies there is nobody's own work.
            hashes: those of the text.
            threshold: the share of a file's own text from which on it is given.
        """
        found = {}
        for name, prints in self.files.items():
            if name not in components:
                continue
            starts, ends = shared(prints, hashes)
            size = int((ends - starts).sum())
            part = Part(name, size / max(1, prints.token_coverage), size)
            if size >= _LEAST_PART and part.share >= threshold:
                found[name] = part
        return found

    def parts(self, both: set[int]) -> list[Part]:
        """Return what is in both of a pair: of the whole, whose name is "", and of each file."""
        sizes = {}
        for name, prints in self.files.items():
            starts, ends = shared(prints, both)
            sizes[name] = int((ends - starts).sum()), prints.token_coverage
        total = sum(size for size, _ in sizes.values()), sum(own for _, own in sizes.values())
        found = {"": total, **sizes}
        return [Part(name, size / max(1, own), size) for name, (size, own) in found.items()]


@dataclass(frozen=True)
class Part:
    """What a pair shares of one component or other file, in characters, as copydetect reads.

    `share` is of the file's own text, in the one of the two that has more in the other; 0 to 1.
    """

    name: str
    share: float
    size: int


@dataclass(frozen=True)
class Pair:
    """Two submissions that share more than they should, of all and of each part.

    The first `striking` of `parts` are above the threshold. Of the files in `given` both are text
    that the handout gives, handed in as own work.
    """

    first: Work
    second: Work
    whole: Part
    parts: tuple[Part, ...]
    striking: int
    given: tuple[Part, ...] = ()

    @property
    def most(self) -> float:
        """The greatest share that is above the threshold, or that of the whole."""
        striking = (*self.parts[: self.striking], *self.given)
        return max([self.whole.share, *(part.share for part in striking)])


@dataclass(frozen=True)
class Findings:
    """How many of a class were compared, and the pairs, the most similar first.

    `notes` say what was left out, or should be known beside the pairs; nothing is escaped.
    """

    assignment: Assignment
    threshold: float
    compared: int
    pairs: list[Pair]
    notes: list[str]


def find(
    batch: Path,
    assignment: Assignment,
    threshold: float = THRESHOLD,
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
    given = _all(map(prints_of, [*_given_by(assignment), *_public(public)]))
    stubs = (assignment.public / f"{name}.py" for name in assignment.totals)
    kept = _all(map(prints_of, _texts(path for path in stubs if path.is_file())))
    pasted = _all(prints_of(ast.unparse(text.module.tree)) for text in texts_of(assignment))
    paths = (assignment.secret / f"{name}.py" for name in assignment.totals)
    solution = _all(map(prints_of, _texts(path for path in paths if path.is_file())))
    tell("reading the submissions")
    works, told = _read(batch, assignment)
    tell(f"comparing {counted(len(works), 'submission')}")
    for work in works:
        work.leave_out(kept)
    handed_in = {
        work.id: work.given(assignment.totals, pasted - kept, threshold / 100) for work in works
    }
    theirs = [work.leave_out(given) for work in works]
    left = [work.leave_out(solution) for work in works]
    counts = Counter(h for work in works for h in work.hashes)
    many = max(_FEW, -(-len(works) // 3))
    common = {h for h, count in counts.items() if count >= many}
    gone = 1 - sum(work.leave_out(common) for work in works) / max(1, sum(left))
    notes = []
    if gone >= 0.005:
        share = f"{100 * gone:.0f} % of what is theirs"
        notes.append(f"left out, since a third of the class has it: {share}")
    like = [
        work.id
        for work, size, rest in zip(works, theirs, left, strict=True)
        if size - rest >= max(_LEAST_LIKE, _LIKE_SOLUTION * size)
    ]
    if like:
        notes.append(f"much as in the reference solution: {named(like, NAMED)}")
    found = (
        _weigh(one, two, threshold / 100, _both(handed_in[one.id], handed_in[two.id]))
        for one, two in combinations(works, 2)
    )
    pairs = [pair for pair in found if pair is not None]
    pairs.sort(key=lambda p: (-p.most, -p.whole.size, p.first.id, p.second.id))
    return Findings(assignment, threshold, len(works), pairs, [*notes, *told])


def shared(prints: Any, hashes: Collection[int]) -> Any:
    """Return where a file has what has these hashes, in its text as copydetect reads it: (2, n)."""
    places = [place for h in prints.hashes & hashes for place in prints.hash_idx[h]]
    return get_copied_slices(np.array(places, dtype=int), RUN)


def _both(one: Mapping[str, Part], two: Mapping[str, Part]) -> tuple[Part, ...]:
    """Return the given text that both of two hand in, as the one of which less is given."""
    return tuple(min(one[name], two[name], key=_weight) for name in one if name in two)


def _weigh(one: Work, two: Work, threshold: float, given: tuple[Part, ...]) -> Pair | None:
    both = one.hashes & two.hashes
    if len(both) * RUN < _LEAST_PART and not given:
        return None
    # Of each part the side of which more is in the other.
    found: dict[str, Part] = {}
    for part in (*one.parts(both), *two.parts(both)):
        found[part.name] = max(part, found.get(part.name, part), key=_weight)
    whole = found.pop("")
    striking = [p for p in found.values() if p.size >= _LEAST_PART and p.share >= threshold]
    whole_too = whole.size >= _LEAST_WHOLE and whole.share >= threshold * _OF_THE_WHOLE
    if not (striking or given or whole_too):
        return None
    striking.sort(key=lambda part: (-part.share, -part.size, part.name))
    rest = [part for part in found.values() if part.size and part not in striking]
    rest.sort(key=lambda part: (-part.size, part.name))
    return Pair(one, two, whole, (*striking, *rest), len(striking), given)


def _weight(part: Part) -> tuple[bool, float, int]:
    least = _LEAST_PART if part.name else _LEAST_WHOLE
    return part.size >= least, part.share, part.size


def _read(batch: Path, assignment: Assignment) -> tuple[list[Work], list[str]]:
    """Return the submissions, and what was not read, or not whole."""
    components = list(assignment.totals)
    listing = discover(batch, assignment.name, components)
    notes = [
        f"not compared: {clean(' and '.join(paths[:3]), ID)}: they are both of "
        f"{clean(name, ID)!r}: keep one of them"
        for name, paths in listing.doubled.items()
    ]
    works = []
    for entry in listing.entries:
        try:
            files = take_in_limited(entry.path, components).files
            with _soon():
                work, cut = _fingerprinted(entry.id, files, components)
        except (Rejected, OSError) as error:
            why = f"it cannot be read ({error.strerror})" if isinstance(error, OSError) else error
            notes.append(f"not compared: {clean(entry.id, ID)}: {clean(str(why))}")
        else:
            works.append(work)
            if cut:
                names = clean(", ".join(cut))
                notes.append(f"compared in part, for its size: {clean(entry.id, ID)}: {names}")
    if len(works) < 2:
        raise UsageError(
            f"{batch} holds {counted(len(works), 'submission')} to read, and it takes two to "
            "compare: name the folder of the whole class"
        )
    return works, notes


def _fingerprinted(
    name: str, files: Mapping[str, bytes], components: Collection[str]
) -> tuple[Work, list[str]]:
    """Return a submission, and which of its files were too long."""
    first = {f"{component}.py": component for component in components}
    found, cut, left = {}, [], MAX_TEXT
    for file in [*filter(files.__contains__, first), *sorted(files.keys() - first.keys())]:
        whole = decoded(files[file])
        text = whole[:left]
        found[first.get(file, file)] = prints_of(text)
        left -= len(text)
        if text != whole:
            cut.append(file)
    return Work(name, found, _all(found.values())), cut


@contextlib.contextmanager
def _soon() -> Iterator[None]:
    """Give up on a submission that is made to take a reader of Python very long."""

    def stop(*_: object) -> NoReturn:
        raise Rejected("it takes too long to read as Python; look at it by hand")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MAX_CPU_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def prints_of(text: str) -> Any:
    """Return copydetect's fingerprint of a text, with every run of it."""
    found = CodeFingerprint("text.py", RUN, 1, language="python", fp=io.StringIO(text))
    if len(found.offsets):
        # Of the name of a class it has the length alone; and it takes no count of lines in front.
        column = found.offsets[:, 1]
        np.maximum.accumulate(column, out=column)
        column += len(text) - len(text.lstrip("\n"))
    return found


def _all(prints: Iterable[Any]) -> set[int]:
    return set().union(*(one.hashes for one in prints))


def _given_by(assignment: Assignment) -> Iterator[str]:
    """Yield all that students are given: handout, stubs, tests, stand-ins."""
    yield from _texts(_files(assignment.public, _GIVEN))
    # One that cannot be released yet has none.
    with contextlib.suppress(OSError, UnicodeDecodeError):
        yield conftest(assignment)


def _public(places: Iterable[Path]) -> Iterator[str]:
    for place in places:
        if not place.exists():
            raise UsageError(f"--public {place} does not exist: give a folder or file of code")
        with repairable(f"--public {place} cannot be read", "give what you can read"):
            found = list(_texts(_files(place, _KINDS) if place.is_dir() else [place]))
        if not found:
            raise UsageError(f"--public {place} holds no code: give {', '.join(_KINDS)} files")
        yield from found


def _files(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.suffix in kinds and p.is_file())


def _texts(paths: Iterable[Path]) -> Iterator[str]:
    """Yield the code of each file: of a notebook its cells, of a page the fenced blocks."""
    for path in paths:
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
