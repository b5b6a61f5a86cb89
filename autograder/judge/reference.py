"""The solutions behind the same API as a component under test."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from autograder.api.executor import Executor
from autograder.api.loading import DATA
from autograder.api.messages import Reply, Request
from autograder.api.wording import place
from autograder.assignment import Assignment
from autograder.rules.files import module_name
from autograder.rules.guard import PROVIDED
from autograder.sandbox.child import answer
from autograder.sandbox.scratch import temporary_folder
from autograder.sandbox.wire import Pipe, encode_request, read_reply, receive_reply
from autograder.student.local import Apart


class ReferenceFault(Exception):
    """A solution failed: a fault of the grader."""


def solution_of(assignment: Assignment, name: str) -> Executor:
    """Return the solution of an assignment's component, as if it were a submission's.

    Raises:
        ReferenceFault: it cannot be imported.
    """
    program = assignment.component(name).program
    return import_apart(assignment.secret, name, assignment.public, program)


def import_apart(
    folder: Path, name: str, given: Path | None = None, program: bool = False
) -> Executor:
    """Import a component of ours apart from other modules, which have the same names.

    Args:
        folder: where it lies.
        name: the component.
        given: where `provided` lies.
        program: whether it is run as a program, and not imported.

    Raises:
        ReferenceFault: it cannot be imported.
    """
    executor = variant_of(folder, name, None, {}, given, program)
    error = executor.load_error
    if error is not None:
        where = place(error.file, error.line)
        raise ReferenceFault(
            f"{folder / f'{name}.py'} cannot be imported: {error.kind}{where}: {error.text}"
        )
    return executor


def variant_of(
    folder: Path,
    name: str,
    source: bytes | None,
    own: dict[str, ModuleType],
    given: Path | None = None,
    program: bool = False,
) -> Executor:
    """Import a component with another text, as `import_apart` does.

    Args:
        folder: where it lies.
        name: the component.
        source: what stands in its file, where that is not what lies there.
        own: modules that were imported for it before; gets those that it imports.
        given: where `provided` lies.
        program: whether it is run as a program, and not imported.
    """
    files = [*folder.glob("*.py"), *(folder / name).rglob("*.py")]
    names = [name, *(module_name(path.relative_to(folder).as_posix()) for path in files)]
    provided = ((given or folder) / PROVIDED).glob("*.py")
    names += [PROVIDED, *(f"{PROVIDED}.{path.stem}" for path in provided)]
    within = Apart(names, own)
    executor = Executor(folder, name, given=given, program=program, within=within, source=source)
    if executor.load_error is None:
        own.update((other, module) for other, module in within.own.items() if other != name)
    return executor


class ReferenceProcess:
    """A solution in a process of its own, asked as a submission is.

    Args:
        assignment: whose.
        name: the component.
    """

    def __init__(self, assignment: Assignment, name: str) -> None:
        self._socket, theirs = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            self._socket.close()
            try:
                with workplace(assignment):
                    executor = Executor(
                        assignment.secret, name, given=assignment.public, own_tensors=True
                    )
                    executor.conversation.tells_draws = True
                    answer(Pipe(theirs.fileno()), executor, list)
            finally:
                os._exit(1)
        theirs.close()
        self._file = self._socket.makefile("rb")

    def perform(self, request: Request) -> Reply:
        """Have a request answered.

        Raises:
            ReferenceFault: the process is gone.
        """
        try:
            self._socket.sendall(encode_request(request, 0))
            _, header, data = receive_reply(self._receive)
        except OSError as error:
            raise ReferenceFault("the solution's process ended") from error
        return read_reply(header, data)

    def close(self) -> None:
        """End it."""
        self._file.close()
        self._socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)

    def _receive(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            raise ConnectionResetError
        return data


class ReferenceSession:
    """Answers with a solution, computing each answer once.

    Everyone is asked the same questions, so the answer to the n-th request of an example is kept
    under the example and n. A request that differs from the kept one is computed again, after the
    requests before it have been performed.

    Attributes:
        kept: by example and number, the frame of a request with a nonce of 0, and the answer.
        module: the solution's module.
    """

    def __init__(self, solution: Executor) -> None:
        self._solution = solution
        self.module = solution.code.module
        self.kept: dict[tuple[str, int], tuple[bytes, Reply]] = {}
        self.begin("")

    def begin(self, example: str) -> None:
        """Start the example of this name."""
        self._example = example
        self._asked: list[Request] = []
        self._performed = 0

    def perform(self, request: Request) -> Reply:
        """Return the kept answer, or compute it.

        Raises:
            ReferenceFault: the solution raised something.
        """
        self._asked.append(request)
        key, frame = (self._example, len(self._asked)), encode_request(request, 0)
        kept = self.kept.get(key)
        if kept is not None and frame == kept[0]:
            return kept[1]
        for earlier in self._asked[self._performed :]:
            reply = self._solution.perform(earlier)
        self._performed = len(self._asked)
        if reply.error is not None:
            error = reply.error
            where = place(error.file, error.line)
            raise ReferenceFault(f"the solution raised {error.name}{where}: {error.text}")
        self.kept[key] = (frame, reply)
        return reply


@contextlib.contextmanager
def workplace(assignment: Assignment) -> Iterator[None]:
    """Work in a new folder, as a submission does: data can be opened and files be written there."""
    with temporary_folder() as folder:
        data = assignment.public / DATA
        if data.is_dir():
            shutil.copytree(data, folder / DATA)
        with contextlib.chdir(folder):
            yield
