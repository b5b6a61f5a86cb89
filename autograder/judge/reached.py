"""Which Python files of a submission are taken in: the components and what they could import.

No text is parsed here: it may be hostile. A component imports nothing that it does not name, so a
file is reached where each part of its path stands as a word in the component or in what that
reaches. What can make up names as it runs (`__import__("plug" + "in")`) reaches every file. Small
files are taken in, too, as far as there is room: they cost nothing.
"""

from __future__ import annotations

import functools
import io
import re
import tokenize
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from autograder.judge.intake import MAX_BYTES, MAX_FILES, Content, Rejected, Unfit, apart
from autograder.rules.files import main_file

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# In bytes. The reader of texts reads many such files in no time, and no data that is a program.
_SMALL = 100_000
# Ways to a file whose name need not be in the text.
_MAKES_NAMES = frozenset(
    {
        *("__builtins__", "__file__", "__import__", "__loader__", "__path__", "__spec__"),
        *("builtins", "glob", "imp", "import_module", "importlib", "iterdir", "listdir"),
        *("pathlib", "pkgutil", "read_bytes", "read_text", "runpy", "scandir", "subprocess"),
        *("walk", "zipimport"),
    }
)
# Of these names methods are no such way: `model.eval()`.
_CALL = re.compile(r"(?<![\w.])(?:compile|eval|exec|open)\s*\(|\bsys\s*\.\s*path|\bio\s*\.\s*open")
_ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso-8859-1")


class Reached(NamedTuple):
    """What is taken in of a submission.

    Attributes:
        files: the components, what they reach, and what is small.
        unfit: by component, what it reaches that cannot be taken in, and why.
        left: the names of the other files, which no component reaches.
    """

    files: dict[str, bytes]
    unfit: dict[str, dict[str, str]]
    left: list[str]


class _Text(NamedTuple):
    words: frozenset[str]
    makes_names: bool


def reached(files: Mapping[str, Content], components: Collection[str]) -> Reached:
    """Return what components reach, and what is small beside it, up to the caps.

    Raises:
        Rejected: a component cannot be taken in, or the files cannot lie in one folder.
    """
    texts = {name: data for name, data in files.items() if not isinstance(data, Unfit)}
    unfit = {name: str(data) for name, data in files.items() if isinstance(data, Unfit)}
    mains = {main_file(name, files): name for name in components}
    own = {file: name for file, name in mains.items() if file in files}
    for name in own.keys() & unfit.keys():
        raise Rejected(f"{name} {unfit[name]}")

    # No other word of a text is kept, however many it has.
    asked = _MAKES_NAMES.union(*map(_parts, files))

    @functools.cache
    def text_of(name: str) -> _Text:
        return _read(texts[name], asked) if name in texts else _Text(frozenset(), False)

    reach = {component: _walk(name, files, text_of) for name, component in own.items()}
    needed = set().union(*reach.values())
    small = {name for name, data in texts.items() if len(data) <= _SMALL}
    taken: dict[str, bytes] = {}
    size = 0
    wanted = texts.keys() & (needed | small)
    for name in sorted(
        wanted, key=lambda name: (name not in own, name not in needed, *_near(name))
    ):
        size += len(texts[name])
        if len(taken) < MAX_FILES and size <= MAX_BYTES:
            taken[name] = texts[name]
        elif name in own:
            raise Rejected(f"the Python files are too large; at most {MAX_BYTES} bytes in all")
        else:
            unfit[name] = f"is more than is taken in: {MAX_FILES} files, {MAX_BYTES} bytes"
    of_each = {
        component: {name: unfit[name] for name in sorted(names, key=_near) if name in unfit}
        for component, names in reach.items()
    }
    return Reached(
        apart(taken),
        {component: found for component, found in of_each.items() if found},
        sorted(files.keys() - needed - taken.keys(), key=_near),
    )


def _near(name: str) -> tuple[int, str]:
    return name.count("/"), name


def _walk(start: str, files: Iterable[str], text_of: Callable[[str], _Text]) -> set[str]:
    """Return the names of the files that one reaches, its own among them."""
    found, new = {start}, [start]
    words: set[str] = set()
    rest = {name: _parts(name) for name in files if name != start}
    while new and len(found) <= MAX_FILES:
        texts = [text_of(name) for name in new]
        if any(text.makes_names for text in texts):
            return {start, *rest, *found}
        words.update(*(text.words for text in texts))
        new = [name for name, parts in rest.items() if words.issuperset(parts)]
        found.update(new)
        for name in new:
            del rest[name]
    return found


def _parts(name: str) -> list[str]:
    """Return the words without which nobody imports a file; of odd names, none."""
    parts = name.removesuffix(".py").removesuffix("/__init__").split("/")
    # Python takes some letters for others in a name.
    return [part for part in parts if part.isascii()]


def _read(data: bytes, asked: frozenset[str]) -> _Text:
    """Return which of the words that are asked for a text has, and whether it can make up names."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        encoding = ""
    if encoding not in _ENCODINGS:
        return _Text(frozenset(), True)
    text = data.decode(encoding, "replace")
    words = asked.intersection(_WORD.findall(text))
    disguised = any(
        unicodedata.normalize("NFKC", sign).isascii() for sign in {*text} if sign > "\x7f"
    )
    return _Text(words, disguised or bool(words & _MAKES_NAMES) or bool(_CALL.search(text)))
