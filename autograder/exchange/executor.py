"""Run requests on a component that lives in this process."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from autograder.exchange.exceptions import describe
from autograder.exchange.messages import Reply, Request, StudentError
from autograder.exchange.operations import (
    Build,
    Call,
    Load,
    Move,
    Operation,
    ReadState,
    Reset,
    Train,
    WriteGiven,
)
from autograder.exchange.values import DTYPES, Unsendable, answered, made_real, plain_tensor


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

    Attributes:
        raised: the last exception of the student's code, for a traceback in its own process.
        loaded: the imported module, or None.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
        own_tensors: bool = False,
    ) -> None:
        self._folder = str(folder)
        self._name = name
        self._fatal = fatal
        self._own_tensors = own_tensors
        self.raised: BaseException | None = None
        self.loaded: Any = None
        self._modules: dict[int, nn.Module] = {}
        self._given: dict[int, nn.Embedding] = {}
        self._unbuilt: dict[int, StudentError] = {}

    def load(self) -> StudentError | None:
        """Import the component; return what went wrong, or None."""
        if self._folder not in sys.path:
            sys.path.insert(0, self._folder)
        try:
            with self._reporting("import"):
                self.loaded = importlib.import_module(self._name)
        except _Stop as stop:
            return stop.error
        return None

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` in order and answer the last one."""
        self.raised = None
        if not self._own_tensors:
            request = request.with_tensors(_private_copy)
        reply = Reply()
        try:
            for operation in request.ops:
                reply = self._do(operation)
        except _Stop as stop:
            reply = Reply(error=stop.error)
        except self._fatal:
            raise
        except Exception as error:
            # What the student returned can misbehave even when it is only looked at.
            reply = Reply(error=describe(error, "call", self._folder))
        return reply

    def _do(self, operation: Operation) -> Reply:
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
                    self._module(operation.handle).train(operation.on)
            case WriteGiven():
                self._module(operation.handle)
                with torch.no_grad():
                    self._given[operation.handle].weight.copy_(operation.weight)
            case ReadState():
                return self._read_state(operation)
            case _:
                raise TypeError(f"no component can do {operation.kind!r}")
        return Reply()

    def _reset(self, operation: Reset) -> None:
        self._modules.clear()
        self._given.clear()
        self._unbuilt.clear()
        _seed(operation.seed)

    def _build(self, operation: Build) -> None:
        handle = operation.handle
        factory = self._find(operation.name)
        args, kwargs = _arguments(operation)
        self._modules.pop(handle, None)
        try:
            with self._reporting("build"):
                module = factory(*args, **kwargs)
        except _Stop as stop:
            self._unbuilt[handle] = stop.error
            raise
        if not isinstance(module, nn.Module):
            error = StudentError("TypeError", "build", f"{operation.name} is not a torch.nn.Module")
            raise _Stop(error)
        self._modules[handle] = module
        for arg in args:
            if isinstance(arg, nn.Embedding):
                self._given[handle] = arg

    def _load_state(self, operation: Load) -> None:
        module = self._module(operation.handle)
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
                self._module(operation.handle).to(DTYPES[operation.dtype])
            if operation.device is not None:
                self._module(operation.handle).to(operation.device)

    def _read_state(self, operation: ReadState) -> Reply:
        module = self._module(operation.handle)
        with self._reporting("state"):
            state = {key: plain_tensor(value) for key, value in module.state_dict().items()}
            parameters = {key: plain_tensor(value) for key, value in module.named_parameters()}
        given = self._given.get(operation.handle)
        weight = None if given is None else given.weight.detach()
        return Reply(state=state, parameters=parameters, given=weight)

    def _call(self, operation: Call) -> Reply:
        args, kwargs = _arguments(operation)
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
        module = None if handle is None else self._module(handle)
        function: Callable[..., Any]
        if module is None:
            function = self._find(operation.name)
        elif operation.name:
            function = self._find(operation.name, module)
        else:
            function = module
        if operation.seed is not None:
            _seed(operation.seed)
        if module is not None and cotangent is not None:
            module.zero_grad(set_to_none=True)
        with self._reporting("call"):
            result = function(*args, **kwargs)
        reply = Reply()
        output = first_output(result)
        if cotangent is not None and output is not None:
            reply.gradient = self._backward(output, cotangent)
            if reply.gradient == "computed":
                reply.input_gradients = [None if s is None else s.grad for s in sources]
                if module is not None:
                    reply.parameter_gradients = {
                        key: None if p.grad is None else plain_tensor(p.grad)
                        for key, p in module.named_parameters()
                    }
                    given = self._given.get(handle) if handle is not None else None
                    reply.given_gradient = None if given is None else given.weight.grad
        try:
            reply.value = answered(result)
        except Unsendable as error:
            raise _Stop(unsent(error)) from None
        if operation.keep_inputs:
            seen = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
            reply.inputs_after = [plain_tensor(a) for a in seen]
        return reply

    def _backward(self, output: Tensor, cotangent: Tensor) -> str:
        if not output.requires_grad:
            return "detached"
        if output.shape != cotangent.shape:
            return "wrong shape"
        with self._reporting("backward"):
            torch.autograd.backward(output, cotangent.to(output.dtype))
        return "computed"

    # Looking things up and reporting what the student's code raised.

    def _find(self, name: str, owner: object = None) -> Callable[..., Any]:
        try:
            found: Callable[..., Any] = getattr(self.loaded if owner is None else owner, name)
        except AttributeError:
            raise _Stop(StudentError("MissingName", "call", name)) from None
        return found

    def _module(self, handle: int) -> nn.Module:
        """Return a built module; one that could not be built fails every later question too."""
        if handle not in self._modules:
            missing = StudentError("Exception", "build", "the module was not built")
            raise _Stop(self._unbuilt.get(handle, missing))
        return self._modules[handle]

    @contextmanager
    def _reporting(self, phase: str) -> Iterator[None]:
        try:
            yield
        except _Stop:
            raise
        except self._fatal:
            raise
        except BaseException as error:
            self.raised = error
            raise _Stop(describe(error, phase, self._folder)) from None


def _seed(seed: int) -> None:
    # Not torch.manual_seed: for machines without a GPU that formats a traceback for each kind of
    # GPU there is, at more than the cost of the call being graded.
    torch.default_generator.manual_seed(seed)


def _arguments(operation: Build | Call) -> tuple[list[Any], dict[str, Any]]:
    args = [made_real(value) for value in operation.args]
    return args, {key: made_real(value) for key, value in operation.kwargs.items()}


def first_output(result: object) -> Tensor | None:
    """Return what gradients are taken of: the tensor returned, or the first of a pair of them."""
    if isinstance(result, Tensor):
        return result
    if isinstance(result, tuple | list) and len(result) == 2:
        first, second = result
        if isinstance(first, Tensor) and isinstance(second, Tensor):
            return first
    return None


def unsent(error: object) -> StudentError:
    """Describe an answer that cannot be sent."""
    return StudentError("RuntimeError", "call", f"the result cannot be sent: {error}")


def _private_copy(tensor: Tensor) -> Tensor:
    """Copy `tensor` with its strides, so that no write here reaches the test's own tensor."""
    if tensor.device.type == "meta":
        # It has no values to write to, but a shape that the student may change in place.
        return tensor.detach()
    collapsed = tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
    strides = list(collapsed.stride())
    copy = torch.empty_strided(collapsed.shape, strides, dtype=tensor.dtype)
    return copy.copy_(collapsed).expand(tensor.shape)
