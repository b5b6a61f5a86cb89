"""Run requests on a component that lives in this process; it is imported for the first one."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from autograder.api.lazy import Tensor, loaded, torch
from autograder.api.loading import ComponentCode
from autograder.api.messages import ERROR_KINDS, MAX_TEXT, Reply, Request, StudentError
from autograder.api.objects import VERBS, Conversation, Stop, found_in
from autograder.api.operations import Ask, Operation, OrdinaryAsk, Reset
from autograder.api.unwritten import raised_by_stub
from autograder.api.values import (
    Unsendable,
    answered,
    name_of_class,
    plain_tensor,
    with_tensors,
)
from autograder.rules.guard import ForbiddenOperation, belongs_to

# In what phase an exception of a verb's was raised, where that is no call.
_PHASES = {"load": "load", "to": "move", "train": "move", "state": "state"}


class Executor:
    """Answers requests for the component in `folder`/`name`.py.

    Args:
        folder: where the component and the modules it imports lie.
        name: the component; its file is `name`.py.
        fatal: exception classes that are let through instead of being reported.
        own_tensors: whether requests bring tensors that nobody else holds.
        given: where `provided` lies, if not beside the component.
        program: whether the component is run as a program, and not imported.
        within: what the component is imported and run within.
        stubs: the texts of the stubs, by file: what they raise means that nothing is written yet.
        source: what stands in its file, where that is not what lies there.

    Attributes:
        raised: the last exception of the student's code, for a traceback in its own process.
        code: the component's code.
        load_error: why it cannot be imported, or None.
        conversation: what an ordinary test and the component have of each other.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        fatal: tuple[type[BaseException], ...] = (KeyboardInterrupt,),
        own_tensors: bool = False,
        given: Path | None = None,
        program: bool = False,
        within: AbstractContextManager[None] | None = None,
        stubs: Mapping[str, str] = MappingProxyType({}),
        source: bytes | None = None,
    ) -> None:
        self._stubs = stubs
        self._within = within or nullcontext()
        self._folder = str(folder)
        self._fatal = fatal
        self._own_tensors = own_tensors
        self.code = ComponentCode(folder, name, given or folder, program, source)
        self.raised: BaseException | None = None
        self.conversation = Conversation(
            self._describe, self.perform, self.code.named, self._private
        )
        # Of a request's tensors, by their identity: one that is there twice stays one.
        self._copies: dict[int, Tensor] = {}
        # What is being done, for the words of an exception.
        self._phase = "call"
        # By the identity of a module, the embedding that it was given.
        self._given: dict[int, torch.nn.Embedding] = {}
        self._verbs: Mapping[str, Callable[..., Any]] = {
            **VERBS,
            "get": lambda found: found,
            "take": lambda iterator, count: list(islice(iterator, count)),
            "load": _load_state,
            "to": _move,
            "train": lambda module, on: module.train(on),
            "write_given": self._write_given,
            "state": self._state,
            "run": lambda component, *about: self.code.run(*about).value(),
        }

    @cached_property
    def load_error(self) -> StudentError | None:
        """Import the component, after what is provided; return what went wrong, or None."""
        with self._within:
            self.code.load_provided()
            try:
                self._phase = "import"
                with self._reporting():
                    self.code.load()
            except Stop as stop:
                return stop.error
            return None

    def perform(self, request: Request) -> Reply:
        """Perform the operations of `request` in order and answer the last one."""
        if self.load_error is not None:
            return Reply(error=self.load_error)
        self.raised = None
        self._copies.clear()
        reply = Reply()
        start = time.process_time()
        try:
            with self._within, self._reporting():
                for operation in request.ops:
                    self._phase = "call"
                    reply = self._do(operation) or reply
        except Stop as stop:
            self.raised = stop.raised
            return Reply(error=stop.error)
        reply.seconds = time.process_time() - start
        if not self._own_tensors:
            # What comes back is as it was then, whatever becomes of the object it is part of.
            for name, _, value in reply.parts():
                setattr(reply, name, with_tensors(value, lambda tensor: tensor.clone()))
        return reply

    def _do(self, operation: Operation) -> Reply | None:
        match operation:
            case OrdinaryAsk():
                return self.conversation.ask(operation)
            case Ask(into=None):
                return self._ask(operation)
            case Ask(into=int(number)):
                try:
                    with self._reporting():
                        self._ask(operation)
                except Stop as stop:
                    # It is the answer to whatever is asked of the object.
                    self.conversation.objects[number] = stop
            case Reset():
                self._given.clear()
                self.conversation.forget()
                seed_all(operation.seed)
            case _:
                raise TypeError(f"no component can do {operation.kind!r}")
        return None

    def _ask(self, operation: Ask) -> Reply:
        real = self.conversation.real
        args = [real(value, []) for value in operation.args[1:]]
        kwargs = {key: real(value, []) for key, value in operation.kwargs.items()}
        owner = real(operation.args[0], [])
        asked = found_in(owner, operation.name)

        sources: list[Tensor | None] = []
        if operation.cotangent is not None:
            sources, args, kwargs = _differentiable(args, kwargs)
            if isinstance(owner, torch.nn.Module):
                owner.zero_grad(set_to_none=True)
        if operation.seed is not None:
            _seed_torch(operation.seed)
        counted = operation.cost and operation.verb == "call"
        counter = _flop_counter() if counted else None

        is_built = operation.into is not None and isinstance(asked, type)
        self._phase = "build" if is_built else _PHASES.get(operation.verb, "call")
        with counter or nullcontext():
            result = self._verbs[operation.verb](asked, *args, **kwargs)
        self._phase = "call"

        if operation.into is not None:
            self._keep(operation, result, args)
            return Reply()
        if operation.verb == "state":
            return Reply(**result)
        reply = Reply(**self._gradients(operation, owner, result, sources))
        reply.value = answered(result)
        if counted:
            reply.operations = counter.get_total_flops() if counter else 0
        if operation.keep_inputs:
            reply.inputs_after = [plain_tensor(a) for a in _tensor_arguments(args, kwargs)]
        return reply

    def _keep(self, operation: Ask, made: object, args: Sequence[Any]) -> None:
        """Keep what was made, and note the embedding that it was given."""
        if operation.module and not isinstance(made, torch.nn.Module):
            text = f"{operation.name} is not a torch.nn.Module"
            raise Stop(StudentError("TypeError", "build", text))
        assert operation.into is not None
        self.conversation.objects[operation.into] = made
        for arg in args:
            if isinstance(arg, torch.nn.Embedding):
                self._given[id(made)] = arg

    def _write_given(self, module: torch.nn.Module, weight: Tensor) -> None:
        with torch.no_grad():
            self._given[id(module)].weight.copy_(weight)

    def _state(self, module: torch.nn.Module) -> dict[str, Any]:
        """Return the fields of a reply that tell what a module's state is."""
        given = self._given.get(id(module))
        return {
            "state": {key: plain_tensor(value) for key, value in module.state_dict().items()},
            "parameters": {key: plain_tensor(p) for key, p in module.named_parameters()},
            "given": None if given is None else given.weight.detach(),
        }

    def _private(self, tensor: Tensor) -> Tensor:
        """Return a tensor of a request's that nobody else holds."""
        if self._own_tensors:
            return tensor
        if id(tensor) not in self._copies:
            self._copies[id(tensor)] = _private_copy(tensor)
        return self._copies[id(tensor)]

    def _gradients(
        self, operation: Ask, owner: object, result: object, sources: list[Tensor | None]
    ) -> dict[str, Any]:
        """Take the gradients that a call asks for; return the fields of a reply that tell them."""
        output = _first_output(result)
        if operation.cotangent is None or output is None:
            return {}
        outcome = self._backward(output, self._private(operation.cotangent))
        found: dict[str, Any] = {"gradient": outcome}
        if outcome == "computed":
            found["input_gradients"] = [None if s is None else s.grad for s in sources]
            if isinstance(owner, torch.nn.Module):
                found["parameter_gradients"] = {
                    key: None if p.grad is None else plain_tensor(p.grad)
                    for key, p in owner.named_parameters()
                }
                given = self._given.get(id(owner))
                found["given_gradient"] = None if given is None else given.weight.grad
        return found

    def _backward(self, output: Tensor, cotangent: Tensor) -> str:
        if not output.requires_grad:
            return "detached"
        if output.shape != cotangent.shape:
            return "wrong shape"
        self._phase = "backward"
        torch.autograd.backward(output, cotangent.to(output.dtype))
        self._phase = "call"
        return "computed"

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except Stop:
            raise
        except Unsendable as error:
            raise Stop(unsent(error)) from None
        except self._fatal:
            raise
        except BaseException as error:
            raise Stop(self._describe(error), error) from None

    def _describe(self, error: BaseException) -> StudentError:
        self.raised = error
        return describe(error, self._phase, self._folder, self._stubs)


# What belongs to one call.


def seed_all(seed: int) -> None:
    """Seed torch, Python and numpy: no example depends on those before it."""
    _seed_torch(seed)
    random.seed(seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(seed % 2**32)


def _seed_torch(seed: int) -> None:
    """Seed torch's generator, if anything here uses torch."""
    # Not torch.manual_seed: for machines without a GPU that formats a traceback for each kind of
    # GPU there is, at more than the cost of the call being graded.
    if loaded():
        torch.default_generator.manual_seed(seed)


def _flop_counter() -> Any:
    """Return what counts torch's floating-point operations; None where nothing uses torch."""
    if not loaded():
        return None
    from torch.utils.flop_counter import FlopCounterMode

    return FlopCounterMode(display=False)


def _first_output(result: object) -> Tensor | None:
    """Return what gradients are taken of: the tensor returned, or the first of a pair of them."""
    if isinstance(result, torch.Tensor):
        return result
    if isinstance(result, tuple | list) and len(result) == 2:
        first, second = result
        if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
            return first
    return None


def _tensor_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """Return the arguments that are tensors, in order."""
    return [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]


def _differentiable(
    args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Tensor | None], list[Any], dict[str, Any]]:
    """Turn on gradients for the tensor arguments of a call, and copy them for the student.

    Returns:
        for each tensor argument the leaf that gets its gradient (None if it is not floating-point),
        and the arguments for the call.
    """
    leaves = _tensor_arguments(args, kwargs)
    sources = [t.requires_grad_() if t.is_floating_point() else None for t in leaves]
    # The student gets a copy that is no leaf, so that writing to it is a fault of its own and
    # does not also cost the gradients.
    copies = {id(t): t.clone() for t in leaves}
    given = {key: copies.get(id(a), a) for key, a in kwargs.items()}
    return sources, [copies.get(id(a), a) for a in args], given


def _private_copy(tensor: Tensor) -> Tensor:
    """Copy `tensor` with its strides, so that no write here reaches the test's own tensor."""
    if tensor.device.type == "meta":
        # It has no values to write to, but a shape that the student may change in place.
        return tensor.detach()
    collapsed = tensor[tuple(slice(0, 1) if s == 0 else slice(None) for s in tensor.stride())]
    strides = list(collapsed.stride())
    copy = torch.empty_strided(collapsed.shape, strides, dtype=tensor.dtype)
    return copy.copy_(collapsed).expand(tensor.shape)


def _move(module: torch.nn.Module, *places: Any) -> None:
    """Move a module to a dtype, a device, or both."""
    for place in places:
        if place is not None:
            module.to(place)


def _load_state(module: torch.nn.Module, state: Mapping[str, Tensor]) -> None:
    """Write tensors into the entries of a module's state_dict.

    Raises:
        Stop: an entry is not there, or has another shape.
    """
    with torch.no_grad():
        own = torch.nn.Module.state_dict(module)
        for key, tensor in state.items():
            if key not in own:
                raise Stop(StudentError("StateKeys", "load", key=key, found=tuple(own)))
            if own[key].shape != tensor.shape:
                shape, wanted = tuple(own[key].shape), tuple(tensor.shape)
                error = StudentError("StateShape", "load", key=key, shape=shape, wanted=wanted)
                raise Stop(error)
            own[key].copy_(tensor)


def unsent(error: object) -> StudentError:
    """Describe an answer that cannot be sent."""
    return StudentError("RuntimeError", "call", f"the result cannot be sent: {error}")


def describe(
    error: BaseException, phase: str, folder: str, stubs: Mapping[str, str] = MappingProxyType({})
) -> StudentError:
    """Describe an exception that left code in `folder` during `phase`; for `stubs` see above."""
    file, line = _locate(error.__traceback__, folder)
    if isinstance(error, SyntaxError) and error.filename:
        file, line = Path(str(error.filename)).name, error.lineno or 0
    kind, *bases = _kinds(error)
    classes = _own_classes(error)
    text = _text(error.msg if isinstance(error, SyntaxError) else error)
    if raised_by_stub(error, folder, stubs):
        kind, bases, classes = "NotAttempted", [], []
    elif isinstance(error, ForbiddenOperation):
        kind, bases, classes = "Forbidden", [], []
    elif "same device" in text or "is not on the expected device" in text:
        kind, bases, classes = "DeviceMismatch", [], []
    found = StudentError(kind, phase, text, file, line, bases=tuple(bases))
    return replace(found, classes=tuple(classes))


def _locate(traceback: TracebackType | None, folder: str) -> tuple[str, int]:
    """Return file and line of the last frame inside the folder."""
    file, line = "", 0
    while traceback is not None:
        name = traceback.tb_frame.f_code.co_filename
        if belongs_to(name, folder):
            file, line = Path(name).name, traceback.tb_lineno
        traceback = traceback.tb_next
    return file, line


def _kinds(error: BaseException) -> list[str]:
    """Return the names of an exception's built-in classes, the nearest first."""
    found = [
        cls.__name__
        for cls in type(error).__mro__
        if cls.__name__ in ERROR_KINDS and cls.__module__ == "builtins"
    ]
    # Each is an `Exception`, so that name counts only if there is no other.
    return [name for name in found if name != "Exception"] or ["Exception"]


def _own_classes(error: BaseException) -> list[str]:
    """Return the names of its classes that are not built in, the nearest first."""
    return [name_of_class(cls) for cls in type(error).__mro__ if cls.__module__ != "builtins"]


def _text(error: object) -> str:
    try:
        return str(error)[:MAX_TEXT]
    except BaseException:
        # `__str__` is the student's own code, and what it raises says nothing more.
        return ""
