"""A solution answers as a component does, apart from other modules, and once for all students."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from autograder.api.messages import Request
from autograder.api.operations import Reset
from autograder.judge.reference import ReferenceFault, ReferenceSession, import_apart
from autograder.judge.session import Recorder
from tests.asking import asks

SOURCE = """
import helper_of_solution

calls = []


def count(x):
    calls.append(x)
    return torch_sum(x), len(calls)


def torch_sum(x):
    return helper_of_solution.total(x)


def refuse(x):
    raise ValueError("no")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "counting.py").write_text(SOURCE)
    (tmp_path / "helper_of_solution.py").write_text("def total(x):\n    return float(x.sum())\n")
    return tmp_path


def asking(*numbers: float, name: str = "count") -> Request:
    return Request([asks(name, torch.tensor(numbers))])


def ask(session: ReferenceSession, example: str, requests: Sequence[Request]) -> list[object]:
    session.begin(example)
    return [session.perform(request).value for request in requests]


def test_an_answer_is_computed_once_for_all_who_ask_the_same(folder: Path) -> None:
    session = ReferenceSession(import_apart(folder, "counting"))
    first = ask(session, "a", [asking(1.0), asking(2.0)])
    assert first == [(1.0, 1), (2.0, 2)]
    assert ask(session, "a", [asking(1.0), asking(2.0)]) == first
    # Another example is another question.
    assert ask(session, "b", [asking(1.0)]) == [(1.0, 3)]


def test_another_question_is_computed_after_those_before_it(folder: Path) -> None:
    session = ReferenceSession(import_apart(folder, "counting"))
    ask(session, "a", [asking(1.0), asking(2.0)])
    # The first is known; the second is not, and stands on the first.
    assert ask(session, "a", [asking(1.0), asking(5.0)]) == [(1.0, 1), (5.0, 4)]


def test_a_solution_that_raises_is_a_fault_where_it_is_compared_with(folder: Path) -> None:
    session = ReferenceSession(import_apart(folder, "counting"))
    session.begin("a")
    with pytest.raises(
        ReferenceFault, match=r"the solution raised ValueError \(counting.py, line \d+\): no"
    ):
        session.perform(asking(1.0, name="refuse"))
    error = import_apart(folder, "counting").perform(asking(1.0, name="refuse")).error
    assert error is not None
    assert (error.kind, error.text, error.file) == ("ValueError", "no", "counting.py")


def test_a_solution_that_cannot_be_imported_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text("import nothing_like_this\n")
    with pytest.raises(
        ReferenceFault,
        match=r"counting.py cannot be imported: ModuleNotFoundError \(counting.py, line 1\)",
    ):
        import_apart(tmp_path, "counting")


def test_solutions_stay_apart_from_modules_of_the_same_names(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "counting.py").write_text("def count(x):\n    return 'other'\n")
    before, path = dict(sys.modules), list(sys.path)
    sessions = [import_apart(place, "counting") for place in (folder, other, folder)]
    values = [session.perform(asking(1.0)).value for session in sessions]
    assert values == [(1.0, 1), "other", (1.0, 1)]
    assert sys.path == path
    assert not {"counting", "helper_of_solution"} & set(sys.modules)
    assert {name: sys.modules[name] for name in before} == before


def test_a_plan_keeps_what_was_asked_whatever_becomes_of_the_tensors(folder: Path) -> None:
    recorder = Recorder(import_apart(folder, "counting"))
    x = torch.tensor([1.0, 2.0])
    recorder.perform(Request([Reset(), asks("count", x)]))
    x.zero_()
    [planned] = recorder.plan
    assert planned.request.tensors()[0].tolist() == [1.0, 2.0]
    assert planned.reply.value == (3.0, 1)
    assert planned.request.resets
