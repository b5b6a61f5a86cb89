"""Run requests on a component that lives in this process."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exchange.calling import OperationCounter, first_output, private_copy, seed_torch
from autograder.exchange.exceptions import describe
from autograder.exchange.guard import PROVIDED, belongs_to
from autograder.exchange.messages import Reply, Request, StudentError
from autograder.exchange.operations import (
    Build,
    Call,
    Get,
    Load,
    Move,
    Operation,
    ReadState,
    Reset,
    RunProgram,
    Take,
    Train,
    WriteGiven,
)
from autograder.exchange.programs import DATA, run_program
from autograder.exchange.values import (
    DTYPES,
    Unsendable,
    Value,
    answered,
    handles_in,
    made_real,
    plain_tensor,
    with_tensors,
)

# Arguments that are what they are.
_SIMPLE = frozenset((Tensor, int, float, str, bool, type(None)))


class _Stop(Exception):
    """Ends a request early, with the error that its reply reports."""

    def __init__(self, error: StudentError) -> None:
        super().__init__(error.kind)
        self.error = error


class Executor:
    """Answers requests for the component in `folder`/`name`.py.

    Args:
        folder: where the component and the modules it imports lie.
        name: the component; its file is `name`.py.
        fatal: exception classes that are let through instead of being reported.
        own_tensors: whether requests bring tensors that nobody else holds.
        given: where `provided` lies, if not beside the component.
        program: whether the component is run as a program, and not imported.

    Attributes:
        raised: the last exception of the student's code, for a traceback in its own process.
        loaded: the imported module, or None.
        scope: global names that a program finds beside its own.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
        own_tensors: bool = False,
        given: Path | None = None,
        program: bool = False,
    ) -> None:
        self._folder = str(folder)
        self._name = name
        self._fatal = fatal
        self._own_tensors = own_tensors
        self._given = str(given or folder)
        self._program = program
        self._code: CodeType | None = None
        self.raised: BaseException | None = None
        self.loaded: Any = None
        self.scope: dict[str, object] = {}
        self._provided: dict[str, ModuleType] = {}
        self._objects: dict[int, Any] = {}
        self._embeddings: dict[int, nn.Embedding] = {}
        self._unbuilt: dict[int, StudentError] = {}

    def load(self) -> StudentError | None:
        """Import the component, after what is provided; return what went wrong, or None."""
        self.load_provided()
        try:
            with self._reporting("import"):
                if self._program:
                    file = Path(self._folder, f"{self._name}.py")
                    self._code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
                else:
                    self.loaded = importlib.import_module(self._name)
        except _Stop as stop:
            return stop.error
        return None

    def load_provided(self) -> None:
        """Import what is provided, first: what a student's code would put there comes too late."""
        for place in (self._given, self._folder):
            if place not in sys.path:
                sys.path.insert(0, place)
        provided = Path(self._given, PROVIDED)
        # Asked first: to look for files costs more than most calls.
        for path in sorted(provided.glob("*.py")) if provided.is_dir() else ():
            if path.stem not in self._provided:
                self._provided[path.stem] = importlib.import_module(f"{PROVIDED}.{path.stem}")

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` in order and answer the last one."""
        self.raised = None
        if not self._own_tensors:
            request = request.with_tensors(private_copy)
        reply = Reply()
        start = time.process_time()
        try:
            for operation in request.ops:
                reply = self._do(operation) or reply
            reply.seconds = time.process_time() - start
            if not self._own_tensors:
                # What comes back is as it was then, whatever becomes of the object it is part of.
                for name, _, value in reply.parts():
                    setattr(reply, name, with_tensors(value, Tensor.clone))
        except _Stop as stop:
            reply = Reply(error=stop.error)
        except self._fatal:
            raise
        except Exception as error:
            # What the student returned can misbehave even when it is only looked at.
            reply = Reply(error=describe(error, "call", self._folder))
        return reply

    def _do(self, operation: Operation) -> Reply | None:
        match operation:
            case Call():
                return self._call(operation)
            case Reset():
                self._reset(operation)
            case Build():
                self._build(operation)
            case Load():
                self._load_state(operation)
            case Move():
                self._move(operation)
            case Train():
                with self._reporting("move"):
                    self._object(operation.handle).train(operation.on)
            case WriteGiven():
                self._object(operation.handle)
                with torch.no_grad():
                    self._embeddings[operation.handle].weight.copy_(operation.weight)
            case ReadState():
                return self._read_state(operation)
            case Get():
                owner = self._object(operation.handle)
                with self._reporting("call"):
                    found = self._find(operation.name, owner)
                return self._returned(found)
            case Take():
                iterator = self._object(operation.handle)
                with self._reporting("call"):
                    items = list(islice(iterator, operation.count))
                return self._returned(items)
            case RunProgram():
                return self._run_program(operation)
            case _:
                raise TypeError(f"no component can do {operation.kind!r}")
        return None

    def _reset(self, operation: Reset) -> None:
        self._objects.clear()
        self._embeddings.clear()
        self._unbuilt.clear()
        seed_torch(operation.seed)

    def _build(self, operation: Build) -> None:
        handle = operation.handle
        owner = self._owner(operation.of, operation.provided)
        make = self._find(operation.name, owner) if operation.name else owner
        args, kwargs = self._arguments(operation)
        self._objects.pop(handle, None)
        try:
            with self._reporting("build"):
                made = make(*args, **kwargs)
        except _Stop as stop:
            self._unbuilt[handle] = stop.error
            raise
        if operation.module and not isinstance(made, nn.Module):
            error = StudentError("TypeError", "build", f"{operation.name} is not a torch.nn.Module")
            raise _Stop(error)
        self._objects[handle] = made
        for arg in args:
            if isinstance(arg, nn.Embedding):
                self._embeddings[handle] = arg

    def _load_state(self, operation: Load) -> None:
        module = self._object(operation.handle)
        with self._reporting("load"), torch.no_grad():
            own = nn.Module.state_dict(module)
            for key, tensor in operation.state.items():
                if key not in own:
                    raise _Stop(StudentError("StateKeys", "load", key=key, found=tuple(own)))
                if own[key].shape != tensor.shape:
                    shape, wanted = tuple(own[key].shape), tuple(tensor.shape)
                    error = StudentError("StateShape", "load", key=key, shape=shape, wanted=wanted)
                    raise _Stop(error)
                own[key].copy_(tensor)

    def _move(self, operation: Move) -> None:
        with self._reporting("move"):
            if operation.dtype is not None:
                self._object(operation.handle).to(DTYPES[operation.dtype])
            if operation.device is not None:
                self._object(operation.handle).to(operation.device)

    def _read_state(self, operation: ReadState) -> Reply:
        module = self._object(operation.handle)
        with self._reporting("state"):
            state = {key: plain_tensor(value) for key, value in module.state_dict().items()}
            parameters = {key: plain_tensor(value) for key, value in module.named_parameters()}
        given = self._embeddings.get(operation.handle)
        weight = None if given is None else given.weight.detach()
        return Reply(state=state, parameters=parameters, given=weight)

    def _call(self, operation: Call) -> Reply:
        args, kwargs = self._arguments(operation)
        cotangent = operation.cotangent
        leaves = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
        sources: list[Tensor | None] = []
        if cotangent is not None:
            sources = [t.requires_grad_() if t.is_floating_point() else None for t in leaves]
            # The student gets a copy that is no leaf, so that writing to it is a fault of its
            # own and does not also cost the gradients.
            copies = {id(t): t.clone() for t in leaves}
            args = [copies.get(id(a), a) for a in args]
            kwargs = {key: copies.get(id(a), a) for key, a in kwargs.items()}
        handle = operation.handle
        owner = self._owner(handle, operation.provided)
        function = self._find(operation.name, owner) if operation.name else owner
        module = owner if isinstance(owner, nn.Module) else None
        if operation.seed is not None:
            seed_torch(operation.seed)
        if module is not None and cotangent is not None:
            module.zero_grad(set_to_none=True)
        counter = OperationCounter() if operation.cost else None
        with self._reporting("call"), counter or nullcontext():
            result = function(*args, **kwargs)
        gradient = "not asked"
        found: dict[str, Any] = {}
        output = first_output(result)
        if cotangent is not None and output is not None:
            gradient = self._backward(output, cotangent)
            if gradient == "computed":
                found["input_gradients"] = [None if s is None else s.grad for s in sources]
                if module is not None:
                    found["parameter_gradients"] = {
                        key: None if p.grad is None else plain_tensor(p.grad)
                        for key, p in module.named_parameters()
                    }
                    given = self._embeddings.get(handle) if handle is not None else None
                    found["given_gradient"] = None if given is None else given.weight.grad
        reply = self._returned(result)
        reply.gradient = gradient
        for name, value in found.items():
            setattr(reply, name, value)
        reply.operations = None if counter is None else counter.counted
        if operation.keep_inputs:
            seen = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
            reply.inputs_after = [plain_tensor(a) for a in seen]
        return reply

    def _run_program(self, operation: RunProgram) -> Reply:
        if self._code is None:
            raise TypeError(f"{self._name} is no program")
        self._forget_own_modules()
        file = str(Path(self._folder, f"{self._name}.py"))
        with self._reporting("call"):
            done = run_program(
                self._code,
                file,
                self.scope,
                operation.arguments,
                operation.stdin,
                operation.files,
                Path(self._given, DATA),
            )
        return Reply(value=done.value())

    def _forget_own_modules(self) -> None:
        """Have a program import its own modules anew, as a new process would."""
        for name, module in list(sys.modules.items()):
            place = getattr(module, "__file__", None) or ""
            if belongs_to(place, self._folder) and not name.startswith(PROVIDED):
                del sys.modules[name]

    def _returned(self, result: object) -> Reply:
        try:
            return Reply(value=answered(result))
        except Unsendable as error:
            raise _Stop(unsent(error)) from None

    def _backward(self, output: Tensor, cotangent: Tensor) -> str:
        if not output.requires_grad:
            return "detached"
        if output.shape != cotangent.shape:
            return "wrong shape"
        with self._reporting("backward"):
            torch.autograd.backward(output, cotangent.to(output.dtype))
        return "computed"

    # Looking things up and reporting what the student's code raised.

    def _owner(self, handle: int | None, provided: str) -> Any:
        """Return what a name is looked up in: an object, a provided module or the component."""
        if handle is not None:
            return self._object(handle)
        if not provided:
            return self.loaded
        if provided not in self._provided:
            raise TypeError(f"there is no {PROVIDED}/{provided}.py")
        return self._provided[provided]

    def _find(self, name: str, owner: Any) -> Any:
        found = owner
        for part in name.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                raise _Stop(StudentError("MissingName", "call", name)) from None
        return found

    def _object(self, handle: int) -> Any:
        """Return an object; one that could not be made fails every later question, too."""
        if handle not in self._objects:
            missing = StudentError("Exception", "build", "the module was not built")
            raise _Stop(self._unbuilt.get(handle, missing))
        return self._objects[handle]

    def _arguments(self, operation: Build | Call) -> tuple[list[Any], dict[str, Any]]:
        real = self._real
        args = [v if type(v) in _SIMPLE else real(v) for v in operation.args]
        return args, {k: v if type(v) in _SIMPLE else real(v) for k, v in operation.kwargs.items()}

    def _real(self, value: Value) -> Any:
        for handle in handles_in(value):
            self._object(handle.number)
        return made_real(value, self._objects)

    @contextmanager
    def _reporting(self, phase: str) -> Iterator[None]:
        try:
            yield
        except _Stop:
            raise
        except Unsendable as error:
            raise _Stop(unsent(error)) from None
        except self._fatal:
            raise
        except BaseException as error:
            self.raised = error
            raise _Stop(describe(error, phase, self._folder)) from None


def unsent(error: object) -> StudentError:
    """Describe an answer that cannot be sent."""
    return StudentError("RuntimeError", "call", f"the result cannot be sent: {error}")
