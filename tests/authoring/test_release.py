"""The student's folder: what is in it, what is not, and what `pytest` says there."""

import ast
import os
import select
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.new import new_assignment, new_course
from autograder.authoring.release import conftest, kept_numbers, known_numbers, release
from autograder.errors import UsageError
from autograder.judge.misconceptions import read
from tests.conftest import ROOT, lines_of_code

# The project and what it needs are hidden from the run, as on a student's machine.
RUN = (
    f"import sys; sys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]; "
    "sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f).lower()]; "
    "sys.modules.update(dict.fromkeys(['rich', 'typer', 'pydantic', 'pyseccomp', 'reference', "
    "'tests'])); import pytest; sys.exit(pytest.main(['-p', 'no:cacheprovider', *sys.argv[1:]]))"
)


@pytest.fixture
def folder(released: Path, tmp_path: Path) -> Path:
    """The student's folder, to be changed."""
    return Path(shutil.copytree(released, tmp_path / "release"))


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
        "tests/known_mistakes.json.gz",
    }


def test_nothing_of_the_reference_is_in_it(assignment: Assignment, folder: Path) -> None:
    public = "".join(path.read_text() for path in assignment.public.rglob("*.py"))
    released = "".join(path.read_text() for path in folder.rglob("*.py"))
    lines = {line for line in lines_of_code(assignment.secret) if len(line) > 36}
    lines = {line for line in lines if not line.startswith(("from ", "import "))}
    given_away = [line for line in lines if line in released and line not in public]
    assert not given_away
    for word in ("ReferenceSession", "autograder.judge", "autograder.judge", str(ROOT)):
        assert word not in released


def sources_of(text: str) -> dict[str, str]:
    """The modules that a generated conftest.py holds, by name."""
    namespace: dict[str, Any] = {"__name__": "conftest", "__file__": "conftest.py"}
    exec(compile(text, "conftest.py", "exec"), namespace)
    found: dict[str, str] = namespace["SOURCES"]
    return found


def imported(text: str, everywhere: bool) -> set[str]:
    """What a source imports, by the full name of the module."""
    tree = ast.parse(text)
    found: set[str] = set()
    for node in ast.walk(tree) if everywhere else tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_the_conftest_holds_whole_rooms_as_they_are(assignment: Assignment) -> None:
    package = ROOT / "autograder"
    rooms = ("api", "rules", "student", "diagnosis")
    shipped = [path for room in rooms for path in (package / room).glob("*.py")]
    expected = {"autograder": ""}
    for path in [*shipped, package / "text.py"]:
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        expected[name] = path.read_text()
    assert sources_of(conftest(assignment)) == expected


def test_the_conftest_needs_only_what_a_student_has(assignment: Assignment) -> None:
    text = conftest(assignment)
    sources = sources_of(text)
    # What ships imports nothing of the project but what ships with it.
    names = [imported(source, everywhere=True) for source in (text, *sources.values())]
    own = {name for found in names for name in found if name.partition(".")[0] == "autograder"}
    assert own <= set(sources)
    roots: list[set[str]] = []
    for everywhere in (False, True):
        names = [imported(source, everywhere) for source in (text, *sources.values())]
        found = {name.partition(".")[0] for some in names for name in some}
        roots.append(found - {"autograder"} - sys.stdlib_module_names)
    needed = {"numpy", "pytest", "hypothesis"}
    # torch where the assignment uses it; the others for the workbook, and they come with torch.
    assert roots == [needed, needed | {"torch", "jinja2", "markupsafe"}]


def test_a_source_that_is_hard_to_quote_is_held_as_it_is(
    assignment: Assignment, tmp_path: Path
) -> None:
    used = sorted({name for spec in assignment.components for name in spec.uses})
    odd = ["x = " + 3 * "'" + 3 * '"' + 3 * "'", "ends with a quote '", "with a backslash \\"]
    sources = dict(zip(used, odd, strict=False))
    assert len(sources) == len(odd)
    for name in used:
        path = replace(assignment, root=tmp_path).given_stand_in(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sources.setdefault(name, "x = 1"))
    tree = ast.parse(conftest(replace(assignment, root=tmp_path)))
    (held,) = [
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STAND_INS"
    ]
    assert held == sources


ORIGIN = '''
import sys

import pytest


@pytest.mark.criterion(points=1, source="page 1")
def test_origin(component):
    """where the modules come from"""
    modules = {name: m for name, m in sys.modules.items() if name.partition(".")[0] == "autograder"}
    origins = {name: m.__spec__.origin for name, m in modules.items()}
    assert origins == {name: f"<{name}>" for name in origins}
    assert "autograder.student.plugin" in origins
'''


@pytest.mark.slow
def test_the_modules_that_run_are_those_of_the_conftest(folder: Path) -> None:
    (folder / "tests" / "test_layer_norm.py").write_text(ORIGIN)
    shutil.copy(ROOT / "tests/classes/transformer_block/s01/layer_norm.py", folder)
    done = run(folder, "tests/test_layer_norm.py")
    assert "1 passed" in done.stdout, done.stdout


@pytest.mark.slow
def test_untouched_stubs_are_not_attempted_in_a_few_lines(folder: Path) -> None:
    done = run(folder, "-q")
    assert done.returncode == 1
    assert done.stdout.count("not attempted (worth") == 7
    assert "Traceback" not in done.stdout
    assert "NotImplementedError" not in done.stdout
    assert len(done.stdout.splitlines()) < 20, done.stdout


@pytest.mark.release
def test_of_two_handouts_in_one_tree_pytest_wants_one(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "copy")
    ends = [run(tmp_path, *names) for names in (["copy", "release"], [])]
    for done in ends:
        assert done.returncode != 0
        assert "there are two handouts here, " in done.stdout + done.stderr
        assert "conftest.py" not in done.stdout + done.stderr
    assert "release and" in ends[0].stderr
    assert ends[0].returncode == pytest.ExitCode.USAGE_ERROR


@pytest.mark.release
def test_one_component_runs_by_naming_its_file(folder: Path) -> None:
    shutil.copy(ROOT / "tests/classes/transformer_block/s01/layer_norm.py", folder)
    done = run(folder, "tests/test_layer_norm.py")
    assert done.returncode == 0, done.stdout
    assert "layer_norm             11 of 11 public points (worth 14 in all)" in done.stdout


@pytest.mark.slow
def test_a_failure_shows_source_expected_returned_and_the_smallest_input(folder: Path) -> None:
    wrong = (ROOT / "tests/classes/transformer_block/s09/layer_norm.py").read_text()
    # As in grading: what picks a GPU if there is one answers alike on all machines.
    no_gpu = 'import os\n\nassert os.environ["CUDA_VISIBLE_DEVICES"] == "-1"\n'
    (folder / "layer_norm.py").write_text(f"{wrong}\n{no_gpu}")
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


NO_WORK = """\
import torch
from torch import nn


def layer_norm(x, eps=1e-5):
    return torch.zeros_like(x)


class LayerNorm(nn.Module):
    def forward(self, x):
        return x
"""


@pytest.mark.release
def test_form_counts_once_another_check_holds(folder: Path) -> None:
    (folder / "layer_norm.py").write_text(NO_WORK)
    page = folder / "page.html"
    done = run(folder, "tests/test_layer_norm.py", f"--page={page}")
    assert "layer_norm             0 of 11 public points" in done.stdout, done.stdout
    assert "; 2.5 more count once another check holds" in done.stdout, done.stdout
    text = page.read_text()
    assert "it counts once another check of this component holds, at least in part" in text
    # Whoever opens it has a page in which nothing runs and nothing is loaded.
    assert text.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy\" content=\"default-src 'none'" in text
    right = (ROOT / "tests/classes/transformer_block/s01/layer_norm.py").read_text()
    (folder / "layer_norm.py").write_text(
        right.replace("class LayerNorm", "class Other").replace("LayerNorm", "Other")
        + "\n\nclass LayerNorm:\n    def __init__(self, *sizes):\n        raise ValueError\n"
    )
    done = run(folder, "tests/test_layer_norm.py")
    assert "layer_norm             6.5 of 11 public points" in done.stdout, done.stdout
    assert "more count once" not in done.stdout


MISTAKES = {
    "layer_norm.py": "def layer_norm(x:\n",
    "positional_encoding.py": "x = 1\n",
    "attention.py": "import torch.nn.functional as F\n"
    "def causal_mask(seq_len):\n    return undefined\n"
    "def scaled_dot_product_attention(query, key, value, mask=None):\n"
    "    return F.scaled_dot_product_attention(query, key, value), query\n",
    "feed_forward.py": "import random\n"
    "def memory_lookup(x, keys, values):\n"
    "    return random.random() * ((x @ keys.T).relu() @ values)\n",
    "lm_head.py": "from torch import nn\n"
    "class TiedLMHead(nn.Module):\n"
    "    def __init__(self, embedding):\n        super().__init__()\n"
    "    def forward(self, hidden):\n        pass\n",
}


@pytest.fixture(scope="module")
def mistaken(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a run says of a folder with a mistake in every file, and one that is missing."""
    folder = tmp_path_factory.mktemp("mistaken") / "release"
    shutil.copytree(released, folder)
    for name, source in MISTAKES.items():
        (folder / name).write_text(source)
    (folder / "multi_head_attention.py").unlink()
    done = run(folder)
    assert done.returncode == 1
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "said",
    [
        "could not be imported: SyntaxError (layer_norm.py, line 1)",
        "the file has no `sinusoidal_encoding`",
        "raised NameError (attention.py, line 3): name 'undefined' is not defined",
        "torch's scaled_dot_product_attention was called (attention.py, line 5)",
        "the result is off by",
        "is the `return` missing?",
        "missing: there is no multi_head_attention.py",
    ],
)
def test_ordinary_mistakes_are_named(mistaken: str, said: str) -> None:
    assert said in mistaken


def test_an_occupied_folder_is_left_alone(assignment: Assignment, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    with pytest.raises(UsageError, match="is not empty: give --out a new folder"):
        release(assignment, tmp_path, known_numbers)
    with pytest.raises(UsageError, match="is a file"):
        release(assignment, tmp_path / "mine.txt", known_numbers)
    assert (tmp_path / "mine.txt").read_text() == "keep me"


KNOWN = {"layer_norm": "sample_variance", "lm_head": "cloned_weight"}


@pytest.fixture(scope="module")
def explained(
    assignment: Assignment, released: Path, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """What a run says of a folder with known mistakes."""
    folder = tmp_path_factory.mktemp("known") / "release"
    shutil.copytree(released, folder)
    for component, name in KNOWN.items():
        (folder / f"{component}.py").write_text(read(assignment, component)[name].wrong)
    done = run(folder, *(f"tests/test_{component}.py" for component in KNOWN))
    assert done.returncode == 1
    return " ".join(done.stdout.split())


@pytest.mark.parametrize("component", KNOWN)
def test_a_failing_public_check_names_the_mistake(
    assignment: Assignment, explained: str, component: str
) -> None:
    words = read(assignment, component)[KNOWN[component]].words
    assert f"likely cause: {words}" in explained


@pytest.mark.slow
def test_a_package_that_is_missing_is_named(assignment: Assignment, folder: Path) -> None:
    named = replace(assignment, packages=("numpy", "not-there-at-all"))
    (folder / "tests" / "conftest.py").write_text(conftest(named), encoding="utf-8")
    done = run(folder)
    assert (
        "this assignment uses not-there-at-all, which is not installed: pip install" in done.stderr
    )
    named = replace(assignment, packages=("numpy",))
    (folder / "tests" / "conftest.py").write_text(conftest(named), encoding="utf-8")
    assert "not installed" not in run(folder).stderr


def test_what_is_kept_is_of_the_suites_of_today() -> None:
    for name in ("transformer_block", "language_model"):
        of_today = load_assignment(ROOT, name)
        command = f"autograder release {name} --out <new folder> --keep"
        assert set(kept_numbers(of_today)) == set(of_today.totals), f"run `{command}`"


RELEASING = """
import sys
from pathlib import Path
from autograder.assignment import load_assignment
from autograder.authoring.release import known_numbers
known_numbers(load_assignment(Path(sys.argv[1]), "many"))
"""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_whoever_computes_them_ends_with_the_command(tmp_path: Path) -> None:
    new_course(tmp_path / "course")
    made = new_assignment(tmp_path / "course", "many", ["one", "two", "three", "four"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # The last component is the first that is begun.
    (made.public / "tests" / "test_four.py").write_text(f"open({str(pipe)!r}).read()\n")
    command = [sys.executable, "-c", RELEASING, str(made.root)]
    # Opening it waits until the suite is being read.
    with subprocess.Popen(command) as releasing, pipe.open("wb", buffering=0) as end:
        releasing.kill()
        broken = select.poll()
        broken.register(end, select.POLLERR)
        assert broken.poll(60_000)
