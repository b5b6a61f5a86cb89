"""Rewrite foreign tests as criteria: asserts become expectations on the answers of a component.

A statement that cannot be rewritten raises `NotCarried` with the reason. An assert of that kind is
left out and returned beside the criterion; any other statement keeps the whole test out.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

# What a function that asserts comes to, as the test of an assert.
_ASSERTED = dict.fromkeys(("assertTrue", "assert_true", "assert_", "assert_that"), "A")
_ASSERTED |= dict.fromkeys(("assertFalse", "assert_false"), "not A")
_ASSERTED |= dict.fromkeys(("assert_equal", "assertEqual", "assertListEqual"), "A == B")
_ASSERTED |= dict.fromkeys(("assertDictEqual", "assertTupleEqual"), "A == B")
_CLOSE = {"allclose", "isclose", "assert_allclose", "assert_close", "assert_almost_equal"}
_CLOSE |= {"assertAlmostEqual", "assert_array_almost_equal", "assert_array_equal", "array_equal"}
# How tolerances are called: as a share of the right value, as a number, as digits.
_RELATIVE, _ABSOLUTE = {"rel", "rtol", "rel_tol"}, {"abs", "atol", "abs_tol", "delta"}
# Programs that work on digits are allowed this number of units in the last one.
_DIGITS = {"places": 0.5, "decimal": 1.5}
_SEEDS = {"manual_seed", "seed", "seed_everything", "manual_seed_all"}
_DRAWS = {"rand", "randint", "randperm", "normal", "uniform", "choice", "shuffle", "random"}
_RESERVED = {"component", "reference", "expect", "make"}
_NUMERIC = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop)

T = TypeVar("T", bound=ast.AST)


class NotCarried(Exception):
    """A test, or a statement of one, cannot be rewritten; the message is the reason."""


@dataclass(frozen=True)
class Subject:
    """A component as tests name it.

    Attributes:
        functions: what each public function is said to return, or None.
        classes: for each public class whether it is a module of torch's.
        variables: public names that are neither.
        torch: whether the component imports torch.
    """

    functions: Mapping[str, ast.expr | None]
    classes: Mapping[str, bool]
    variables: frozenset[str]
    torch: bool

    @staticmethod
    def of(tree: ast.Module) -> Subject:
        """Read the public names of a component's solution."""
        functions: dict[str, ast.expr | None] = {}
        classes: dict[str, bool] = {}
        variables: set[str] = set()
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions[node.name] = node.returns
            elif isinstance(node, ast.ClassDef):
                classes[node.name] = any("Module" in ast.unparse(base) for base in node.bases)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                variables |= names_in(node, ast.Store)
        imported = {name.partition(".")[0] for name in imports_of(tree.body)}
        return Subject(functions, classes, frozenset(variables), "torch" in imported)

    @property
    def names(self) -> set[str]:
        """Its functions and classes."""
        return {*self.functions, *self.classes}


@dataclass
class Criterion:
    """A rewritten test.

    Attributes:
        body: its statements.
        form: whether it asks for errors and shapes alone.
        draws: whether it needs the fixture `make`.
        left: asserts that could not be rewritten, as text with the reason.
    """

    body: list[ast.stmt] = field(default_factory=list)
    form: bool = True
    draws: bool = False
    left: list[tuple[str, str]] = field(default_factory=list)


def rewrite(statements: Iterable[ast.stmt], subject: Subject, modules: Iterable[str]) -> Criterion:
    """Rewrite the statements of a test of one component.

    `modules` are names under which the test has the component's module.

    Raises:
        NotCarried: the test cannot be rewritten, or nothing of it is left.
    """
    writer = _Writer(subject, frozenset(modules))
    writer.found.body = writer.block(statements)
    if "expect." not in ast.unparse(ast.fix_missing_locations(ast.Module(writer.found.body, []))):
        reason = writer.found.left[0][1] if writer.found.left else "it has no assert"
        raise NotCarried(reason)
    return writer.found


def names_in(node: ast.AST, context: type[ast.expr_context] = ast.Load) -> set[str]:
    """Return the names that are read in a node, or with `ast.Store` those that it binds."""
    found = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
    if context is ast.Store and isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if context is ast.Store and isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return found


def free_names(statements: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements read and do not bind, builtins apart."""
    whole = ast.Module(list(statements), [])
    bound = {n.arg for n in ast.walk(whole) if isinstance(n, ast.arg)}
    for node in ast.walk(whole):
        if isinstance(node, ast.stmt):
            bound |= names_in(node, ast.Store)
        elif isinstance(node, ast.comprehension | ast.NamedExpr):
            bound |= names_in(node.target, ast.Store)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound.add(node.name)
    return names_in(whole) - bound - set(dir(builtins))


def imports_of(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the modules that statements import, wherever they do."""
    for node in ast.walk(ast.Module(list(statements), [])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _called(node: ast.AST) -> str:
    """Return the last name of what is called, or nothing."""
    function = node.func if isinstance(node, ast.Call) else None
    return getattr(function, "attr", getattr(function, "id", ""))


def _expression(text: str, **parts: ast.expr) -> ast.expr:
    """Parse an expression and put nodes in the place of its names in capitals."""

    class Filled(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return parts.get(node.id, node)

    found: ast.expr = Filled().visit(ast.parse(text, mode="eval").body)
    return found


class _Writer:
    """Rewrites one test; `answers` and `objects` are the local names of either."""

    def __init__(self, subject: Subject, modules: frozenset[str]) -> None:
        self.subject = subject
        self.modules = modules
        self.answers: set[str] = set()
        self.objects: set[str] = set()
        self.found = Criterion()
        self.drawn = 0

    def block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        """Rewrite statements, leaving out asserts that cannot be."""
        body: list[ast.stmt] = []
        for node in statements:
            try:
                body += self._statement(node)
            except NotCarried as reason:
                if not isinstance(node, ast.Assert) and not self._is_check(node):
                    raise
                self.found.left.append((ast.unparse(node), str(reason)))
        return body

    def _is_check(self, node: ast.stmt) -> bool:
        called = _called(node.value) if isinstance(node, ast.Expr) else ""
        return called.startswith("assert") or isinstance(node, ast.With | ast.Try)

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Pass() | ast.Return(value=None):
                return []
            case ast.Assert(test=test):
                return self._expect(test)
            case ast.Expr(value=ast.Constant()) | ast.Expr(value=ast.Call(func=ast.Name("print"))):
                return []
            case ast.Expr(value=ast.Call() as call):
                return self._expect_call(call)
            case ast.Assign(targets=[target], value=value):
                return [self._bound(target, value)]
            case ast.With(items=[item], body=[inner]) if _called(item.context_expr) == "raises":
                assert isinstance(item.context_expr, ast.Call)
                return self._raises(item.context_expr.args[:1], inner)
            case ast.Try(body=body, handlers=[handler], orelse=orelse) if handler.type:
                return self._try(body, handler, orelse)
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                self._forget(names_in(target, ast.Store))
                inside = self.block(body)
                return [ast.For(target, self._plain(items), inside, [])] if inside else []
            case ast.AugAssign() | ast.AnnAssign() | ast.Delete() | ast.FunctionDef() | ast.Expr():
                return [self._plain(node)]
        raise NotCarried(f"`{ast.unparse(node).splitlines()[0]}` has no form in a criterion")

    def _forget(self, names: set[str]) -> None:
        self.answers -= names
        self.objects -= names
        if names & (_RESERVED | self.subject.names):
            raise NotCarried(f"it binds the name `{sorted(names)[0]}`, which means something else")

    def _bound(self, target: ast.expr, value: ast.expr) -> ast.stmt:
        """Rewrite an assignment."""
        made, answer = self._made(value), self._answer(value)
        new = made or answer
        names = names_in(target, ast.Store)
        if new is None:
            plain = self._plain(value)
            if not isinstance(target, ast.Name):
                self._plain(target)
            self._forget(names)
            return ast.Assign([target], plain)
        if isinstance(target, ast.Tuple) and made is None:
            count = len(target.elts)
            words = [ast.unparse(one) for one in target.elts]
            how = f"tensors(*{words!r})" if self.subject.torch else f"items({count})"
            new = _expression(f"ANSWER.{how}", ANSWER=new)
        self._forget(names)
        if isinstance(target, ast.Name):
            (self.answers if made is None else self.objects).add(target.id)
        elif not isinstance(target, ast.Tuple):
            raise NotCarried(f"`{ast.unparse(target)}` is set to what the component returns")
        return ast.Assign([target], new)

    # Questions.

    def _owned(self, node: ast.expr) -> str:
        """Return the component's name that an expression is, or nothing."""
        match node:
            case ast.Name(id=name) if name in self.subject.names:
                return name
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in self.modules:
                return name
            case ast.Attribute(value=ast.Name(id=cls), attr=name) if cls in self.subject.classes:
                return f"{cls}.{name}"
        return ""

    def _ask(self, function: ast.expr, call: ast.Call, first: str = "") -> ast.Call:
        """Call a function with the arguments of a call, behind a first one of its own."""
        args = [ast.Constant(first)] if first else []
        given = [self._argument(arg) for arg in call.args]
        keywords = [ast.keyword(k.arg, self._argument(k.value)) for k in call.keywords]
        return ast.Call(function, [*args, *given], keywords)

    def _argument(self, node: ast.expr) -> ast.expr:
        if (of := self._object(node)) is not None:
            return of
        answer = self._answer(node)
        return self._plain(node) if answer is None else ast.Attribute(answer, "value", ast.Load())

    def _made(self, node: ast.expr) -> ast.expr | None:
        """Return the object that an expression makes, if it makes one."""
        name = self._owned(node.func) if isinstance(node, ast.Call) else ""
        cls = name.partition(".")[0]
        if not isinstance(node, ast.Call) or cls not in self.subject.classes:
            return None
        how = "build" if self.subject.classes[cls] and "." not in name else "make"
        return self._ask(_expression(f"component.{how}"), node, name)

    def _object(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Name) and node.id in self.objects:
            return node
        return self._made(node)

    def _answer(self, node: ast.expr) -> ast.expr | None:
        """Return the question that an expression asks, if it asks one."""
        if isinstance(node, ast.Name) and node.id in self.answers:
            return node
        if isinstance(node, ast.Attribute) and (of := self._object(node.value)) is not None:
            return _expression(f"OBJECT.get({node.attr!r})", OBJECT=of)
        if not isinstance(node, ast.Call):
            return None
        if (name := self._owned(node.func)) in self.subject.functions:
            return self._ask(_expression("component.call"), node, name)
        if (of := self._object(node.func)) is not None:
            return self._ask(of, node)
        match node.func:
            case ast.Attribute(value=owner, attr=method) if (of := self._object(owner)) is not None:
                return self._ask(_expression("OBJECT.call", OBJECT=of), node, method)
        return None

    def _plain(self, node: T) -> T:
        """Return a node in which nothing is asked; what torch draws, `make` draws."""
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id in self.answers | self.objects:
                raise NotCarried(f"it computes with `{part.id}`, which the component returned")
            if isinstance(part, ast.expr) and (name := self._owned(part)):
                raise NotCarried(f"it computes with what `{name}` returns")
            if isinstance(part, ast.Name | ast.Attribute):
                name = part.id if isinstance(part, ast.Name) else part.attr
                if name in self.subject.variables:
                    raise NotCarried(f"`{name}` is a variable of the component; ask a function")
                if name.startswith("_"):
                    raise NotCarried(f"it uses the private name `{name}`")
            if _called(part) in _SEEDS:
                raise NotCarried("it sets a seed of the process")
            if _called(part) in _DRAWS or (_called(part) == "randn" and not self._drawn(part)):
                raise NotCarried("it draws random numbers: draw with make.normal(..., seed=...)")
        return node

    def _drawn(self, node: ast.AST) -> bool:
        """Turn torch.randn(2, 3) into make.normal(2, 3, seed=1), if it has that form."""
        assert isinstance(node, ast.Call)
        if node.keywords or ast.unparse(node.func) != "torch.randn":
            return False
        self.drawn += 1
        self.found.draws = True
        node.func = _expression("make.normal")
        node.keywords = [ast.keyword("seed", ast.Constant(self.drawn))]
        return True

    # Expectations.

    def _expected(self, text: str, content: bool = True, **parts: ast.expr) -> list[ast.stmt]:
        self.found.form = self.found.form and not content
        return [ast.Expr(_expression(f"expect.{text}", **parts))]

    def _expect_call(self, call: ast.Call) -> list[ast.stmt]:
        name, args = _called(call), call.args
        if name in _SEEDS:
            return []
        if name in _ASSERTED and len(args) > ("B" in _ASSERTED[name]):
            return self._expect(_expression(_ASSERTED[name], **dict(zip("AB", args, strict=False))))
        if name in _CLOSE and len(args) > 1:
            return self._expect(call)
        if name in ("assertRaises", "assert_raises", "raises") and len(args) > 1:
            asked = ast.Call(args[1], args[2:], call.keywords)
            return self._raises(args[:1], ast.Expr(asked))
        if (answer := self._answer(call)) is not None:
            return self._expected("that(A)", A=answer)
        return [ast.Expr(self._plain(call))]

    def _raises(self, kinds: list[ast.expr], inner: ast.stmt) -> list[ast.stmt]:
        value = inner.value if isinstance(inner, ast.Expr | ast.Assign) else None
        answer = None if value is None else self._answer(value)
        if answer is None and value is not None and self._made(value) is not None:
            # A constructor that raises answers when it is called as a function.
            assert isinstance(value, ast.Call)
            answer = self._ask(_expression("component.call"), value, self._owned(value.func))
        named = kinds[0].elts if kinds and isinstance(kinds[0], ast.Tuple) else kinds
        if answer is None or not named:
            raise NotCarried("what is to raise is not one call of the component")
        words = ", ".join(repr(ast.unparse(kind).rpartition(".")[2]) for kind in named)
        return self._expected(f"raises(A, {words})", content=False, A=answer)

    def _try(
        self, body: list[ast.stmt], handler: ast.ExceptHandler, orelse: list[ast.stmt]
    ) -> list[ast.stmt]:
        """Rewrite the form `try: f() except E: pass else: raise AssertionError`."""
        refusal = ast.unparse(ast.Module([*body[1:], *orelse], []))
        passes = all(isinstance(node, ast.Pass) for node in handler.body)
        if handler.type is None or not passes or len(body) > 2 or "Assert" not in refusal:
            raise NotCarried("a `try` has no form in a criterion")
        return self._raises([handler.type], body[0])

    def _expect(self, test: ast.expr) -> list[ast.stmt]:
        """Rewrite what is asserted."""
        match test:
            case ast.BoolOp(op=ast.And(), values=values):
                return [one for value in values for one in self._expect(value)]
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                return self._expect_equal(left, right)
            case ast.Compare(
                left=ast.Call(args=[ast.BinOp(left=left, op=ast.Sub(), right=right)]),
                ops=[ast.Lt() | ast.LtE()],
                comparators=[most],
            ) if _called(test.left) == "abs":
                return self._expect_close(left, right, "", [ast.keyword("abs", most)])
            case ast.Call(func=ast.Attribute(value=ast.Compare() as whole, attr="all"), args=[]):
                if len(whole.ops) == 1 and isinstance(whole.ops[0], ast.Eq):
                    return self._expect_close(whole.left, whole.comparators[0], "array_equal")
            case ast.Call(func=function, args=[left, right, *more]) if (
                _called(test) in _CLOSE or ast.unparse(function) == "torch.equal"
            ):
                tolerances = _tolerances(_called(test), more, test.keywords)
                return self._expect_close(left, right, ast.unparse(function), tolerances)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                if (answer := self._answer(operand)) is not None:
                    words = f"`{ast.unparse(operand)}` is not False"
                    return self._expected(f"that(not A.flag, {words!r})", A=answer)
        if (answer := self._answer(test)) is not None:
            return self._expected(
                f"that(A.flag, {f'`{ast.unparse(test)}` is not True'!r})", A=answer
            )
        raise NotCarried("the assert does not compare a call with a value")

    def _expect_equal(self, left: ast.expr, right: ast.expr) -> list[ast.stmt]:
        if _called(left) == "approx" or (self._answer(right) and not self._answer(left)):
            left, right = right, left
        if isinstance(right, ast.Call) and _called(right) == "approx" and right.args:
            tolerances = _tolerances("approx", right.args[1:], right.keywords)
            return self._expect_close(left, right.args[0], "", tolerances)
        match left:
            case ast.Attribute(value=inner, attr="shape") if asked := self._answer(inner):
                kind = "output" if self.subject.torch else "array"
                form = f"shape(A.{kind}, R)" if self.subject.torch else f"same(A.{kind}.shape, R)"
                return self._expected(form, content=False, A=asked, R=self._plain(right))
            case ast.Call(func=ast.Name("round"), args=[inner, *digits]):
                if (asked := self._answer(inner)) is not None:
                    rounded = ast.Call(
                        left.func, [ast.Attribute(asked, "number", ast.Load()), *digits], []
                    )
                    return self._expected("same(A, R)", A=rounded, R=self._plain(right))
        answer = self._answer(left)
        if answer is None:
            raise NotCarried("neither side of the comparison is a call of the component")
        right = self._argument(right)
        name = self._owned(left.func) if isinstance(left, ast.Call) else ""
        returns = self.subject.functions.get(name)
        whole = isinstance(right, ast.Constant) and type(right.value) is int
        if whole and returns is not None and ast.unparse(returns) == "float":
            right = _expression("float(R)", R=right)
        return self._expected("same(A.value, R)", A=answer, R=right)

    def _expect_close(
        self, left: ast.expr, right: ast.expr, by: str, tolerances: Iterable[ast.keyword] = ()
    ) -> list[ast.stmt]:
        """Rewrite a comparison within tolerances, made by the function `by`."""
        if self._answer(left) is None:
            left, right = right, left
        answer = self._answer(left)
        if answer is None:
            raise NotCarried("neither side of the comparison is a call of the component")
        scale = _scale(right, tolerances)
        if by.startswith("torch."):
            form = "equal(A.output, R)" if by == "torch.equal" else f"close(A.output, R{scale})"
            other = self._answer(right)
            right = self._plain(right) if other is None else _expression("B.output", B=other)
            return self._expected(form, A=answer, R=right)
        right = self._argument(right)
        if isinstance(right, ast.List | ast.Tuple) and not by:
            form = f"same(A.numbers(), [float(x) for x in R]{scale})"
        elif all(isinstance(node, _NUMERIC) for node in ast.walk(right)) or not by:
            form = f"same(A.number, float(R){scale})"
        else:
            form = f"close(torch.as_tensor(A.array), torch.as_tensor(R){scale})"
        return self._expected(form, A=answer, R=right)


def _tolerances(
    called: str, given: Iterable[ast.expr], keywords: Iterable[ast.keyword]
) -> list[ast.keyword]:
    """Return the tolerances that a comparison is given, by their names."""
    order = ["rel", "abs"]
    if "lmost" in called:
        order = ["places" if called == "assertAlmostEqual" else "decimal"]
    placed = [ast.keyword(name, value) for name, value in zip(order, given, strict=False)]
    known = _RELATIVE | _ABSOLUTE | {*_DIGITS}
    return [*placed, *(one for one in keywords if one.arg in known)]


def _scale(right: ast.expr, tolerances: Iterable[ast.keyword]) -> str:
    """Return the argument by which an expectation allows what a test does, if that is more.

    Raises:
        NotCarried: a tolerance is no number, or how much it is for what is right is not known.
    """
    # Here and not above: no other command needs numpy.
    from autograder.api.likeness import TOLERANCE

    relative = absolute = 0.0
    for name, node in ((one.arg, one.value) for one in tolerances):
        if not isinstance(value := _literal(node), int | float | None):
            raise NotCarried(f"its tolerance `{ast.unparse(node)}` is not written as a number")
        if name in _RELATIVE:
            relative = value or 0.0
        elif name in _ABSOLUTE:
            absolute = value or 0.0
        elif name is not None and value is not None:
            absolute = _DIGITS[name] * 10.0**-value
    if isinstance(right, ast.Call) and right.args:
        # The numbers of `torch.tensor([1, 2])` are those of its argument.
        right = right.args[0]
    known = isinstance(_literal(right), int | float | list | tuple)
    nodes = [n.value for n in ast.walk(right) if isinstance(n, ast.Constant)] if known else []
    sizes = [abs(value) for value in nodes if isinstance(value, int | float)]
    own_relative, own_absolute = TOLERANCE["float64"]
    if sizes:
        scale = max((absolute + relative * n) / (own_absolute + own_relative * n) for n in sizes)
    elif absolute > max(relative, own_absolute):
        raise NotCarried(
            f"it allows {absolute:g} whatever the values are, which are not written as numbers: "
            "give expect.close or expect.same a scale"
        )
    else:
        scale = relative / own_relative
    return f", scale={scale:.4g}" if scale > 1.0001 else ""


def _literal(node: ast.expr) -> Any:
    """Return the value of a literal; of anything else a text."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        return "unknown"
