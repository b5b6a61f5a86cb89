"""Which submissions share more than the handout, the solution and most of the class explain.

copydetect reads a text without its comments, layout and names (each becomes a V), and hashes every
run of RUN characters of what is left. Nothing of a submission is imported or run.
"""

from __future__ import annotations

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


@dataclass(frozen=True)
class Work:
    """One submission: copydetect's fingerprint of each file, components first, and all hashes."""

    id: str
    files: Mapping[str, Any]
    hashes: set[int]


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

    The first `striking` of `parts` are above the threshold.
    """

    first: Work
    second: Work
    whole: Part
    parts: tuple[Part, ...]
    striking: int

    @property
    def most(self) -> float:
        """The greatest share that is above the threshold, or that of the whole."""
        return max([self.whole.share, *(part.share for part in self.parts[: self.striking])])


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
    given = _hashes([*_given_by(assignment), *_public(public)])
    paths = (assignment.secret / f"{name}.py" for name in assignment.totals)
    solution = _hashes(_texts(path for path in paths if path.is_file()))
    tell("reading the submissions")
    read, told = _read(batch, assignment)
    tell(f"comparing {counted(len(read), 'submission')}")
    theirs = {name: _leave_out(files, given) for name, files in read.items()}
    left = {name: _leave_out(files, solution) for name, files in read.items()}
    counts = Counter(h for files in read.values() for h in _all(files))
    many = max(_FEW, -(-len(read) // 3))
    common = {h for h, count in counts.items() if count >= many}
    gone = 1 - sum(_leave_out(f, common) for f in read.values()) / max(1, sum(left.values()))
    notes = []
    if gone >= 0.005:
        share = f"{100 * gone:.0f} % of what is theirs"
        notes.append(f"left out, since a third of the class has it: {share}")
    like = [
        name
        for name, size in theirs.items()
        if size - left[name] >= max(_LEAST_LIKE, _LIKE_SOLUTION * size)
    ]
    if like:
        notes.append(f"much as in the reference solution: {named(like, NAMED)}")
    works = [Work(name, files, _all(files)) for name, files in read.items()]
    found = (_weigh(one, two, threshold / 100) for one, two in combinations(works, 2))
    pairs = [pair for pair in found if pair is not None]
    pairs.sort(key=lambda p: (-p.most, -p.whole.size, p.first.id, p.second.id))
    return Findings(assignment, threshold, len(works), pairs, [*notes, *told])


def shared(prints: Any, hashes: Collection[int]) -> Any:
    """Return where a file has what has these hashes, in its text as copydetect reads it: (2, n)."""
    places = [place for h in prints.hashes & hashes for place in prints.hash_idx[h]]
    return get_copied_slices(np.array(places, dtype=int), RUN)


def _weigh(one: Work, two: Work, threshold: float) -> Pair | None:
    both = one.hashes & two.hashes
    if len(both) * RUN < _LEAST_PART:
        return None
    sides = _side(one, both), _side(two, both)
    whole = _best([side[""] for side in sides], _LEAST_WHOLE)
    names = {name for side in sides for name in side if name}
    found = [_best([s[name] for s in sides if name in s], _LEAST_PART) for name in names]
    striking = [part for part in found if part.size >= _LEAST_PART and part.share >= threshold]
    if not striking and (whole.size < _LEAST_WHOLE or whole.share < threshold * _OF_THE_WHOLE):
        return None
    striking.sort(key=lambda part: (-part.share, -part.size, part.name))
    rest = [part for part in found if part.size and part not in striking]
    rest.sort(key=lambda part: (-part.size, part.name))
    return Pair(one, two, whole, (*striking, *rest), len(striking))


def _side(work: Work, both: set[int]) -> dict[str, Part]:
    """Return what a submission shares of each file, and by the name "" of the whole."""
    sizes, own = {"": 0}, {"": 0}
    for name, prints in work.files.items():
        starts, ends = shared(prints, both)
        sizes[name], own[name] = int((ends - starts).sum()), prints.token_coverage
        sizes[""] += sizes[name]
        own[""] += own[name]
    return {name: Part(name, sizes[name] / max(1, own[name]), sizes[name]) for name in sizes}


def _best(parts: Iterable[Part], least: int) -> Part:
    return max(parts, key=lambda part: (part.size >= least, part.share, part.size))


def _read(batch: Path, assignment: Assignment) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return fingerprints by submission and file, and what was not read, or not whole."""
    components = list(assignment.totals)
    listing = discover(batch, assignment.name, components)
    notes = [
        f"not compared: {clean(' and '.join(paths[:3]), ID)}: they are both of "
        f"{clean(name, ID)!r}: keep one of them"
        for name, paths in listing.doubled.items()
    ]
    read: dict[str, dict[str, Any]] = {}
    for entry in listing.entries:
        try:
            texts = {
                name: decoded(data)
                for name, data in take_in_limited(entry.path, components).files.items()
            }
            with _soon():
                read[entry.id], cut = _prints(texts, components)
        except (Rejected, OSError) as error:
            why = f"it cannot be read ({error.strerror})" if isinstance(error, OSError) else error
            notes.append(f"not compared: {clean(entry.id, ID)}: {clean(str(why))}")
        else:
            if cut:
                names = clean(", ".join(cut))
                notes.append(f"compared in part, for its size: {clean(entry.id, ID)}: {names}")
    if len(read) < 2:
        raise UsageError(
            f"{batch} holds {counted(len(read), 'submission')} to read, and it takes two to "
            "compare: name the folder of the whole class"
        )
    return read, notes


def _prints(
    texts: Mapping[str, str], components: Collection[str]
) -> tuple[dict[str, Any], list[str]]:
    """Return the fingerprint of each file, components first, and which were too long."""
    first = {f"{name}.py": name for name in components if f"{name}.py" in texts}
    files, cut, left = {}, [], MAX_TEXT
    for name in [*first, *sorted(texts.keys() - first.keys())]:
        text = texts[name][:left]
        files[first.get(name, name)] = prints_of(text)
        left -= len(text)
        if text != texts[name]:
            cut.append(name)
    return files, cut


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


def _leave_out(files: Mapping[str, Any], hashes: Collection[int]) -> int:
    """Take what has these hashes out of a submission and return how many characters are left."""
    for prints in files.values():
        for h in prints.hashes.intersection(hashes):
            prints.hashes.remove(h)
            del prints.hash_idx[h]
        size = len(prints.filtered_code)
        prints.token_coverage = int(get_token_coverage(prints.hash_idx, RUN, size))
    return sum(prints.token_coverage for prints in files.values())


def _all(files: Mapping[str, Any]) -> set[int]:
    return set().union(*(prints.hashes for prints in files.values()))


def _hashes(texts: Iterable[str]) -> set[int]:
    return set().union(*(prints_of(text).hashes for text in texts))


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
