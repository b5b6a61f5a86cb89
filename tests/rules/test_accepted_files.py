"""A file that a person has accepted has all of Python, and those that import it do not."""

import importlib
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from autograder.api.loading import ComponentCode

ACCEPTED = """
import dataclasses
import functools
import sys
import torch
from torch import nn

EPS = 1e-5


class Base(nn.Module):
    scale = 1
    _hidden = 2

    def __init__(self):
        super().__init__()
        self._private = 3

    def _method(self):
        return self._private + self._hidden


@dataclasses.dataclass
class Sizes:
    _rows: int = 4


def kept(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args)
    call._calls = 5
    return call


def _aside():
    return 6
"""
USES = """
import accepted
from accepted import *
from accepted import _aside


class Own(Base):
    _hidden = 7

    def __init__(self):
        super().__init__()
        self._private += 1
        self.__dict__["_more"] = 1

    def forward(self):
        return self._method() + self._more + getattr(self, "_pri" + "vate")


@kept
def called(x):
    return x


called._calls += 1
accepted.EPS = 1
Base.scale = 2
found = [
    Own()(), Base()._method(), Sizes()._rows, called(1),
    called._calls, accepted._aside(), _aside(), accepted.EPS, Own().scale, Base.__name__,
    isinstance(Own(), Base), hasattr(accepted, "_aside"), getattr(accepted, "EP" + "S"),
]
"""


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ComponentCode]:
    """Load `work` of some texts, of which some were accepted; what is imported goes again."""
    finders = list(sys.meta_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def loaded(
        texts: dict[str, str], free: Collection[str] = ("accepted.py",), program: bool = False
    ) -> ComponentCode:
        monkeypatch.setattr(sys, "meta_path", list(finders))
        for name, text in texts.items():
            monkeypatch.delitem(sys.modules, name, raising=False)
            (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        code = ComponentCode(tmp_path, "work", tmp_path, program)
        if free is not None:
            code.watch(free)
        code.load_provided()
        code.load()
        for name in texts:
            if name in sys.modules:
                monkeypatch.setitem(sys.modules, name, sys.modules[name])
        return code

    return loaded


@pytest.mark.parametrize("free", [(), ("accepted.py",), ("accepted.py", "work.py"), None])
def test_work_that_is_right_does_the_same_whichever_of_its_files_are_accepted(
    load: Callable[..., ComponentCode], free: Collection[str] | None
) -> None:
    found = load({"accepted": ACCEPTED, "work": USES}, free).module.found
    assert found == [16, 5, 4, 1, 6, 6, 6, 1, 2, "Base", True, True, 1]


FREE = """
import sys
import torch

exec("RAN = eval('1 + 1')")
FRAME = getattr(sys, "_get" + "frame")()
GLOBALS = getattr(load := (lambda: 0), "__glob" + "als__")
OTHER = __import__("pla" + "in").X


@torch.jit.script
def twice(x: int) -> int:
    return 2 * x
"""


@pytest.mark.filterwarnings("ignore:.*jit.script:DeprecationWarning")
def test_an_accepted_file_has_all_of_python_where_another_imports_it(
    load: Callable[..., ComponentCode],
) -> None:
    texts = {"accepted": FREE, "plain": "X = 3\n"}
    work = "from accepted import *\nfound = [RAN, OTHER, twice(2)]\n"
    assert load({**texts, "work": work}).module.found == [2, 3, 4]
    with pytest.raises((AttributeError, NameError)):
        load({**texts, "work": work}, ())


@pytest.mark.parametrize(
    "trick",
    [
        "getattr(lambda: 0, '__glob' + 'als__')",
        "getattr(accepted.method, '__glob' + 'als__')",
        "getattr(accepted.Base, '__sub' + 'classes__')()",
        "getattr(accepted, '__buil' + 'tins__')",
        "exec and (lambda exec: exec)(0) or vars(accepted)",
        "getattr(torch, '_' + 'C')",
    ],
)
def test_who_imports_it_has_no_more_than_before(
    load: Callable[..., ComponentCode], trick: str
) -> None:
    accepted = "class Base:\n    pass\n\n\ndef method():\n    pass\n"
    texts = {"accepted": accepted, "work": f"import torch\nimport accepted\nx = {trick}\n"}
    for free in ((), ("accepted.py",)):
        with pytest.raises((AttributeError, NameError)):
            load(texts, free)
    assert load(texts, None).module is not None


def test_a_program_and_what_it_imports_are_free_by_file(
    load: Callable[..., ComponentCode],
) -> None:
    texts = {"accepted": "def f():\n    return eval('4')\n"}
    plain = "import accepted\nprint(accepted.f())\n"
    odd = "print(getattr(lambda: 0, '__glob' + 'als__')['__name__'])\n"
    code = load({**texts, "work": plain}, program=True)
    assert code.run((), "", {}).output == "4\n"
    with pytest.raises(AttributeError):
        load({**texts, "work": plain + odd}, program=True).run((), "", {})
    code = load({**texts, "work": plain + odd}, ("accepted.py", "work.py"), program=True)
    assert code.run((), "", {}).output == "4\n__main__\n"


@pytest.mark.parametrize("free", [(), ("work.py",)])
def test_an_error_in_a_text_names_its_file(
    load: Callable[..., ComponentCode], free: Collection[str]
) -> None:
    with pytest.raises(SyntaxError) as caught:
        load({"work": "x = 1\ndef f(:\n"}, free)
    assert (Path(str(caught.value.filename)).name, caught.value.lineno) == ("work.py", 2)
