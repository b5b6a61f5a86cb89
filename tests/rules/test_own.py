"""What Python's functions are to a submission: a computed name leads to nothing private."""

import operator
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch

from autograder.rules.own import own_builtins

WAYS = tomllib.loads((Path(__file__).parent / "ways_around.toml").read_text(encoding="utf-8"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run a text as a module of the submission's, which others can import as `work`."""

    def ran(text: str, **names: object) -> dict[str, Any]:
        module = ModuleType("work")
        monkeypatch.setitem(sys.modules, "work", module)
        scope = vars(module)
        scope |= {"__builtins__": own_builtins(), "torch": torch, **names}
        exec(compile(text, "work.py", "exec"), scope)
        return scope

    return ran


CLASS = """
class A:
    _shared = 1

    def __init__(self):
        self._own = 2

    def _method(self):
        return 3

    def f(self, name):
        return getattr(self, "_" + name)


a = A()
"""


@pytest.mark.parametrize(
    "expression, value",
    [
        ("a.f('own')", 2),
        ("a.f('shared')", 1),
        ("a.f('method')()", 3),
        ("getattr(A, '_sha' + 'red')", 1),
        ("getattr(a, '_none', 5)", 5),
        ("getattr(torch, 're' + 'lu') is torch.relu", True),
        ("getattr(A, '__name__')", "A"),
        ("getattr(torch.nn, 'ReLU') is torch.nn.ReLU", True),
        ("operator.attrgetter('_own', '_shared')(a)", (2, 1)),
        ("operator.attrgetter('x.y')(P)", 4),
        ("operator.methodcaller('_method')(a)", 3),
        ("operator.itemgetter(0)([6])", 6),
        ("vars(a)", {"_own": 2}),
        ("len([getattr(A, name) for name in dir(A)]) > 20", True),
        ("len([getattr(a, name) for name in dir(a)]) > 20", True),
        ("getattr(A, '__setattr__')(a, '_own', 7) or a._own", 7),
        ("getattr(a, '__setattr__')('_own', 8) or a._own", 8),
        ("getattr(a, '__delattr__')('_own') or hasattr(a, '_own')", False),
        ("getattr(A, '__getattribute__')(a, '_own')", 2),
        ("super(A, a).__setattr__('z', 9) or a.z", 9),
    ],
)
def test_names_of_ones_own_are_looked_up(run: Any, expression: str, value: object) -> None:
    text = f"import operator\n{CLASS}class P:\n    class x:\n        y = 4\n"
    assert run(f"{text}found = {expression}\n")["found"] == value


def test_a_buffer_and_an_inherited_name_are_the_modules_own(run: Any) -> None:
    found = run(
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('_mask', torch.ones(1))\n"
        "x = [getattr(M(), '_ma' + 'sk').item(), getattr(M(), '_buff' + 'ers').keys()]\n"
    )
    assert found["x"] == [1.0, {"_mask"}]


@pytest.mark.parametrize(
    "expression",
    [
        "getattr(torch, '_' + 'C')",
        "getattr(sys, '_get' + 'frame')",
        "getattr(sys, 'mod' + 'ules')",
        "getattr(f, '__glob' + 'als__')",
        "getattr(a.f, '__fu' + 'nc__')",
        "getattr(A, '__sub' + 'classes__')",
        "getattr(torch.nn.Module, '_call' + '_impl')",
        "getattr(torch.nn.ReLU(), '_call' + '_impl')",
        "getattr(torch, 'n' + 'n')",
        "getattr(torch, 'op' + 's')",
        "getattr(object, '__getattr' + 'ibute__')",
        "getattr(object, '__set' + 'attr__')",
        "getattr(A, '__getattr' + 'ibute__')(f, '__glob' + 'als__')",
        "getattr(a, '__getattr' + 'ibute__')('__sub' + 'classes__')",
        "getattr(A, '__set' + 'attr__')(f, '__co' + 'de__', 1)",
        "getattr(A, '__set' + 'attr__')(torch.nn.ReLU, 'forward', 1)",
        "getattr(A, '__del' + 'attr__')(torch, 'relu')",
        "list(map(getattr, [torch], ['_' + 'C']))",
        "operator.attrgetter('_' + 'C')(torch)",
        "operator.attrgetter('nn.functional.' + 'relu')(torch)",
        "operator.attrgetter('f_' + 'locals')(sys.exc_info)",
        "operator.methodcaller('__getattr' + 'ibute__', 'x')(torch)",
        "attrgetter('relu', '_' + 'C')(torch)",
        "vars(torch)",
        "getattr(torch, Text('_C'))",
    ],
)
def test_no_computed_name_leads_to_what_is_somebody_elses(run: Any, expression: str) -> None:
    text = f"import operator, sys\nfrom operator import attrgetter\n{CLASS}"
    text += "class Text(str):\n    pass\ndef f():\n    pass\n"
    with pytest.raises((AttributeError, TypeError), match=r"submissions|must be string"):
        run(f"{text}found = {expression}\n")
    assert operator.attrgetter("real")(3) == 3


@pytest.mark.parametrize("way", ["attention_methodcaller", "attrgetter"])
def test_a_way_around_that_no_text_shows_is_refused(run: Any, way: str) -> None:
    with pytest.raises((AttributeError, NameError)):
        scope = run(WAYS[way]["text"])
        x = torch.ones(1, 2, 2)
        scope["scaled_dot_product_attention"](x, x, x)


@pytest.mark.parametrize("name", ["eval", "exec", "compile", "globals", "locals"])
def test_what_runs_texts_is_refused_whatever_shadowed_it(run: Any, name: str) -> None:
    with pytest.raises(NameError, match=name):
        run(f"{name} = 1\ndel {name}\n{name}('1')\n")


def test_a_file_that_was_accepted_has_pythons_own() -> None:
    scope: dict[str, Any] = {"__builtins__": own_builtins(free=True), "torch": torch}
    exec("import operator\nx = getattr(torch, '_C'), operator, eval('1')\n", scope)
    assert scope["x"] == (torch._C, operator, 1)


def test_libraries_keep_the_plain_functions(run: Any) -> None:
    found = run(
        "import collections, dataclasses\n"
        "@dataclasses.dataclass(order=True)\nclass A:\n    _x: int = 1\n"
        "P = collections.namedtuple('P', 'x')\ny = A() < A(2), P(1)._replace(x=2).x\n"
    )
    assert found["y"] == (True, 2)
