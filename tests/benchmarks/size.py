"""How large the package is: syntax nodes, code lines and modules by room, and the glossary's terms.

    python -m tests.benchmarks.size [COMMIT ...]

Prints a table of the working tree; with commits, one of each before it. Nodes of the syntax tree
measure how much there is to understand, however it is laid out. A code line is one that is neither
blank nor a comment nor part of a docstring.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "autograder"
FOLDERS = (PACKAGE, "assignments", "reference", "tests")
GLOSSARY = "docs/glossary.md"
_NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Size:
    """The size of some modules."""

    modules: int = 0
    lines: int = 0
    code: int = 0
    nodes: int = 0

    def add(self, other: Size) -> None:
        """Count another's modules, too."""
        self.modules += other.modules
        self.lines += other.lines
        self.code += other.code
        self.nodes += other.nodes

    def cells(self) -> str:
        """Return the columns of a row."""
        density = self.nodes / self.code if self.code else 0.0
        return f"{self.modules:>8}{self.lines:>9}{self.code:>9}{self.nodes:>10}{density:>8.1f}"


def size_of(text: str) -> Size:
    """Return the size of one module."""
    tree = ast.parse(text)
    nodes = sum(1 for _ in ast.walk(tree))
    code = _token_lines(text) - _docstring_lines(tree)
    return Size(1, len(text.splitlines()), len(code), nodes)


def room_of(path: str) -> str:
    """Return the room of a module: the package's folders, of other folders the first two."""
    parts = PurePosixPath(path).parts
    if parts[0] != PACKAGE:
        return "/".join(parts[:2]) if len(parts) > 2 else parts[0]
    deep = 3 if parts[1] == "platforms" else 2
    return "/".join(parts[: min(deep, len(parts) - 1)])


def terms_of(glossary: str) -> int:
    """Return how many terms a glossary explains: one for each row of its table."""
    rows = [line for line in glossary.splitlines() if line.startswith("|")]
    head_and_rule = 2
    return max(0, len(rows) - head_and_rule)


def sizes(files: dict[str, str]) -> dict[str, Size]:
    """Return sizes by room, in the order of the folders."""
    found: dict[str, Size] = defaultdict(Size)
    for path in sorted(files):
        found[room_of(path)].add(size_of(files[path]))
    return dict(found)


def report(title: str, files: dict[str, str], glossary: str) -> str:
    """Return the table of one state of the project."""
    head = f"{title:<36}{'modules':>8}{'lines':>9}{'code':>9}{'nodes':>10}{'/line':>8}"
    rows = [head]
    for folder in FOLDERS:
        own = {path: text for path, text in files.items() if path.startswith(f"{folder}/")}
        total = Size()
        for room, size in sizes(own).items():
            rows.append(f"{room:<36}{size.cells()}")
            total.add(size)
        rows.append(f"{f'all of {folder}':<36}{total.cells()}")
    rows.append(f"terms in {GLOSSARY}: {terms_of(glossary)}")
    return "\n".join(rows)


def of_tree(root: Path) -> tuple[dict[str, str], str]:
    """Return the texts of a working tree's modules, and its glossary."""
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    here = {name: root / name for name in listed if _counts(name) and (root / name).is_file()}
    files = {name: path.read_text(encoding="utf-8") for name, path in here.items()}
    return files, (root / GLOSSARY).read_text(encoding="utf-8")


def of_commit(commit: str) -> tuple[dict[str, str], str]:
    """Return the texts of a commit's modules, and its glossary."""
    listed = _git("ls-tree", "-r", "--name-only", commit).splitlines()
    files = {name: _git("show", f"{commit}:{name}") for name in listed if _counts(name)}
    return files, _git("show", f"{commit}:{GLOSSARY}")


def _counts(name: str) -> bool:
    return name.endswith(".py") and name.split("/")[0] in FOLDERS and _parses(name)


def _parses(name: str) -> bool:
    # Made-up submissions may be broken on purpose, and templates have places to fill in.
    return not name.startswith(("tests/hostile/", "tests/classes/")) and "/templates/" not in name


def _token_lines(text: str) -> set[int]:
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    return found


def _docstring_lines(tree: ast.Module) -> set[int]:
    found: set[int] = set()
    for docstring in _docstrings(tree):
        found.update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return found


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node) is not None:
            first = node.body[0]
            assert isinstance(first, ast.Expr)
            yield first.value


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout


def main() -> int:
    """Print the tables."""
    for commit in sys.argv[1:]:
        print(report(commit, *of_commit(commit)), end="\n\n")
    print(report("working tree", *of_tree(ROOT)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
