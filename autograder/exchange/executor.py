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

from autograder.exchange.errors import describe
from autograder.exchange.messages import Reply, Request, StudentError


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
        tensors = request.tensors
        if not self._own_tensors:
            tensors = [_private_copy(tensor) for tensor in tensors]
        reply = Reply()
        try:
            for op in request.ops:
                reply = getattr(self, "_op_" + op["op"])(op, tensors)
        except _Stop as stop:
            reply = Reply(error=stop.error)
        except self._fatal:
            raise
        except Exception as error:
            # What the student returned can misbehave even when it is only looked at.
            reply = Reply(error=describe(error, "call", self._folder))
        return reply

    # Operations. Each takes its description and the request's tensors and returns a reply.

    def _op_reset(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        self._modules.clear()
        self._given.clear()
        self._unbuilt.clear()
        _seed(op.get("seed", 0))
        return Reply()

    def _op_build(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        factory = self._find(op["name"])
        args, kwargs = self._arguments(op, tensors)
        self._modules.pop(op["handle"], None)
        try:
            with self._reporting("build"):
                module = factory(*args, **kwargs)
        except _Stop as stop:
            self._unbuilt[op["handle"]] = stop.error
            raise
        if not isinstance(module, nn.Module):
            raise _Stop(
                StudentError("TypeError", "build", f"{op['name']} is not a torch.nn.Module")
            )
        self._modules[op["handle"]] = module
        for arg in args:
            if isinstance(arg, nn.Embedding):
                self._given[op["handle"]] = arg
        return Reply()

    def _op_load(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        module = self._module(op["handle"])
        with self._reporting("load"), torch.no_grad():
            own = nn.Module.state_dict(module)
            for key, index in op["state"].items():
                if key not in own:
                    found = ", ".join(own) or "no keys"
                    raise _Stop(StudentError("StateKeys", "load", f"{key}; found {found}"))
                if own[key].shape != tensors[index].shape:
                    shapes = f"{key}; {tuple(own[key].shape)}; {tuple(tensors[index].shape)}"
                    raise _Stop(StudentError("StateShape", "load", shapes))
                own[key].copy_(tensors[index])
        return Reply()

    def _op_move(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        with self._reporting("move"):
            if op.get("dtype") is not None:
                self._module(op["handle"]).to(getattr(torch, op["dtype"]))
            if op.get("device") is not None:
                self._module(op["handle"]).to(op["device"])
        return Reply()

    def _op_train(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        with self._reporting("move"):
            self._module(op["handle"]).train(op["on"])
        return Reply()

    def _op_write_given(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        self._module(op["handle"])
        with torch.no_grad():
            self._given[op["handle"]].weight.copy_(tensors[op["tensor"]])
        return Reply()

    def _op_state(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        module = self._module(op["handle"])
        with self._reporting("state"):
            state = {key: value.detach() for key, value in module.state_dict().items()}
            parameters = {key: value.detach() for key, value in module.named_parameters()}
        given = self._given.get(op["handle"])
        weight = None if given is None else given.weight.detach()
        return Reply(state=state, parameters=parameters, given=weight)

    def _op_call(self, op: dict[str, Any], tensors: list[Tensor]) -> Reply:
        args, kwargs = self._arguments(op, tensors)
        cotangent = None if op.get("cotangent") is None else tensors[op["cotangent"]]
        leaves = [t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
        sources: list[Tensor | None] = []
        if cotangent is not None:
            sources = [t.requires_grad_() if t.is_floating_point() else None for t in leaves]
            # The student gets a copy that is no leaf, so that writing to it is a fault of its
            # own and does not also cost the gradients.
            copies = {id(t): t.clone() for t in leaves}
            args = [copies.get(id(a), a) for a in args]
            kwargs = {key: copies.get(id(a), a) for key, a in kwargs.items()}
        handle = op.get("handle")
        module = None if handle is None else self._module(handle)
        function: Callable[..., Any]
        if module is None:
            function = self._find(op["name"])
        elif op.get("name"):
            function = self._find(op["name"], module)
        else:
            function = module
        if op.get("seed") is not None:
            _seed(op["seed"])
        if module is not None and cotangent is not None:
            module.zero_grad(set_to_none=True)
        with self._reporting("call"):
            result = function(*args, **kwargs)
        form, outputs = _form(result)
        reply = Reply(form=form)
        if cotangent is not None and outputs:
            reply.gradient = self._backward(outputs[0], cotangent)
            if reply.gradient == "computed":
                reply.input_gradients = [None if s is None else s.grad for s in sources]
                if module is not None:
                    reply.parameter_gradients = {
                        key: None if p.grad is None else p.grad.detach()
                        for key, p in module.named_parameters()
                    }
                    given = self._given.get(handle) if handle is not None else None
                    reply.given_gradient = None if given is None else given.weight.grad
        reply.outputs = [output.detach() for output in outputs]
        if op.get("keep_inputs"):
            seen = [a for a in (*args, *kwargs.values()) if isinstance(a, Tensor)]
            reply.inputs_after = [a.detach() for a in seen]
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
            found: Callable[..., Any] = getattr(owner or self.loaded, name)
        except AttributeError:
            raise _Stop(StudentError("MissingName", "call", name)) from None
        return found

    def _module(self, handle: int) -> nn.Module:
        """Return a built module; one that could not be built fails every later question too."""
        if handle not in self._modules:
            missing = StudentError("Exception", "build", "the module was not built")
            raise _Stop(self._unbuilt.get(handle, missing))
        return self._modules[handle]

    def _arguments(
        self, op: dict[str, Any], tensors: list[Tensor]
    ) -> tuple[list[Any], dict[str, Any]]:
        args = [_decode(value, tensors) for value in op["args"]]
        kwargs = {key: _decode(value, tensors) for key, value in op["kwargs"].items()}
        return args, kwargs

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


def _decode(value: Any, tensors: list[Tensor]) -> Any:
    if not isinstance(value, dict):
        return value
    if "embedding" in value:
        weight = tensors[value["embedding"]].clone()
        return nn.Embedding(weight.shape[0], weight.shape[1], _weight=weight)
    return tensors[value["tensor"]]


def _private_copy(tensor: Tensor) -> Tensor:
    """Copy `tensor` with its strides, so that no write here reaches the test's own tensor."""
    if tensor.device.type == "meta":
        # It has no values to write to, but a shape that the student may change in place.
        return tensor.detach()
    collapsed = tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
    strides = list(collapsed.stride())
    copy = torch.empty_strided(collapsed.shape, strides, dtype=tensor.dtype)
    return copy.copy_(collapsed).expand(tensor.shape)


def _form(result: object) -> tuple[str, list[Tensor]]:
    if result is None:
        return "none", []
    if isinstance(result, Tensor):
        return "tensor", [result]
    if isinstance(result, tuple | list):
        tensors = [item for item in result if isinstance(item, Tensor)]
        if len(tensors) == len(result) == 2:
            return "pair", tensors
        if len(tensors) == len(result) == 1:
            return "list of one", []
        return "longer sequence" if len(result) > 2 else "other", []
    return ("number" if isinstance(result, int | float | complex) else "other"), []
