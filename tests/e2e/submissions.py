"""What the three students hand in."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

CLASS = ROOT / "tests" / "classes" / "transformer_block"
HOSTILE = ROOT / "tests" / "hostile"
RAISES_MARKS = Path(__file__).parent / "hostile" / "raises_marks.py"
ANSWER = "Without the root the softmax would saturate: gradients vanish (`d_k` = 64)."
# Runs wherever a browser takes an answer's HTML as it is.
SCRIPT = "<img src=x onerror=\"document.title = 'taken over'\"><script>window.taken = 1</script>"


def everything_right(folder: Path) -> None:
    """s01: all components right; the written questions are left as they are."""
    for path in (CLASS / "s01").glob("*.py"):
        shutil.copy(path, folder)


def some_mistakes(folder: Path) -> None:
    """s02: two mistakes, one stub, and an answer to every written question."""
    stub = (folder / "lm_head.py").read_text()
    everything_right(folder)
    shutil.copy(CLASS / "s09" / "layer_norm.py", folder)
    shutil.copy(CLASS / "s11" / "multi_head_attention.py", folder)
    (folder / "lm_head.py").write_text(stub)
    _edit(folder, lambda cells: _answer(cells, ANSWER))


def hostile(folder: Path) -> None:
    """s03: one component right, three that attack, and a workbook that claims marks."""
    shutil.copy(CLASS / "s01" / "positional_encoding.py", folder)
    shutil.copy(HOSTILE / "reading" / "walk_the_disk.py", folder / "layer_norm.py")
    shutil.copy(HOSTILE / "forging" / "results_on_every_output.py", folder / "attention.py")
    shutil.copy(RAISES_MARKS, folder / "feed_forward.py")
    _edit(folder, _tamper)


def _edit(folder: Path, change: Callable[[list[Any]], None]) -> None:
    path = folder / "workbook.ipynb"
    notebook = json.loads(path.read_text())
    change(notebook["cells"])
    path.write_text(json.dumps(notebook))


def _graded(cells: list[Any]) -> dict[str, Any]:
    named = ((cell["metadata"].get("nbgrader", {}), cell) for cell in cells)
    return {about["grade_id"]: cell for about, cell in named if about.get("grade")}


def _answer(cells: list[Any], text: str) -> None:
    for name, cell in _graded(cells).items():
        if name.startswith("question_"):
            cell["source"] = text


def _tamper(cells: list[Any]) -> None:
    graded = _graded(cells)
    claim = {"data": {"text/plain": "18.0"}, "metadata": {}, "execution_count": 1}
    for name, cell in graded.items():
        if cell["cell_type"] == "code":
            # nbgrader reads marks from outputs; these want full marks, and more.
            cell["outputs"] = [{"output_type": "execute_result", **claim}]
            cell["outputs"].append(
                {"output_type": "display_data", "data": {"text/html": SCRIPT}, "metadata": {}}
            )
            cell["source"] = "18.0"
        cell["metadata"]["nbgrader"]["points"] = 500.0
        if name == "layer_norm":
            cell["metadata"]["nbgrader"].update(grade=True, solution=True, locked=False)
    _answer(cells, SCRIPT)
    cells.remove(graded["transformer_block"])
    # Twice the same, and one that the course does not have.
    again = json.loads(json.dumps(graded["lm_head"]))
    again["id"] = "again"
    extra = json.loads(json.dumps(again))
    extra["id"] = "extra"
    extra["metadata"]["nbgrader"]["grade_id"] = "bonus"
    cells += [again, extra]


def attack(folder: Path, within: Path) -> None:
    """Run the attack on gradebooks as any Python would, but keep it to one folder."""
    code = RAISES_MARKS.read_text().replace('"/tmp"', repr(str(within)))
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, timeout=60)


HAND_IN = {"s01": everything_right, "s02": some_mistakes, "s03": hostile}
