"""What is held of a submission, what is run all the same, and what a person's word changes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from autograder.assignment import Assignment, load_assignment
from autograder.authoring.rows import rows_of
from autograder.judge.intake import digest
from autograder.judge.review import Review, held_words, review
from autograder.rules.reading import read_files
from autograder.sandbox.handle import ChildGone
from tests.conftest import ROOT, make_project

ODD = b"import ctypes\n"
PLAIN = b"import math\n"


class Reader:
    """Reads in this process what a sandbox reads in a child; `gone` says how that ends.

    It ends so `often` times.
    """

    def __init__(self, gone: ChildGone | None = None, often: int = 99) -> None:
        self.gone, self.often = gone, often
        self.times = 0

    def read(self, files: Mapping[str, bytes], terms: Mapping[str, Any]) -> list[dict[str, Any]]:
        self.times += 1
        if self.gone is not None and self.times <= self.often:
            raise self.gone
        return read_files(files, terms)


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    components = ("layer_norm", "attention", "multi_head_attention")
    root = make_project(tmp_path_factory.mktemp("review") / "project", "held", components)
    return load_assignment(root, "held")


def with_rules(assignment: Assignment, **rules: Any) -> Assignment:
    """Return the assignment with other rules for `attention`."""
    components = tuple(
        spec.model_copy(update={"rules": spec.rules.model_copy(update=rules)})
        if spec.name == "attention"
        else spec
        for spec in assignment.components
    )
    return Assignment(assignment.root, assignment.name, "", 0, components)


def read(assignment: Assignment, files: Mapping[str, bytes], **how: Any) -> Review:
    return review(assignment, Reader(how.pop("gone", None)), files, **how)  # type: ignore[arg-type]


def test_ordinary_work_is_read_once_and_nothing_is_held(assignment: Assignment) -> None:
    reader = Reader()
    files = {"layer_norm.py": PLAIN, "attention.py": PLAIN}
    found = review(assignment, reader, files)  # type: ignore[arg-type]
    # Once for all components that have the same rules: layer_norm has some of its own.
    assert (found, reader.times) == (Review(named=found.named), 2)
    assert found.runs("attention", files) == files


def test_a_component_is_held_and_what_builds_on_it_is_not(assignment: Assignment) -> None:
    files = {
        "layer_norm.py": PLAIN,
        "attention.py": ODD,
        "multi_head_attention.py": b"import attention\n",
    }
    found = read(assignment, files)
    assert found.withheld == {"attention"}
    (held,) = found.found["attention"]
    assert (held.file, held.line, held.what) == ("attention.py", 1, "imports ctypes")
    # Nothing of what is held is run, wherever.
    assert set(found.runs("multi_head_attention", files)) == {
        "layer_norm.py",
        "multi_head_attention.py",
    }


def test_a_helper_holds_each_that_imports_it_and_no_other(assignment: Assignment) -> None:
    files = {
        "layer_norm.py": b"import helper\n",
        "attention.py": b"import layer_norm\n",
        "multi_head_attention.py": PLAIN,
        "helper.py": b"x = 1\n" + ODD,
    }
    found = read(assignment, files)
    # attention may not build on layer_norm: what it imports of it is its own affair.
    assert found.withheld == {"layer_norm", "attention"}
    assert {held.line for held in found.found["layer_norm"]} == {2}
    assert "helper.py" not in found.runs("multi_head_attention", files)


def accept(assignment: Assignment, files: Mapping[str, bytes], *names: str) -> dict[str, str]:
    """Return what a person has accepted who accepts these components, or all that are held."""
    found = read(assignment, files)
    return {name: found.found[name][0].digest for name in names or found.withheld}


def test_who_accepts_accepts_exactly_these_bytes(assignment: Assignment) -> None:
    files = {"layer_norm.py": b"import helper\n", "helper.py": ODD, "attention.py": PLAIN}
    accepted = accept(assignment, files)
    found = read(assignment, files, accepted=accepted)
    assert found.withheld == frozenset()
    assert found.free == {"layer_norm.py", "helper.py"}
    # Another component's file may change; a file that it runs may not.
    other = {**files, "attention.py": b"x = 2\n"}
    assert read(assignment, other, accepted=accepted).withheld == frozenset()
    for name in ("layer_norm.py", "helper.py"):
        changed = {**files, name: files[name] + b"y = 3\n"}
        found = read(assignment, changed, accepted=accepted)
        assert found.withheld == {"layer_norm"}
        assert held_words(found.found["layer_norm"]).startswith(
            "held for review: helper.py, line 1: it imports ctypes "
            f"(was accepted before {name} changed); "
        )


@pytest.mark.parametrize("review", ["hold", "note"])
def test_what_counts_is_there_for_whoever_imports_it(assignment: Assignment, review: str) -> None:
    files = {
        "attention.py": b"import helper\n" + ODD,
        "helper.py": ODD,
        "multi_head_attention.py": b"from attention import *\n",
    }
    terms = with_rules(assignment, review=review)
    accepted = {} if review == "note" else accept(terms, files)
    found = read(terms, files, accepted=accepted)
    assert found.withheld == frozenset()
    assert found.runs("multi_head_attention", files) == files
    # What imports it runs as what was not accepted.
    assert found.free == {"attention.py", "helper.py"}


def test_a_helper_of_an_accepted_and_of_a_waiting_component_is_there_for_the_accepted_one(
    assignment: Assignment,
) -> None:
    files = {
        "layer_norm.py": b"import helper\n",
        "attention.py": b"import helper\n",
        "multi_head_attention.py": b"import attention\n",
        "helper.py": ODD,
        "unread.py": ODD,
    }
    found = read(assignment, files, accepted=accept(assignment, files, "layer_norm"))
    assert found.withheld == {"attention"}
    assert set(found.runs("layer_norm", files)) == {"layer_norm.py", "helper.py"}
    assert set(found.runs("multi_head_attention", files)) == {
        "multi_head_attention.py",
        "helper.py",
    }
    assert found.free == {"layer_norm.py", "helper.py"}


def test_what_is_in_no_digest_is_not_there_beside_what_was_accepted(
    assignment: Assignment,
) -> None:
    files = {
        "attention.py": ODD,
        "multi_head_attention.py": b"import attention\n",
        "layer_norm.py": PLAIN,
        "plugin1.py": PLAIN,
    }
    found = read(assignment, files, accepted=accept(assignment, files))
    assert set(found.runs("attention", files)) == {"attention.py"}
    both = {"attention.py", "multi_head_attention.py"}
    assert set(found.runs("multi_head_attention", files)) == both
    # It runs nothing that was accepted.
    assert found.runs("layer_norm", files) == files


def test_what_an_accepted_component_is_given_by_those_that_it_uses_is_accepted_with_it(
    assignment: Assignment,
) -> None:
    files = {"attention.py": PLAIN, "multi_head_attention.py": ODD + b"from attention import x\n"}
    accepted = accept(assignment, files)
    assert read(assignment, files, accepted=accepted).runs("multi_head_attention", files) == files
    files["attention.py"] += b"x = 'names'\n"
    found = read(assignment, files, accepted=accepted)
    assert found.withheld == {"multi_head_attention"}
    assert "before attention.py changed" in held_words(found.found["multi_head_attention"])


COMPUTED = [
    "__import__('plugin' + str(1))",
    "import importlib\nimportlib.import_module(name)",
    "from importlib import import_module as get\nget(name)",
    "import importlib.util\nimportlib.util.find_spec(name)",
    "from importlib.machinery import SourceFileLoader",
    "exec(open(name).read())",
    "eval(name)",
    "code = compile(name, name, 'exec')",
    "import runpy\nrunpy.run_path(name)",
    "import pkgutil",
    "import builtins\nbuiltins.__import__(name)",
    "import sys\nx = sys.modules[name]",
    "x = globals()[name]",
    "x = f.__globals__",
    "x = __loader__",
    "import pickle",
    "import numpy\nnumpy.load(name, allow_pickle=True)",
    "import torch\nread = [torch.load]",
]


@pytest.mark.parametrize("text", COMPUTED)
def test_where_something_is_reached_by_a_computed_name_any_other_file_holds_it_again(
    assignment: Assignment, text: str
) -> None:
    files = {
        "layer_norm.py": f"name = 'plugin' + str(1)\n{text}\n".encode(),
        "plugin1.py": ODD,
        "attention.py": PLAIN,
        "multi_head_attention.py": b"import attention\n",
    }
    held = read(assignment, files)
    # What it may reach is looked at with it, and no other component waits for that.
    assert {"layer_norm.py", "plugin1.py"} == {place.file for place in held.found["layer_norm"]}
    assert held.withheld == {"layer_norm"}
    accepted = accept(assignment, files)
    found = read(assignment, files, accepted=accepted)
    assert found.withheld == frozenset()
    assert found.runs("layer_norm", files) == files
    # A component that it may reach answers for itself.
    assert found.free == {"layer_norm.py", "plugin1.py"}
    for name in ("plugin1.py", "attention.py"):
        changed = {**files, name: files[name] + b"y = 1\n"}
        found = read(assignment, changed, accepted=accepted)
        assert found.withheld == {"layer_norm"}
        assert f"before {name} changed" in held_words(found.found["layer_norm"])
    more = read(assignment, {**files, "plugin2.py": PLAIN}, accepted=accepted)
    assert "before plugin2.py changed" in held_words(more.found["layer_norm"])
    less = {name: data for name, data in files.items() if name != "attention.py"}
    found = read(assignment, less, accepted=accepted)
    assert "before a file was removed" in held_words(found.found["layer_norm"])


@pytest.mark.parametrize(
    "text",
    [
        "import pdb",
        "import ctypes",
        "import torch\n@torch.jit.script\ndef f(x):\n    return x",
        "print(locals())",
        "import sys\nsys._getframe(1)",
    ],
)
def test_where_nothing_is_a_better_other_file_holds_nothing_again(
    assignment: Assignment, text: str
) -> None:
    files = {"layer_norm.py": text.encode(), "attention.py": PLAIN, "multi_head_attention.py": b""}
    accepted = accept(assignment, files)
    assert accepted.keys() == {"layer_norm"}
    better = {**files, "attention.py": b"import cmath\n", "new.py": PLAIN}
    assert read(assignment, better, accepted=accepted).withheld == frozenset()


def test_what_another_version_accepted_counts_for_the_same_files_and_else_says_so(
    assignment: Assignment,
) -> None:
    files = {"layer_norm.py": ODD}
    whole = accept(assignment, files)["layer_norm"].partition("-")[0]
    assert whole == digest(files)
    assert not read(assignment, files, accepted={"layer_norm": whole}).withheld
    found = read(assignment, {"layer_norm.py": ODD + ODD}, accepted={"layer_norm": whole})
    words = held_words(found.found["layer_norm"])
    assert "(was accepted by an earlier version of the grader) (and 1 more); " in words


def test_where_a_computed_name_is_ordinary_every_file_is_there(assignment: Assignment) -> None:
    files = {
        "attention.py": b"import importlib\nimportlib.import_module('plugin' + str(1))\n",
        "multi_head_attention.py": ODD + b"import attention\n",
        "plugin1.py": PLAIN,
    }
    terms = with_rules(assignment, ordinary=("importlib",))
    found = read(terms, files, accepted=accept(terms, files, "multi_head_attention"))
    assert found.withheld == frozenset()
    assert found.runs("multi_head_attention", files) == files


def test_what_provided_code_imports_is_there(assignment: Assignment) -> None:
    files = {"attention.py": PLAIN, "multi_head_attention.py": ODD, "layer_norm.py": PLAIN}
    provided = {"provided/whole.py": b"def f():\n    from attention import g\n"}
    held = read(assignment, files, provided=provided)
    accepted = {"multi_head_attention": held.found["multi_head_attention"][0].digest}
    found = read(assignment, files, accepted=accepted, provided=provided)
    assert set(found.runs("multi_head_attention", files)) == {
        "attention.py",
        "multi_head_attention.py",
    }


def test_an_assignment_may_count_it_and_list_it(assignment: Assignment) -> None:
    files = {"attention.py": ODD, "layer_norm.py": ODD}
    found = read(with_rules(assignment, review="note"), files)
    assert found.withheld == {"layer_norm"}
    assert [held.what for held in found.found["attention"]] == ["imports ctypes"]
    assert set(found.runs("attention", files)) == {"attention.py"}


def test_rules_of_one_component_hold_for_it_alone(assignment: Assignment) -> None:
    files = {"attention.py": ODD, "layer_norm.py": ODD}
    found = read(with_rules(assignment, ordinary=("ctypes",)), files)
    assert found.withheld == {"layer_norm"}
    assert set(found.runs("attention", files)) == {"attention.py"}
    assert found.free == frozenset()


def test_what_the_reader_ends_over_is_held(assignment: Assignment) -> None:
    gone = ChildGone("timeout", "it took too long")
    found = read(assignment, {"layer_norm.py": PLAIN, "notes.txt": b""}, gone=gone)
    assert found.withheld == {"layer_norm"}
    assert "cannot be read" in held_words(found.found["layer_norm"])


def test_what_cannot_be_read_holds_those_alone_who_import_it(assignment: Assignment) -> None:
    class Small(Reader):
        def read(self, files: Any, terms: Any) -> list[dict[str, Any]]:
            if len(files["table.py"]) > 1000:
                raise ChildGone("crashed", "the process was killed (SIGKILL)")
            return super().read(files, terms)

    files = {
        "layer_norm.py": PLAIN,
        "attention.py": b"from table import ROWS\n",
        "table.py": b"ROWS = [" + b"1," * 1000 + b"]\n",
    }
    found = review(assignment, Small(), files)  # type: ignore[arg-type]
    assert found.withheld == {"attention"}
    (held,) = found.found["attention"]
    assert (held.file, held.what) == (
        "table.py",
        "cannot be read in the time and memory that there is",
    )
    assert set(found.runs("layer_norm", files)) == {"layer_norm.py"}


def test_a_reader_that_was_killed_reads_once_more(assignment: Assignment) -> None:
    reader = Reader(ChildGone("crashed", "the process was killed (SIGKILL)"), often=1)
    found = review(assignment, reader, {"layer_norm.py": PLAIN})  # type: ignore[arg-type]
    assert (found, reader.times) == (Review(named=found.named), 2)


def test_what_is_the_graders_own_is_not_read(assignment: Assignment) -> None:
    files = {"layer_norm.py": ODD, "attention.py": PLAIN, "provided/x.py": ODD}
    assert read(assignment, files, exempt=("layer_norm.py",)) == Review(named={"attention.py": []})


def test_the_words_say_where_what_and_what_instead(assignment: Assignment, tmp_path: Path) -> None:
    found = read(assignment, {"layer_norm.py": ODD + b"x = eval('1')\n"}).found["layer_norm"]
    words = held_words(found)
    assert words.startswith(
        "held for review: layer_norm.py, line 1: it imports ctypes (and 1 more)"
    )
    assert words.endswith(
        "; import plain modules of Python's library, torch, numpy or your own files"
    )


@pytest.mark.parametrize("name", ["language_model", "transformer_block"])
@pytest.mark.release
def test_nothing_that_the_assignments_bring_along_is_held(name: str) -> None:
    found = load_assignment(ROOT, name)
    rows = rows_of(found, pairs=0)
    assert len(rows) > 300
    for row in rows:
        # Of most rows only one file is not the solution's.
        files = {f: row.files[f] for f in row.files if row.component in ("", f.removesuffix(".py"))}
        assert read(found, files, exempt=row.exempt).found == {}, row.id
