"""The student's folder: what is in it, what is not, and what `pytest` says there."""

import ast
import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.exchange.messages import Reply, Request
from autograder.misconceptions import file_of, read, with_mistakes
from autograder.numbers import table
from autograder.release import conftest, release
from autograder.suite.known import KnownMistakes
from autograder.suite.variants import Variants
from tests.conftest import ROOT

# Everything of the project is hidden from the run, as on a student's machine.
RUN = (
    "import sys; sys.modules.update(dict.fromkeys(['autograder', 'rich', 'typer', 'pydantic', "
    "'pyseccomp', 'reference', 'tests'])); import pytest; "
    "sys.exit(pytest.main(['-p', 'no:cacheprovider', *sys.argv[1:]]))"
)


@pytest.fixture(scope="module")
def known(assignment: Assignment) -> dict[str, Any]:
    return table(assignment)


@pytest.fixture
def folder(assignment: Assignment, known: dict[str, Any], tmp_path: Path) -> Path:
    release(assignment, tmp_path / "release", lambda _: known)
    return tmp_path / "release"


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", RUN, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_it_holds_stubs_handout_public_suite_and_one_conftest(
    assignment: Assignment, folder: Path
) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    stubs = {f"{name}.py" for name in assignment.totals}
    suite = {f"tests/test_{name}.py" for name in assignment.totals} | {"tests/views.py"}
    assert names == stubs | suite | {"README.md", "tests/conftest.py"} | {
        "tests/walkthrough.json",
        "tests/known_mistakes.json",
    }


def test_nothing_of_the_reference_is_in_it(assignment: Assignment, folder: Path) -> None:
    public = "".join(path.read_text() for path in assignment.public.rglob("*.py"))
    released = "".join(path.read_text() for path in folder.rglob("*.py"))
    secret = [path.read_text() for path in assignment.secret.rglob("*.py")]
    lines = {line.strip() for text in secret for line in text.splitlines() if len(line) > 40}
    lines = {line for line in lines if not line.startswith(("from ", "import "))}
    given_away = [line for line in lines if line in released and line not in public]
    assert not given_away
    for word in ("ReferenceSession", "JudgePlugin", str(ROOT)):
        assert word not in released


def test_the_conftest_needs_only_what_a_student_has(assignment: Assignment) -> None:
    tree = ast.parse(conftest(assignment))
    roots: dict[str, set[str]] = {}
    for where, nodes in (("module", tree.body), ("anywhere", list(ast.walk(tree)))):
        found = roots.setdefault(where, set())
        for node in nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    needed = {"torch", "pytest", "hypothesis"}
    assert roots["module"] - sys.stdlib_module_names == needed
    # Only for the workbook's pages; one comes with torch, without the other there is no picture.
    assert roots["anywhere"] - sys.stdlib_module_names == needed | {"jinja2", "matplotlib", "numpy"}


def test_no_name_of_the_bundled_modules_hides_another(assignment: Assignment) -> None:
    kinds = (ast.FunctionDef, ast.ClassDef)
    tree = ast.parse(conftest(assignment))
    names = [node.name for node in tree.body if isinstance(node, kinds)]
    for node in tree.body:
        if isinstance(node, ast.Assign):
            names += [target.id for target in node.targets if isinstance(target, ast.Name)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_untouched_stubs_are_not_attempted_in_a_few_lines(folder: Path) -> None:
    done = run(folder, "-q")
    assert done.returncode == 1
    assert done.stdout.count("not attempted (worth") == 7
    assert "Traceback" not in done.stdout
    assert "NotImplementedError" not in done.stdout
    assert len(done.stdout.splitlines()) < 20, done.stdout


def test_one_component_runs_by_naming_its_file(folder: Path) -> None:
    shutil.copy(ROOT / "tests/classes/demo/s01/layer_norm.py", folder)
    done = run(folder, "tests/test_layer_norm.py")
    assert done.returncode == 0, done.stdout
    assert "layer_norm             7 of 7 public points (worth 14 in all)" in done.stdout


def test_a_failure_shows_source_expected_returned_and_the_smallest_input(folder: Path) -> None:
    shutil.copy(ROOT / "tests/classes/demo/s09/layer_norm.py", folder)
    done = run(folder, "tests/test_layer_norm.py")
    assert done.returncode == 1
    for words in (
        "source: slides, page 8",
        "expected [-1.342, -0.4472, 0.4472, 1.342]",
        "returned [-1.162, -0.3873, 0.3873, 1.162]",
        "smallest failing input: seed=0, leading=[], features=4",
    ):
        assert words in done.stdout, done.stdout
    assert "conftest.py" not in done.stdout


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def layer_norm(x:\n", "could not be imported: SyntaxError (layer_norm.py, line 1)"),
        ("x = 1\n", "the file has no `layer_norm`"),
        (
            "import torch.nn.functional as F\n"
            "def layer_norm(x, eps=1e-5):\n    return F.layer_norm(x, x.shape[-1:], eps=eps)\n",
            "a forbidden operation was called (layer_norm.py, line 3): layer_norm",
        ),
        ("def layer_norm(x, eps=1e-5):\n    return undefined\n", "layer_norm.py, line 2"),
        ("def layer_norm(x, eps=1e-5):\n    pass\n", "is the `return` missing?"),
        (
            "import random\ndef layer_norm(x, eps=1e-5):\n    return x * random.random()\n",
            "is off by",
        ),
    ],
)
def test_ordinary_mistakes_are_named(folder: Path, source: str, said: str) -> None:
    (folder / "layer_norm.py").write_text(source)
    done = run(folder, "tests/test_layer_norm.py")
    assert done.returncode == 1
    assert said in done.stdout, done.stdout


def test_a_missing_file_is_missing(folder: Path) -> None:
    (folder / "layer_norm.py").unlink()
    done = run(folder, "-q", "tests/test_layer_norm.py")
    assert done.returncode == 1
    assert "missing: there is no layer_norm.py" in done.stdout


def test_an_occupied_folder_is_left_alone(assignment: Assignment, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(UsageError, match="is not empty: give --out a new folder"):
        release(assignment, tmp_path, table)
    with pytest.raises(UsageError, match="is a file"):
        release(assignment, tmp_path / "mine.txt", table)
    assert (tmp_path / "mine.txt").read_text() == "keep me"


def tensors_in(plain: Any) -> list[list[float]]:
    """Every tensor of a table of known mistakes."""
    if isinstance(plain, dict) and "shape" in plain:
        return [plain.get("values", [])]
    parts = plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else []
    return [tensor for part in parts for tensor in tensors_in(part)]


def test_known_mistakes_are_numbers_and_words_only(known: dict[str, Any]) -> None:
    assert known
    for component, plain in known.items():
        assert set(plain) == {"questions", "mistakes"}
        for mistake in plain["mistakes"]:
            assert set(mistake) == {"words", "loses", "answers"}
            assert all(name.startswith(f"{component}.") for name in mistake["loses"])
            for word in ("def ", "import ", "return x", "lambda", "self."):
                assert word not in mistake["words"]
        assert all(
            isinstance(number, int | float | bool)
            for values in tensors_in(plain)
            for number in values
        )


class Wrong:
    """A component with some mistakes in force."""

    def __init__(self, variants: Variants, *names: str) -> None:
        self.variants, self.names = variants, frozenset(names)

    def perform(self, request: Request) -> Reply:
        return self.variants.perform(self.names, request)


def test_every_mistake_in_the_table_is_recognised_and_right_work_never(
    assignment: Assignment, known: dict[str, Any]
) -> None:
    wrong = []
    shown = 0
    for component, plain in json.loads(json.dumps(known)).items():
        mistakes = read(assignment, component)
        variants = Variants(file_of(assignment, component).parent, component, tuple(mistakes))
        for name in (None, *mistakes):
            words = mistakes[name].words if name else ""
            entry = next((m for m in plain["mistakes"] if m["words"] == words), {"loses": []})
            shown += bool(entry["loses"])
            found = KnownMistakes(plain)
            session = Wrong(variants, *([name] if name else []))
            for criterion in {c for m in plain["mistakes"] for c in m["loses"]}:
                cause = found.cause(criterion, session)
                # It may stand beside another that these questions cannot tell from it.
                if (words in cause if criterion in entry["loses"] else not cause) is False:
                    wrong.append((component, name, criterion, cause))
    assert wrong == []
    assert shown >= 60


@pytest.mark.parametrize(
    ("component", "name"),
    [
        ("layer_norm", "sample_variance"),
        ("positional_encoding", "sines_first"),
        ("attention", "causal_upper"),
        ("lm_head", "cloned_weight"),
    ],
)
def test_a_failing_public_check_names_the_mistake(
    assignment: Assignment, folder: Path, component: str, name: str
) -> None:
    source = file_of(assignment, component).read_bytes()
    (folder / f"{component}.py").write_bytes(with_mistakes(source, [name]))
    done = run(folder, f"tests/test_{component}.py")
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "likely cause: " + read(assignment, component)[name].words in said, done.stdout
