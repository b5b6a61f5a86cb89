"""Say whether two folders of results hold the same marks, for a change that should move none.

    python tests/benchmarks/same_marks.py BEFORE AFTER

Compares what every criterion came to: scores, statuses, outcomes, stand-ins and misconceptions.
Messages, which may be reworded, are counted apart.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMPONENT = ("score", "max_score", "status", "misconceptions", "either", "stand_ins")
CRITERION = ("score", "max_score", "passed", "outcome", "visibility")


def facts(result: dict[str, Any], texts: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield what a result says, by where it says so."""
    yield from ((key, result[key]) for key in ("status", "score", "max_score"))
    for name, component in result["components"].items():
        if texts:
            yield f"{name} message", component["message"]
        yield from ((f"{name} {key}", component[key]) for key in COMPONENT)
        for criterion in component["criteria"]:
            keys = (*CRITERION, "message") if texts else CRITERION
            yield from ((f"{criterion['id']} {key}", criterion[key]) for key in keys)


def main() -> int:
    before, after = (Path(argument) / "results" for argument in sys.argv[1:3])
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.json")})
    different = reworded = compared = 0
    for name in names:
        pair = [json.loads((folder / name).read_text()) for folder in (before, after)]
        one, other = (dict(facts(result)) for result in pair)
        compared += len(one)
        apart = [key for key in one | other if one.get(key) != other.get(key)]
        different += bool(apart)
        reworded += dict(facts(pair[0], texts=True)) != dict(facts(pair[1], texts=True))
        for key in apart[:40]:
            print(f"{name}: {key}: {one.get(key)} -> {other.get(key)}")
    print(
        f"{len(names)} results, {compared} values compared: {different} results differ; "
        f"in {reworded} a message or a mark is another"
    )
    return int(different > 0)


if __name__ == "__main__":
    raise SystemExit(main())
