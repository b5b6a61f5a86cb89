"""Is a result a function of the work, the suite, the seed and the versions alone?

    python -m tests.benchmarks.determinism [--every N] [--corpus NAME ...]

Grades every submission of the oracle's corpora twice, and compares to the last character all but
names and times. The second time everything is otherwise at once: what the first time left in the
cache, two workers and not one, the opposite order and other names, beside processes that want
every core. Some submissions are graded a third time, each alone and without a cache. Prints how
many were compared; the exit code is 1 if any result differs. Views of a component that its result
calls unsteady (a clock, threads that race, draws that no seed decides) are not compared.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.benchmarks.corpora import Corpus, corpora
from tests.benchmarks.oracle import differences, id_of
from tests.conftest import ROOT

# To grade a submission alone, without a cache, is dear.
_ALONE = 4
# Lines that are printed of a result that differs.
_SHOWN = 12
_UNSAID = ("submission", "duration_s", "path")

Results = dict[str, dict[str, Any]]


def graded(corpus: Corpus, batch: Path, cache: Path | str, jobs: int) -> Results:
    """Return the results of a batch by submission.

    Args:
        corpus: whose submissions they are.
        batch: the folder of the submissions.
        cache: the folder of what is kept between runs, or "off".
        jobs: how many workers there are.
    """
    if isinstance(cache, Path):
        cache.mkdir(mode=0o700, exist_ok=True)
    environment = {**os.environ, "GRADEFORMER_CACHE": str(cache)}
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "autograder", "grade", str(batch), "--jobs", str(jobs)]
        command += ["--assignment", corpus.assignment, "--out", out, "--sandbox", corpus.tier]
        command += ["--root", str(ROOT / corpus.project)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{corpus.name}: {done.stdout}{done.stderr}")
        found = [json.loads(path.read_text()) for path in Path(out, "results").glob("*.json")]
    return {result["submission"]: result for result in found}


def said(result: dict[str, Any]) -> str:
    """Return all of a result but names, times and unsteady views."""
    components = {
        name: {
            key: value
            for key, value in component.items()
            if key != "usage" and not (key == "views" and component.get("unsteady"))
        }
        for name, component in result["components"].items()
    }
    rest = {key: value for key, value in result.items() if key not in _UNSAID}
    return json.dumps({**rest, "components": components}, sort_keys=True)


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Want every core."""
    burn = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(burn) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def copied(entry: Path, folder: Path, name: str) -> None:
    """Hand a submission in below another folder, under another name."""
    folder.mkdir(exist_ok=True)
    target = folder / (name + entry.name.removeprefix(id_of(entry)))
    if entry.is_dir():
        shutil.copytree(entry, target)
    else:
        shutil.copy(entry, target)


def ways(corpus: Corpus, folder: Path) -> Iterator[tuple[str, Results]]:
    """Yield the results of every way to grade a corpus, the first of which is compared with."""
    cache = folder / "cache"
    yield "a new cache, one worker", graded(corpus, corpus.batch, cache, 1)
    entries = sorted(corpus.batch.iterdir())
    names = {f"r{number:04}": entry for number, entry in enumerate(reversed(entries))}
    for name, entry in names.items():
        copied(entry, folder / "reversed", name)
    with busy():
        other = graded(corpus, folder / "reversed", cache, 2)
    found = {id_of(names[name]): result for name, result in other.items()}
    yield "that cache, two workers, the opposite order, a busy machine", found
    alone: Results = {}
    for number, entry in enumerate(entries[:: max(1, len(entries) // _ALONE)]):
        copied(entry, folder / f"alone-{number}", id_of(entry))
        alone |= graded(corpus, folder / f"alone-{number}", "off", 1)
    yield "alone, no cache", alone


def main() -> int:
    """Grade every corpus in every way, compare, and say what differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="one wrong submission in so many")
    parser.add_argument("--corpus", action="append", help="a pattern of names; default: all")
    options = parser.parse_args()
    apart = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, corpus in enumerate(corpora(Path(folder), (), options.every)):
            if not any(fnmatch.fnmatch(corpus.name, p) for p in options.corpus or ["*"]):
                continue
            place = Path(folder, f"ways-{number}")
            place.mkdir()
            first: Results = {}
            for way, found in ways(corpus, place):
                first = first or found
                differing = [n for n in found if said(found[n]) != said(first[n])]
                apart += len(differing)
                unsteady = sum('"unsteady": true' in said(result) for result in found.values())
                counts = f"{len(found)} compared, {len(differing)} differ, {unsteady} unsteady"
                print(f"{corpus.name}: {way}: {counts}")
                for name in differing:
                    lines = list(differences(name, first[name], found[name]))
                    for line in lines[:_SHOWN] or [f"{name}: not in what is compared"]:
                        print(f"    {line}")
                sys.stdout.flush()
    print(f"{apart} results differ")
    return int(apart > 0)


if __name__ == "__main__":
    raise SystemExit(main())
