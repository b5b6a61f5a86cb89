"""Write into the pages what the code knows: counts, bounds, the fields of a result file.

    python -m tests.docs.written

A page marks the place of such a block by two comments, `<!-- written: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import io
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder import results
from autograder.assignment import Assignment, load_assignment
from autograder.authoring.wrong_variants import read_variants
from autograder.grading.store import results_at
from autograder.judge.collection import collect
from autograder.judge.misconceptions import read
from autograder.judge.suite import Suite
from autograder.reports.score_table import print_table
from tests.conftest import ROOT

NAMES = ("transformer_block", "language_model")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_BLOCK = re.compile(r"(<!-- written: (\S+) -->\n)(.*?)(<!-- end -->)", re.S)
_FIELDS = (
    results.SubmissionResult,
    results.ComponentResult,
    results.CriterionResult,
    results.Held,
    results.Usage,
    results.Graded,
)
_ENDINGS = 4
# The students of the demo class who are in the table of README.md.
SHOWN = ("s06", "s07", "s09", "s17", "s18")


def fields() -> str:
    """Return a table of fields for every part of a result file."""
    return "\n".join(_table(model) for model in _FIELDS)


def _table(model: type[results.SubmissionResult]) -> str:
    schema = model.model_json_schema(by_alias=True)
    shown = {name: field for name, field in model.model_fields.items() if not field.exclude}
    rows = [f"## {model.__name__}", "", model.__doc__ or "", ""]
    rows += ["| field | type | meaning |", "|---|---|---|"]
    for name, field in shown.items():
        key = field.alias or name
        words = " ".join((field.description or "").split())
        rows.append(f"| `{key}` | {_type(schema['properties'][key])} | {words} |")
    return "\n".join([*rows, ""])


def _type(schema: dict[str, Any]) -> str:
    """Say what kind of JSON value a schema allows."""
    match schema:
        case {"anyOf": [*several]}:
            return " or ".join(_type(one) for one in several)
        case {"enum": [*values]}:
            return ", ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
        case {"$ref": name}:
            return f"[{name.rpartition('/')[2]}](#{name.rpartition('/')[2].lower()})"
        case {"type": "array", "items": dict(items)}:
            return f"list of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)}:
            return f"object of {_type(values)}"
        case {"type": str(kind)}:
            return kind
    return "any"


def counts(suites: dict[str, Suite]) -> str:
    """Return a table of what each assignment has."""
    rows = [
        "| assignment | components | public checks | hidden checks | misconceptions "
        "| wrong variants |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, suite in suites.items():
        assignment = _load(name)
        found = [criterion for one in suite.criteria.values() for criterion in one]
        public = sum(criterion.visibility == "public" for criterion in found)
        # One that may be in a branch alone is one all the same.
        misconceptions = [read(assignment, one.name) for one in assignment.components]
        known = len({one.id for found in misconceptions for one in found.values()})
        wrong = sum(len(read_variants(assignment, one.name)) for one in assignment.components)
        figures = [len(assignment.components), public, len(found) - public, known, wrong]
        rows.append(f"| `{name}` | " + " | ".join(map(str, figures)) + " |")
    return "\n".join([*rows, ""])


def budget(suites: dict[str, Suite]) -> str:
    """Return how many bits code can at most pass on by failing criteria on purpose, in a table."""
    rows = [
        "| assignment | hidden criteria | public criteria, where a component builds on others | "
        "endings | sum |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, suite in suites.items():
        building = {one.name for one in _load(name).components if one.uses}
        hidden = public = 0.0
        for component, criteria in suite.criteria.items():
            for criterion in criteria:
                bits = math.log2(1 + len(suite.checks[criterion.id].cases))
                hidden += bits * (criterion.visibility == "hidden")
                public += bits * (criterion.visibility == "public" and component in building)
        figures = [hidden, public, math.log2(_ENDINGS) * len(suite.criteria)]
        cells = [str(math.ceil(figure)) for figure in (*figures, sum(figures))]
        rows.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join([*rows, ""])


def demo(graded: Path) -> str:
    """Return a part of the table that grading the demo class ends with; `graded` is its folder."""
    results = [one for one in results_at(graded)[0] if one.submission in SHOWN]
    out = Console(file=io.StringIO(), width=80, soft_wrap=True)
    print_table(out, results, list(_load(NAMES[0]).totals))
    assert isinstance(out.file, io.StringIO)
    lines = [line.rstrip() for line in out.file.getvalue().splitlines()]
    return "\n".join(["```", *lines[1:-1], "```", ""])


def _grade_demo() -> Path:
    """Grade the demo class with the command."""
    command = [sys.executable, "-m", "autograder", "demo", "--assignment", NAMES[0]]
    subprocess.run([*command, "--root", str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    return ROOT / "demo-results" / NAMES[0]


def _load(name: str) -> Assignment:
    return load_assignment(ROOT, name)


def blocks(graded: Path | None = None) -> dict[str, Callable[[], str]]:
    """Return by name what can be written; the suites are collected when they are needed.

    `graded` are results of the demo class; by default it is graded when they are needed.
    """
    suites: dict[str, Suite] = {}

    def collected() -> dict[str, Suite]:
        suites.update({name: collect(_load(name)) for name in NAMES if name not in suites})
        return suites

    return {
        "fields": fields,
        "counts": lambda: counts(collected()),
        "budget": lambda: budget(collected()),
        "demo": lambda: demo(graded or _grade_demo()),
    }


def written(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every block of a page."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield found[2], found[3]


def main() -> None:
    """Write every block of every page anew."""
    known = blocks()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        new = _BLOCK.sub(lambda found: found[1] + known[found[2]]() + found[4], text)
        if new != text:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))


if __name__ == "__main__":
    main()
