"""Objects, modules and provided code behave alike in the student's process and in the sandbox."""

import itertools
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.api.answer import Asked, CheckFailed, StudentRaised
from autograder.api.component import Component, Session
from autograder.api.executor import Executor
from autograder.api.expect import Expect
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.operations import Reset
from autograder.api.values import Opaque
from autograder.api.wording import error_words
from autograder.rules.forbidden import Rules
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget, Profile
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.asking import asks

expect = Expect()
BUDGET = Budget(call_cpu_s=4.0, call_wall_s=20.0, cpu_s=10, memory=1 << 30, file_size=1 << 20)
NAMES = ("seed", "cotangent", "keep_inputs", "function", "method", "cost", "name", "cls")
NUMBER = itertools.count()

SOURCE = f'''
import json
import numpy as np
import torch
from provided import shapes
from torch import nn


class Tokenizer:
    """Splits at a sign."""

    made = 0

    def __init__(self, sign, words=()):
        if not sign:
            raise ValueError("a sign is needed")
        Tokenizer.made += 1
        self.sign, self.words = sign, list(words)

    @classmethod
    def train(cls, text, sign="-"):
        return cls(sign, sorted(set(text.split(sign))))

    @staticmethod
    def version():
        return 3

    @property
    def size(self):
        return len(self.words)

    def encode(self, text):
        return [self.words.index(word) for word in text.split(self.sign)]

    def decode(self, ids):
        return self.sign.join(self.words[number] for number in ids)

    def pieces(self, text):
        for word in text.split(self.sign):
            yield word

    def grow(self, word):
        self.words.append(word)
        return self.words

    def also(self, word):
        self.grow(word)
        return Tokenizer(self.sign, self.words)

    def split(self):
        return Tokenizer(self.sign, self.words[:1])

    def save(self, path):
        with open(path, "w") as file:
            json.dump([self.sign, self.words], file)

    @classmethod
    def load(cls, path):
        with open(path) as file:
            return cls(*json.load(file))

    def __call__(self, text, *, upper=False):
        return text.upper() if upper else text

    def __len__(self):
        return 0


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(features))

    def forward(self, x):
        return x @ self.weight


def parameters(model):
    return list(model.parameters())


def optimizer(parameters, rate):
    return torch.optim.SGD(parameters, lr=rate)


def train(model, x, y, steps, rate=0.1, optimizer=None):
    losses = []
    for _ in range(steps):
        loss = (model(x) - y).square().mean()
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            if optimizer is not None:
                optimizer.step()
            else:
                for parameter in model.parameters():
                    parameter -= rate * parameter.grad
        losses.append(loss.item())
    return losses


def everything({", ".join(NAMES)}):
    return [{", ".join(NAMES)}]


def keywords(**given):
    return sorted(given)


def counter(start):
    while True:
        yield start
        start += 1


def breaks_off():
    yield 1
    raise RuntimeError("no more")


class BankError(Exception):
    pass


class InsufficientFunds(BankError, ValueError):
    pass


def withdraw():
    raise InsufficientFunds("no money")


def kind(value):
    return type(value).__name__


def write(array, values):
    array += 1
    values.append(array)
    return array.sum()


def area(square):
    return shapes.twice(square.side ** 2)


def same(left, right):
    return left is right


def draw():
    return torch.rand(3)


def remember(x, kept=[]):
    kept.append(x)
    return kept


def state(x, kept=[]):
    kept.append(x)
    kept[0] += 1
    return kept[0]
'''
SHAPES = """
import torch
from torch import nn

class Square:
    def __init__(self, side):
        self.side = side

class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.full((1,), 0.5))
    def forward(self, x):
        return x[:, 0] * self.factor

def twice(number):
    return 2 * number

def side(square):
    return square.side
"""


@pytest.fixture(scope="module", params=["here", "tier1", "tier2"])
def backend(request: pytest.FixtureRequest) -> Iterator[Sandbox | None]:
    """Nothing for the student's own process, or a running sandbox."""
    if request.param == "here":
        yield None
        return
    try:
        sandbox, _ = open_sandbox(request.param, BUDGET, (), [])
    except NotIsolated as reason:
        pytest.skip(f"{request.param} CANNOT BE TESTED HERE: {reason}")
    yield sandbox
    sandbox.close()


@pytest.fixture
def opened(
    backend: Sandbox | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Session]]:
    """Opens a session to a component of this source."""
    children = []
    monkeypatch.chdir(tmp_path)

    def session(source: str = SOURCE, program: bool = False) -> Session:
        name = f"component_{next(NUMBER)}"
        files = {f"{name}.py": source.encode(), "provided/shapes.py": SHAPES.encode()}
        if backend is None:
            for stale in [n for n in sys.modules if n.partition(".")[0] == "provided"]:
                monkeypatch.delitem(sys.modules, stale)
            monkeypatch.setattr(sys, "path", list(sys.path))
            for file, data in files.items():
                (tmp_path / file).parent.mkdir(exist_ok=True)
                (tmp_path / file).write_bytes(data)
            return Executor(tmp_path, name, program=program)
        child = backend.fork(name, files, Profile(BUDGET, Rules(), program))
        children.append(child)
        return child

    yield session
    for child in children:
        child.close()
    shutil.rmtree(tmp_path / "provided", ignore_errors=True)


@pytest.fixture
def component(opened: Callable[..., Session]) -> Component:
    return Component(opened(), lambda answer: None)


def test_a_class_its_attributes_and_its_methods(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-", ["a", "b"])
    expect.same(tokenizer.get("words").items(2), ["a", "b"])
    expect.same(tokenizer.get("size").number, 2)
    expect.same(tokenizer.call("encode", "b-a").items(), [1, 0])
    expect.same(tokenizer.call("decode", [0, 0]).text, "a-a")
    assert isinstance(tokenizer.get("words.__len__").value, Opaque)
    expect.same(component.call("Tokenizer.version").number, 3)


def test_an_object_is_called(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-")
    assert tokenizer("abc").text == "abc"
    assert tokenizer("abc", upper=True).text == "ABC"
    assert tokenizer.asking(seed=1)("abc", upper=True).text == "ABC"


def test_a_class_method_makes_an_object(component: Component) -> None:
    tokenizer = component.make("Tokenizer.train", "b-a-b", sign="-")
    expect.same(tokenizer.get("words").items(), ["a", "b"])


def test_a_method_makes_an_object(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-", ["a", "b"])
    first = tokenizer.make("split")
    expect.same(first.get("words").items(), ["a"])
    expect.same(first.make("split").get("size").number, 1)
    # The one that it comes from is what it was.
    expect.same(tokenizer.get("size").number, 2)


def test_objects_live_as_in_the_students_own_process(component: Component) -> None:
    """Each is made where the test makes it, whichever of them is asked first."""
    tokenizer = component.make("Tokenizer", "-", ["a"])
    first, second = tokenizer.make("also", "b"), tokenizer.make("also", "c")
    expect.same(second.get("words").items(), ["a", "b", "c"])
    expect.same(first.get("words").items(), ["a", "b"])
    expect.same(tokenizer.get("words").items(), ["a", "b", "c"])
    third = tokenizer.make("also", "d")
    tokenizer.call("grow", "z")
    expect.same(third.get("words").items(), ["a", "b", "c", "d"])


def test_objects_that_are_made_of_each_other(component: Component) -> None:
    model = component.build("Model", 2)
    parameters = component.make("parameters", model)
    optimizer = component.make("optimizer", parameters, 0.1)
    expect.same(optimizer.get("defaults").value["lr"], 0.1)
    expect.same(component.call("same", parameters, parameters).flag, True)
    expect.close(model.state().parameters["weight"], torch.zeros(2))


def test_an_object_that_could_not_be_made_costs_no_other(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-", ["a"])
    lacking = tokenizer.make("no_such_method")
    broken = component.make("Tokenizer", "")
    expect.same(tokenizer.get("words").items(), ["a"])
    error = StudentError("MissingName", "call", "no_such_method", key="Tokenizer")
    assert lacking.get("words").error == error
    assert error_words(error) == "an object of `Tokenizer` has no `no_such_method`"
    for _ in range(2):
        expect.raises(broken.get("words"), "ValueError")
    expect.raises(component.call("same", tokenizer, broken), "ValueError")


def test_an_iterator_is_taken_a_few_at_a_time(component: Component) -> None:
    pieces = component.make("Tokenizer", "-").make("pieces", "a-b-c")
    expect.same(pieces.take(1).items(), ["a"])
    expect.same(pieces.take(0).items(), [])
    expect.same(pieces.take(9).items(), ["b", "c"])
    expect.same(pieces.take(1).items(), [])
    expect.same(component.make("counter", 5).take(3).items(), [5, 6, 7])


def test_two_iterators_go_their_own_ways(component: Component) -> None:
    one, other = component.make("counter", 0), component.make("counter", 10)
    expect.same(one.take(2).items(), [0, 1])
    expect.same(other.take(1).items(), [10])
    expect.same(one.take(1).items(), [2])


def test_an_iterator_that_raises(component: Component) -> None:
    broken = component.make("breaks_off")
    expect.same(broken.take(1).items(), [1])
    answer = broken.take(1)
    expect.raises(answer, "RuntimeError")
    assert answer.error is not None
    assert answer.error.text == "no more"


def test_a_tokenizer_is_saved_and_read_back(component: Component) -> None:
    trained = component.make("Tokenizer.train", "b-a-c")
    assert trained.call("save", "tokenizer.json").value is None
    loaded = component.make("Tokenizer.load", "tokenizer.json")
    for text in ("a-b", "c-c-a"):
        expect.same(loaded.call("encode", text).items(), trained.call("encode", text).items())


def test_objects_are_arguments(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-")
    assert component.call("kind", tokenizer).text == "Tokenizer"
    assert component.call("kind", value=[tokenizer]).text == "list"
    assert component.call("same", tokenizer, tokenizer).flag is True
    assert component.call("same", tokenizer, component.make("Tokenizer", "-")).flag is False
    found = component.call("same", [tokenizer], {"a": tokenizer})
    assert found.flag is False


def test_a_trained_model_is_the_very_object(component: Component) -> None:
    model = component.build("Model", 1)
    x, y = torch.tensor([[1.0], [2.0]]), torch.tensor([2.0, 4.0])
    losses = component.call("train", model, x, y, steps=3)
    assert losses.numbers(3)[0] == 10.0
    after = model.state().entries["weight"]
    assert after.tolist() != [0.0]
    expect.close(model(x).output, x[:, 0] * after)
    # It goes on where it was.
    again = component.call("train", model, x, y, steps=1).numbers(1)
    assert again[0] < losses.numbers(3)[2]


def test_an_optimizer_is_made_of_a_models_parameters(component: Component) -> None:
    model = component.build("Model", 1)
    own = component.make("parameters", model)
    optimizer = component.make("optimizer", own, 0.1)
    x, y = torch.tensor([[1.0]]), torch.tensor([1.0])
    component.call("train", model, x, y, 1, optimizer=optimizer)
    assert model.state().entries["weight"].item() == pytest.approx(0.2)
    lr = optimizer.get("param_groups").items(1)[0]["lr"]
    assert lr == 0.1


def test_a_module_in_use_keeps_its_gradients(component: Component) -> None:
    model = component.build("Model", 2).load({"weight": torch.tensor([1.0, 2.0])})
    x = torch.tensor([[3.0, 4.0]])
    # An answer detaches what comes back, and not the module.
    assert not model.get("weight").output.requires_grad
    for _ in range(2):
        answer = model.asking(cotangent=torch.ones(1))(x)
        expect.close(answer.output, [11.0])
        expect.close(answer.gradients[0], [[1.0, 2.0]])
        expect.close(answer.parameter_gradients["weight"], [3.0, 4.0])
    assert model.get("weight.requires_grad").flag is True
    assert len(component.call("train", model, x, torch.zeros(1), 2).numbers()) == 2


def test_provided_code(component: Component) -> None:
    shapes = component.provided("shapes")
    assert shapes.call("twice", 4).number == 8
    square = shapes.make("Square", 3)
    assert square.get("side").number == 3
    # The student's function gets the object, and finds the same module under the same name.
    assert component.call("area", square).number == 18
    assert shapes.call("side", square).number == 3
    half = shapes.build("Half")
    losses = component.call("train", half, torch.ones(1, 1), torch.ones(1), 2).numbers(2)
    assert losses[0] == 0.25
    assert half.state().entries["factor"].item() > 0.5
    assert component.asking(seed=1).provided("shapes").call("twice", 1).number == 2


@pytest.mark.parametrize("first", ["get", "call", "itself", "take", "argument", "make", "seed"])
def test_what_a_constructor_raises_shows_in_the_first_answer(
    component: Component, first: str
) -> None:
    broken = component.make("Tokenizer", "")
    answer = {
        "get": lambda: broken.get("words"),
        "call": lambda: broken.call("encode", "a"),
        "itself": lambda: broken("a"),
        "take": lambda: broken.take(1),
        "argument": lambda: component.call("kind", broken),
        "make": lambda: broken.make("pieces", "a").take(1),
        "seed": lambda: broken.asking(seed=1).call("encode", "a"),
    }[first]()
    expect.raises(answer, "ValueError")
    assert answer.error is not None
    assert (answer.error.phase, answer.error.text) == ("build", "a sign is needed")
    assert answer.error.line > 0
    # And in every later one.
    expect.raises(broken.get("words"), "ValueError")
    # Others are as they were.
    expect.same(component.make("Tokenizer", "-").get("sign").text, "-")


def test_what_does_not_exist(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-")
    for answer, name, of in (
        (component.call("nothing"), "nothing", ""),
        (component.make("Nothing").get("a"), "Nothing", ""),
        (component.make("Tokenizer.nothing").get("a"), "Tokenizer.nothing", ""),
        (tokenizer.call("nothing"), "nothing", "Tokenizer"),
        (tokenizer.get("nothing"), "nothing", "Tokenizer"),
    ):
        assert answer.error is not None, name
        assert (answer.error.kind, answer.error.text) == ("MissingName", name)
        assert answer.error.key == of


def test_what_is_no_module_cannot_be_built(component: Component) -> None:
    with pytest.raises(StudentRaised) as caught:
        component.build("Tokenizer", "-").state()
    assert caught.value.error.text == "Tokenizer is not a torch.nn.Module"


def test_an_object_that_is_no_value_is_opaque(component: Component) -> None:
    with pytest.raises(AssertionError, match="an object of class Tokenizer"):
        _ = component.call("Tokenizer.train", "a").text


def test_all_names_of_parameters_are_the_students(component: Component) -> None:
    given = dict(zip(NAMES, range(len(NAMES)), strict=True))
    assert component.call("everything", **given).items() == list(given.values())
    asked = component.asking(seed=3, keep_inputs=True, cost=True).call("everything", **given)
    assert asked.items() == list(given.values())
    assert asked.operations == 0
    more = {**given, "self": 1, "args": 2, "kwargs": 3, "handle": 4, "component": 5, "of": 6}
    assert component.call("keywords", **more).items() == sorted(more)
    made = component.make("keywords", **more)
    assert made.call("__len__").number == len(more)


def test_options_are_asked_for_beside_the_arguments(component: Component) -> None:
    drawn = [component.asking(seed=seed).call("draw").output.tolist() for seed in (5, 5, 6)]
    assert drawn[0] == drawn[1] != drawn[2]
    x = torch.ones(2)
    kept = component.asking(keep_inputs=True).call("write", x, [])
    assert kept.inputs_after[0].tolist() == [2.0, 2.0]
    assert x.tolist() == [1.0, 1.0]


def test_a_call_cannot_reach_what_the_test_holds(component: Component) -> None:
    array, values = np.zeros(2), [1]
    assert component.call("write", array, values).number == 2.0
    assert array.tolist() == [0, 0]
    assert values == [1]


@pytest.mark.parametrize("x", [torch.zeros(2), np.zeros(2)], ids=["tensor", "array"])
def test_an_answer_does_not_change_when_the_object_does(component: Component, x: object) -> None:
    first = component.call("state", x).value
    second = component.call("state", x).value
    assert (first.tolist(), second.tolist()) == ([1, 1], [2, 2])
    tokenizer = component.make("Tokenizer", "-", ["a"])
    before = tokenizer.get("words").items()
    grown = tokenizer.call("grow", "b").items()
    tokenizer.call("grow", "c")
    assert (before, grown) == (["a"], ["a", "b"])
    assert component.call("remember", 1).items() == [1]
    assert component.call("remember", 2).items() == [1, 2]


def test_a_states_tensors_do_not_change_when_the_module_does(component: Component) -> None:
    model = component.build("Model", 1)
    before = model.state().entries["weight"]
    component.call("train", model, torch.ones(1, 1), torch.ones(1), 1)
    assert before.tolist() == [0.0]


def test_an_object_with_options_is_no_argument(component: Component) -> None:
    tokenizer = component.make("Tokenizer", "-")
    with pytest.raises(TypeError, match="without asking"):
        component.call("kind", tokenizer.asking(seed=1))
    with pytest.raises(TypeError, match="without asking"):
        component.call("kind", [component])


def test_a_component_that_cannot_be_imported_answers_with_the_reason(
    opened: Callable[..., Session],
) -> None:
    broken = Component(opened("import torch\nx = 1 / 0\n"), lambda answer: None)
    for answer in (broken.call("f"), broken.make("F").get("a"), broken.build("F")(1)):
        assert answer.error is not None
        assert (answer.error.kind, answer.error.phase) == ("ZeroDivisionError", "import")
        assert answer.error.line == 2


def test_the_last_question_is_named(opened: Callable[..., Session]) -> None:
    seen: list[str] = []
    component = Component(opened(), lambda answer: seen.append(answer.question.text(values=True)))
    tokenizer = component.make("Tokenizer.train", "a-b", sign="-")
    tokenizer.get("size")
    tokenizer.call("decode", [0])
    tokenizer.make("pieces", "a").take(2)
    component.call("kind", value=tokenizer)
    assert seen == [
        "Tokenizer.train('a-b', sign='-').size",
        "Tokenizer.train('a-b', sign='-').decode([0])",
        "the next 2 of Tokenizer.train('a-b', sign='-').pieces('a')",
        "kind(value=Tokenizer.train('a-b', sign='-'))",
    ]


def test_sessions_do_not_share_objects(opened: Callable[..., Session]) -> None:
    one, other = (Component(opened(), lambda answer: None) for _ in range(2))
    made = one.make("Tokenizer", "-", ["a"])
    made.get("size")
    other.make("Tokenizer", "+").get("size")
    assert one.call("Tokenizer.version").number == 3
    assert made.get("sign").text == "-"


def test_a_reset_forgets_objects(opened: Callable[..., Session]) -> None:
    session = opened()
    tokenizer = Component(session, lambda answer: None).make("Tokenizer", "-")
    assert tokenizer.get("sign").text == "-"
    reply: Reply = session.perform(
        Request([Reset(), asks("sign", of=tokenizer.handle, verb="get")])
    )
    assert reply.error is not None
    assert reply.error.text == "the module was not built"


def test_exceptions_of_its_own_go_by_their_names(component: Component) -> None:
    answer = component.call("withdraw")
    for name in ("InsufficientFunds", "BankError", "ValueError", "Exception"):
        expect.raises(answer, name)
    expect.raises(answer, "InsufficientFunds", exactly=True)
    expect.raises(answer, "KeyError", "BankError")
    for kinds, exactly in ((("BankError", "ValueError"), True), (("Overdrawn",), False)):
        with pytest.raises(CheckFailed, match="but raised InsufficientFunds"):
            expect.raises(answer, *kinds, exactly=exactly)
    with pytest.raises(CheckFailed, match="must raise KeyError, but raised ValueError"):
        expect.raises(answer, "KeyError")


KEPT = """
import dataclasses, enum
import numpy as np

@dataclasses.dataclass
class Point:
    x: int = 1

def origin():
    return Point(0)

def colour():
    return enum.Enum("Colour", "red").red

def adder(n):
    return lambda x: x + n

def twice(f):
    return lambda x: f(f(x))

def cleaned():
    return np.ma.array([1, 2], mask=[False, True])

def table():
    return np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])
"""


def test_what_is_no_value_is_asked_as_an_object(opened: Callable[..., Session]) -> None:
    component = Component(opened(KEPT), lambda answer: None)
    assert component.make("origin").get("x").number == 0
    assert component.make("colour").get("name").text == "red"
    assert component.make("twice", component.make("adder", 3))(4).number == 10
    assert component.make("cleaned").call("filled", 0).array.tolist() == [1, 0]
    assert component.make("table").call("tolist").items() == [(1, 2.0)]


SHARED = """
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.w

class Trainer:
    def __init__(self, layer, rate):
        self.layer, self.rate = layer, rate

    def step(self):
        self.layer.w.data += self.rate
"""


def test_what_changed_an_object_is_told_with_its_values(opened: Callable[..., Session]) -> None:
    asked = Asked()
    component = Component(opened("import torch\n" + SHARED), asked.note)
    layer = component.build("Layer")
    trainer = component.make("Trainer", layer, 0.5)
    assert layer(torch.zeros(1)).question.words() == "in Layer()([0.0])"
    trainer.call("step")
    told = []
    for tensor in (layer.state().parameters["w"], layer(torch.zeros(1)).output):
        with pytest.raises(CheckFailed) as caught:
            Expect(asked=asked).close(tensor, torch.ones(1))
        assert caught.value.question is not None
        told.append(caught.value.question.words())
    assert told == [
        "in Layer(), after a call of Trainer(Layer(), 0.5).step",
        "in Layer()([0.0]) (the object was called before), "
        "after a call of Trainer(Layer(), 0.5).step",
    ]
