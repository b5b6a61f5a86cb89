"""Patches: mistakes, each written as the lines that it changes in a right component.

    @@ NAME [in BASE] [slip|flaw|idea|core] [class][: SOURCE]
    what is wrong, in words
         mean = x.mean(-1, keepdim=True)
    -    std = x.std(-1, keepdim=True, correction=0)
    +    std = x.std(-1, keepdim=True)

The right component is the solution, or `BASE`: a file `BASE.py` in a folder beside the patches that
has the component's name. The head may say how grave the mistake is, and with `class` that it comes
from a student's work. Below it stand one or several lines of words. Lines begin with `-` where they
go, `+` where they come, a space where they stay and show the place. A blank line parts one edit
from the next. Lines that begin with `#` are comments.
"""

from __future__ import annotations

import functools
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from autograder.errors import UsageError
from autograder.text import clean

SEVERITIES = ("slip", "flaw", "idea", "core")
FORM = f"`@@ NAME [in BASE] [{'|'.join(SEVERITIES)}] [class][: SOURCE]`"
_HEAD = re.compile(
    r"@@ (?P<name>[^\W\d]\w*(\.\w+)?)"
    r"( in (?P<base>\w+))?"
    rf"( (?P<severity>{'|'.join(SEVERITIES)}))?"
    r"(?P<met> class)?"
    r"(: (?P<source>.*\S))? *"
)
_SHOWN = 60
# What says nothing beside the indentation of a statement's first token.
_LAYOUT = {
    *(tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT),
    tokenize.ENDMARKER,
}


def text_of(path: Path) -> str:
    """Read a file of text.

    Raises:
        UsageError: it is not written in UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not written in UTF-8: {error}") from error


class Edit(NamedTuple):
    """Whole lines and those that take their place; `number` is its line in the file of patches."""

    number: int
    old: list[str]
    new: list[str]


@dataclass(frozen=True)
class Patch:
    """One mistake.

    Attributes:
        path: the file of patches.
        number: the line of its head there.
        name: what it is called; behind a dot stands the part of the code that it is in alone.
        base: the name of the right component that it changes; empty for the solution.
        severity: one of `SEVERITIES`, or empty.
        met: whether it comes from a student's work.
        source: what stands behind the colon; empty where nothing does.
        words: what is wrong.
        edits: what it changes.
    """

    path: Path
    number: int
    name: str
    base: str
    severity: str
    met: bool
    source: str
    words: str
    edits: Sequence[Edit]

    @property
    def base_file(self) -> Path:
        """Where its right component is."""
        if self.base:
            return self.path.with_suffix("") / f"{self.base}.py"
        return self.path.parent.parent / f"{self.path.stem}.py"

    def right(self) -> str:
        """Return the right component.

        Raises:
            UsageError: there is none.
        """
        path = self.base_file
        if path.is_file():
            return text_of(path)
        if not self.base:
            raise self.refused(f"it changes {path}, which is not there: write the solution")
        bases = sorted(other.stem for other in path.parent.glob("*.py"))
        there = f"there are: {', '.join(bases)}" if bases else "there are none"
        raise self.refused(f"there is no base {self.base!r}; {there}, in {path.parent}")

    def wrong(self, right: str) -> str:
        """Return the component with the mistake.

        Raises:
            UsageError: an edit does not apply, or what it makes is no Python.
        """
        lines = right.split("\n")
        places = sorted(self._place(edit, lines) for edit in self.edits)
        for (_, end, edit), (start, _, other) in pairwise(places):
            if end > start:
                first = min(edit.number, other.number)
                raise self.refused("two edits are about the same lines: make one of them", first)
        for start, end, edit in reversed(places):
            lines[start:end] = edit.new
        wrong = "\n".join(lines)
        if error := _syntax_error(wrong):
            raise self.refused(f"its edits make no Python of {self.base_file.name}: {error}")
        return wrong

    def _place(self, edit: Edit, lines: Sequence[str]) -> tuple[int, int, Edit]:
        """Return from which line to before which line the old text stands."""
        size = len(edit.old)
        found = [at for at in range(len(lines)) if lines[at : at + size] == edit.old]
        if len(found) == 1:
            return found[0], found[0] + size, edit
        shown = clean(next(filter(str.strip, edit.old), ""), _SHOWN)
        if found:
            repair = f"stands there {len(found)} times: add the line above or below it"
        else:
            repair = "does not stand there: take the lines over from it as they are now"
        raise self.refused(f"of {self.base_file}, the old text at {shown!r} {repair}", edit.number)

    def refused(self, why: str, number: int = 0) -> UsageError:
        """Return the error that names the file, the line, the mistake and the reason."""
        return UsageError(f"{self.path}:{number or self.number}: {self.name}: {why}")


def read_patches(path: Path) -> list[Patch]:
    """Read a file of patches in its own order.

    Raises:
        UsageError: it is malformed, or two patches have one name.
    """
    patches: dict[str, Patch] = {}
    blocks: list[list[tuple[int, str]]] = []
    for number, line in enumerate(text_of(path).rstrip("\n").split("\n"), 1):
        if line.startswith("@@"):
            blocks.append([])
        if line.startswith("#") or not (blocks or line.strip()):
            continue
        if not blocks:
            shown = clean(line, _SHOWN)
            raise UsageError(f"{path}:{number}: it begins with {shown!r}, not with a head {FORM}")
        blocks[-1].append((number, line))
    for block in blocks:
        patch = _patch(path, block)
        if patch.name in patches:
            raise patch.refused("there is a mistake of this name above: give it another one")
        patches[patch.name] = patch
    return list(patches.values())


def _patch(path: Path, block: Sequence[tuple[int, str]]) -> Patch:
    number, first = block[0]
    head = _HEAD.fullmatch(first)
    if head is None:
        shown = clean(first, 80)
        raise UsageError(f"{path}:{number}: the head {shown!r} has not the form {FORM}")
    at = 1
    while at < len(block) and block[at][1].strip() and block[at][1][0] not in "+- ":
        at += 1
    patch = Patch(
        path=path,
        number=number,
        name=head["name"],
        base=head["base"] or "",
        severity=head["severity"] or "",
        met=head["met"] is not None,
        source=head["source"] or "",
        words=" ".join(line for _, line in block[1:at]),
        edits=[],
    )
    if not patch.words:
        raise patch.refused("the line below the head must say in words what is wrong")
    edits = list(_edits(patch, block[at:]))
    if not edits:
        raise patch.refused("there is no edit: write the lines that go and come, with `-` and `+`")
    return replace(patch, edits=edits)


def _edits(patch: Patch, lines: Sequence[tuple[int, str]]) -> Iterator[Edit]:
    edit = Edit(0, [], [])
    for number, line in [*lines, (0, "")]:
        if line:
            if line[0] not in "+- ":
                why = f"the line {clean(line, _SHOWN)!r} begins with no `-`, `+` or space"
                raise patch.refused(why, number)
            edit = edit._replace(number=edit.number or number)
            edit.old.extend([line[1:]] if line[0] != "+" else [])
            edit.new.extend([line[1:]] if line[0] != "-" else [])
        elif edit.number:
            if not edit.old:
                why = "an edit has new lines alone; a line that stays must say where they come"
                raise patch.refused(why, edit.number)
            if edit.old == edit.new:
                raise patch.refused("an edit changes nothing", edit.number)
            yield edit
            edit = Edit(0, [], [])


# Several mistakes at once.


def combined(right: str, wrongs: Sequence[str]) -> str | None:
    """Return a component with the changes of all wrong ones; None where changes touch.

    Changes touch if they overlap or begin in the same place, or if what they make is no Python.

    Args:
        right: what all of them are made of.
        wrongs: the component with one mistake each.
    """
    places = sorted(change for wrong in wrongs for change in _changes(right, wrong))
    for (start, end, _), (next_start, _, _) in pairwise(places):
        if next_start < end or next_start == start:
            return None
    # From the end, so that what is before keeps its place.
    for start, end, new in reversed(places):
        right = right[:start] + new + right[end:]
    return None if _syntax_error(right) else right


@functools.lru_cache(maxsize=4096)
def _changes(right: str, wrong: str) -> tuple[tuple[int, int, str], ...]:
    """Return what differs between two components: from where to where, and what is there then.

    It is told by tokens, so that several changes fit into one line.
    """
    old, new = _tokens(right), _tokens(wrong)
    # A token reaches from the end of the one before it.
    old_ends = [0, *(end for _, end in old)]
    new_ends = [0, *(end for _, end in new)]
    texts = [text for text, _ in old], [text for text, _ in new]
    matcher = SequenceMatcher(None, *texts, autojunk=False)
    return tuple(
        (old_ends[start], old_ends[end], wrong[new_ends[new_start] : new_ends[new_end]])
        for tag, start, end, new_start, new_end in matcher.get_opcodes()
        if tag != "equal"
    )


def _tokens(text: str) -> list[tuple[str, int]]:
    """Return the tokens of a text that say something, each with the place where it ends.

    A token is told by the space before it, too: how far a statement is indented, and elsewhere
    whether there is any, or another line begins.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found = []
    last = (1, 0)
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _LAYOUT:
            continue
        ends = token.type == tokenize.NEWLINE
        if begins:
            space = token.line[: token.start[1]]
        elif ends or token.start == last:
            space = ""
        else:
            space = " " if token.start[0] == last[0] else "\n"
        row, column = last = token.end
        found.append((space + token.string, starts[row - 1] + column))
        begins = ends
    return found


def _syntax_error(text: str) -> str:
    try:
        compile(text, "component", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return str(error)
    return ""
