"""Read the text of a submission for what reaches around the public interface, and run nothing.

The same on every machine: what is ordinary is on a list (`ordinary`), and everything else that
`reader` finds is for a person to look at.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.rules import ordinary as known
from autograder.rules.forbidden import used_by
from autograder.rules.reader import Ordinary, find_places, parsed

# More is not listed of one file; a person who has seen these need not see others.
_MOST = 20
# The names that are ordinary, those that are unusual, and those that are forbidden.
_Kind = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_WIDEST = 120


# What to write instead, by how the words of a finding begin; the first counts.
_INSTEAD = {
    "imports pdb": "delete the lines for the debugger",
    "uses breakpoint": "delete the lines for the debugger",
    "uses locals": "hand over the values that you need, in a dictionary of your own",
    "uses globals": "keep the values in a dictionary of your own",
    "uses torch.jit": "leave torch.jit away: the function works without it",
    "imports": "import plain modules of Python's library, torch, numpy or your own files",
    "uses": "use the public functions that the libraries' pages describe, or write it out",
    "asks for": "use public names; hand over what you need as an argument",
    "hands": "call it where you name it",
    "calls": "write names and arguments where you use them",
    "defines": "give it a name without underscores around it",
    "is written": "save the file as UTF-8",
    "changes": "leave libraries as they are: keep your own values in your own names",
    "cannot be read": "write it in shorter and flatter lines",
}


@dataclass(frozen=True)
class Finding:
    """Something out of the ordinary: where it is, and what, in words that go on "it ..."."""

    file: str
    line: int
    what: str

    @property
    def words(self) -> str:
        """Where it is, and what."""
        return f"{self.file}, line {self.line}: it {self.what}"


def instead(what: str) -> str:
    """Return what to write instead of something out of the ordinary."""
    return next(words for start, words in _INSTEAD.items() if what.startswith(start))


@dataclass(frozen=True)
class Reading:
    """What the text of a submission says.

    Attributes:
        findings: what is out of the ordinary, by file and line.
        imports: for each file the modules of the submission's own that it imports.
        named: for each file those that it names at all, also in a text; all if it cannot be read.
    """

    findings: list[Finding]
    imports: dict[str, list[str]]
    named: dict[str, list[str]]

    def about(self, file: str, without: Collection[str] = ()) -> list[Finding]:
        """Return what is out of the ordinary in what a file runs; arguments as of `reached`."""
        reached = self.reached(file, without)
        return [finding for finding in self.findings if finding.file in reached]

    def computes(self, files: Collection[str]) -> bool:
        """Return whether some of these files may import, open or run what no text names."""
        found = (finding.what for finding in self.findings if finding.file in files)
        return any(map(known.is_computed, found))

    def reached(self, file: str, without: Collection[str] = ()) -> set[str]:
        """Return the files that one runs when it is imported, itself among them.

        Args:
            file: the one.
            without: files that something else is put in the place of.
        """
        found, waiting = {file}, [file]
        while waiting:
            for module in self.imports.get(waiting.pop(), ()):
                folder = module.replace(".", "/")
                for other in self.imports:
                    inside = other == f"{folder}.py" or other.startswith(f"{folder}/")
                    if inside and other not in found and other not in without:
                        found.add(other)
                        waiting.append(other)
        return found


def read_files(files: Mapping[str, bytes], terms: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a `Reading` that can be written as JSON, a file at a time.

    Args:
        files: a submission's, by relative path; only Python's are read.
        terms: an `Ordinary`, likewise.
    """
    reading = read(files, Ordinary(**terms))
    texts = dict.fromkeys([*reading.imports, *(finding.file for finding in reading.findings)])
    return [
        {
            "file": file,
            "imports": reading.imports.get(file, []),
            "named": reading.named.get(file, []),
            "findings": [[f.line, f.what] for f in reading.findings if f.file == file],
        }
        for file in texts
    ]


def reading_of(found: Sequence[Mapping[str, Any]]) -> Reading:
    """Return the reading that was written as JSON."""
    findings = [Finding(text["file"], *pair) for text in found for pair in text["findings"]]
    imports, named = ({text["file"]: text[what] for text in found} for what in ("imports", "named"))
    return Reading(findings, imports, named)


def read(files: Mapping[str, bytes], terms: Ordinary) -> Reading:
    """Read the files of a submission; arguments as of `read_files`."""
    found: list[Finding] = []
    texts: dict[str, ast.Module] = {}
    sources = {file: source for file, source in sorted(files.items()) if file.endswith(".py")}
    for file, source in sources.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                texts[file] = parsed(source, file, main=file in terms.programs)
        except SyntaxError as error:
            # Python cannot run it either, but another codec could be there by then.
            if "encoding" in str(error):
                found.append(Finding(file, 1, "is written in an encoding that is not known"))
        except (ValueError, RecursionError, MemoryError):
            found.append(Finding(file, 1, "cannot be read: it is nested too deeply, or no text"))

    modules = own_modules(terms.own, sources)
    for file, places in find_places(texts, modules, terms).items():
        for line, what in places[:_MOST]:
            short = what if len(what) <= _WIDEST else what[: _WIDEST - 1] + "…"
            found.append(Finding(file, line, short))

    imports: dict[str, list[str]] = {file: [] for file in sources}
    named = dict.fromkeys(imports, sorted(modules))
    for file, tree in texts.items():
        imports[file], named[file] = imported(tree, modules)
    return Reading(sorted(found, key=lambda finding: (finding.file, finding.line)), imports, named)


def own_modules(names: Collection[str], files: Collection[str] = ()) -> set[str]:
    """Return the modules that are there under these names and in these files, with packages."""
    found = set(names)
    for file in files:
        parts = file.removesuffix(".py").removesuffix("/__init__").split("/")
        found.update(".".join(parts[: count + 1]) for count in range(len(parts)))
    return found


def imported(tree: ast.Module, own: Collection[str]) -> tuple[list[str], list[str]]:
    """Return the modules, out of the submission's own, that a text imports, and that it names.

    Any word of its texts may be the name that a module is imported by.
    """
    found: dict[str, None] = {}
    words: set[str] = set()
    for node in ast.walk(tree):
        names: list[str] = []
        match node:
            case ast.Import():
                names = [alias.name for alias in node.names]
            case ast.ImportFrom(level=0):
                names = [node.module or ""]
            case ast.ImportFrom():
                # Of a package of its own: whatever lies in it may be meant.
                names = [name for name in own if "." in name]
            case ast.Constant(value=str(text)):
                words.update(re.findall(r"\w+", text))
        found.update((name.partition(".")[0], None) for name in names)
        if isinstance(node, ast.Import | ast.ImportFrom):
            dotted = [*(alias.name for alias in node.names), getattr(node, "module", "") or ""]
            words.update(part for name in dotted for part in name.split("."))
    return [name for name in found if name in own], sorted(words.intersection(own))


def each_reading(
    kinds: Mapping[str, _Kind],
    uses: Mapping[str, Sequence[str]],
    read: Callable[[_Kind], Reading],
) -> Iterator[tuple[str, Reading, set[str]]]:
    """Yield every component with what is read by its lists, and the files that are not its own.

    Args:
        kinds: of each component, how its text is read.
        uses: of each component, those that it may import: each answers for itself.
        read: reads the submission; it is asked once for all components of one kind.
    """
    readings: dict[_Kind, Reading] = {}
    for name, kind in kinds.items():
        if kind not in readings:
            readings[kind] = read(kind)
        yield name, readings[kind], {f"{other}.py" for other in used_by(name, uses)}
