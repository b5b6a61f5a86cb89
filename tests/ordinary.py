"""The course of ordinary pytest files, tests/courses/ordinary, and its verdicts in one process.

Each assignment there is about one form of tests that teachers write. Their verdicts in one process
are what grading must come to as well.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from autograder.assignment import load_assignment

COURSE = Path(__file__).resolve().parent / "courses" / "ordinary"
WORKS = COURSE / "works"
# Answers to the tests of `scale` that attack the side where the tests run.
HOSTILE = Path(__file__).resolve().parent / "hostile" / "proxies"
# Every form, by its assignment.
FORMS = tuple(sorted(path.name for path in WORKS.iterdir()))
# No work there needs more than seconds.
_WALL_S = 300
# Loaded into pytest: notes each case's end, and gives the fixture that hidden tests have.
_PLUGIN = """\
import json
import os
import sys

import pytest

ends = {}


@pytest.fixture
def reference():
    import reference

    return reference


def pytest_runtest_logreport(report):
    file, _, name = report.nodeid.partition("::")
    seen, passed = ends.get((file, name), (False, True))
    called = seen or (report.when == "call" and report.passed)
    ends[file, name] = (called, passed and report.passed)


def pytest_collectreport(report):
    if report.failed:
        ends[report.nodeid, ""] = (False, False)


def pytest_sessionfinish():
    found = [[file, name, called and passed] for (file, name), (called, passed) in ends.items()]
    with open(os.environ["ENDS"], "w") as file:
        json.dump(found, file)
"""
# The module `reference`: what all solutions define. These import one another by their names, which
# the student's files have as well.
_REFERENCE = """\
import importlib
import sys

_names = {names!r}


def _taken():
    found = [name for name in sys.modules if name.partition(".")[0] in _names]
    return {{name: sys.modules.pop(name) for name in found}}


_others = _taken()
sys.path.insert(0, {folder!r})
importlib.invalidate_caches()
for _name in _names:
    _module = importlib.import_module(_name)
    globals().update({{k: v for k, v in vars(_module).items() if not k.startswith("_")}})
sys.path.remove({folder!r})
_taken()
sys.modules.update(_others)
"""


def works(form: str) -> list[str]:
    """Return the names of a form's works."""
    return sorted(path.name for path in (WORKS / form).iterdir())


def hostile() -> Iterator[tuple[Path, dict[str, bytes], bool]]:
    """Yield each hostile answer to `scale`: where it lies, its files, and whether it may earn.

    It may if the text at its top begins with "Right"; any other earns nothing.
    """
    for place in sorted(path for path in HOSTILE.iterdir() if path.name != "__pycache__"):
        main = place / "scale.py" if place.is_dir() else place
        paths = sorted(place.rglob("*")) if place.is_dir() else [main]
        files = {
            "scale.py" if path == main else path.relative_to(place).as_posix(): path.read_bytes()
            for path in paths
            if path.is_file() and "__pycache__" not in path.parts
        }
        said = ast.get_docstring(ast.parse(files["scale.py"]))
        assert said, f"{main} does not say what it tries"
        yield place, files, said.startswith("Right")


def in_one_process(form: str, work: Path) -> dict[str, tuple[int, int]]:
    """Run a form's tests as plain pytest in one process with the work, public and hidden ones.

    Args:
        form: the name of the assignment.
        work: the folder with its components; what else lies there is beside them.

    Returns:
        By test ("public/test_x.py::TestClass::test_name") how many of its cases passed, and how
        many there are. A file that cannot be collected has one case that did not pass, with no
        name behind its file's.
    """
    assignment = load_assignment(COURSE, form)
    with tempfile.TemporaryDirectory(prefix="gradeformer-ordinary-") as name:
        folder = Path(name)
        machine = folder / "machine"
        machine.mkdir()
        (machine / "noting_ends.py").write_text(_PLUGIN, encoding="utf-8")
        names = tuple(assignment.totals)
        text = _REFERENCE.format(names=names, folder=str(assignment.secret))
        (machine / "hidden").mkdir()
        (machine / "hidden" / "reference.py").write_text(text, encoding="utf-8")

        runs = {}
        for part, tests in (("public", assignment.public), ("hidden", assignment.secret)):
            home = folder / part
            unwanted = shutil.ignore_patterns("__pycache__")
            shutil.copytree(work, home, ignore=unwanted)
            shutil.copytree(tests / "tests", home / "tests", ignore=unwanted)
            runs[part] = _pytest(home, [machine, machine / part], machine / f"{part}.json")

        outputs = {}
        try:
            for part, run in runs.items():
                outputs[part], _ = run.communicate(timeout=_WALL_S)
        finally:
            for run in runs.values():
                run.kill()
                run.communicate()

        found: dict[str, tuple[int, int]] = {}
        for part, output in outputs.items():
            ends = machine / f"{part}.json"
            assert ends.is_file(), f"{form}, {work.name}, {part}:\n{output}"
            for file, test, passed in json.loads(ends.read_text(encoding="utf-8")):
                # Parametrized cases have a name of their own in brackets.
                key = "::".join([f"{part}/{Path(file).name}", *filter(None, [test.split("[")[0]])])
                good, cases = found.get(key, (0, 0))
                found[key] = (good + passed, cases + 1)
        return found


def _pytest(home: Path, modules: list[Path], ends: Path) -> subprocess.Popen[str]:
    """Start pytest in the folder `home`, which has modules of other folders as well."""
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "noting_ends"),
            *("--rootdir", str(home), "-c", os.devnull, "tests"),
        ],
        cwd=home,
        env={
            **os.environ,
            "ENDS": str(ends),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(map(str, modules)),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "OMP_NUM_THREADS": "1",
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
