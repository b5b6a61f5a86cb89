"""What a submission's modules cannot do though their text does not say it."""

import builtins
import types
from pathlib import Path

import pytest
import torch

from autograder.exchange.own_builtins import own_builtins


def run(text: str, **names: object) -> dict[str, object]:
    scope: dict[str, object] = {"__builtins__": own_builtins(), "torch": torch, **names}
    exec(text, scope)
    return scope


@pytest.mark.parametrize(
    "name",
    ["__globals__", "__code__", "__subclasses__", "f_globals", "tb_frame", "_C", "nn", "ops"],
)
def test_a_computed_name_is_refused_where_a_written_one_would_be_found(name: str) -> None:
    frame = types.SimpleNamespace(f_globals=1, tb_frame=1, __globals__={}, __code__=1)
    owner = frame if hasattr(frame, name) else torch
    owner = torch.Tensor if name == "__subclasses__" else owner
    with pytest.raises(AttributeError):
        run("x = getattr(owner, name[:1] + name[1:])", owner=owner, name=name)
    with pytest.raises(AttributeError):
        run("x = list(map(getattr, [owner], [name]))", owner=owner, name=name)


def test_a_computed_name_that_is_public_is_looked_up() -> None:
    text = "class A:\n    _own = 3\n    x = 4\na = A()\n"
    found = run(
        text + "y = [getattr(a, '_o' + 'wn'), getattr(a, 'x'), getattr(a, 'z', 5)]\n"
        "f = getattr(torch, 're' + 'lu')\nn = getattr(A, '__name__')\n"
    )
    assert found["y"] == [3, 4, 5]
    assert found["f"] is torch.relu
    assert found["n"] == "A"


@pytest.mark.parametrize(
    "call", ["eval('1')", "exec('1')", "compile('1', '', 'eval')", "globals()", "vars(torch)"]
)
def test_a_name_that_was_shadowed_in_the_text_runs_nothing(call: str) -> None:
    name = call.partition("(")[0]
    with pytest.raises(NameError, match=name):
        run(f"{name} = 1\ndel {name}\n{call}\n")


def test_imports_and_classes_work() -> None:
    found = run("import math\nclass A(dict):\n    x = math.pi\ny = A.x\n")
    assert found["y"] == pytest.approx(3.14159, abs=1e-4)


def test_files_are_opened_by_path_and_none_of_code_is_written(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    run("with open(p, 'w') as f:\n    f.write('x')\n", p=data)
    assert run("with open(p) as f:\n    x = f.read()\n", p=data)["x"] == "x"
    for text in ("open(1, 'w')", "open(p, 'w')", "open(q, opener=print)"):
        with pytest.raises(PermissionError):
            run(text, p=str(tmp_path / "more.py"), q=str(data))
    assert builtins.open is not own_builtins()["open"]


@pytest.mark.parametrize("call", ["setattr(owner, name, 1)", "delattr(owner, name)"])
def test_no_module_or_class_of_a_library_is_changed(call: str) -> None:
    class Own:
        x = 1

    for owner, name in ((torch, "relu"), (torch.nn.Linear, "forward"), (Own, "__bases__")):
        with pytest.raises(AttributeError):
            run(call, owner=owner, name=name)
    run(call, owner=Own, name="x")


def test_a_name_that_only_looks_like_a_text_is_refused() -> None:
    class Text(str):
        pass

    with pytest.raises(AttributeError):
        run("getattr(owner, name)", owner=print, name=Text("__self__"))
