"""What a component may not import or call is charged to the line that does, and to no library."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request
from autograder.rules.forbidden import ForbiddenUse, Rules, resolve, used_by
from autograder.rules.guard import ForbiddenOperation, Guard
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget, Profile
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.asking import asks
from tests.conftest import skip

BUDGET = Budget(call_cpu_s=4.0, call_wall_s=20.0, cpu_s=10, memory=1 << 30, file_size=1 << 20)
RULES = Rules(
    modules=("torch", "statistics", "csv"),
    functions=("numpy.linalg.lstsq", "builtins.sorted", "functools.reduce"),
)
Asked = Callable[..., Reply]


@pytest.fixture(scope="module", params=["tier1", "tier2"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    try:
        found, _ = open_sandbox(request.param, BUDGET, RULES.functions, [])
    except NotIsolated as reason:
        skip(request.param, reason)
    yield found
    found.close()


@pytest.fixture
def asked(sandbox: Sandbox) -> Iterator[Asked]:
    """Calls `f` of a component under these rules; a program is run."""
    children = []

    def ask(
        source: str,
        beside: Mapping[str, str] | None = None,
        rules: Rules = RULES,
        program: bool = False,
        others: tuple[str, ...] = (),
    ) -> Reply:
        files = {"work.py": source.encode()}
        files |= {name: text.encode() for name, text in (beside or {}).items()}
        child = sandbox.fork("work", files, Profile(BUDGET, rules, program, others=others))
        children.append(child)
        return child.perform(Request([asks("", (), "", {}, verb="run") if program else asks("f")]))

    yield ask
    for child in children:
        child.close()


def uses(reply: Reply) -> list[tuple[str, str, int]]:
    return [(use.operation, use.file, use.line) for use in reply.forbidden]


@pytest.mark.parametrize(
    "line",
    [
        "import torch",
        "import torch.nn.functional as F",
        "from torch import nn",
        "from torch.nn import Linear",
        "import json, torch",
        "import importlib; importlib.import_module('tor' + 'ch')",
        "__import__('torch')",
        "import builtins; builtins.__import__('torch')",
        "import runpy; runpy.run_module('torch')",
    ],
)
def test_a_forbidden_module_is_charged_to_its_line(asked: Asked, line: str) -> None:
    reply = asked(f"\n{line}\n\ndef f():\n    return 1\n")
    assert uses(reply) == [("torch", "work.py", 2)]
    assert reply.error is not None
    assert reply.error.kind == "Forbidden"
    assert reply.error.line == 2


@pytest.mark.parametrize("file", ["other.py", "hidden/other.py", "other/__init__.py"])
def test_another_components_rules_hold_for_its_own_file_alone(asked: Asked, file: str) -> None:
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    reply = asked(
        f"from {name} import g\n\ndef f():\n    return g()\n",
        {file: "def g():\n    import csv\n    return 1\n"},
        others=("other.py",),
    )
    assert (reply.error is None) == (file == "other.py")
    assert [use.operation for use in reply.forbidden] == ([] if file == "other.py" else ["csv"])


def test_a_component_builds_on_what_it_uses_and_on_what_that_uses() -> None:
    uses = {"c": ("b",), "b": ("a",), "d": ()}
    assert used_by("c", uses) == {"a", "b"}
    assert used_by("d", uses) == used_by("", uses) == frozenset()


def test_an_import_inside_a_function_is_charged_when_it_runs(asked: Asked) -> None:
    reply = asked("def f():\n    import csv\n    return 1\n\ndef g():\n    import torch\n")
    assert uses(reply) == [("csv", "work.py", 2)]


def test_an_import_whose_refusal_is_swallowed_is_charged(asked: Asked) -> None:
    reply = asked(
        "try:\n    import torch\nexcept BaseException:\n    torch = None\n\n"
        "def f():\n    return torch is None\n"
    )
    assert uses(reply) == [("torch", "work.py", 2)]
    assert reply.value is True


def test_an_import_of_an_own_helper_is_charged_to_the_helper(asked: Asked) -> None:
    reply = asked(
        "import helper\n\ndef f():\n    return 1\n",
        {"helper.py": "x = 1\nimport statistics\n"},
    )
    assert uses(reply) == [("statistics", "helper.py", 2)]


def test_a_module_of_a_like_name_is_another(asked: Asked) -> None:
    reply = asked(
        "import torchlike\n\ndef f():\n    return torchlike.x\n", {"torchlike.py": "x = 3\n"}
    )
    assert (uses(reply), reply.value) == ([], 3)


@pytest.mark.parametrize(
    "source, value",
    [
        # random imports statistics for nobody, and importlib.metadata imports csv.
        ("import importlib.metadata as m\ndef f():\n    return m.version('numpy') > ''\n", True),
        ("import numpy.testing\ndef f():\n    return 1\n", 1),
        ("import pprint, heapq\ndef f():\n    return heapq.nsmallest(1, [2, 1])\n", [1]),
        (
            "import numpy as np\ndef f():\n"
            "    return np.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round(6).tolist()\n",
            [2.0, 1.0],
        ),
        ("import collections as c\ndef f():\n    return len(c.Counter('aa').most_common())\n", 1),
    ],
)
def test_what_libraries_use_inside_is_nobodys_fault(
    asked: Asked, source: str, value: object
) -> None:
    reply = asked(source)
    assert uses(reply) == []
    assert reply.error is None
    assert reply.value == value


def test_a_library_may_import_inside_what_a_student_may_not(asked: Asked) -> None:
    # numpy.random is imported by the student, and itself imports secrets.
    rules = Rules(modules=("secrets", "decimal"))
    reply = asked("import statistics\ndef f():\n    return statistics.mean([1, 3])\n", rules=rules)
    assert (uses(reply), reply.value) == ([], 2)
    reply = asked("def f():\n    import decimal\n", rules=rules)
    assert uses(reply) == [("decimal", "work.py", 2)]


CALLS = {
    "directly": "import numpy as np\n\ndef f():\n    return np.linalg.lstsq(A, b)\n",
    "by name": "from numpy.linalg import lstsq\n\ndef f():\n    return lstsq(A, b)\n",
    "an alias": "import numpy.linalg as l\ng = l.lstsq\ndef f():\n    return g(A, b)\n",
    "a partial": (
        "import functools, numpy as np\n"
        "g = functools.partial(np.linalg.lstsq, A)\ndef f():\n    return g(b)\n"
    ),
    "its name": (
        "import numpy as np\n\ndef f():\n    return getattr(np.linalg, 'lst' + 'sq')(A, b)\n"
    ),
    "map": "import numpy as np\n\ndef f():\n    return list(map(np.linalg.lstsq, [A], [b]))\n",
    "star": "from numpy.linalg import *\n\ndef f():\n    return lstsq(A, b)\n",
    "a lambda": (
        "import numpy as np\ng = lambda *a: np.linalg.lstsq(*a)\ndef f():\n    return g(A, b)\n"
    ),
}


@pytest.mark.parametrize("way", CALLS)
def test_a_forbidden_function_is_charged_to_its_line(asked: Asked, way: str) -> None:
    data = "A = [[1.0, 0.0], [0.0, 1.0]]; b = [1.0, 2.0]; "
    reply = asked(data + CALLS[way])
    ((name, file, line),) = uses(reply)
    assert (name, file) == ("numpy.linalg.lstsq", "work.py")
    assert line == (2 if way == "a lambda" else 4)
    assert reply.error is not None
    assert reply.error.kind == "Forbidden"


def test_a_forbidden_builtin_is_charged(asked: Asked) -> None:
    assert uses(asked("def f():\n    return sorted([2, 1])\n")) == [
        ("builtins.sorted", "work.py", 2)
    ]
    # What is like it is another.
    reply = asked("def f():\n    x = [2, 1]\n    x.sort()\n    return x\n")
    assert (uses(reply), reply.value) == ([], [1, 2])


def test_naming_a_forbidden_function_is_no_call(asked: Asked) -> None:
    reply = asked("import numpy as np\ng = np.linalg.lstsq\n\ndef f():\n    return g is not None\n")
    assert (uses(reply), reply.value) == ([], True)


def test_every_file_is_charged_with_its_first_use(asked: Asked) -> None:
    reply = asked(
        "import helper\n\ndef f():\n    for g in (helper.g, helper.h, own):\n"
        "        try:\n            g()\n        except Exception:\n            pass\n\n"
        "def own():\n    return sorted([])\n",
        {"helper.py": "def g():\n    sorted([])\n\ndef h():\n    import torch\n"},
    )
    assert uses(reply) == [("builtins.sorted", "helper.py", 2), ("builtins.sorted", "work.py", 11)]


def test_provided_code_may_use_what_is_forbidden(asked: Asked) -> None:
    provided = {
        "provided/tools.py": (
            "import csv\nimport numpy as np\n\n"
            "def solve():\n"
            "    import statistics\n"
            "    found = np.linalg.lstsq(np.eye(2), np.ones(2), rcond=None)[0]\n"
            "    return sorted(found.tolist() + [statistics.mean([3])])\n"
        )
    }
    reply = asked("from provided.tools import solve\n\ndef f():\n    return solve()\n", provided)
    assert uses(reply) == []
    assert reply.error is None
    assert reply.value == [1.0, 1.0, 3]


@pytest.mark.parametrize(
    "module, code",
    [("torch", "int(torch.ones(1).sum())"), ("numpy", "int(numpy.random.default_rng(0).random())")],
)
def test_provided_code_may_import_late_what_is_forbidden(
    asked: Asked, module: str, code: str
) -> None:
    reply = asked(
        "from provided.tools import make\n\ndef f():\n    return make()\n",
        {"provided/tools.py": f"def make():\n    import {module}\n    return {code}\n"},
        rules=Rules(modules=(module,)),
    )
    assert uses(reply) == []
    assert reply.error is None


def test_a_program_has_rules_too(asked: Asked) -> None:
    reply = asked("import json\nimport csv\n", program=True)
    assert uses(reply) == [("csv", "work.py", 2)]
    assert asked("import json\nprint(1)\n", program=True).error is None


def test_without_rules_everything_goes(asked: Asked) -> None:
    reply = asked(
        "import torch, csv\nimport numpy as np\n\ndef f():\n"
        "    np.linalg.lstsq(np.eye(2), np.ones(2), rcond=None)\n    return sorted([2, 1])\n",
        rules=Rules(),
    )
    assert (uses(reply), reply.value) == ([], [1, 2])


def test_torch_works_where_numpy_is_forbidden(asked: Asked) -> None:
    reply = asked(
        "import torch\nfrom torch import nn\n\ndef f():\n"
        "    model = nn.Linear(2, 1)\n"
        "    optimizer = torch.optim.Adam(model.parameters())\n"
        "    loader = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2, shuffle=True)\n"
        "    for x in loader:\n"
        "        optimizer.zero_grad()\n        model(x).sum().backward()\n"
        "        optimizer.step()\n"
        "    return torch.cat([model(x) for x in loader]).shape\n",
        rules=Rules(modules=("numpy",)),
    )
    assert uses(reply) == []
    assert reply.error is None
    assert tuple(reply.value) == (4, 1)


def test_values_of_a_forbidden_module_still_come_back(asked: Asked) -> None:
    """What crosses the wire is made of tensors, whatever the student may import."""
    reply = asked(
        "from provided.tools import make\n\ndef f():\n    return make()\n",
        {"provided/tools.py": "import torch\n\ndef make():\n    return torch.ones(2)\n"},
    )
    assert reply.value.tolist() == [1.0, 1.0]


# Names in assignment.toml.


@pytest.mark.parametrize(
    "dotted", ["numpy.linalg.lstsq", "builtins.eval", "os.path.join", "torch.nn.LSTMCell"]
)
def test_a_function_is_found_by_its_dotted_name(dotted: str) -> None:
    owner, name = resolve(dotted)
    assert callable(getattr(owner, name))
    assert dotted.endswith(name)


@pytest.mark.parametrize(
    "dotted, words",
    [
        ("numpy.linalg.lstsqr", "there is no function or class numpy.linalg.lstsqr"),
        ("numpy.linalg", "there is no function or class numpy.linalg"),
        ("collections.deque", "is built into Python"),
        ("nowhere.f", "there is no module to find nowhere.f in"),
        ("builtins.list.sort", "belongs to a type that is"),
        ("numpy.nothing.f", "there is no function or class numpy.nothing.f"),
    ],
)
def test_a_name_that_cannot_be_refused_is_said_to_be_so(dotted: str, words: str) -> None:
    with pytest.raises(LookupError, match=words):
        resolve(dotted)


def test_rules_name_all_that_a_use_may_be_reported_of() -> None:
    rules = Rules(("layer_norm",), ("scipy",), ("numpy.linalg.inv",))
    assert rules.names == {"layer_norm", "scipy", "numpy.linalg.inv"}


# Several components in one process, as in a student's own run.


@pytest.fixture
def guard() -> Iterator[Guard]:
    """Installed in this process, and taken out again."""
    made = Guard((*FUNCTIONS, *CLASSES, "layer_norm"), ours=("provided", "tests"))
    made.install()
    yield made
    made.uninstall()


FUNCTIONS = ("numpy.linalg.lstsq", "numpy.linalg.inv")
CLASSES = (
    "torch.nn.Conv2d",
    "torch.nn.LSTMCell",
    "collections.Counter",
    "torch.nn.Transformer",
)


def ran(folder: Path, source: str) -> dict[str, object]:
    file = folder / "work.py"
    scope: dict[str, object] = {"np": np, "torch": torch, "nn": torch.nn}
    exec(compile(source, str(file), "exec"), scope)
    return scope


def test_only_what_is_enforced_is_refused(guard: Guard, tmp_path: Path) -> None:
    lstsq = "np.linalg.lstsq(np.eye(2), np.ones(2), rcond=None)"
    inv = "np.linalg.inv(np.eye(2))"
    for rules, allowed in (
        (Rules((), ("csv",), FUNCTIONS[:1]), ["import wave", inv]),
        (Rules((), ("wave",), FUNCTIONS[1:]), ["import csv", lstsq]),
        (Rules(), ["import csv", "import wave", lstsq, inv]),
    ):
        guard.begin(tmp_path, rules)
        for line in ("import csv", "import wave", lstsq, inv):
            if line in allowed:
                ran(tmp_path, line)
            else:
                with pytest.raises(ForbiddenOperation):
                    ran(tmp_path, line)
    # Nobody else is refused anything.
    guard.begin(tmp_path, Rules((), ("csv",), FUNCTIONS))
    import csv

    assert csv.reader is not None
    assert np.linalg.inv(np.eye(1)).tolist() == [[1.0]]


@pytest.mark.parametrize("folder", ["provided", "tests"])
def test_folders_that_are_ours_are_charged_with_nothing(
    guard: Guard, tmp_path: Path, folder: str
) -> None:
    guard.begin(tmp_path, Rules((), ("csv",)))
    ran(tmp_path / folder, "import csv")
    with pytest.raises(ForbiddenOperation):
        ran(tmp_path / f"{folder}_of_mine", "import csv")
    assert [(use.operation, use.file) for use in guard.uses()] == [("csv", "work.py")]


def test_what_torch_does_for_no_line_is_charged_whoever_asks(guard: Guard, tmp_path: Path) -> None:
    """A test lies beside the component, and none of its lines answers for it."""
    (tmp_path / "no_line.py").write_text("from torch.nn.functional import layer_norm as norm\n")
    guard.begin(tmp_path, Rules(("layer_norm",)))
    asking = ran(tmp_path / "tests", "def ask(session, request):\n    session.perform(request)\n")
    ask = asking["ask"]
    assert callable(ask)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        ask(Executor(tmp_path, "no_line"), Request([asks("norm", torch.ones(1, 2), (2,))]))
    assert guard.uses() == [ForbiddenUse("layer_norm", "", 0)]


# Classes, at any depth, by any alias.

CLASS_USES = {
    "directly": "nn.Conv2d(1, 1, 1)",
    "by its module": "nn.modules.conv.Conv2d(1, 1, 1)",
    "an alias": "make = nn.Conv2d\nmake(1, 1, 1)",
    "imported": "from torch.nn.modules.conv import Conv2d as C\nC(1, 1, 1)",
    "a subclass": "class C(nn.Conv2d):\n    pass\nC(1, 1, 1)",
    "a subclass with its own": "class C(nn.Conv2d):\n    def __init__(self):\n"
    "        super().__init__(1, 1, 1)\nC()",
    "a subclass of the library's": "nn.LazyConv2d(1, 1)",
    "without making one": "c = nn.Conv2d.__new__(nn.Conv2d)\nnn.Conv2d.forward(c, 1)",
    "mapped": "list(map(nn.Conv2d, [1], [1], [1]))",
    "another": "nn.LSTMCell(1, 1)",
    "a function that it lends": "nn.Transformer.generate_square_subsequent_mask(2)",
    "no module of torch": "import collections\ncollections.Counter('a')",
}


@pytest.mark.parametrize("way", CLASS_USES)
def test_a_forbidden_class_is_charged(guard: Guard, tmp_path: Path, way: str) -> None:
    guard.begin(tmp_path, Rules((), (), CLASSES))
    with pytest.raises(ForbiddenOperation):
        ran(tmp_path, CLASS_USES[way])
    (use,) = guard.uses()
    assert use.operation in CLASSES


def test_what_is_like_a_forbidden_class_is_another(guard: Guard, tmp_path: Path) -> None:
    guard.begin(tmp_path, Rules((), (), CLASSES))
    ran(tmp_path, "nn.Conv1d(1, 1, 1)\nnn.LSTM(1, 1)\nassert issubclass(nn.Conv2d, nn.Module)")
    assert isinstance(torch.nn.Conv2d(1, 1, 1), torch.nn.Conv2d)
    assert guard.uses() == []


# An operation of torch, by whatever public way.

OPERATION_USES = {
    "the function": "torch.nn.functional.layer_norm(torch.ones(1, 2), (2,))",
    "torch's own": "torch.layer_norm(torch.ones(1, 2), (2,))",
    "the class": "nn.LayerNorm(2)(torch.ones(1, 2))",
    "a subclass": "class N(nn.LayerNorm):\n    pass\nN(2)(torch.ones(1, 2))",
    "what is made of it": "nn.TransformerEncoderLayer(2, 1, 2)(torch.ones(1, 1, 2))",
    "mapped": "torch.vmap(lambda x: torch.layer_norm(x, (2,)))(torch.ones(1, 2))",
    "another holder": "nn.modules.normalization.F.layer_norm(torch.ones(1, 2), (2,))",
}


@pytest.mark.parametrize("way", OPERATION_USES)
def test_a_forbidden_operation_is_charged(guard: Guard, tmp_path: Path, way: str) -> None:
    guard.begin(tmp_path, Rules(("layer_norm",)))
    with pytest.raises(ForbiddenOperation):
        ran(tmp_path, OPERATION_USES[way])
    (use,) = guard.uses()
    assert (use.operation, use.file) == ("layer_norm", "work.py")


def test_to_make_a_module_of_it_is_no_use(guard: Guard, tmp_path: Path) -> None:
    guard.begin(tmp_path, Rules(("layer_norm",)))
    ran(tmp_path, "nn.LayerNorm(2)")
    assert guard.uses() == []


def test_stand_ins_may_call_what_is_forbidden_and_nobody_through_them(
    guard: Guard, tmp_path: Path
) -> None:
    guard.begin(tmp_path, Rules(("layer_norm",)), exempt=("other.py",))
    other = "def norm(x, then=None):\n    if then:\n        return then(x)\n"
    other += "    return torch.layer_norm(x, (2,))\n"
    scope: dict[str, object] = {"torch": torch}
    exec(compile(other, str(tmp_path / "other.py"), "exec"), scope)
    norm = scope["norm"]
    assert callable(norm)
    assert norm(torch.ones(1, 2)).shape == (1, 2)
    with pytest.raises(ForbiddenOperation):
        norm(torch.ones(1, 2), ran(tmp_path, OPERATIONS_OWN)["own"])


OPERATIONS_OWN = "def own(x):\n    return torch.layer_norm(x, (2,))\n"


def test_everything_is_back_in_its_place() -> None:
    import builtins

    before = (torch.layer_norm, builtins.__import__, torch.nn.Conv2d.forward)
    made = Guard(("layer_norm", *CLASSES))
    made.install()
    assert torch.layer_norm is not before[0]
    made.uninstall()
    assert (torch.layer_norm, builtins.__import__, torch.nn.Conv2d.forward) == before
    assert "__init__" in vars(torch.nn.Conv2d)


def test_where_no_line_of_the_submission_led_to_it_the_component_is_charged(
    guard: Guard, tmp_path: Path
) -> None:
    guard.begin(tmp_path, Rules(("layer_norm",)))
    norm = ran(tmp_path, "norm = nn.LayerNorm(2)")["norm"]
    assert callable(norm)
    # As whoever asks a component calls what it is.
    scope: dict[str, object] = {"__name__": "autograder.api.executor", "norm": norm}
    asks = "import torch\ndef ask():\n    return norm(torch.ones(1, 2))\n"
    exec(compile(asks, "<asks>", "exec"), scope)
    ask = scope["ask"]
    assert callable(ask)
    with pytest.raises(ForbiddenOperation):
        ask()
    assert [(use.file, use.line) for use in guard.uses()] == [("", 0)]


def test_nothing_that_is_changed_in_libraries_blinds_the_guard(
    guard: Guard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard.begin(tmp_path, Rules(("layer_norm",)))
    monkeypatch.setattr("os.sep", "!")
    with pytest.raises(ForbiddenOperation):
        ran(tmp_path, OPERATION_USES["the function"])
