"""A program runs as from the command line, in the student's process and in the sandbox alike."""

import atexit
import itertools
import logging
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.api.answer import Answer
from autograder.api.component import Component
from autograder.api.executor import Executor
from autograder.api.loading import Program
from autograder.api.messages import StudentError
from autograder.rules.forbidden import Rules
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget, Profile
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.conftest import skip

BUDGET = Budget(call_cpu_s=4.0, call_wall_s=20.0, cpu_s=10, memory=1 << 30, file_size=1 << 20)
NUMBER = itertools.count()
# The most files that are taken, and bytes of each; characters of what is printed.
MAX_FILES, MAX_TEXT = 64, 100_000
Started = Callable[..., Component]


@pytest.fixture(scope="module", params=["here", "tier1", "tier2"])
def backend(request: pytest.FixtureRequest) -> Iterator[Sandbox | None]:
    """Nothing for the student's own process, or a running sandbox."""
    if request.param == "here":
        yield None
        return
    try:
        sandbox, _ = open_sandbox(request.param, BUDGET, (), [])
    except NotIsolated as reason:
        skip(request.param, reason)
    yield sandbox
    sandbox.close()


@pytest.fixture
def started(
    backend: Sandbox | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Started]:
    """Takes a program's source, and files that lie beside it."""
    children = []
    monkeypatch.setattr(sys, "path", list(sys.path))

    def start(source: str, beside: Mapping[str, str] | None = None, stub: str = "") -> Component:
        name = f"program_{next(NUMBER)}"
        files = {f"{name}.py": source.encode()}
        stubs = {f"{name}.py": stub}
        files |= {file: text.encode() for file, text in (beside or {}).items()}
        if backend is not None:
            child = backend.fork(name, files, Profile(BUDGET, Rules(), program=True, stubs=stubs))
            children.append(child)
            return Component(child, lambda answer: None)
        for stale in [n for n in sys.modules if n.partition(".")[0] in ("provided", "helper")]:
            monkeypatch.delitem(sys.modules, stale)
        for file, data in files.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_bytes(data)
        return Component(Executor(tmp_path, name, program=True, stubs=stubs), lambda answer: None)

    yield start
    for child in children:
        child.close()


def error_of(answer: Answer) -> StudentError:
    assert answer.error is not None
    return answer.error


def test_arguments_standard_input_and_both_outputs(started: Started) -> None:
    component = started(
        "import sys\n"
        "print(sys.argv[1:], len(sys.argv[0]) > 3)\n"
        "print(sys.stdin.readline().strip(), input(), sys.stdin.read())\n"
        "print('é', file=sys.stderr)\n"
        "sys.stdout.buffer.write(b'raw\\xff')\n"
    )
    program = component.run("--top", "é 1", "", stdin="first\nsecond\nrest").program
    assert program.output == "['--top', 'é 1', ''] True\nfirst second rest\nraw�"
    assert program.errors == "é\n"
    assert program.status == 0
    assert program.files == {}
    # Nothing of it stays.
    assert component.run(stdin="a\nb\n").program.output.startswith("[] True\na b \n")


def test_a_prompt_and_the_end_of_input(started: Started) -> None:
    component = started("try:\n    input('name? ')\nexcept EOFError:\n    print('nobody')\n")
    assert component.run().program.output == "name? nobody\n"


@pytest.mark.parametrize(
    "code, status, errors",
    [
        ("0", 0, ""),
        ("3", 3, ""),
        ("None", 0, ""),
        ("", 0, ""),
        ("256 + 7", 7, ""),
        ("-1", 255, ""),
        ("True", 1, ""),
        ("'it failed'", 1, "it failed\n"),
        ("[1]", 1, "[1]\n"),
    ],
)
def test_the_exit_status(started: Started, code: str, status: int, errors: str) -> None:
    program = started(f"import sys\nprint('before')\nsys.exit({code})\nprint('after')").run()
    found = program.program
    assert (found.output, found.status, found.errors) == ("before\n", status, errors)


def test_quitting_and_raising_the_exit_oneself(started: Started) -> None:
    assert started("raise SystemExit(4)").run().program.status == 4
    source = "import sys\ntry:\n    sys.exit(2)\nfinally:\n    print('last')\n"
    program = started(source).run().program
    assert (program.status, program.output) == (2, "last\n")


def test_files_in_and_out(started: Started) -> None:
    component = started(
        "from pathlib import Path\n"
        "print(sorted(str(p) for p in Path('.').rglob('*')))\n"
        "text = Path('sub/a.txt').read_text(encoding='utf-8')\n"
        "Path('b.bin').write_bytes(Path('b.bin').read_bytes() + b'\\0')\n"
        "Path('out/deep').mkdir(parents=True)\n"
        "Path('out/deep/new.txt').write_text(text, encoding='utf-8')\n"
        "Path('same.txt').write_text('same')\n"
        "try:\n    Path('link').symlink_to('same.txt')\nexcept OSError:\n    pass\n"
    )
    files = {"sub/a.txt": "été", "b.bin": b"\xff", "same.txt": "same"}
    program = component.run(files=files).program
    assert program.output == "['b.bin', 'same.txt', 'sub', 'sub/a.txt']\n"
    assert program.files == {"b.bin": b"\xff\0", "out/deep/new.txt": "été".encode()}
    # Every run has a folder of its own.
    assert component.run(files=files).program == program


def test_the_main_block_runs(started: Started) -> None:
    component = started(
        "def main():\n    return 5\n\nif __name__ == '__main__':\n    raise SystemExit(main())\n"
    )
    assert component.run().program.status == 5


def test_nothing_runs_before_it_is_asked(started: Started) -> None:
    component = started("import sys\nprint('once')\nsys.exit(2)\n")
    assert component.run().program.output == "once\n"
    assert component.run().program.output == "once\n"


def test_global_names_are_new_in_every_run(started: Started) -> None:
    component = started(
        "try:\n    seen\nexcept NameError:\n    print('new')\nseen = True\nprint(__file__[-3:])\n"
    )
    assert [component.run().program.output for _ in range(2)] == ["new\n.py\n"] * 2


def test_own_modules_are_imported_anew_in_every_run(started: Started) -> None:
    beside = {"helper.py": "COUNT = [0]\n\ndef count():\n    COUNT[0] += 1\n    return COUNT[0]\n"}
    component = started("import helper\nprint(helper.count(), helper.count())\n", beside)
    assert [component.run().program.output for _ in range(2)] == ["1 2\n"] * 2


def test_provided_modules_can_be_imported(started: Started) -> None:
    beside = {"provided/words.py": "WORDS = ['a']\n"}
    component = started("from provided.words import WORDS\nprint(WORDS)\n", beside)
    assert [component.run().program.output for _ in range(2)] == ["['a']\n"] * 2


def test_an_exception_is_an_error_with_its_place(started: Started) -> None:
    component = started("x = 1\n\ndef f():\n    raise ValueError('no ' + str(x))\n\nf()\n")
    error = error_of(component.run())
    assert (error.kind, error.text, error.line, error.phase) == ("ValueError", "no 1", 4, "call")
    assert error.file.startswith("program_")
    with pytest.raises(Exception, match="ValueError"):
        _ = component.run().program


def test_an_exception_in_an_own_module_names_that(started: Started) -> None:
    component = started("import helper\nhelper.f()\n", {"helper.py": "def f():\n    1 / 0\n"})
    error = error_of(component.run())
    assert (error.kind, error.file, error.line) == ("ZeroDivisionError", "helper.py", 2)


def test_a_program_that_cannot_be_read(started: Started) -> None:
    error = error_of(started("print('a')\nif True\n").run())
    assert (error.kind, error.line, error.phase) == ("SyntaxError", 2, "import")


def test_a_stub_is_not_attempted(started: Started) -> None:
    stub = (
        '"""Prints."""\n\ndef main():\n    # Your code here.\n    raise NotImplementedError\n\n'
        "if __name__ == '__main__':\n    main()\n"
    )
    assert error_of(started(stub, stub=stub).run()).kind == "NotAttempted"
    # Code in the place of the function, which raises the same.
    other = "import sys\nif len(sys.argv) < 2:\n    raise NotImplementedError('no argument')\n"
    assert error_of(started(other, stub=stub).run()).kind == "NotImplementedError"


def test_an_error_after_an_error(started: Started) -> None:
    component = started("import sys\nprint(1 / int(sys.argv[1]))\n")
    assert error_of(component.run("0")).kind == "ZeroDivisionError"
    assert component.run("1").program.output == "1.0\n"
    assert error_of(component.run()).kind == "IndexError"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_the_cap_of_what_is_written(started: Started, stream: str) -> None:
    component = started(f"import sys\nsys.{stream}.write('a' * int(sys.argv[1]))\n")
    program = component.run(str(MAX_TEXT)).program
    assert program.output + program.errors == "a" * MAX_TEXT
    error = error_of(component.run(str(MAX_TEXT + 1)))
    assert f"it wrote more than {MAX_TEXT} characters" in error.text
    error = error_of(component.run(str(5 * MAX_TEXT)))
    assert (error.kind, error.text) == ("OSError", "the program writes more than is read")
    # The next run has all of it again.
    assert component.run("3").error is None


def test_the_caps_of_files(started: Started) -> None:
    component = started(
        "import sys\n"
        "for number in range(int(sys.argv[1])):\n"
        "    with open(f'{number}.txt', 'w') as file:\n"
        "        file.write('a' * int(sys.argv[2]))\n"
    )
    assert len(component.run(str(MAX_FILES), "1").program.files) == MAX_FILES
    assert f"more than {MAX_FILES} files" in error_of(component.run(str(MAX_FILES + 1), "1")).text
    assert component.run("1", str(MAX_TEXT)).program.files["0.txt"] == b"a" * MAX_TEXT
    error = error_of(component.run("1", str(MAX_TEXT + 1)))
    assert f"a file of more than {MAX_TEXT} bytes" in error.text


def test_streams_arguments_and_folder_are_put_back(
    started: Started, backend: Sandbox | None
) -> None:
    component = started(
        "import os, sys\n"
        "os.mkdir('deep')\nos.chdir('deep')\n"
        "sys.argv = ['other']\nsys.stdin = None\n"
        "if os.path.exists('../fail'):\n    raise OSError\n"
    )
    before = (Path.cwd(), sys.argv, sys.stdin, sys.stdout, sys.stderr)
    for files in ({}, {"fail": ""}):
        component.run(files=files)
        assert (Path.cwd(), sys.argv, sys.stdin, sys.stdout, sys.stderr) == before
    assert component.run().error is None


def test_a_component_that_is_no_program_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "no_program.py").write_text("x = 1\n")
    path = list(sys.path)
    try:
        component = Component(Executor(tmp_path, "no_program"), lambda answer: None)
        error = error_of(component.run())
    finally:
        sys.path[:] = path
    assert "no_program is no program" in error.text


def test_what_stands_for_a_run_is_read_back() -> None:
    program = Program("a", "b", 1, {"c": b"d"})
    assert Program.of(program.value()) == program
    others: list[Any] = [None, [], {}, {**program.value(), "more": 1}]
    others += [{**program.value(), key: None} for key in program.value()]
    assert [Program.of(other) for other in others] == [None] * len(others)


# What programs do, and works from a command line.


def test_standard_output_may_be_closed(started: Started) -> None:
    # with open(path, "w") if path else sys.stdout as file: ...
    component = started("import sys\nwith sys.stdout as file:\n    file.write('done')\n")
    assert component.run().program.output == "done"


def test_standard_output_may_be_replaced(started: Started) -> None:
    component = started(
        "import io, sys\n"
        "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\n"
        "print('été')\n"
    )
    assert component.run().program.output == "été\n"


def test_logging_is_set_up_anew_in_every_run(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those of pytest, in its own process.
    monkeypatch.setattr(logging.root, "handlers", [])
    component = started(
        "import logging\nlogging.basicConfig(format='%(message)s')\nlogging.warning('look')\n"
    )
    assert [component.run().program.errors for _ in range(2)] == ["look\n"] * 2


def test_what_is_registered_for_the_end_runs_at_the_end(started: Started) -> None:
    source = "import atexit\natexit.register(print, 'end')\nprint('begin')\n"
    try:
        assert started(source).run().program.output == "begin\nend\n"
    finally:
        atexit.unregister(print)


def test_a_large_file_that_was_given_costs_nothing(started: Started) -> None:
    component = started("from pathlib import Path\nprint(len(Path('large.txt').read_text()))\n")
    program = component.run(files={"large.txt": "a" * (MAX_TEXT + 1)}).program
    assert program.output == f"{MAX_TEXT + 1}\n"
    assert program.files == {}


def test_a_program_and_provided_code_can_open_data(
    started: Started, backend: Sandbox | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    beside = {
        "provided/corpus.py": (
            "from pathlib import Path\n\ndef text():\n"
            "    return Path('data/corpus.txt').read_text()\n"
        ),
        "data/corpus.txt": "words",
    }
    component = started("from provided.corpus import text\nprint(text())\n", beside)
    assert component.run().program.output == "words\n"
