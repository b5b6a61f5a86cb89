"""What reaches around the public interface is found in the text; ordinary work is not."""

import tomllib
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from autograder.rules.reader import Ordinary
from autograder.rules.reading import (
    Finding,
    instead,
    read,
    read_files,
    reading_of,
)

ROOT = Path(__file__).parents[2]
WAYS = tomllib.loads((Path(__file__).parent / "ways_around.toml").read_text(encoding="utf-8"))
HEAD = "import torch\nfrom torch import nn\n"
assert torch is not None  # names are followed into it


def found(text: str, terms: Ordinary | None = None, **beside: str) -> list[tuple[int, str]]:
    """Return line and words of what is out of the ordinary in work.py."""
    files = {"work.py": text, **{f"{name}.py": source for name, source in beside.items()}}
    reading = read({name: source.encode() for name, source in files.items()}, terms or Ordinary())
    return [(f.line, f.what) for f in reading.findings if f.file == "work.py"]


# The text does not show these: they are refused when they run (test_own, and by the guard).
COMPUTED = ("attention_methodcaller", "attrgetter", "eval_shadow_class", "methodcaller")
WRITTEN = [way for way in WAYS if way not in COMPUTED]


@pytest.mark.parametrize("way", WRITTEN)
def test_a_way_around_is_found(way: str) -> None:
    assert found(HEAD + WAYS[way]["text"]), WAYS[way]["way"]


ORDINARY = {
    "an activation by name": "F = torch.nn.functional\ndef f(x, name):\n"
    "    return getattr(F, name)(x)\n",
    "a private attribute of one's own": "class A:\n    def __init__(self):\n        self._x = 1\n"
    "    def y(self):\n        return self._x\n",
    "a private buffer": "class A(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    "        self.register_buffer('_mask', torch.ones(2))\n"
    "    def forward(self, x):\n        return x * self._mask\n",
    "a name of a class's own": "class A:\n    def f(self):\n        self.__x = 2\n"
    "        return self.__x\n",
    "modules by number": "class S(nn.Module):\n    def __init__(self, *layers):\n"
    "        super().__init__()\n        for n, layer in enumerate(layers):\n"
    "            self._modules[str(n)] = layer\n",
    "what others hold": "class C:\n    def __eq__(self, other):\n"
    "        return vars(self) == other.__dict__\n",
    "a base class that courses build on": "from torch.nn.modules.utils import _pair\n"
    "from torch.optim.lr_scheduler import _LRScheduler\nclass S(_LRScheduler):\n    pass\n"
    "def f(m):\n    return isinstance(m, nn.modules.batchnorm._BatchNorm), _pair(1)\n",
    "tests of one's own": "import unittest\nclass T(unittest.TestCase):\n    pass\n",
    "names by a star": "from math import *\nfrom typing import *\n"
    "X: List[float] = [gcd(4, 6), pi]\n",
    "an array of one's own": "class A:\n    __array_priority__ = 9\n"
    "    def __array__(self, dtype=None):\n        return None\n",
    "Python 2's names": "from builtins import range, object\nfrom io import open\n",
    "the order of classes": "def f(x):\n    return type(x).__mro__[0].__name__\n",
    "a module that is called": "import torch.utils.checkpoint\n"
    "def f(m):\n    return torch.utils.checkpoint(m)\n",
    "what an object holds": "class C:\n    def __init__(self, **k):\n"
    "        self.__dict__.update(k)\n",
    "a variable called like a module": "import copy, time\ndef f(x):\n    copy = x.clone()\n"
    "    time = len(copy)\n    return max(copy, time)\n",
    "a method called eval": "import re\nnn.Linear(1, 1).eval()\nP = re.compile('x')\n",
    "a function called eval": "def eval(model):\n    return model\nX = eval(3)\n",
    "the main part": "import math\nif __name__ == '__main__':\n    import pickle, doctest\n"
    "    exec('1')\n",
    "two underscores of one's own": "class A:\n    __fields__ = ()\n    def names(self):\n"
    "        return self.__fields__\n",
    "own data": "with open('data/words.txt') as file:\n    TEXT = file.read()\n",
    "a path that is computed": "import os\ndef f(p):\n    return open(os.path.join(p, 'x.txt'))\n",
    "a saved state": "import io\ndef f(data):\n    return torch.load(io.BytesIO(data), "
    "weights_only=True)\n",
    "names of a class": "class A:\n    def __repr__(self):\n        return type(self).__name__\n"
    "    def __getattr__(self, name):\n        return super().__getattr__(name)\n",
    "an attribute by a written name": "from operator import attrgetter\nKEY = attrgetter('x.y')\n",
    "annotations in quotes": "def f(x: 'torch.Tensor') -> 'nn.Module':\n    return x\n",
    "optimizers": "def f(m, name):\n    return getattr(torch.optim, name)(m.parameters())\n",
    "a module that may be missing": "try:\n    import numpy as np\nexcept ImportError:\n"
    "    np = None\nX = 1 if np else 2\nif np is not None and not nn:\n    X = 3\n",
    "compiled": "@torch.compile\ndef f(x):\n    return x + 1\n",
    "a named tuple": "from collections import namedtuple\nP = namedtuple('P', 'x')\n"
    "Q = P(1)._replace(x=2)\n",
    "a private name of what others hand in": "class A:\n    def __init__(self, x):\n"
    "        self._data = x\n    def __add__(self, other):\n"
    "        return self._data + other._data\n",
    "a chain of one's own": "class Node:\n    __slots__ = ('_next', 'x')\n"
    "def last(node):\n    while node._next is not None:\n        node = node._next\n"
    "    return node\n",
    "a name that torch has as well": "class A:\n    def __init__(self):\n"
    "        self._C = self._refs = 1\n        self._refs += self._C\n",
    "a flag on a parameter": "def f(p, calls):\n    p._decays = True\n"
    "    return [q for q in calls if q._decays]\n",
    "a name that is computed": "class A:\n    def f(self, kind):\n"
    "        return getattr(self, '_' + kind)()\n    def g(self):\n"
    "        return [getattr(A, name) for name in dir(A)]\n",
    "an argument called like a module": "import string, types\ndef f(string, types):\n"
    "    return string.split(types.x), types._x\nclass A:\n    _x = 1\n",
    "a module that is handed around": "def f(module):\n    return module.relu\n"
    "X = f(torch), [nn, torch]\n",
    "a text with fields": "def f(x):\n    'Not even {x._y}.'\n"
    "    return '{0.shape} {x.dtype}'.format(x, x=x)\n",
    "a method of torch's own": "class A(nn.Module):\n"
    "    def _load_from_state_dict(self, *args):\n"
    "        super()._load_from_state_dict(*args)\n        return self._get_name()\n",
    "a file's place": "import os\nHERE = os.path.dirname(os.path.abspath(__file__))\n"
    "X = open(os.path.join(HERE, '..', 'x.txt'))\n",
    "a private name in a file that is not there": "from .base import Base\nBase._count = 1\n",
    "its own way to set": "class A:\n    def __setattr__(self, name, value):\n"
    "        super().__setattr__(name, value)\n    def f(self):\n"
    "        self.__setattr__('x', 1)\n        object.__setattr__(self, 'x', 1)\n",
    "whether there is a __dict__": "def f(x):\n    return hasattr(x, '__dict__')\n",
    "matched values": "def f(x):\n    match x:\n        case int(n) | str(n):\n"
    "            return n\n",
    "a closure": "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n"
    "    return g\n",
}


@pytest.mark.parametrize("what", ORDINARY)
def test_ordinary_work_is_not_found(what: str) -> None:
    assert found(HEAD + ORDINARY[what]) == []


HONEST = [
    *ROOT.glob("reference/*/*.py"),
    *ROOT.glob("reference/*/right_variants/*/*.py"),
    *ROOT.glob("reference/*/wrong_variants/*/*.py"),
    *ROOT.glob("assignments/*/*.py"),
]
# What the assignment itself says is ordinary.
EXPECTED = ("torch.load", "torch.utils._python_dispatch", "__torch_dispatch__")


def test_all_variants_are_ordinary() -> None:
    assert len(HONEST) > 150
    own = (*{path.stem for path in HONEST}, "provided")
    terms = Ordinary(own=own, ordinary=EXPECTED)
    for path in HONEST:
        reading = read({path.name: path.read_bytes()}, terms)
        assert reading.findings == [], path


def test_the_place_and_the_words_are_said() -> None:
    assert found("import math\nimport ctypes\n") == [(2, "imports ctypes")]
    assert found("import torch\nx = 1; y = torch._C\n") == [(2, "uses torch._C, which is private")]
    assert found("def f():\n    return f.__globals__\n") == [(2, "asks for __globals__")]
    assert found("import torch\nthings = [torch.load]\n") == [(2, "hands torch.load around")]
    finding = Finding("a.py", 3, "imports ctypes")
    assert finding.words == "a.py, line 3: it imports ctypes"


@pytest.mark.parametrize("way", WRITTEN)
def test_there_is_something_to_write_instead(way: str) -> None:
    for _, what in found(HEAD + WAYS[way]["text"]):
        assert instead(what)


def test_names_are_followed_through_own_modules() -> None:
    helper = "import torch as t\nfrom torch import nn\n\ndef f(x):\n    return x\n"
    for text in ("from helper import t\ny = t._C\n", "import helper\ny = helper.t._C\n"):
        assert found(text, helper=helper)
    assert found("import helper\ny = helper.f(helper.nn.Linear(1, 1))\n", helper=helper) == []


def test_a_module_of_ones_own_may_have_a_name_that_torch_has() -> None:
    assert hasattr(torch, "_softmax")
    helper = "def _softmax(x):\n    return x\n"
    assert found("import helper\ny = helper._softmax(1)\n", helper=helper) == []
    assert found("import torch\ny = torch._softmax(1)\n", helper=helper)


def test_of_several_meanings_each_counts() -> None:
    text = "try:\n    import math as m\nexcept ImportError:\n    import torch as m\n"
    assert found(text + "y = m._C\n") == [
        (5, "uses math._C, which is private"),
        (5, "uses torch._C, which is private"),
    ]


def test_a_helper_that_cannot_be_read_holds_who_imports_it() -> None:
    files = {"a.py": b"import helper\n", "helper.py": b"# coding: no-such-thing\n"}
    (finding,) = read(files, Ordinary()).about("a.py")
    assert finding.file == "helper.py"


def test_a_file_called_like_a_module_of_pythons_may_mean_that_one() -> None:
    assert found("import ctypes\n", ctypes="x = 1\n") == [(1, "imports ctypes")]
    assert found("import torch\ny = torch._C\n", torch="x = 1\n")
    assert found("import random\ny = random.choice\n", random="def choice():\n    pass\n") == []


def test_a_program_is_read_with_its_main_part() -> None:
    text = "if __name__ == '__main__':\n    import ctypes\n"
    assert found(text) == []
    assert found(text, Ordinary(programs=("work.py",))) == [(2, "imports ctypes")]


def test_an_assignment_adds_to_both_sides() -> None:
    text = "import pickle\nimport math\nx = pickle.loads\ny = math.gamma\n"
    assert found(text) == [(1, "imports pickle")]
    assert found(text, Ordinary(ordinary=("pickle",))) == []
    assert found(text, Ordinary(ordinary=("pickle",), unusual=("math.gamma",))) == [
        (4, "uses math.gamma")
    ]
    assert found("import pandas\n", Ordinary(unusual=("pandas",)))
    assert found("import pandas\n", Ordinary(packages=("pandas",))) == []
    assert found("import pandas._libs\n", Ordinary(packages=("pandas",)))


def test_what_a_file_runs_is_told_with_the_file_that_it_stands_in() -> None:
    files = {
        "a.py": b"import helper\n",
        "b.py": b"import a\n",
        "c.py": b"import math\n",
        "helper.py": b"from deep.inner import x\n",
        "deep/inner.py": b"import ctypes\nx = 1\n",
    }
    reading = reading_of(read_files(files, {}))
    held = [Finding("deep/inner.py", 1, "imports ctypes")]
    assert reading.about("a.py") == held
    assert reading.about("b.py") == held
    assert reading.about("b.py", without={"a.py"}) == []
    assert reading.about("c.py") == []
    assert reading.reached("a.py") == {"a.py", "helper.py", "deep/inner.py"}


def test_any_word_of_a_text_may_name_a_module_and_what_cannot_be_read_names_all() -> None:
    files = {
        "a.py": b"find = 'of b, or c.'\n",
        "b.py": b"import c as d\nfrom e.f import a\n",
        "c.py": b"b = ca\n",
        "unread.py": b"def (:\n",
    }
    named = reading_of(read_files(files, {"own": ["e", "given"]})).named
    assert named == {
        "a.py": ["b", "c"],
        "b.py": ["a", "c", "e"],
        "c.py": [],
        "unread.py": ["a", "b", "c", "e", "given", "unread"],
    }


@pytest.mark.parametrize(
    "text",
    [b"# coding: no-such-thing\nx = 1\n", b"x = " + b"-" * 90_000 + b"1\n"],
    ids=["an unknown encoding", "nested too deeply"],
)
def test_what_cannot_be_read_is_out_of_the_ordinary(text: bytes) -> None:
    (finding,) = read({"work.py": text}, Ordinary()).findings
    assert instead(finding.what)


def test_what_python_cannot_run_either_is_ordinary() -> None:
    for text in (b"def f(:\n", b"\xff\xfe\n", b"x = '\n"):
        assert read({"work.py": text}, Ordinary()).findings == []
    # Nor is what is no Python.
    assert read({"notes.txt": b"import ctypes\n"}, Ordinary()).findings == []


@given(st.text(max_size=200))
def test_no_text_stops_the_reader(text: str) -> None:
    read({"work.py": text.encode("utf-8", "surrogatepass")}, Ordinary())


@given(st.lists(st.sampled_from([WAYS[way]["text"] for way in WRITTEN]), max_size=3))
def test_more_text_hides_nothing(texts: list[str]) -> None:
    text = HEAD + "".join(texts)
    assert bool(found(text)) == bool(texts)


# Ways that were found by people who had read this code.
READ = {
    "an own meaning of __name__": "__name__ = '__main__'\nif __name__ == '__main__':\n"
    "    norm = torch._C\n",
    "a default": "def f(x, torch=torch.ops.aten):\n    return torch.layer_norm(x)\n",
    "a first iterable": "[n] = [torch.layer_norm for torch in [torch.ops.aten]]\n",
    "many aliases": "t0 = torch\n" + "".join(f"t{n + 1} = t{n}\n" for n in range(60)) + "t60._C\n",
    "global in a class": "class A:\n    global t\n    t = torch\nt._C\n",
    "a changed library": "import os\nos.sep = '!'\n",
    "a changed class": "nn.LayerNorm.forward = print\n",
    "text in numpy's tests": "import numpy as np\nnp.testing.measure('1')\n",
    "a loader that is told by place": "import numpy as np\nx = np.load('a.npy', None, True)\n",
    "a loader in a partial": "from functools import partial\n"
    "f = partial(torch.load, weights_only=False)\n",
    "torch's scripts": "unit = torch.CompilationUnit()\n",
    "an exception's object": "try:\n    torch.nope\nexcept AttributeError as e:\n"
    "    x = e.obj.ops.aten\n",
    "a module of a device": "x = torch.get_device_module('cpu')\n",
    "a name in a text": "from functools import update_wrapper\n"
    "update_wrapper(A(), f, ('__globals__',), ())\n",
    "annotations that run": "import inspect\ninspect.signature(print, **{'eval' + '_str': True})\n",
    "a library's way to set": "import torch\ntorch.nn.Module.__setattr__\n",
    "loaders by keywords": "import torch\ntorch.load('x', **{'weights_only': False})\n",
    "a loader handed around": "import torch\nf = [torch.load]\n",
    "a signature's class": "def f(s, g, k):\n    return s.from_callable(g, **k)\n",
    "a name by a star": "from sys import *\nx = modules['torch']\n",
    "torch's scripts by a star": "from torch import *\nx = CompilationUnit('')\n",
    "a private name in a pattern": "match 1:\n    case object(_x=x):\n        pass\n",
    "a name of torch's beside an own": "class A:\n    _C = 1\ndef f(x):\n    return x._C\n",
    "an own name of an import": "class A:\n    _x = 1\nnn._x\n",
    "a name that is a variable's": "def f(y):\n    _z = 1\n    return y._z\n",
    "an argument's name": "def f(y, _z):\n    return y._z\n",
    "what a module holds": "x = vars(torch)['_C']\n",
    "what a class of Python's holds": "x = object.__dict__['__getattr' + 'ibute__']\n",
    "a name in the field of a text": "x = '{0.__globals__}'.format(print)\n",
    "a name in an unfinished field": "x = ('{0.__glob' + 'als__}').format(print)\n",
    "another name for a module": "t = torch\nt._C.x\nclass A:\n    _C = 1\n",
    "a module by way of another": "x = torch.serialization.pickle\n",
    "an unsafe loader, whatever it is called": "def f(g, x):\n"
    "    return g(x, weights_only=False)\n",
    "the class of an object": "def f(x, y):\n    x.__class__ = y\n",
    "the original getattr": "import builtins\nf = builtins.getattr\n",
    "locals by vars": "x = vars()\n",
    "a descriptor by hand": "def f(d, x):\n    return d.__get__(x)\n",
    "matched by position": "class K:\n    __match_args__ = ('x',)\n",
}


@pytest.mark.parametrize("way", READ)
def test_ways_around_the_reader_itself_are_found(way: str) -> None:
    assert found(HEAD + READ[way])


def test_a_private_name_is_found_however_it_was_imported() -> None:
    helper = b"import torch as t\n"
    inside = {"pkg/helper.py": helper, "pkg/__init__.py": b"from .helper import t\nx = t._C\n"}
    assert read(inside, Ordinary()).findings
    star = "from helper import *\nif not t:\n    t = 1\nx = t._C\n"
    assert found(star, helper=helper.decode())
    # What is lent by a star of such a module could be anything in it.
    assert read({"helper.py": b"from importlib import *\n"}, Ordinary()).findings


def test_what_is_forbidden_is_called_where_it_is_named_or_waits() -> None:
    terms = Ordinary(closed=("numpy", "torch.relu", "torch.nn.Linear"))
    for text in (
        "f = torch.relu\n",
        "torch.vmap(torch.relu)\n",
        "import torch.nn.functional as F\nx = F.np\n",
    ):
        assert found(HEAD + text, terms), text
        assert not found(HEAD + text)
    # The guard refuses these, or they are no use.
    for text in (
        "torch.relu(x)\n",
        "import numpy as np\nx = np.ones\n",
        "class A(nn.Linear):\n    pass\nx = isinstance(1, nn.Linear)\n",
    ):
        assert found(HEAD + text, terms) == [], text


def test_a_text_in_an_annotation_runs_nothing() -> None:
    assert found("from typing import Literal\ndef f(x: Literal['eval'], y: 'torch.T'): ...\n") == []


def test_what_only_type_checkers_read_is_not_held() -> None:
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from torch._C import Size\n"
    assert found(text) == []


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("imports pdb", "debugger"),
        ("uses breakpoint", "debugger"),
        ("uses locals", "dictionary"),
        ("uses torch.jit, a module that is none of this course", "leave torch.jit away"),
    ],
)
def test_what_is_often_held_has_words_of_its_own(what: str, words: str) -> None:
    assert words in instead(what)
