"""The oracle: do two commits give every submission the same marks, names and messages?

    python -m tests.benchmarks.oracle [BEFORE] [--every N] [--corpus NAME ...] [--tier TIER ...]

Grades the corpora (corpora.py) with the code and the suites of BEFORE and of this working tree,
each in a checkout of its own with a cache of its own, and compares the result files. A difference
names the submission, the criterion and both values. What somebody expects to change is listed
beforehand in expected_moves.toml, with the reason; the exit code is 1 for any other difference, and
for what is listed and does not happen.

Results are kept below `.oracle/` under the hash of the tree and of the corpus: a run that was ended
goes on where it stopped, and a commit is graded once. What differs is graded once more by BEFORE;
a submission that then differs from itself is called unsteady.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tests.benchmarks.corpora import Corpus, corpora
from tests.conftest import ROOT, make_project, set_limits

KEPT = ROOT / ".oracle"
EXPECTED = Path(__file__).with_name("expected_moves.toml")
TIERS = ("tier1", "tier2", "tier3")
# What is compared of a result, by what it is: nothing else is.
SUBMISSION = {"mark": ("status", "score", "max_score", "review"), "word": ("message",)}
COMPONENT = {
    "mark": ("score", "max_score", "status"),
    "name": ("misconceptions", "either", "stand_ins"),
    "word": ("message", "views"),
}
CRITERION = {
    "mark": ("score", "max_score", "passed", "outcome", "visibility", "cases", "passed_cases"),
    "word": ("title", "message"),
}
KINDS = ("mark", "name", "word")
_PRINTED = 60
# Characters of a value: so many of it, and so many of these before it parts from the other.
_SHOWN, _BEFORE = 200, 60


@dataclass(frozen=True)
class Difference:
    """One value that two results have differently."""

    kind: str
    submission: str
    what: str
    before: Any
    after: Any

    def __str__(self) -> str:
        one, other = repr(self.before), repr(self.after)
        # Of what is long, from shortly before where it parts.
        ends = zip_longest(one, other)
        same = next((n for n, (mine, theirs) in enumerate(ends) if mine != theirs), 0)
        same = max(0, same - _BEFORE)
        lead = "..." if same else ""
        one, other = (lead + text[same : same + _SHOWN] for text in (one, other))
        return f"{self.submission}: {self.what}: {one} -> {other}"


@dataclass
class Expected:
    """Differences that somebody listed beforehand; `where` and `what` are patterns."""

    where: str
    what: str
    reason: str
    found: int = 0

    def covers(self, corpus: str, difference: Difference) -> bool:
        """Say whether a difference is one of these."""
        place = f"{corpus}/{difference.submission}"
        return fnmatch.fnmatch(place, self.where) and fnmatch.fnmatch(difference.what, self.what)


@dataclass
class Compared:
    """What the comparison of one corpus came to: differences that are steady, and the others."""

    results: int = 0
    values: int = 0
    differences: list[Difference] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)

    def differ(self, kind: str) -> int:
        """Return in how many results something of a kind differs."""
        return len({found.submission for found in self.differences if found.kind == kind})


def facts(result: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield what is compared of a result: its kind, where it stands, and the value."""

    def of(where: str, found: dict[str, Any], keys: dict[str, tuple[str, ...]]) -> Any:
        for kind, names in keys.items():
            for name in names:
                # A field that an older commit does not have yet is as good as an empty one.
                value = found.get(name)
                # Sums in binary have digits that nobody wrote.
                value = round(value, 4) if isinstance(value, float) else value
                yield kind, f"{where}{name}", None if value in ("", []) else value

    yield from of("", result, SUBMISSION)
    for name, component in result["components"].items():
        yield from of(f"{name} ", component, COMPONENT)
        for criterion in component["criteria"]:
            yield from of(f"{criterion['id']} ", criterion, CRITERION)


def differences(name: str, before: dict[str, Any], after: dict[str, Any]) -> list[Difference]:
    """Return what differs between two results of one submission."""
    one = {what: (kind, value) for kind, what, value in facts(before)}
    other = {what: (kind, value) for kind, what, value in facts(after)}
    found = []
    for what in dict.fromkeys([*one, *other]):
        kind = (one.get(what) or other[what])[0]
        old, new = (side.get(what, (kind, None))[1] for side in (one, other))
        if old != new:
            found.append(Difference(kind, name, what, old, new))
    return found


class Checkout:
    """A tree of the repository, laid out, with the results that it gives.

    Args:
        tree: the name of the tree, as git has it.
    """

    def __init__(self, tree: str) -> None:
        self.folder = KEPT / tree
        self.root = self.folder / "checkout"
        if not (self.folder / "whole").exists():
            shutil.rmtree(self.root, ignore_errors=True)
            self.root.mkdir(parents=True)
            archive = subprocess.run(
                ["git", "archive", tree], cwd=ROOT, check=True, capture_output=True
            )
            subprocess.run(["tar", "-x"], cwd=self.root, check=True, input=archive.stdout)
            (self.folder / "whole").touch()

    def grade(self, corpus: Corpus, again: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
        """Return the results of a corpus by submission; those named in `again` are made anew."""
        out = self.folder / f"{corpus.name}-{corpus.digest}"
        batch = corpus.batch
        names = set(again)
        with tempfile.TemporaryDirectory() as folder:
            if names:
                batch, out = Path(folder, "batch"), Path(folder, "out")
                batch.mkdir()
                for entry in corpus.batch.iterdir():
                    if id_of(entry) in names:
                        copy = shutil.copytree if entry.is_dir() else shutil.copy
                        copy(entry, batch / entry.name)
            if not (out / "whole").exists():
                self._run(corpus, batch, out)
                (out / "whole").touch()
            return {
                path.stem: json.loads(path.read_text()) for path in (out / "results").glob("*.json")
            }

    def cpu_s(self, corpus: Corpus) -> float:
        """Return the CPU seconds that grading a corpus took, however often it was ended."""
        spent = self.folder / f"{corpus.name}-{corpus.digest}" / "cpu_s"
        return sum(map(float, spent.read_text().split())) if spent.exists() else 0.0

    def _run(self, corpus: Corpus, batch: Path, out: Path) -> None:
        root = self._project(corpus)
        command = [sys.executable, "-P", "-m", "autograder", "grade", str(batch)]
        command += ["--assignment", corpus.assignment, "--out", str(out), "--root", str(root)]
        command += ["--sandbox", corpus.tier]
        cache = self.folder / "cache"
        cache.mkdir(mode=0o700, exist_ok=True)
        keep = {k: v for k, v in os.environ.items() if not k.startswith("GRADEFORMER")}
        environment = {**keep, "PYTHONPATH": str(self.root), "GRADEFORMER_CACHE": str(cache)}
        with _Account() as account:
            process = subprocess.run(
                [*account.lead, *command],
                cwd=self.root,
                env=environment,
                capture_output=True,
                text=True,
            )
        out.mkdir(exist_ok=True, parents=True)
        with (out / "cpu_s").open("a") as file:
            file.write(f"{account.cpu_s:.1f}\n")
        if process.returncode not in (0, 1):
            raise SystemExit(f"{corpus.name}: {process.stdout}{process.stderr}")

    def _project(self, corpus: Corpus) -> Path:
        if corpus.limits is None:
            return self.root / corpus.project
        project = self.folder / f"project-{corpus.digest}"
        shutil.rmtree(project, ignore_errors=True)
        make_project(project, corpus.assignment, corpus.components, self.root)
        set_limits(project, corpus.assignment, corpus.limits)
        return project


def compare(corpus: Corpus, before: Checkout, after: Checkout) -> Compared:
    """Grade a corpus with both and compare; what differs is graded once more by it."""
    sides = (before, after)
    old, new = (side.grade(corpus) for side in sides)
    compared = Compared(len(old.keys() | new.keys()))
    found: dict[str, list[Difference]] = {}
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            there = [name in side for side in (old, new)]
            found[name] = [Difference("mark", name, "result", *there)]
            continue
        compared.values += sum(1 for _ in facts(new[name]))
        if differ := differences(name, old[name], new[name]):
            found[name] = differ
    both = [name for name in found if name in old and name in new]
    again = before.grade(corpus, both) if both else {}
    for name, differ in found.items():
        # What was unsteady before may be so now; what has become so is a difference.
        if name in both and differences(name, old[name], again[name]):
            compared.unsteady.append(f"{differ[0]} (and {len(differ) - 1} more)")
        else:
            compared.differences += differ
    return compared


def read_expected(path: Path) -> tuple[str, list[Expected]]:
    """Read the list of what is expected to change, and the commit that it is compared with."""
    found = tomllib.loads(path.read_text())
    return found["before"], [Expected(**entry) for entry in found.get("move", [])]


def working_tree() -> str:
    """Return the name of the tree that is in the working tree now, as git would commit it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "GIT_INDEX_FILE": str(Path(folder, "index"))}
        _git("read-tree", "HEAD", env=environment)
        _git("add", "--all", env=environment)
        return _git("write-tree", env=environment)


def report(rows: list[tuple[Corpus, Compared, float, float]], expected: list[Expected]) -> int:
    """Print the table and what differs; return how many differences nobody expects."""
    surprises: list[tuple[str, Difference]] = []
    reworded: Counter[tuple[str, str]] = Counter()
    head = ("results", "values", "marks", "names", "words", "unsteady", "CPU s before", "now")
    print(f"{'':<34}" + "".join(f"{title:>13}" for title in head))
    sums = [0.0] * len(head)
    for corpus, compared, old, new in rows:
        for found in compared.differences:
            entry = next((e for e in expected if e.covers(corpus.name, found)), None)
            if entry is not None:
                entry.found += 1
            else:
                surprises.append((corpus.name, found))
            if found.kind == "word":
                reworded[str(found.before), str(found.after)] += 1
        cells = (compared.results, compared.values, *(compared.differ(kind) for kind in KINDS))
        cells = (*cells, len(compared.unsteady), old, new)
        sums = [total + cell for total, cell in zip(sums, cells, strict=True)]
        print(f"{corpus.name:<34}" + "".join(f"{cell:>13.0f}" for cell in cells))
        for line in compared.unsteady:
            print(f"    unsteady: {line}")
    print(f"{'in all':<34}" + "".join(f"{total:>13.0f}" for total in sums))
    for words, count in reworded.most_common(10):
        print(f"reworded {count} times: {words[0][:300]!r} -> {words[1][:300]!r}")
    with (KEPT / "differences.txt").open("w") as file:
        file.writelines(f"{corpus}: {found}\n" for corpus, found in surprises)
    for corpus, found in surprises[:_PRINTED]:
        print(f"NOT EXPECTED: {corpus}: {found}")
    unused = [entry for entry in expected if not entry.found]
    for entry in unused:
        print(f"EXPECTED AND NOT SEEN: {entry.where}: {entry.what} ({entry.reason})")
    expectedly = sum(entry.found for entry in expected)
    where = f"; all are in {KEPT / 'differences.txt'}" if surprises else ""
    print(f"{expectedly} differences expected, {len(surprises)} not{where}")
    return len(surprises) + len(unused)


def main() -> int:
    """Grade with both, compare, and say what differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("before", nargs="?", help="a commit; default: that of the list")
    parser.add_argument("--every", type=int, default=1, help="one wrong submission in so many")
    parser.add_argument("--corpus", action="append", help="a pattern of names; default: all")
    parser.add_argument("--tier", action="append", help="for hostile work; default: all there are")
    options = parser.parse_args()
    listed, expected = read_expected(EXPECTED)
    commit = options.before or listed
    if commit != listed:
        # What is listed says nothing of another commit.
        expected = []
    before = Checkout(_git("rev-parse", f"{commit}^{{tree}}"))
    after = Checkout(working_tree())
    print(f"before: {commit} ({before.root}); now: {after.root}", flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        tiers = tuple(options.tier or TIERS)
        for corpus in corpora(Path(folder), tiers, options.every):
            wanted = options.corpus or ["*"]
            if any(fnmatch.fnmatch(corpus.name, pattern) for pattern in wanted):
                compared = compare(corpus, before, after)
                rows.append((corpus, compared, before.cpu_s(corpus), after.cpu_s(corpus)))
                print(f"{corpus.name}: {len(compared.differences)} differences", flush=True)
    return int(report(rows, expected) > 0)


def id_of(entry: Path) -> str:
    """Return the id of a submission that is handed in as this folder or archive."""
    return entry.name if entry.is_dir() else re.sub(r"\.(zip|tar\.gz)$", "", entry.name)


def _git(*words: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        ["git", *words], cwd=ROOT, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


class _Account:
    """The computing time of all that a command starts, by the kernel's account of a control group.

    Processes whose parents ended before them are in no other. `lead` starts a command in it.
    """

    def __init__(self) -> None:
        self.lead: list[str] = []
        self.cpu_s = math.nan
        self._usage: Path | None = None

    def __enter__(self) -> _Account:
        for top, usage in (
            ("cpuacct", "cpuacct.usage"),
            ("unified", "cpu.stat"),
            (".", "cpu.stat"),
        ):
            group = Path("/sys/fs/cgroup", top, f"oracle-{os.getpid()}")
            with contextlib.suppress(OSError):
                group.mkdir(exist_ok=True)
                if (group / usage).exists():
                    self._usage = group / usage
                    self.lead = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
                    break
        return self

    def __exit__(self, *error: object) -> None:
        if self._usage is None:
            return
        text = self._usage.read_text()
        found = re.search(r"usage_usec (\d+)", text)
        self.cpu_s = int(found[1]) / 1e6 if found else int(text) / 1e9
        with contextlib.suppress(OSError):
            self._usage.parent.rmdir()


if __name__ == "__main__":
    raise SystemExit(main())
