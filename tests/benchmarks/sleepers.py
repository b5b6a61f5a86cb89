"""What submissions that do nothing but wait, or compute for nothing, cost a class.

    python tests/benchmarks/sleepers.py [--real]

Prints the arithmetic for the default limits, and a class measured with limits a tenth of these
(with --real: the default ones, which takes long): the minutes of a worker that the whole class
takes, with those submissions and without.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

from autograder.assignment import load_assignment
from autograder.grading.batch import Batch
from autograder.grading.entries import Entry

ROOT = Path(__file__).resolve().parents[2]
NAME = "transformer_block"
TENTH = 0.1
# Waits whatever is asked of it; computes; waits a little less than a call may; waits when imported.
WAYS = {
    "sleeps": "import time\n\ndef __getattr__(name):\n    return lambda *a, **k: time.sleep(1e4)\n",
    "spins": "def __getattr__(name):\n    while True:\n        pass\n",
    "dozes": "import time\n\ndef __getattr__(name):\n    time.sleep({doze})\n    raise KeyError\n",
    "sleeps at import": "import time\n\ntime.sleep(1e4)\n",
}


def main() -> None:
    """Print both."""
    assignment = load_assignment(ROOT, NAME)
    whole = assignment.submission_wall_s
    print(
        f"arithmetic: {len(assignment.components)} components of at most "
        f"{assignment.components[0].limits.component_wall_s:g} s, one submission of at most "
        f"{whole:g} s; 4 of 40 take at most {4 * whole / 60:.1f} minutes of a worker"
    )
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), 1.0 if "--real" in sys.argv else TENTH)


def measure(folder: Path, factor: float) -> None:
    """Grade four that wait and four that do not, and print what each took."""
    root = folder / "project"
    for part in ("assignments", "reference"):
        shutil.copytree(ROOT / part / NAME, root / part / NAME)
    toml = root / "assignments" / NAME / "assignment.toml"
    found = load_assignment(ROOT, NAME)
    limits = found.components[0].limits
    scaled = {
        "call_wall_s": factor * limits.call_wall_s,
        "component_wall_s": factor * limits.component_wall_s,
        "submission_wall_s": factor * found.submission_wall_s,
    }
    text = re.sub(
        r"^(call_wall_s|component_wall_s|submission_wall_s) = .*\n",
        "",
        toml.read_text(),
        flags=re.M,
    )
    lines = "".join(f"{name} = {value}\n" for name, value in scaled.items())
    toml.write_text(text.replace("[limits]\n", f"[limits]\n{lines}"))
    assignment = load_assignment(root, NAME)
    entries = []
    for way, source in WAYS.items():
        place = folder / "batch" / way
        place.mkdir(parents=True)
        for component in assignment.totals:
            doze = 0.9 * scaled["call_wall_s"]
            (place / f"{component}.py").write_text(source.replace("{doze}", str(doze)))
        entries.append(Entry(way, place))
    honest = [Entry(f"honest {n}", assignment.secret) for n in range(4)]
    (folder / "results").mkdir()
    batch = Batch(assignment, folder, "auto", jobs=1, resume=False)
    try:
        batch.start()
        taken = {
            result.submission: (result.duration_s, result.score, result.status)
            for result in batch.run([*entries, *honest], lambda result, kept: None)
        }
    finally:
        batch.close()
    for name, (seconds, score, status) in taken.items():
        print(
            f"{name:<18} {seconds:7.2f} s of {scaled['submission_wall_s']:g}  "
            f"{status}, {score:g} points"
        )
    waiting = sum(seconds for name, (seconds, *_) in taken.items() if name in WAYS)
    usual = sum(seconds for name, (seconds, *_) in taken.items() if name not in WAYS)
    print(
        f"four that wait take {waiting - usual:.1f} s more than four that do not; "
        f"{4 * scaled['submission_wall_s']:g} s are allowed for"
    )


if __name__ == "__main__":
    main()
