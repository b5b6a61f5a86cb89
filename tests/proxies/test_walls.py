"""What a component's side can never do to the test's side, whatever it sends.

The other side is played by functions that answer as a hostile component could.
"""

from __future__ import annotations

import random
import sys
import threading
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from autograder.api.messages import Reply, Request, StudentError
from autograder.api.objects import draws
from autograder.api.operations import OrdinaryAsk, Resume
from autograder.api.values import ABSENT, Callback, Handle, Held, Made, Named, Opaque, Value
from autograder.proxies.examiner import Ended, Examiner, Rights, rights_of
from autograder.proxies.imports import Imports
from autograder.proxies.loans import CannotCross
from autograder.proxies.proxy import Proxy, ProxyModule

HERE = Path(__file__).parent


class Conversation:
    """A component's side that answers what it is told to.

    Attributes:
        heard: what it was asked.
    """

    def __init__(self, *replies: Reply | Callable[[Request], Reply]) -> None:
        self._replies = list(replies)
        self.heard: list[Request] = []

    def __call__(self, request: Request) -> Reply:
        """Answer."""
        self.heard.append(request)
        reply = self._replies.pop(0) if self._replies else Reply(value=None)
        return reply(request) if callable(reply) else reply

    def resumed(self) -> Resume:
        """Return what it was told of the last thing that it asked back."""
        last = self.heard[-1].ops[-1]
        assert isinstance(last, Resume)
        return last


def examiner(
    conversation: Callable[[Request], Reply], tmp_path: Path, rights: Rights | None = None
) -> Examiner:
    """Return a test's side whose suite lies in this folder."""
    return Examiner(conversation, ("scale",), [HERE], tmp_path, "a test", rights)


def back(verb: str, *args: Value, number: int = 0) -> Callable[[Request], Reply]:
    """Return a reply that asks back what was lent with the request, or another number."""

    def reply(request: Request) -> Reply:
        lent = [arg.number for arg in request.ops[-1].args if isinstance(arg, Callback)]
        return Reply(beside={"back": [number or lent[0], verb, list(args), {}]})

    return reply


def answered(asked: Sequence[tuple[Request, Reply]]) -> Rights:
    """Return the rights of a solution that was asked and answered so."""
    return Rights(rights_of(asked))


SECRET = "the value that is expected"


class Mine:
    """An object of the test's."""

    shown = 3

    def __init__(self) -> None:
        self.count = 1
        self._hidden = SECRET

    def __len__(self) -> int:
        return 2


class Words(list[str]):
    """A list of the test's."""


def own_function(value: Any) -> Any:
    """Return what it gets."""
    return value


def raising(value: Any) -> Any:
    """Raise what says what is expected."""
    raise ValueError(SECRET)


@pytest.mark.parametrize(
    ("lent", "name"),
    [
        (own_function, "__globals__"),
        (own_function, "__code__"),
        (Mine(), "_hidden"),
        (Mine(), "__dict__"),
        (Mine(), "__class__"),
        (Mine, "mro"),
        (Mine(), "absent"),
        (Words(["a"]), "append"),
        ((number for number in range(3)), "gi_frame"),
        (iter([1]), "__reduce__"),
    ],
)
def test_attributes_are_those_that_the_suite_defines(
    lent: object, name: str, tmp_path: Path
) -> None:
    talk = Conversation(back("getattr", name), Reply(value=1))
    examiner(talk, tmp_path).ask("call", "f", lent)
    assert talk.resumed().raised
    assert talk.resumed().value is None


@pytest.mark.parametrize("name", ["shown", "count"])
def test_attributes_of_the_suites_own_classes_can_be_asked(name: str, tmp_path: Path) -> None:
    talk = Conversation(back("getattr", name), Reply(value=1))
    examiner(talk, tmp_path).ask("call", "f", Mine())
    assert talk.resumed().value in (1, 3)


@pytest.mark.parametrize("verb", ["eval", "__reduce__", "delattr", "hash", "", None, 3])
def test_only_what_is_on_the_list_is_asked(verb: Any, tmp_path: Path) -> None:
    talk = Conversation(back(verb), Reply(value=1))
    examiner(talk, tmp_path).ask("call", "f", Mine())
    assert talk.resumed().raised


@pytest.mark.parametrize("number", [1, 2, -1, 10**30, True, "1", None, [1]])
def test_what_is_not_lent_is_not_asked(number: Any, tmp_path: Path) -> None:
    talk = Conversation(back("call", number=number), Reply(value=1))
    examiner(talk, tmp_path).ask("call", "f", own_function)
    assert talk.resumed().raised


def test_a_function_is_asked_while_its_call_runs_and_not_later(tmp_path: Path) -> None:
    lent: list[int] = []

    def keep(request: Request) -> Reply:
        lent.extend(arg.number for arg in request.ops[-1].args if isinstance(arg, Callback))
        return Reply(value=1)

    def ask_later(request: Request) -> Reply:
        return Reply(beside={"back": [lent[0], "call", [1], {}]})

    talk = Conversation(keep, ask_later, Reply(value=1))
    mine = examiner(talk, tmp_path)
    mine.ask("call", "f", own_function)
    mine.ask("call", "g", 1)
    assert talk.resumed().raised


def test_an_object_that_has_received_a_function_may_ask_it(tmp_path: Path) -> None:
    lent: list[int] = []

    def make(request: Request) -> Reply:
        lent.extend(arg.number for arg in request.ops[-1].args if isinstance(arg, Callback))
        return Reply(value=Held("a function", "", 7))

    def ask(request: Request) -> Reply:
        return Reply(beside={"back": [lent[0], "call", [5], {}]})

    talk = Conversation(make, ask, Reply(value=1))
    mine = examiner(talk, tmp_path)
    made = mine.ask("call", "compose", own_function)
    made(2)
    assert talk.resumed().value == 5


def test_numbers_of_one_test_mean_nothing_in_another(tmp_path: Path) -> None:
    talk = Conversation()
    numbers = []
    for criterion in ("one", "another"):
        mine = Examiner(talk, (), [HERE], tmp_path, criterion, None)
        numbers.append(mine.loans.number(own_function))
    assert numbers[0] != numbers[1]


def test_the_text_of_a_callbacks_exception_stays_here(tmp_path: Path) -> None:
    talk = Conversation(back("call", 1), Reply(value=1))
    examiner(talk, tmp_path).ask("call", "f", raising)
    assert talk.resumed().raised == "ValueError"
    assert SECRET not in repr(talk.heard)


def test_an_exception_of_the_tests_comes_back_as_itself(tmp_path: Path) -> None:
    def reraise(request: Request) -> Reply:
        resumed = request.ops[-1]
        assert isinstance(resumed, Resume)
        error = StudentError("ValueError", "call")
        return Reply(error=error, beside={"raised": Callback(resumed.number)})

    talk = Conversation(back("call", 1), reraise)
    with pytest.raises(ValueError, match=SECRET):
        examiner(talk, tmp_path).ask("call", "f", raising)


def test_an_object_in_place_of_a_value_is_refused_before_any_operator(tmp_path: Path) -> None:
    request = Request([OrdinaryAsk("call f", "call", ())])
    rights = answered([(request, Reply(value=3))])
    talk = Conversation(Reply(value=Held("", "Agreeing", 5)))
    mine = examiner(talk, tmp_path, rights)
    with pytest.raises(Ended):
        assert mine.ask("call", "f") == 3
    assert "Agreeing" in str(mine.refused)
    assert len(talk.heard) == 1


def test_a_subclass_of_a_builtin_crosses_as_its_value_where_the_builtin_is_right(
    tmp_path: Path,
) -> None:
    rights = answered([(Request([OrdinaryAsk("call f", "call", ())]), Reply(value=3))])
    talk = Conversation(Reply(value=Held("", "Agreeing", 5, 4)))
    assert examiner(talk, tmp_path, rights).ask("call", "f") == 4


def test_an_object_stays_one_where_the_solution_gives_one(tmp_path: Path) -> None:
    right = Held("", "Stack", 9, [1])
    rights = answered([(Request([OrdinaryAsk("call f", "call", ())]), Reply(value=right))])
    talk = Conversation(Reply(value=Held("", "Stack", 5, [1])))
    assert type(examiner(talk, tmp_path, rights).ask("call", "f")) is Proxy


def test_what_was_never_asked_of_the_solution_gives_values_alone(tmp_path: Path) -> None:
    talk = Conversation(Reply(value=Held("", "Anything", 5)))
    mine = examiner(talk, tmp_path, Rights())
    with pytest.raises(Ended):
        mine.ask("call", "f")


@pytest.mark.parametrize(
    "path",
    ["builtins:eval", "os:system", "builtins:open", "posix:_exit", "subprocess", "builtins:exit"],
)
def test_no_name_brings_what_this_side_has(path: str, tmp_path: Path) -> None:
    found = examiner(Conversation(Reply(value=Named(path))), tmp_path).ask("call", "f")
    assert found is object


@pytest.mark.parametrize(
    "path", ["os.PathLike", "_pytest.outcomes.Skipped", "builtins.type", "io.FileIO", "enum.Flag"]
)
def test_an_object_claims_no_class_but_those_on_the_list(path: str, tmp_path: Path) -> None:
    found = examiner(
        Conversation(Reply(value=Held("", "Claiming", 4, ABSENT, (Named(path),)))), tmp_path
    ).ask("call", "f")
    assert type(found) is Proxy
    assert found.__class__.__mro__ == (found.__class__, object)


def test_an_object_may_be_a_list_to_isinstance(tmp_path: Path) -> None:
    held = Held("", "Stack", 4, ABSENT, (Named("builtins.list"),))
    found = examiner(Conversation(Reply(value=held)), tmp_path).ask("call", "f")
    assert isinstance(found, list)
    assert found.__class__.__name__ == "Stack"


def test_classes_come_as_those_of_python(tmp_path: Path) -> None:
    named = Reply(value=[Named("builtins:int"), Named("builtins:ValueError")])
    assert examiner(Conversation(named), tmp_path).ask("call", "f") == [int, ValueError]


YES = Held("", "Yes", 5)


def asked_as(value: Value, **beside: Value) -> Rights:
    """Return the rights of a solution that answers a call of f so."""
    request = Request([OrdinaryAsk("call f", "call", (Handle(1),))])
    return answered([(request, Reply(value=value, beside=beside))])


@pytest.mark.parametrize(
    ("right", "given"),
    [
        ({1}, {YES}),
        ({1: 3}, {YES: 3}),
        ({1: 3}, {1: YES}),
        ([{1}], [{YES}]),
        ((1, [2]), (1, [YES])),
        (3, Named("builtins:str")),
        (3, Handle(1)),
        (3, Callback(1)),
        (3, Opaque()),
        ([3], [Named("builtins:str")]),
    ],
)
def test_no_part_of_a_value_is_an_object(right: Value, given: Value, tmp_path: Path) -> None:
    mine = examiner(Conversation(Reply(value=given)), tmp_path, asked_as(right))
    with pytest.raises(Ended):
        mine.ask("call", "f", 1)
    assert mine.refused is not None


def test_what_a_call_changes_holds_no_object(tmp_path: Path) -> None:
    rights = asked_as(None, changed=[[1, [1, 2]]])
    talk = Conversation(Reply(value=None, beside={"changed": [[1, [YES, YES]]]}))
    with pytest.raises(Ended):
        examiner(talk, tmp_path, rights).ask("call", "f", 1, [2, 1])


def test_what_a_call_changes_is_changed_here(tmp_path: Path) -> None:
    rights = asked_as(None, changed=[[1, [1, 2]]])
    talk = Conversation(Reply(value=None, beside={"changed": [[1, [3, 4]]]}))
    mine = [2, 1]
    examiner(talk, tmp_path, rights).ask("call", "f", 1, mine)
    assert mine == [3, 4]


def test_an_exception_holds_no_object(tmp_path: Path) -> None:
    raised = [Held("", "ValueError", 1, ABSENT, (Named("builtins:ValueError"),)), [YES], None]
    talk = Conversation(Reply(error=StudentError("ValueError", "call"), beside={"raised": raised}))
    with pytest.raises(Ended):
        examiner(talk, tmp_path, Rights()).ask("call", "f")


def test_a_function_of_the_tests_gets_no_object_where_values_are_right(tmp_path: Path) -> None:
    talk = Conversation(back("call", YES), Reply(value=1))
    mine = examiner(talk, tmp_path, Rights())
    with pytest.raises(Ended):
        mine.ask("call", "f", own_function)


def test_what_a_call_returns_is_not_asked_by_the_functions_name(tmp_path: Path) -> None:
    talk = Conversation(Reply(value=Held("a function", "", 7)), Reply(value=1))
    made = examiner(talk, tmp_path).ask("call", "adder", 3)
    made(4)
    names = [request.ops[-1].name for request in talk.heard]  # type: ignore[attr-defined]
    assert names == ["call adder", "call adder()"]


def test_stop_iteration_ends_no_loop_of_the_tests(tmp_path: Path) -> None:
    cls = Named("builtins:StopIteration")
    raised = [Held("", "StopIteration", 1, ABSENT, (cls,)), [], None]
    reply = Reply(error=StudentError("StopIteration", "call"), beside={"raised": raised})
    with pytest.raises(RuntimeError):
        examiner(Conversation(reply), tmp_path).ask("call", "f")
    with pytest.raises(StopIteration):
        examiner(Conversation(reply), tmp_path).ask("next", "")


def test_nothing_of_the_tests_is_set_that_it_does_not_define(tmp_path: Path) -> None:
    for name in ("assertEqual", "_hidden"):
        talk = Conversation(back("setattr", name, 3), Reply(value=1))
        examiner(talk, tmp_path).ask("call", "f", Mine())
        assert talk.resumed().raised


def test_no_word_of_the_components_is_run(tmp_path: Path) -> None:
    imports = Imports(examiner(Conversation(), tmp_path), {})
    with imports.replaced():
        for name in ("eval", "exec", "compile"):
            with pytest.raises(CannotCross, match="compare values instead"):
                imports._builtins[name]("1")


@pytest.mark.parametrize("name", ["Skipped", "Exit", "Failed", "XFailed", "UsageError"])
def test_no_exception_is_one_of_pytests(name: str, tmp_path: Path) -> None:
    cls = Held("a class", "", 2, name, (Named("builtins:Exception"),))
    raised = [Held("", name, 1, ABSENT, (cls,)), ["a word"], None]
    talk = Conversation(Reply(error=StudentError("Exception", "call"), beside={"raised": raised}))
    with pytest.raises(Exception) as caught:
        examiner(talk, tmp_path).ask("call", "f")
    assert type(caught.value).__name__ == name
    own = (pytest.skip.Exception, pytest.exit.Exception, pytest.fail.Exception)
    assert not isinstance(caught.value, own)


@pytest.mark.parametrize("name", ["KeyboardInterrupt", "GeneratorExit", "BaseException"])
def test_what_ends_a_process_does_not_end_this_one(name: str, tmp_path: Path) -> None:
    raised = [Held("", name, 1, ABSENT, (Named(f"builtins:{name}"),)), [], None]
    talk = Conversation(Reply(error=StudentError("Exception", "call"), beside={"raised": raised}))
    with pytest.raises(BaseException) as caught:
        examiner(talk, tmp_path).ask("call", "f")
    assert not isinstance(caught.value, KeyboardInterrupt | GeneratorExit)


def test_nothing_that_comes_back_moves_generators(tmp_path: Path) -> None:
    random.seed(5)
    np.random.seed(5)
    before = random.getstate()
    state = [[3, np.zeros(625, np.uint32), None], [np.zeros(624, np.uint32), 0, 0, 0.0], None]
    talk = Conversation(Reply(value=1, beside={"draws": state, "moved": 10**12}))
    examiner(talk, tmp_path, Rights()).ask("call", "f")
    assert random.getstate() == before


@pytest.mark.parametrize(
    "name",
    [
        "../out.txt",
        "../new/out.txt",
        "/tmp/out.txt",
        "a/../../out.txt",
        "",
        ".",
        "link/out.txt",
        "a\0b",
        3,
        None,
    ],
)
def test_files_come_back_below_the_tests_own_folder_alone(name: Any, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "outside").mkdir()
    (own / "link").symlink_to(tmp_path / "outside")
    talk = Conversation(Reply(value=1, beside={"files": [[name, b"owned"]]}))
    examiner(talk, own).ask("call", "f", own)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in tmp_path.iterdir()} == {"own", "outside"}


def test_a_file_that_comes_back_is_written(tmp_path: Path) -> None:
    talk = Conversation(
        Reply(value=1, beside={"files": [["early.txt", b"text"]]}),
        Reply(value=1, beside={"files": [["a/b.txt", b"text"]]}),
    )
    mine = examiner(talk, tmp_path)
    mine.ask("call", "f")
    mine.ask("call", "f", tmp_path)
    assert not (tmp_path / "early.txt").exists()
    assert (tmp_path / "a" / "b.txt").read_bytes() == b"text"


def test_no_path_elsewhere_is_read(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    (own / "link.txt").symlink_to(tmp_path / "secret.txt")
    talk = Conversation()
    mine = examiner(talk, own)
    for path in (tmp_path / "secret.txt", own / "link.txt", Path(__file__), own):
        mine.ask("call", "f", path)
    assert SECRET not in repr(talk.heard)
    # What means nothing there crosses as the path that it is.
    assert talk.heard[0].ops[-1].args == (tmp_path / "secret.txt",)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("verb", "args"), [("repr", []), ("str", []), ("len", []), ("getitem", [0]), ("eq", [1])]
)
def test_of_an_iterator_only_the_next_item_is_asked(
    verb: str, args: list[int], tmp_path: Path
) -> None:
    talk = Conversation(back(verb, *args), Reply(value=1))
    examiner(talk, tmp_path).ask("call", "f", iter([1]))
    assert talk.resumed().raised


@pytest.mark.parametrize(
    "value", [sys, pytest, mock.Mock(), [mock.Mock()], [].remove, {}.items, sys.stdin.readline]
)
def test_what_cannot_cross_says_so(value: object, tmp_path: Path) -> None:
    talk = Conversation()
    mine = examiner(talk, tmp_path)
    with pytest.raises(CannotCross, match="handed over"):
        mine.ask("call", "f", value)


@pytest.mark.parametrize("maker", ["slice", "range"])
def test_a_slice_that_comes_back_holds_no_object(maker: str, tmp_path: Path) -> None:
    odd = Made(maker, (Held("an object", "Yes", 7, ABSENT, ()), 2, None))
    assert examiner(Conversation(Reply(value=odd)), tmp_path).ask("call", "f") is None
    plain = Made("slice", (1, 2, None))
    assert examiner(Conversation(Reply(value=plain)), tmp_path).ask("call", "f") == slice(1, 2)


def test_of_a_method_of_the_tests_own_list_only_the_call_is_possible(tmp_path: Path) -> None:
    seen: list[object] = []
    talk = Conversation(back("call", 1), Reply(value=None))
    examiner(talk, tmp_path).ask("call", "f", seen.append)
    assert seen == [1]
    for verb, args in (("getattr", ["__self__"]), ("eq", [1]), ("str", [])):
        talk = Conversation(back(verb, *args), Reply(value=1))
        examiner(talk, tmp_path).ask("call", "f", seen.append)
        assert talk.resumed().raised


def test_an_object_without_anything_is_known_again_and_asked_nothing(tmp_path: Path) -> None:
    mark = object()
    talk = Conversation(lambda request: Reply(value=request.ops[-1].args[0]))  # type: ignore[attr-defined]
    assert examiner(talk, tmp_path).ask("call", "f", mark) is mark
    for verb, args in (("getattr", ["__class__"]), ("call", []), ("eq", [1]), ("repr", [])):
        talk = Conversation(back(verb, *args), Reply(value=1))
        examiner(talk, tmp_path).ask("call", "f", mark)
        assert talk.resumed().raised


def test_a_solution_alone_is_heard_on_where_it_left_the_generators(tmp_path: Path) -> None:
    random.seed(1)
    told = draws()
    random.seed(2)
    before = random.getstate()
    lying = Conversation(Reply(value=1, beside={"drew": told}))
    examiner(lying, tmp_path, answered([])).ask("call", "f")
    assert random.getstate() == before
    solution = examiner(Conversation(Reply(value=1, beside={"drew": told})), tmp_path)
    solution.ask("call", "f")
    assert random.getstate() != before
    assert len(solution.moved) == 1


def test_threads_of_a_test_ask_one_after_the_other(tmp_path: Path) -> None:
    inside: list[int] = []
    together: list[int] = []

    def answer(request: Request) -> Reply:
        inside.append(1)
        together.append(len(inside))
        for _ in range(2000):
            pass
        inside.pop()
        return Reply(value=1)

    mine = examiner(answer, tmp_path)
    workers = [
        threading.Thread(target=lambda: [mine.ask("call", "f") for _ in range(200)])
        for _ in range(4)
    ]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(before)
    assert len(together) == 800
    assert set(together) == {1}


def test_only_the_suites_files_get_proxies(tmp_path: Path) -> None:
    mine = examiner(Conversation(), tmp_path)
    scope: dict[str, Any] = {"__file__": str(HERE / "test_scale.py")}
    other: dict[str, Any] = {"__file__": str(tmp_path / "library.py")}
    imports = Imports(mine, {})
    found = imports._imported("scale", scope, fromlist=("f",))
    assert isinstance(found, ProxyModule)
    with pytest.raises(ImportError):
        imports._imported("scale", other, fromlist=("f",))


def test_tests_that_are_a_package_import_a_component_as_a_module_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "helpers.py").write_text("")
    mine = examiner(Conversation(), tmp_path)
    scope: dict[str, Any] = {"__file__": str(HERE / "test_scale.py"), "__package__": "tests"}
    imports = Imports(mine, {}, [tmp_path])
    monkeypatch.setitem(sys.modules, "tests", types.ModuleType("tests"))
    assert isinstance(imports._imported("scale", scope, fromlist=("f",), level=1), ProxyModule)
    assert isinstance(imports._imported("tests.scale", scope, fromlist=("f",)), ProxyModule)
    with pytest.raises(ImportError):
        imports._imported("helpers", scope, fromlist=("f",), level=1)
    with pytest.raises(ImportError):
        imports._imported("tests.scale", {"__file__": str(tmp_path / "x.py")}, fromlist=("f",))


def test_a_component_that_calls_back_for_ever_ends_the_case(tmp_path: Path) -> None:
    mine: list[Examiner] = []

    def again(value: Any) -> Any:
        return mine[0].ask("call", "f", again)

    mine.append(examiner(lambda request: back("call", 1)(request), tmp_path))
    with pytest.raises(Ended):
        mine[0].ask("call", "f", again)
    assert "deep" in str(mine[0].refused)


def test_many_answers_are_looked_through_once() -> None:
    asked = [
        (Request([OrdinaryAsk("call f", "call", (Handle(1), n))]), Reply(value=n))
        for n in range(2000)
    ]
    mixed = [(Request([OrdinaryAsk("call f", "call", ())]), Reply(value=[1.5, "a", {2: None}]))]
    kinds = rights_of([*asked, *mixed])["call f"]
    # The first answer, and one of each kind.
    assert kinds == [0, 0, 1.5, "a", None]
