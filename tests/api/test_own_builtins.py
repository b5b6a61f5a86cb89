"""What a submission's modules cannot do though their text does not say it."""

import builtins
import dataclasses
import numbers
import threading
import types
import typing
import warnings
from pathlib import Path

import pytest
import torch

from autograder.api.own_builtins import add_slots, own_builtins, own_code, run_plain


def run(text: str, **names: object) -> dict[str, object]:
    scope: dict[str, object] = {"__builtins__": own_builtins(), "__name__": "__main__"}
    scope |= {"torch": torch, **names}
    exec(own_code(text.encode(), "work.py", "/nowhere"), scope)
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
    "call", ["eval('1')", "exec('1')", "compile('1', '', 'eval')", "globals()"]
)
def test_a_name_that_was_shadowed_in_the_text_runs_nothing(call: str) -> None:
    name = call.partition("(")[0]
    with pytest.raises(NameError, match=name):
        run(f"{name} = 1\ndel {name}\n{call}\n")


def test_imports_and_classes_work() -> None:
    found = run("import math\nclass A(dict):\n    x = math.pi\ny = A.x\n")
    assert found["y"] == pytest.approx(3.14159, abs=1e-4)


def test_a_class_takes_keywords_of_any_name() -> None:
    found = run(
        "class Base:\n    made = {}\n"
        "    def __init_subclass__(cls, name, body=0):\n        cls.made[name] = body\n"
        "class A(Base, name='a', body=3):\n    pass\n"
        "y = Base.made\n"
    )
    assert found["y"] == {"a": 3}


def test_a_class_that_type_made_has_private_names() -> None:
    found = run(
        "A = type('A', (torch.nn.Module,), {'_count': 4, '_twice': lambda self, x: 2 * x,\n"
        "    'forward': lambda self, x: self._twice(x) + self._count})\n"
        "y = A()(3)\n"
    )
    assert found["y"] == 10


def test_a_class_that_type_made_lends_nothing_of_a_librarys() -> None:
    with pytest.raises(AttributeError):
        run("A = type('A', (torch.nn.Module,), {})\ny = A()._wrapped_call_impl\n")
    with pytest.raises(AttributeError):
        run("A = type('A', (), {'_f': torch.relu})\ny = A._f\n")


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
    own = "class Own:\n    x = 1\n"
    for owner, name in ((torch, "relu"), (torch.nn.Linear, "forward"), (Path, "name")):
        with pytest.raises(AttributeError):
            run(call, owner=owner, name=name)
    with pytest.raises(AttributeError):
        run(f"{own}owner = Own\n{call}", name="__bases__")
    run(f"{own}owner = Own\n{call}", name="x")


def test_a_name_that_only_looks_like_a_text_is_refused() -> None:
    class Text(str):
        pass

    with pytest.raises(AttributeError):
        run("getattr(owner, name)", owner=print, name=Text("__self__"))


def test_what_an_object_holds_is_shown_and_may_be_changed() -> None:
    text = (
        "class A(torch.nn.Module):\n"
        "    def __init__(self, **given):\n"
        "        super().__init__()\n"
        "        self.__dict__.update(given, _seen=[])\n"
        "    def __eq__(self, other):\n"
        "        return vars(self) == other.__dict__\n"
        "a = A(lr=1)\na.__dict__['y'] = 2\nx = a.lr, a.y, a._seen, 'lr' in vars(a), a == a\n"
        "names = {name for name in A.__dict__ if name[:2] == '__'}\n"
    )
    found = run(text)
    assert found["x"] == (1, 2, [], True, True)
    assert found["names"] == {"__module__", "__init__", "__eq__", "__hash__", "__doc__"}


@pytest.mark.parametrize("shown", ["vars(owner)", "owner.__dict__"])
def test_what_the_interpreter_or_a_library_hides_is_not_shown(shown: str) -> None:
    with pytest.raises(AttributeError):
        run(f"x = {shown}", owner=torch)
    for owner, hidden in ((type, "__subclasses__"), (type(run), "__globals__")):
        assert hidden in vars(owner)
        assert hidden not in run(f"x = {shown}", owner=owner)["x"]
    caught = warnings.catch_warnings()
    assert isinstance(vars(caught)["_module"], types.ModuleType)
    assert "_module" not in run(f"x = {shown}", owner=caught)["x"]


@pytest.mark.parametrize("term", ["a", "b._x"])
def test_a_long_expression_runs_as_it_does_in_plain_python(term: str) -> None:
    text = f"class B:\n    _x = 1\na, b = 1, B()\nx = {' + '.join([term] * 900)}\n"
    assert run(text)["x"] == 900


def test_private_names_in_every_place_are_looked_up_by_the_object() -> None:
    text = (
        "class B:\n    _x = 1\nb = B()\nb._b = b\n"
        "x = [b._x, *[b._b._x], {b._x: b._b._b._x}, f'{b._x}', (lambda c=b._x: c)()]\n"
        "b._b._x += b._x\ny = b._x\n"
    )
    found = run(text)
    assert found["x"] == [1, 1, {1: 1}, "1", 1]
    assert found["y"] == 2
    bad = "o._bootstrap"
    for text in (f"[1, {bad}]", f"{{1: {bad}}}", f"{bad}.__name__.x", f"f'{{{bad}}}'"):
        with pytest.raises(AttributeError, match="_bootstrap is not looked up"):
            run(f"x = {text}", o=threading.Thread)
    with pytest.raises(AttributeError, match="_bootstrap is not looked up"):
        run(f"{bad} += 1", o=threading.Thread)


def test_private_names_of_ones_own_are_looked_up_as_ever() -> None:
    text = (
        "import threading\n"
        "class A(torch.nn.Linear):\n"
        "    _made = 0\n"
        "    def __init__(self):\n"
        "        super().__init__(1, 1)\n"
        "        self._x = 3\n"
        "        self.weight._plain = True\n"
        "        A._made += 1\n"
        "    def _load_from_state_dict(self, *rest, **more):\n"
        "        super()._load_from_state_dict(*rest, **more)\n"
        "def f():\n    f._calls += 1\n    return f._calls\n"
        "f._calls = 0\na = A()\na.load_state_dict(a.state_dict())\n"
        "x = a._x, a._made, a.weight._plain, f(), a._modules, a.bias._version >= 0\n"
    )
    with pytest.raises(AttributeError, match="_version"):
        run(text)
    assert run(text.replace(", a.bias._version >= 0", ""))["x"] == (3, 1, True, 1, {})


def test_a_private_name_of_a_librarys_object_is_refused_whoever_asks() -> None:
    # A reference in an annotation is kept as an object that can run it.
    reference = typing.get_args(typing.Optional["print()"])[0]
    private = [
        "reference._evaluate",
        "type(reference)._evaluate",
        "A.ask(reference)",
        "A._evaluate",
        "A('1')._evaluate",
        "A('1').asks()",
        "reference._evaluate += 1",
    ]
    text = (
        "class A(type(reference), _root=True):\n"
        "    def ask(self):\n        return self._evaluate\n"
        "    def asks(self):\n        return super()._evaluate\n"
    )
    for expression in private:
        with pytest.raises(AttributeError, match="_evaluate"):
            run(f"{text}{expression}", reference=reference)


def test_no_module_is_taken_out_of_an_exception() -> None:
    with pytest.raises(AttributeError, match="obj"):
        run("try:\n    torch.nope\nexcept AttributeError as e:\n    x = e.obj\n")
    assert run("class A:\n    obj = 3\nx = A().obj\n")["x"] == 3


@pytest.mark.parametrize("name", ["eval", "getattr", "open"])
def test_pythons_own_functions_are_not_looked_up_in_their_module(name: str) -> None:
    with pytest.raises(AttributeError):
        run("getattr(owner, name)", owner=builtins, name=name)


@pytest.mark.parametrize(
    "text",
    [
        "type.__setattr__(owner, 'x', 1)",
        "getattr(type, '__set' + 'attr__')(owner, 'x', 1)",
        "super(abc.ABCMeta, owner).__setattr__('x', 1)",
        "function.__setattr__('__kwdefaults__', {})",
        "object.__setattr__(function, '__kwdefaults__', {})",
        "function.__delattr__('__doc' + 'x__')",
    ],
)
def test_nobody_sets_what_is_a_librarys(text: str) -> None:
    with pytest.raises(AttributeError, match="not changed by submissions"):
        run(f"import abc\n{text}", owner=numbers.Number, function=torch.save)


def test_what_is_ones_own_is_set_by_its_method() -> None:
    found = run(
        "class K:\n    def __setattr__(self, name, value):\n"
        "        super().__setattr__(name, value + 1)\n"
        "k = K()\nk.__setattr__('a', 1)\nobject.__setattr__(k, '_b', 1)\n"
        "K.__setattr__(k, 'c', 1)\ntype.__setattr__(K, 'd', 1)\n"
        "k.e = 1\nk.__delattr__('e')\nx = k.a, k._b, k.c, K.d, hasattr(k, 'e')\n"
    )
    assert found["x"] == (2, 1, 2, 1, False)


REF = "import typing\nref = typing.get_args(typing.Optional['1 + ' + '1'])[0]\n"


@pytest.mark.parametrize(
    "text",
    [
        "kind = type(ref)\nclass K(metaclass=lambda *a: kind):\n    pass\n"
        "ref._evaluate({}, {}, frozenset())",
        "kind = type(ref)\nclass M(type):\n    def __new__(m, name, *a):\n"
        "        return kind if name == 'K' else super().__new__(m, name, *a)\n"
        "class B(metaclass=M):\n    pass\nclass K(B):\n    pass\n"
        "ref._evaluate({}, {}, frozenset())",
        "class K(typing.Generic[typing.TypeVar('T')]):\n    pass\n"
        "K.__class_getitem__\nref._evaluate({}, {}, frozenset())",
        "import types\ntypes.GenericAlias(type(ref), int)._evaluate",
        "ref.__forward_code__",
        "getattr(ref, '__forward' + '_code__')",
    ],
)
def test_no_class_of_a_library_is_taken_for_ones_own(text: str) -> None:
    with pytest.raises(AttributeError, match="no public name"):
        run(REF + text)


@pytest.mark.parametrize("head", ["class A(typing.Generic[T])", "class A(abc.ABC)", "class A"])
def test_what_a_class_of_ones_own_hides_is_its_own(head: str) -> None:
    text = f"import abc, typing\nT = typing.TypeVar('T')\n{head}:\n    __own__ = 3\n"
    text += "    def _hidden(self):\n        return self.__own__\nx = A()._hidden()\n"
    assert run(text)["x"] == 3


@pytest.mark.parametrize(
    "head",
    [
        "class A(typing.NamedTuple):\n    y: int = 3\n",
        "class A(torch.autograd.Function):\n",
        "class A(torch.nn.Parameter):\n",
        "@dataclasses.dataclass(slots=True)\nclass A:\n    _y: int = 3\n"
        "    def _more(self):\n        return self._y\n",
    ],
)
def test_a_class_that_a_library_takes_part_in_is_ones_own(
    head: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataclasses, "_add_slots", add_slots(vars(dataclasses)["_add_slots"]))
    text = f"import dataclasses, typing\n{head}    @staticmethod\n"
    text += "    def _hidden():\n        return A()._more() if hasattr(A, '_more') else 3\n"
    assert run(f"{text}x = A._hidden()\n")["x"] == 3


@pytest.mark.parametrize(
    "fields",
    [
        "class K:\n    __annotations__ = {EVIL: int}\n"
        "setattr(K, EVIL, dataclasses.field(init=False))",
        "class S(str):\n    def __format__(self, spec):\n        return EVIL\n"
        "class K:\n    __annotations__ = {S('a'): int}\n"
        "setattr(K, 'a', dataclasses.field(init=False))",
        "@dataclasses.dataclass\nclass B:\n    x: int = 1\n"
        "dataclasses.fields(B)[0].name = 'x=[held.append(1) for _ in [1]]'\n"
        "class K(B):\n    y: int = 1",
    ],
)
def test_no_name_of_a_field_is_code(fields: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataclasses, "exec", run_plain, raising=False)
    held: list[int] = []
    with pytest.raises((TypeError, SyntaxError)):
        run(
            f"import dataclasses\nEVIL = 'a:held.append(1)'\n{fields}\n"
            "dataclasses.dataclass(repr=False, eq=False)(K)\n",
            held=held,
        )
    assert held == []


def test_fields_of_all_kinds_make_a_dataclass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataclasses, "exec", run_plain, raising=False)
    found = run(
        "from dataclasses import dataclass, field, InitVar\n"
        "@dataclass(order=True, frozen=True, slots=True)\nclass A:\n    self: int\n"
        "    other: list = field(default_factory=list)\n    _c: int = 3\n    d: InitVar[int] = 4\n"
        "    def __post_init__(me, d):\n        pass\n"
        "@dataclass(unsafe_hash=True, kw_only=True)\nclass B:\n    x: int = 1\n"
        "y = [A(1) < A(2), hash(B()) == hash(B(x=1)), B() == B(), repr(A(1))]\n"
    )
    assert found["y"] == [True, True, True, "A(self=1, other=[], _c=3)"]


def test_names_of_a_classs_own_are_found() -> None:
    found = run(
        "def eps(make):\n    return make\n"
        "class _A:\n    __size = 2\n"
        "    @eps\n    def __twice(self):\n        return 2 * self.__size\n"
        "    def f(self):\n        self.__x = 1\n        self.__x += self.__twice()\n"
        "        return self.__x\n"
        "    class B:\n        __y = 4\n        def f(self):\n            return self.__y\n"
        "x, y = _A().f(), _A.B().f()\nz = _A()._A__twice()\n"
    )
    assert (found["x"], found["y"], found["z"]) == (5, 4, 4)


@pytest.mark.parametrize(
    "text",
    [
        "x = box['pickle'].loads",
        "x = box['torch'].serialization.pickle",
        "x = box['torch'].load",
        "x = box['sys'].modules",
        "x = getattr(box['torch'], 'lo' + 'ad')",
        "x = getattr(box['array'], 'cty' + 'pes')",
        "try:\n    box['f'].nothing\nexcept AttributeError as error:\n    x = error.obj",
        "box['torch'].relu = 1",
        "type(box['layer']).forward = 1",
        "box['stream']._stream = 'modules'",
        "class A(type(box['stream'])):\n    _stream = 'modules'",
        "class A:\n    __module__ = 'builtins'",
    ],
)
def test_a_library_that_comes_as_a_value_lends_and_takes_nothing(text: str) -> None:
    import contextlib
    import io
    import pickle
    import sys

    import numpy

    box = {"pickle": pickle, "torch": torch, "sys": sys, "f": torch.relu}
    box |= {"array": numpy.zeros(1), "layer": torch.nn.Identity()}
    box["stream"] = contextlib.redirect_stdout(io.StringIO())
    forward = torch.nn.Identity.forward
    with pytest.raises((AttributeError, TypeError), match=r"submissions|private|says that"):
        run(text, box=box)
    assert torch.nn.Identity.forward is forward


def test_ordinary_attributes_of_values_are_as_ever() -> None:
    found = run(
        "import collections, enum\n"
        "def f():\n    import math\n    return math.sqrt(4)\n"
        "class A(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.torch = 3\n"
        "        self._shadow = torch.nn.Parameter(torch.ones(1))\n"
        "        self._shadow._decays = True\n        self._shadow.grad = torch.ones(1)\n"
        "P = collections.namedtuple('P', 'x y')\nP.__doc__ = 'a point'\n"
        "def g():\n    pass\ng.calls = 1\ng.calls += 1\n"
        "class C(enum.Enum):\n    RED = 1\n"
        "match C.RED:\n    case C.RED:\n        seen = P.__doc__\n"
        "a, x = A(), f()\n"
    )
    assert found["seen"] == "a point" and found["x"] == 2
    assert getattr(found["a"], "torch") == 3 and getattr(found["g"], "calls") == 2  # noqa: B009


def test_a_module_that_is_imported_in_a_function_is_used_there() -> None:
    # On no list: an assignment says that it is ordinary, or a person has accepted the file.
    found = run(
        "def f():\n    import pickle\n    import xml.sax.saxutils as s\n"
        "    return pickle.loads(pickle.dumps(3)), s.escape('<')\nx = f()\n"
    )
    assert found["x"] == (3, "&lt;")


def test_what_is_not_read_does_not_run() -> None:
    text = "x = 1\nif __name__ == '__main__':\n    x = 2\nelse:\n    y = x\n"
    text += "if typing.TYPE_CHECKING:\n    x = 3\nif TYPE_CHECKING:\n    x = 4\n"
    assert (run(text)["x"], run(text)["y"]) == (1, 1)
    scope: dict[str, object] = {"__builtins__": own_builtins(), "__name__": "__main__"}
    exec(own_code(b"if __name__ == '__main__':\n    x = 2\n", "work.py", "/", main=True), scope)
    assert scope["x"] == 2


@pytest.mark.parametrize(
    "text",
    [
        "p = torch.nn.Parameter(torch.ones(1))\nx = not getattr(p, '_no_decay', False)",
        "class A:\n    def f(self):\n        return 1\n    f._step = True\n"
        "x = getattr(A().f, '_step')",
        "class M(type):\n    _made = {}\n    def __call__(cls):\n"
        "        cls._made[cls] = cls._made.get(cls) or super().__call__()\n"
        "        return cls._made[cls]\n"
        "class A(metaclass=M):\n    _y = True\n    def f(self):\n        return self._y\n"
        "x = A() is A() and A().f()",
        "try:\n    raise ValueError from KeyError()\nexcept ValueError as e:\n"
        "    x = e.__cause__ is not None and e.__traceback__ is not None",
        "class A(torch.nn.Module):\n    def f(self):\n        return self._get_name()\n"
        "x = A().f() == 'A'",
        "net = torch.nn.Identity()\nnet.register_buffer('_ema', torch.ones(1))\nx = bool(net._ema)",
        "import threading\nlocal = threading.local()\nlocal._x = True\nx = local._x",
        "@torch.no_grad()\ndef f():\n    pass\nf._calls = 0\nf._calls += 1\nx = f._calls == 1",
        "p = torch.nn.Linear(1, 1)\nsetattr(p, '_late', True)\nx = p._late",
        "import argparse\nclass A(argparse.HelpFormatter):\n"
        "    def _split_lines(self, text, width):\n        return text.split()\nx = True",
        "import enum\nclass E(enum.Enum):\n    A = 1\nx = 'A' in E.__members__",
        "import weakref\nclass A:\n    def _s(self):\n        return True\n"
        "a = A()\nx = weakref.proxy(a)._s()",
        "x = list[int].__args__ == (int,)",
        "def f(shadowed):\n    return shadowed\n"
        "def g(nn):\n    import torch.nn as nn\n    return nn.init._calculate_fan_in_and_fan_out\n"
        "x = callable(g(1))",
    ],
)
def test_private_names_of_ones_own_are_found_wherever_they_are(text: str) -> None:
    assert run(text)["x"] is True


def test_annotations_that_are_texts_stay_as_they_are_written() -> None:
    text = "from __future__ import annotations\nimport typing\ndef f(typing):\n    pass\n"
    text += "class A:\n    names: typing.ClassVar[list] = []\nx = A.__annotations__['names']\n"
    assert run(text)["x"] == "typing.ClassVar[list]"


@pytest.mark.parametrize(
    "text",
    [
        "import enum\nclass E(enum.Enum):\n    A = 1\nE._convert_",
        "vars(stream)['_stream'] = 'modules'",
        "stream.__dict__.update(_stream='modules')",
        "import weakref\nweakref.proxy(module).loads",
        "import types\ntypes.GenericAlias(module, (int,)).loads",
    ],
)
def test_what_stands_for_a_library_lends_no_more(text: str) -> None:
    import contextlib
    import io
    import pickle

    stream = contextlib.redirect_stdout(io.StringIO())
    with pytest.raises((AttributeError, TypeError)):
        run(text, stream=stream, module=pickle)
    assert stream._stream == "stdout"


def test_a_class_that_says_to_be_another_is_not_taken_for_it() -> None:
    import contextlib
    import io

    text = (
        "class M(type):\n    def __eq__(cls, other):\n        return True\n"
        "    def __hash__(cls):\n        return hash(type(stream))\n"
        "class A(metaclass=M):\n    _stream = 1\n"
        "a = A()\nx = a._stream\na._stream = 2\n"
    )
    stream = contextlib.redirect_stdout(io.StringIO())
    assert run(text, stream=stream)["x"] == 1
    for line in ("stream._stream", "stream._stream = 'modules'"):
        with pytest.raises(AttributeError, match="submissions"):
            run(text + line, stream=stream)
