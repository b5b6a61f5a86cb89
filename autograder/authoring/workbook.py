"""Generate `assignments/<name>/workbook.ipynb`: texts, figures, checks, grade cells, questions.

`reference/<name>/workbook/text.md` holds the texts, a section for each cell:

    # introduction                              what stands first
    # layer_norm: Layer normalisation           a component and its title
    # question memory, 4 points                 belongs to the component above it
    ## a good answer says                       the rest of a question never leaves reference/

and `figures.py` beside it a function for each component that has a figure. Components, their order
and their points come from `assignment.toml`.
"""

from __future__ import annotations

import base64
import importlib
import io
import itertools
import json
import re
import runpy
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.assignment import Assignment
from autograder.authoring.folders import text_of
from autograder.errors import UsageError

FILE = "workbook.ipynb"
_GUIDE = "## a good answer says"
_QUESTION = re.compile(r"question (\w+), (\d+(?:\.\d+)?) points?")
_ANSWER = "*Your answer:*"
_STYLE = {"font.size": 9, "axes.titlesize": 10}
_STYLE |= {"axes.spines.top": False, "axes.spines.right": False}
_COLORS = 96
_WORDS = "Description"
# Releases of matplotlib differ in the edges of letters. The mean of a square of that many pixels
# hardly feels that (0.25 at most from 3.9 to 3.11); a bar or a line that moved, it does.
_SQUARE = 8
_TOLERANCE = 0.3


@dataclass(frozen=True)
class _Question:
    grade_id: str
    points: float
    prompt: str
    guide: str


@dataclass
class _Part:
    title: str
    text: str
    questions: list[_Question] = field(default_factory=list)


def build(assignment: Assignment) -> dict[str, Any]:
    """Return the notebook.

    Raises:
        UsageError: a source is missing or malformed, or the extra `nbgrader` is not installed.
    """
    introduction, parts = _read(assignment)
    pictures = _pictures(assignment)
    asked = sum(question.points for part in parts.values() for question in part.questions)
    for key, points in (("component", assignment.max_score), ("question", asked)):
        introduction = introduction.replace(f"{{{{{key} points}}}}", f"{points:g}")
    cells = [
        _cell("markdown", "introduction", f"# {assignment.title}\n\n{introduction}"),
        _cell("code", "setup", text_of("workbook/setup.py").rstrip("\n")),
    ]
    numbers = itertools.count(1)
    for number, (name, points) in enumerate(assignment.totals.items(), start=1):
        part = parts[name]
        head = f"## {number}. {part.title} ({_counted(points)})"
        text = _cell("markdown", f"{name}-text", f"{head}\n\n{part.text}")
        if name in pictures:
            data = base64.b64encode(pictures[name]).decode("ascii")
            text["attachments"] = {f"{name}.png": {"image/png": data}}
        if re.findall(r"\(attachment:([^)]*)\)", part.text) != list(text.get("attachments", {})):
            raise UsageError(f"{_source(assignment)}: {name} needs its picture, and no other, once")
        note = f"# {part.title}, {_counted(points)}: the grader fills this in.\n"
        note += "# There is nothing to run or to change here."
        check = _cell("code", f"{name}-check", f'check("{name}")')
        cells += [text, check, _cell("code", name, note, _grading(name, points, answer=False))]
        for question in part.questions:
            head = f"**Question {next(numbers)}** ({_counted(question.points)})"
            prompt = f"{head}\n\n{question.prompt}"
            metadata = _grading(question.grade_id, question.points, answer=True)
            cells.append(_cell("markdown", f"{question.grade_id}-text", prompt))
            cells.append(_cell("markdown", question.grade_id, _ANSWER, metadata))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    _extra("nbformat").validate(notebook)
    return notebook


def drifted(assignment: Assignment) -> list[str]:
    """Return what differs: ids of cells, or the file's name if it is none of them."""
    return _compared(assignment)[0]


def write(assignment: Assignment) -> list[str]:
    """Write the workbook if it has drifted, and return what differed.

    A picture that looks the same keeps its bytes.
    """
    differences, text = _compared(assignment)
    if differences:
        (assignment.public / FILE).write_text(text, encoding="utf-8")
    return differences


def plain(assignment: Assignment) -> bytes:
    """Return the workbook for a class without nbgrader: no grade cells, and nothing is locked.

    Raises:
        UsageError: it was not generated yet, or the assignment has none.
    """
    path = assignment.public / FILE
    if not path.is_file():
        if not (source := _source(assignment)).is_file():
            raise UsageError(f"{assignment.name} has no workbook: there is no {source}")
        raise UsageError(f"there is no {path}: run `autograder workbook {assignment.name}` first")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"] = [
        cell | {"metadata": {}}
        for cell in notebook["cells"]
        if not cell["metadata"].get("nbgrader", {}).get("locked")
    ]
    return f"{json.dumps(notebook, indent=1, ensure_ascii=False)}\n".encode()


def model_answers(assignment: Assignment) -> str:
    """Return the questions with what good answers say, as Markdown; empty without questions."""
    if not _source(assignment).is_file():
        return ""
    _, parts = _read(assignment)
    texts = []
    for part in (part for part in parts.values() if part.questions):
        texts.append(f"# {part.title}")
        texts += [
            f"**Question** ({_counted(question.points)})\n\n{question.prompt}\n\n"
            f"**A good answer says**\n\n{question.guide}"
            for question in part.questions
        ]
    return "\n\n".join(texts)


def _compared(assignment: Assignment) -> tuple[list[str], str]:
    """Return what differs, and the text that the workbook should have."""
    nbformat = _extra("nbformat")
    new = build(assignment)
    path = assignment.public / FILE
    old_text = path.read_text(encoding="utf-8") if path.is_file() else ""
    try:
        old = nbformat.reads(old_text, as_version=nbformat.NO_CONVERT)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError):
        old = {}
    before = {cell.get("id"): cell for cell in old.get("cells", [])}
    for cell in new["cells"]:
        was = before.get(cell["id"], {}).get("attachments", {})
        for name, picture in cell.get("attachments", {}).items():
            kept = was.get(name, {}).get("image/png", "")
            if kept and _look_alike(kept, picture["image/png"]):
                picture["image/png"] = kept
    after = {cell["id"]: cell for cell in new["cells"]}
    text = nbformat.writes(nbformat.from_dict(new)).rstrip("\n") + "\n"
    if text == old_text:
        return [], text
    differences = [name for name in after if before.get(name) != after[name]]
    differences += [str(name) for name in before if name not in after]
    return differences or [path.name], text


def _read(assignment: Assignment) -> tuple[str, dict[str, _Part]]:
    """Read text.md into the introduction and a part for every component."""
    source = _source(assignment)
    if not source.is_file():
        raise UsageError(f"there is no {source}, from which the workbook is made")
    start, *sections = re.split(r"^# (.*)\n", source.read_text(encoding="utf-8"), flags=re.M)
    if start.strip():
        raise UsageError(f"{source}: begin with `# introduction`")
    introduction = ""
    parts: dict[str, _Part] = {}
    names: set[str] = set()
    last: _Part | None = None
    for head, body in zip(sections[::2], sections[1::2], strict=True):
        name, _, title = head.partition(": ")
        found = _QUESTION.fullmatch(head)
        if head == "introduction":
            introduction = body.strip()
        elif name in assignment.totals and title and name not in parts:
            last = parts[name] = _Part(title, body.strip())
        elif found and last is not None and found[1] not in names:
            prompt, guided, guide = body.partition(f"\n{_GUIDE}\n")
            if not guided:
                raise UsageError(f"{source}: the question {found[1]!r} has no `{_GUIDE}`")
            names.add(found[1])
            question = _Question(
                f"question_{found[1]}", float(found[2]), prompt.strip(), guide.strip()
            )
            last.questions.append(question)
        else:
            raise UsageError(f"{source}: `# {head}` is no section, or stands there twice")
    missing = [name for name in assignment.totals if name not in parts]
    if missing or not introduction:
        raise UsageError(f"{source} has no section {(missing or ['introduction'])[0]!r}")
    return introduction, parts


def _source(assignment: Assignment) -> Path:
    return assignment.secret / "workbook" / "text.md"


def _pictures(assignment: Assignment) -> dict[str, bytes]:
    """Draw the figure of every component that has one, as PNG files."""
    path = assignment.secret / "workbook" / "figures.py"
    if not path.is_file():
        return {}
    _extra("matplotlib")
    # Here and not above: they bring torch along.
    from autograder.api.component import Component
    from autograder.judge.reference import ReferenceSession, solution_of

    # Not imported: bytecode of a file that was changed within the same second would be taken.
    figures = runpy.run_path(str(path), run_name=f"figures_of_{assignment.name}")
    pictures = {}
    for name in assignment.totals:
        draw = figures.get(name)
        if draw is not None:
            session = ReferenceSession(solution_of(assignment, name))
            pictures[name] = _render(draw, Component(session, lambda answer: None))
    return pictures


def _render(draw: Callable[[Any], Any], component: Any) -> bytes:
    """Draw a figure as anyone's matplotlib would, whatever their settings; a PNG with a palette."""
    matplotlib, image = _extra("matplotlib"), _extra("PIL.Image")
    texts, notes = _extra("matplotlib.text"), _extra("PIL.PngImagePlugin").PngInfo()
    drawn, result = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = draw(component)
        figure.savefig(drawn, format="png")
    # What is written there is compared as words, not as pixels.
    words = [text.get_text() for text in figure.findobj(texts.Text)]
    notes.add_itxt(_WORDS, "\n".join(word for word in words if word))
    picture = image.open(drawn).convert("RGB").quantize(_COLORS, dither=image.Dither.NONE)
    picture.save(result, format="png", optimize=True, pnginfo=notes)
    return result.getvalue()


def _look_alike(old: str, new: str) -> bool:
    """Return whether two PNG files in base64 show the same words and nearly the same picture."""
    image, chops = _extra("PIL.Image"), _extra("PIL.ImageChops")
    try:
        files = [image.open(io.BytesIO(base64.b64decode(data))) for data in (old, new)]
        first, second = (file.convert("RGB") for file in files)
    except (OSError, ValueError):
        return False
    if first.size != second.size or files[0].info.get(_WORDS) != files[1].info.get(_WORDS):
        return False
    apart = chops.difference(first.reduce(_SQUARE), second.reduce(_SQUARE))
    return bool(max(high for _, high in apart.getextrema()) <= _TOLERANCE * 255)


def _cell(
    kind: str, name: str, source: str, metadata: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Make a cell; one without metadata of its own cannot be deleted by a slip."""
    given = {"deletable": False} if metadata is None else {"nbgrader": metadata}
    cell = {"cell_type": kind, "id": name, "metadata": given, "source": source}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def _grading(grade_id: str, points: float, answer: bool) -> dict[str, Any]:
    """Return nbgrader's metadata: of an answer that a person marks, or of a locked grade cell."""
    return {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": True,
        "solution": answer,
        "locked": not answer,
        "task": False,
        "points": int(points) if points == int(points) else points,
    }


def _counted(points: float) -> str:
    return f"{points:g} point" if points == 1 else f"{points:g} points"


def _extra(module: str) -> Any:
    """Import what only those need who make workbooks."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise UsageError(
            f"the workbook needs {module}: pip install 'gradeformer[nbgrader]'"
        ) from error
