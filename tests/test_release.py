"""The student's folder: what is in it, what is not, and what `pytest` says there."""

import ast
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from autograder.assignment import Assignment
from autograder.errors import UsageError
from autograder.release import conftest, release
from tests.conftest import ROOT

# Everything of the project is hidden from the run, as on a student's machine.
RUN = (
    "import sys; sys.modules.update(dict.fromkeys(['autograder', 'rich', 'typer', 'pydantic', "
    "'safetensors', 'pyseccomp', 'reference', 'tests'])); import pytest; "
    "sys.exit(pytest.main(['-p', 'no:cacheprovider', *sys.argv[1:]]))"
)


@pytest.fixture
def folder(assignment: Assignment, tmp_path: Path) -> Path:
    release(assignment, tmp_path / "release")
    return tmp_path / "release"


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-c", RUN, *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)


def test_it_holds_stubs_handout_public_suite_and_one_conftest(
    assignment: Assignment, folder: Path
) -> None:
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    stubs = {f"{name}.py" for name in assignment.totals}
    suite = {f"tests/test_{name}.py" for name in assignment.totals}
    assert names == stubs | suite | {"README.md", "tests/conftest.py", "tests/walkthrough.json"}


def test_nothing_of_the_reference_is_in_it(assignment: Assignment, folder: Path) -> None:
    public = "".join(path.read_text() for path in assignment.public.rglob("*.py"))
    released = "".join(path.read_text() for path in folder.rglob("*.py"))
    secret = [path.read_text() for path in assignment.secret.rglob("*.py")]
    lines = {line.strip() for text in secret for line in text.splitlines() if len(line) > 40}
    given_away = [line for line in lines if line in released and line not in public]
    assert not given_away
    for word in ("ReferenceSession", "JudgePlugin", str(ROOT)):
        assert word not in released


def test_the_conftest_needs_only_what_a_student_has(assignment: Assignment) -> None:
    tree = ast.parse(conftest(assignment))
    roots = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
    assert roots - sys.stdlib_module_names == {"torch", "pytest", "hypothesis"}


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
        release(assignment, tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        release(assignment, tmp_path / "mine.txt")
    assert (tmp_path / "mine.txt").read_text() == "keep me"
