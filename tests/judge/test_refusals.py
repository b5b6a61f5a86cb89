"""An assignment that is not as it must be is refused early, in one sentence."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.settings import Forbidden, Limits

pytestmark = pytest.mark.slow

TOML = """\
schema = 1
name = "small"
title = "A small assignment"

[[components]]
name = "work"
points = 2
"""
STUB = '''\
"""Work."""


def double(x):
    """Return twice x."""
    raise NotImplementedError


def half(x):
    """Return half of x."""
    raise NotImplementedError
'''
SOLUTION = '''\
"""Work."""


def double(x):
    """Return twice x."""
    return 2 * x


def half(x):
    """Return half of x."""
    return x / 2
'''
PUBLIC = '''\
import pytest


@pytest.mark.criterion(points=1, source="handout")
def test_double(component, expect):
    """double doubles"""
    expect.same(component.call("double", 2).number, 4)
'''
HIDDEN = '''\
import pytest


@pytest.mark.criterion(points=1, source="handout")
def test_half(component, reference, expect):
    """half halves"""
    expect.same(component.call("half", 3.0).number, reference.call("half", 3.0).number)
'''
BASE = {
    "assignments/small/assignment.toml": TOML,
    "assignments/small/README.md": "# Small\n",
    "assignments/small/work.py": STUB,
    "assignments/small/tests/test_work.py": PUBLIC,
    "reference/small/work.py": SOLUTION,
    "reference/small/tests/test_work.py": HIDDEN,
}
A_TOML, A_TESTS = "assignments/small/assignment.toml", "assignments/small/tests/test_work.py"
A_WORK, R_TESTS = "reference/small/work.py", "reference/small/tests/test_work.py"


def public(body: str, head: str = "", arguments: str = "component, expect") -> dict[str, str]:
    """Return a public suite with another body, a line each."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    test = PUBLIC[: PUBLIC.index("    expect")].replace("component, expect", arguments)
    return {A_TESTS: head + test + lines}


def toml(old: str, new: str) -> dict[str, str]:
    assert old in TOML
    return {A_TOML: TOML.replace(old, new)}


USE = 'component.call("double", 1)'
TENTHS = "".join(
    f"""

@pytest.mark.criterion(points=0.1, source="handout")
def test_number_{number}(component, expect):
    \"\"\"double doubles\"\"\"
    expect.same(component.call("double", {number}).number, {2 * number})
"""
    for number in range(10)
)
GIVEN = "from hypothesis import given\nfrom hypothesis import strategies as st\n"

# What is changed, and what is said; an empty sentence where nothing is wrong.
CASES: dict[str, tuple[Mapping[str, str], str]] = {
    "as it must be": ({}, ""),
    "ten lines": ({A_TOML: TOML + "\n[limits]\ncall_cpu_s = 3\n"}, ""),
    "ten tenths": ({A_TESTS: "import pytest\n" + TENTHS}, ""),
    # assignment.toml.
    "a standard module": (
        toml('"work"', '"statistics"'),
        "'statistics' is the name of another module: choose one of its own",
    ),
    "a module that is there": (toml('"work"', '"torch"'), "'torch' is the name of another module"),
    "the folder of provided code": (toml('"work"', '"provided"'), "the name of another module"),
    "a keyword": (toml('"work"', '"class"'), "'class' cannot be the name of a Python module"),
    "a name with a hyphen": (toml('"work"', '"my-work"'), "cannot be the name of a Python module"),
    "an unknown field": (toml("points = 2", "points = 2\nweight = 1"), "weight"),
    "no points": (toml("points = 2", "points = 0"), "points"),
    "an unknown operation": (
        toml("points = 2", 'points = 2\nrules = { forbidden = ["batchnorm9"] }'),
        "'batchnorm9' is no known operation",
    ),
    "a submodule": (
        toml("points = 2", 'points = 2\nrules = { modules = ["os.path"] }'),
        "'os.path' is no top-level module: name the part before the dot",
    ),
    "a bare function": (
        toml("points = 2", 'points = 2\nrules = { functions = ["eval"] }'),
        "'eval' is no dotted name of a function",
    ),
    "an unknown function": (
        toml("points = 2", 'points = 2\nrules = { functions = ["numpy.linalg.lstsqr"] }'),
        "assignment.toml, work, functions: there is no function or class numpy.linalg.lstsqr",
    ),
    "a method of a type": (
        toml("points = 2", 'points = 2\nrules = { functions = ["builtins.list.sort"] }'),
        "builtins.list.sort is built into Python or belongs to a type that is",
    ),
    "a limit of nothing": (
        toml("points = 2", "points = 2\nlimits = { memory_mb = 0 }"),
        "memory_mb",
    ),
    "an unknown limit": (toml("points = 2", "points = 2\nlimits = { memory = 9 }"), "memory"),
    "another name": (toml('"small"', '"large"'), "name is 'large', but its folder is called"),
    "no TOML": (toml("points = 2", "points 2"), "is not valid TOML"),
    "an unknown component in use": (
        toml("points = 2", 'points = 2\nuses = ["other"]'),
        "'work' uses 'other', which is no component before it",
    ),
    "no stand-in": (
        {
            A_TOML: TOML.replace("points = 2", "points = 2\n")
            + '\n[[components]]\nname = "more"\npoints = 1\nuses = ["work"]\n',
            "assignments/small/more.py": STUB,
            "reference/small/more.py": SOLUTION,
            "assignments/small/tests/test_more.py": PUBLIC,
        },
        "stand_ins/work.py, which components that use work are graded with when it is broken",
    ),
    # Points.
    "points that are too few": (
        toml("points = 2", "points = 3"),
        "points, assignment.toml gives it 3",
    ),
    "tenths that are too few": (
        {A_TESTS: "import pytest\n" + TENTHS.replace("points=0.1", "points=0.05", 1)},
        "the criteria of work add up to 1.95 points, assignment.toml gives it 2",
    ),
    "no tests of a component": (
        {
            A_TOML: TOML + '\n[[components]]\nname = "more"\npoints = 1\n',
            "reference/small/more.py": SOLUTION,
        },
        "no test is about more: write test_more.py",
    ),
    "tests of no component": (
        {"assignments/small/tests/test_other.py": PUBLIC},
        "test_other.py is about no component of the assignment",
    ),
    # What a test may not do.
    "the reference in a public test": (
        public(USE, arguments="component, reference"),
        "test_work.py, line 5: a public test has no `reference`, which no student has",
    ),
    "a helper file": (
        {**public(USE, "import helper\n"), "assignments/small/tests/helper.py": "x = 1\n"},
        "test_work.py, line 1: a test may not import helper: no release carries a helper file",
    ),
    "a helper beside it": (
        {
            **public(USE, "from . import helper\n"),
            "assignments/small/tests/helper.py": "x = 1\n",
            "assignments/small/tests/__init__.py": "",
        },
        "a test may not import",
    ),
    "a solution": (public(USE, "import work\n"), "line 1: a test may not import work"),
    "a system module": (public(USE, "import os\n"), "a test may not import os"),
    "global state": (
        public(f"torch.manual_seed(0)\n{USE}", "import torch\n"),
        "test_work.py, line 8: torch.manual_seed changes the process for every other test",
    ),
    "numpy's global state": (
        public(f"np.random.seed(0)\n{USE}", "import numpy as np\n"),
        "np.random.seed changes the process for every other test",
    ),
    "a global dtype": (
        public(f"torch.set_default_dtype(torch.float64)\n{USE}", "import torch\n"),
        "torch.set_default_dtype changes the process for every other test",
    ),
    "unseeded draws of torch": (
        public('component.call("double", torch.randn(2))', "import torch\n"),
        "test_work.py, line 8: torch.randn draws other numbers every time: take make.normal",
    ),
    "unseeded draws of numpy": (
        public('component.call("double", np.random.normal())', "import numpy as np\n"),
        "np.random.normal draws other numbers every time",
    ),
    "an unseeded generator": (
        public(USE, "import numpy as np\nrng = np.random.default_rng()\n"),
        "np.random.default_rng draws other numbers every time",
    ),
    "seeded draws": (
        public(
            'x = np.random.default_rng(3).normal()\ncomponent.call("double", x)\n'
            "y = torch.randn(2, generator=torch.Generator())\n"
            'component.call("double", y)',
            "import numpy as np\nimport torch\n",
        ),
        "",
    ),
    "a class of tests": (
        {
            A_TESTS: "import pytest\n\n\nclass TestWork:\n"
            + "".join(f"    {line}\n" for line in PUBLIC.splitlines()[3:]).replace(
                "(component", "(self, component"
            )
        },
        "test_work.py, line 4: a criterion is a plain function, not a method of a class",
    ),
    "a fixture of one's own": (
        public(
            USE, "import pytest\n@pytest.fixture\ndef data():\n    return 1\n", "component, data"
        ),
        "work.double: there is no fixture 'data'",
    ),
    "a fixture of one's own with a scope": (
        public(USE, "import pytest\n@pytest.fixture(scope='module')\ndef data():\n    return 1\n"),
        "a test has the grader's own fixtures only",
    ),
    "a misspelt fixture": (
        public('componnent.call("double", 1)', arguments="componnent, expect"),
        "work.double: there is no fixture 'componnent': did you mean component?",
    ),
    "a fixture of pytest": (
        public(USE, arguments="component, tmp_path"),
        "work.double: there is no fixture 'tmp_path'",
    ),
    "draws while it runs": (
        {
            A_TESTS: PUBLIC.replace("import pytest\n", "import pytest\n" + GIVEN).replace(
                "def test_double(component, expect)",
                "@given(data=st.data())\ndef test_double(component, expect, data)",
            )
        },
        "st.data() cannot be replayed: draw all that a test needs with @given",
    ),
    "an assertion": (public("assert component"), "use expect, whose failures a student can read"),
    "a private name": (public("component._line"), "a component has only"),
    "what a component has not": (
        public('component.get("x")'),
        "a component has only asking, build, call, make, provided, run, not get",
    ),
    "another mark": (
        {A_TESTS: PUBLIC.replace("@pytest", "@pytest.mark.skip\n@pytest", 1)},
        "work.double: the judge does not know the mark 'skip'",
    ),
    "no docstring": (
        {A_TESTS: PUBLIC.replace('    """double doubles"""\n', "")},
        "work.double: it has no docstring, whose first line is its title",
    ),
    "no source": (
        {A_TESTS: PUBLIC.replace(', source="handout"', "")},
        "work.double: its criterion(...) has no source=...",
    ),
    "two of one name": (
        {R_TESTS: HIDDEN.replace("test_half", "test_double")},
        "two criteria are called work.double",
    ),
    "a suite that cannot be read": ({A_TESTS: "def test_double(:\n"}, "test_work.py"),
    "a suite that raises": (
        {A_TESTS: PUBLIC + "\nx = 1 / 0\n"},
        "test_work.py cannot be collected: ",
    ),
    "no tests at all": ({A_TESTS: "", R_TESTS: ""}, "pytest found no tests"),
    # The solution.
    "a solution that raises": (
        {A_WORK: SOLUTION.replace("return 2 * x", "return 2 * x + nothing")},
        "the solution loses work.double: raised NameError (work.py, line 6): name 'nothing'",
    ),
    "a solution that is wrong": (
        {A_WORK: SOLUTION.replace("2 * x", "3 * x")},
        "the solution loses work.double: the result is wrong; off by 2",
    ),
    "a solution that raises where it is compared with": (
        {A_WORK: SOLUTION.replace("x / 2", "x / 0")},
        "ZeroDivisionError (work.py, line 11)",
    ),
    "a solution that cannot be imported": (
        {A_WORK: SOLUTION + "\nimport nowhere_to_be_found\n"},
        "cannot be imported: ModuleNotFoundError (work.py, line 13)",
    ),
    "no solution": ({A_WORK: ""}, "the solution loses work.double: the file has no `double`"),
    "a test that stumbles": (
        public('component.call("double", 1).number.nothing'),
        "the solution loses work.double: AttributeError: ",
    ),
    "an argument that is no value": (
        public('component.call("double", object())'),
        "a component cannot be given a object",
    ),
}

DRIVER = """
import json, os, sys, warnings
warnings.simplefilter("ignore")
from pathlib import Path
from autograder.assignment import load_assignment
from autograder.errors import UsageError
from autograder.settings import Forbidden, Limits
from autograder.judge.collection import collect
from autograder.judge.suite import SuiteFault
from autograder.judge.reference import ReferenceFault

for root in sys.argv[1:]:
    # In a process each: their modules have the same names.
    pid = os.fork()
    if pid == 0:
        said = ""
        try:
            collect(load_assignment(Path(root), "small"))
        except (UsageError, SuiteFault, ReferenceFault) as fault:
            said = f"{type(fault).__name__}: {fault}"
        except BaseException as fault:
            said = f"UNEXPECTED {type(fault).__name__}: {fault}"
        Path(root, "said").write_text(said)
        os._exit(0)
    os.waitpid(pid, 0)
"""


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of every project, all of them in one go."""
    folder = tmp_path_factory.mktemp("projects")
    roots = {
        name: write(folder / str(number), {**BASE, **changes})
        for number, (name, (changes, _)) in enumerate(CASES.items())
    }
    command = [sys.executable, "-c", DRIVER, *map(str, roots.values())]
    done = subprocess.run(command, cwd=Path(__file__).resolve().parents[2], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return {name: (root / "said").read_text() for name, root in roots.items()}


NAMES = list(CASES)


@pytest.mark.parametrize("name", NAMES)
def test_one_sentence_says_what_is_wrong(said: Mapping[str, str], name: str) -> None:
    expected = CASES[name][1]
    found = said[name]
    if not expected:
        assert found == ""
        return
    assert found.startswith(("UsageError: ", "SuiteFault: ", "ReferenceFault: ")), found
    assert expected in found
    assert len(found.splitlines()) == 1


@pytest.mark.release
def test_the_command_says_it_in_one_line(tmp_path: Path) -> None:
    root = write(tmp_path / "project", {**BASE, **CASES["points that are too few"][0]})
    write(tmp_path / "batch", {"s01/work.py": SOLUTION})
    command = [sys.executable, "-m", "autograder", "grade", str(tmp_path / "batch")]
    command += ["--assignment", "small", "--root", str(root), "--sandbox", "none"]
    command += ["--out", str(tmp_path / "out")]
    done = subprocess.run(
        command, cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "the criteria of work add up to 2" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list((tmp_path / "out").rglob("*.json"))


# Defaults.


def loaded(tmp_path: Path, text: str) -> list[tuple[Limits, Forbidden]]:
    write(tmp_path, {A_TOML: text})
    assignment = load_assignment(tmp_path, "small")
    return [(spec.limits, spec.rules) for spec in assignment.components]


def test_limits_and_rules_may_be_left_out(tmp_path: Path) -> None:
    assert len(TOML.splitlines()) <= 10
    ((limits, rules),) = loaded(tmp_path, TOML)
    assert (limits, rules) == (Limits(), Forbidden())
    assert limits.call_cpu_s == 2.0
    assert load_assignment(tmp_path, "small").seed == 0


def test_a_component_replaces_single_fields(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    text = TOML.replace(
        "[[components]]",
        '[limits]\ncall_cpu_s = 3\nmemory_mb = 99\n\n[rules]\nmodules = ["scipy"]\n'
        'functions = ["os.getcwd"]\n\n[[components]]',
        1,
    )
    text += 'limits = { memory_mb = 50 }\nrules = { modules = ["numpy"] }\n'
    text += '\n[[components]]\nname = "more"\npoints = 1\n'
    text += '\n[[components]]\nname = "free"\npoints = 1\n'
    text += "rules = { modules = [], functions = [] }\n"
    (work, work_rules), (more, more_rules), (_, free) = loaded(tmp_path / "x", text)
    assert (work.call_cpu_s, work.memory_mb, work.deaths) == (3, 50, 3)
    assert (more.call_cpu_s, more.memory_mb) == (3, 99)
    assert (work_rules.modules, work_rules.functions) == (("numpy",), ("os.getcwd",))
    assert (more_rules.modules, more_rules.functions) == (("scipy",), ("os.getcwd",))
    assert (free.modules, free.functions) == ((), ())


def test_points_are_exact_decimals(tmp_path: Path) -> None:
    write(tmp_path, {A_TOML: TOML.replace("points = 2", "points = 0.3")})
    assignment = load_assignment(tmp_path, "small")
    assert json.dumps(assignment.totals) == '{"work": 0.3}'
    with pytest.raises(UsageError, match="points"):
        loaded(tmp_path, TOML.replace("points = 2", "points = -0.1"))
