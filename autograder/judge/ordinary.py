"""Run ordinary tests, which are plain pytest, in a process of their own.

pytest itself runs a criterion's test, in a fork of this process. What the test imports of the
component is a proxy (`proxies/`): its questions come here, and go on to the component. The fork has
limits of its own, and whatever it has changed is gone with it: each criterion begins as it was
collected.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

import pytest

from autograder.api.answer import CheckFailed, Question
from autograder.api.executor import seed_all
from autograder.api.messages import Reply, Request, StudentError
from autograder.api.values import Unsendable, Value, show_value
from autograder.api.wording import first_cause, import_words
from autograder.proxies.examiner import Ended, Examiner, Rights, Word
from autograder.proxies.imports import Imports
from autograder.proxies.loans import CannotCross
from autograder.proxies.mirrors import Mirrored
from autograder.proxies.proxy import Proxy
from autograder.sandbox.scratch import temporary_folder
from autograder.sandbox.wire import (
    decode_request,
    encode_reply,
    encode_request,
    read_reply,
    receive_reply,
)
from autograder.student.plugin import load_profile
from autograder.text import clean

# Plugins of pytest's own that are of no use here, or look for garbage for long.
_QUIET = (
    *("terminal", "cacheprovider", "faulthandler", "unraisableexception", "threadexception"),
    *("junitxml", "pastebin", "doctest", "stepwise", "legacypath"),
)
# What a test may use by itself: computing time, at least and in multiples of the solution's, and
# memory beyond that of the process that it was forked from.
_CPU_S, _TIMES = 5.0, 10
_MEMORY = 2 << 30
_NO_REFERENCE = "a public test has no reference, which no student has"
# Characters of what a test says.
_MAX_WORDS = 4000
# Seconds of waiting, in multiples of the computing time.
_WAITING = 6


@dataclass(frozen=True)
class Ran:
    """What came of one case of a test.

    Attributes:
        node: what pytest calls the test.
        name: what pytest calls the case; empty for the only one.
        passed: whether it passed, with its fixtures.
        skipped: why it was skipped, or was expected to fail, with the mark's name; empty otherwise.
        words: what pytest says of it.
        place: the file and line where it failed.
        question: the last question that was asked of the component.
        error: what the component's code raised, where that ended the case.
        refused: the fact, the values and the hint where an answer was not let through.
        fault: what is wrong with the test itself; no component is at fault.
    """

    node: str
    name: str
    passed: bool
    skipped: str = ""
    words: str = ""
    place: str = ""
    question: Question | None = None
    error: StudentError | None = None
    refused: tuple[str, str, str] | None = None
    fault: str = ""


@dataclass(frozen=True)
class Found:
    """A test as pytest collects it: what it says of itself, and its cases."""

    node: str  # by which pytest runs it, with all of its cases, and what it calls it
    file: Path
    name: str  # with its classes before it
    doc: str
    marks: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...]
    cases: tuple[str, ...]


@dataclass
class Report:
    """What a run of pytest in a fork came to."""

    found: list[Found] = field(default_factory=list)
    ran: list[Ran] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)  # files that cannot be collected
    words: str = ""  # why, in a sentence
    error: StudentError | None = None  # what the component raised while they were
    refused: tuple[str, str, str] | None = None
    left_open: bool = False  # whether the component was left in the middle of a call
    ended: bool = False  # whether the component was gone, so that the rest was not run
    moved: dict[int, tuple[str, Value]] = field(default_factory=dict)
    cpu_s: float = 0.0


@dataclass(frozen=True)
class Place:
    """Where ordinary tests of a component lie, and what they may import.

    Attributes:
        folders: of the suite's files; the first is the one that is run in.
        names: the modules that are the component's or its neighbours'.
        reference: the modules of the solutions, the component's first; none for public tests.
        hidden: whether they are hidden: nothing is asked for words that nobody is shown.
    """

    folders: tuple[Path, ...]
    names: tuple[str, ...]
    reference: tuple[Any, ...] = ()
    hidden: bool = False


class OutOfLimits(Exception):
    """A test used more than it may with what the component answered."""


def run_tests(
    place: Place,
    nodes: Sequence[str],
    perform: Callable[[Request], Reply | None],
    rights: Rights | None,
    cpu_s: float = 0.0,
) -> Report:
    """Run tests in a fork, and answer what they ask.

    Args:
        place: where they lie.
        nodes: the tests, or files, by pytest's names.
        perform: answers a question; None where the component is gone, which ends the run.
        rights: what the solution answered; None while it is asked itself.
        cpu_s: the computing time that the tests needed with the solution.

    Raises:
        OutOfLimits: they need more time or memory than they may.
    """
    ours, theirs = Pipe()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _in_fork(theirs, place, nodes, rights, cpu_s)
    theirs.close()
    try:
        return _served(ours, perform, _limit(cpu_s))
    finally:
        ours.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _limit(cpu_s: float) -> float:
    return max(_CPU_S, _TIMES * cpu_s)


def _served(wire: Connection, perform: Callable[[Request], Reply | None], limit_s: float) -> Report:
    """Answer questions until the report is there."""
    left_s = _WAITING * limit_s
    while True:
        start = time.monotonic()
        if not wait([wire], timeout=max(0.0, left_s)):
            raise OutOfLimits(f"the test did not end within {limit_s:g} s with what it was given")
        left_s -= time.monotonic() - start
        try:
            message = wire.recv_bytes()
        except (EOFError, OSError):
            raise OutOfLimits(
                f"the test used more than {limit_s:g} s of computing, or more memory than there "
                "is, with what it was given"
            ) from None
        if message[:1] == b"R":
            found: Report = pickle.loads(message[1:])  # noqa: S301 - our own process wrote it
            return found
        _, request = decode_request(_reader(message[1:]))
        reply = perform(request)
        wire.send_bytes(b"" if reply is None else _encoded(reply))


def _encoded(reply: Reply) -> bytes:
    try:
        return encode_reply(reply, 0)
    except Unsendable as error:
        # It was read, and is more when it is written again.
        return encode_reply(Reply(error=StudentError("RuntimeError", "call", str(error))), 0)


def _reader(data: bytes) -> Callable[[int], bytes]:
    stream = io.BytesIO(data)
    return stream.read


# In the fork.


def _in_fork(
    wire: Connection,
    place: Place,
    nodes: Sequence[str],
    rights: Rights | None,
    cpu_s: float,
) -> None:
    """Run pytest and send what it came to; this process ends then."""
    try:
        _set_limits(_limit(cpu_s))
        report = _run_pytest(wire, place, nodes, rights)
        wire.send_bytes(b"R" + pickle.dumps(report))
    except BaseException:
        import traceback

        with contextlib.suppress(BaseException):
            report = Report(faults=[traceback.format_exc()[-_MAX_WORDS:]])
            wire.send_bytes(b"R" + pickle.dumps(report))
    finally:
        os._exit(0)


def _set_limits(cpu_s: float) -> None:
    used = time.process_time()
    seconds = int(used + cpu_s) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    mapped = pages * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + _MEMORY, mapped + _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _run_pytest(
    wire: Connection,
    place: Place,
    nodes: Sequence[str],
    rights: Rights | None,
) -> Report:
    def perform(request: Request) -> Reply:
        wire.send_bytes(b"Q" + encode_request(request, 0))
        answer = wire.recv_bytes()
        if not answer:
            raise Ended("the component is gone")
        _, header, data = receive_reply(_reader(answer))
        return read_reply(header, data)

    start = time.process_time()
    with temporary_folder() as base:
        own = base / "tests"
        own.mkdir()
        examiner = Examiner(
            perform, place.names, place.folders, own, nodes[0].partition("[")[0], rights
        )
        plugin = _Plugin(examiner, place)
        _run_in(own, plugin, examiner, place, nodes)
    plugin.report.moved = examiner.moved
    plugin.report.left_open = examiner.left_open
    plugin.report.cpu_s = time.process_time() - start
    return plugin.report


def _run_in(
    own: Path,
    plugin: _Plugin,
    examiner: Examiner,
    place: Place,
    nodes: Sequence[str],
) -> None:
    arguments = [f"-pno:{name}" for name in _QUIET]
    top = str(place.folders[0])
    # What lies above is no part of the suite.
    arguments += ["--rootdir", top, "--confcutdir", top, "-c", os.devnull]
    arguments += ["--import-mode=importlib"]
    arguments += [f"--assert={'plain' if place.hidden else 'rewrite'}", f"--basetemp={own}/pytest"]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        os.environ.pop(name, None)
    tempfile.tempdir = str(own)
    folders = [str(folder) for folder in place.folders]
    sys.path[:0] = folders
    # The tests may be a package, and import what lies beside them as that.
    package = types.ModuleType("tests")
    package.__path__ = folders
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    sys.modules["tests"] = package
    # Nothing is written beside the suite's files.
    sys.dont_write_bytecode = True
    given: dict[str, Any] = {"reference": ImportError(_NO_REFERENCE)}
    if place.reference:
        given = {"reference": Reference(place.reference, examiner)}
    # Properties draw what they draw in a student's own run.
    load_profile()
    seed_all(0)
    sink = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as this process lives
    sys.stdout = sys.stderr = sink
    os.chdir(own)
    sys.addaudithook(_audit)
    examiner.begin()
    with warnings.catch_warnings(), Imports(examiner, given, place.folders).replaced():
        pytest.main([*arguments, *nodes], plugins=[plugin])


# What would start a program, or run what lies in a file that a component may have written.
_NEVER = ("subprocess.", "os.exec", "os.system", "os.posix_spawn", "os.spawn", "pickle.find_class")


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(_NEVER):
        raise CannotCross(f"a test may not do this with what a component answers: {event}")


class Reference:
    """The solutions for a hidden test: they get values alone, and only from the test itself."""

    def __init__(self, modules: Sequence[Any], examiner: Examiner) -> None:
        self._modules, self._examiner = modules, examiner
        self.__name__ = "reference"

    def __getattr__(self, name: str) -> Any:
        owner = next((one for one in self._modules if hasattr(one, name)), self._modules[0])
        found = getattr(owner, name)
        is_error = isinstance(found, type) and issubclass(found, BaseException)
        return self._guarded(found) if callable(found) and not is_error else found

    def _guarded(self, function: Any) -> Any:
        def asked(*args: Any, **kwargs: Any) -> Any:
            if self._examiner.depth:
                self._examiner.end("a function that the component calls asks the reference")
            if any(map(_holds_proxy, (*args, *kwargs.values()))):
                self._examiner.end("the reference is given an object of the component's")
            return function(*args, **kwargs)

        asked.__name__ = getattr(function, "__name__", "reference")
        return asked


def _holds_proxy(value: object) -> bool:
    kind = type(value)
    if kind is Proxy or isinstance(value, Mirrored):
        return True
    if isinstance(value, dict):
        return any(map(_holds_proxy, (*value.keys(), *value.values())))
    return isinstance(value, list | tuple | set | frozenset) and any(map(_holds_proxy, value))


class _Plugin:
    """Notes what pytest collects, and what comes of it."""

    def __init__(self, examiner: Examiner, place: Place) -> None:
        self.report = Report()
        self._examiner = examiner
        self._place = place
        self._phases: dict[str, list[pytest.TestReport]] = {}
        self._errors: dict[str, BaseException] = {}
        # By case, what was asked last when it failed.
        self._questions: dict[str, Question | None] = {}

    @pytest.fixture
    def reference(self) -> Any:
        """The solution, to compare with."""
        if not self._place.reference:
            pytest.fail(_NO_REFERENCE, pytrace=False)
        return Reference(self._place.reference, self._examiner)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Declare the marker, so that it is none that is unknown."""
        config.addinivalue_line("markers", "criterion: what a test is worth")
        # Nobody reads a traceback, and to write one reads the sources.
        config.option.tbstyle = "no"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note the tests, the cases of each together."""
        found: dict[str, list[pytest.Item]] = {}
        for item in session.items:
            found.setdefault(item.nodeid.partition("[")[0], []).append(item)
        for items in found.values():
            self.report.found.append(_found(items))

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Note why a file cannot be collected, and what ended a case."""
        error = call.excinfo.value
        if isinstance(node, pytest.Collector) and not isinstance(node, pytest.Item):
            if self.report.error is None:
                self.report.error = _error_of(first_cause(error))
            words = import_words(error)[:_MAX_WORDS]
            self.report.faults.append(f"{node.path.name} cannot be collected: {words}")
            self.report.words = self.report.words or words
            self.report.refused = self.report.refused or _refused(self._examiner)
        else:
            self._errors.setdefault(node.nodeid, error)
            self._questions.setdefault(node.nodeid, _in_words(self._examiner.question))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Begin a case."""
        self._session = item.session
        self._examiner.question = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what came of a part of a case."""
        phases = self._phases.setdefault(report.nodeid, [])
        phases.append(report)
        if report.when == "teardown":
            self.report.ran.append(self._ran(report.nodeid, phases))

    def _ran(self, node: str, phases: Sequence[pytest.TestReport]) -> Ran:
        examiner = self._examiner
        name = node.partition("[")[2].removesuffix("]")
        refused = _refused(examiner)
        skipped = next((p for p in phases if p.skipped or hasattr(p, "wasxfail")), None)
        whole = {"setup", "call", "teardown"} <= {str(phase.when) for phase in phases}
        passed = whole and all(phase.passed for phase in phases) and not skipped
        bad = next((p for p in phases if not p.passed), None)
        error = self._errors.get(node)
        words = "" if bad is None else _words(bad)
        why = "" if skipped is None else str(getattr(skipped, "wasxfail", "") or _reason(skipped))
        fault = _fault(error)
        if isinstance(examiner.refused, Ended):
            self.report.ended = True
            self._session.shouldstop = "the component is gone, or in the middle of a call"
        examiner.refused = None
        return Ran(
            node.partition("[")[0],
            name,
            passed and refused is None,
            why,
            words,
            "" if bad is None else _place(bad),
            self._questions.get(node),
            _error_of(error),
            refused,
            fault,
        )


def _found(items: Sequence[pytest.Item]) -> Found:
    item = items[0]
    function = getattr(item, "obj", None)
    node = item.nodeid.partition("[")[0]
    marks = tuple(
        (mark.name, tuple(map(str, mark.args)), _plain(mark.kwargs)) for mark in item.iter_markers()
    )
    cases = tuple(one.nodeid.partition("[")[2].removesuffix("]") for one in items)
    name = ".".join(node.split("::")[1:])
    return Found(node, item.path, name, getattr(function, "__doc__", None) or "", marks, cases)


def _plain(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v if isinstance(v, int | float | str | bool) else str(v) for k, v in kwargs.items()}


def _refused(examiner: Examiner) -> tuple[str, str, str] | None:
    why = examiner.refused
    if isinstance(why, CheckFailed):
        return why.fact, why.detail, why.hint
    return None if why is None else (str(why), "", "")


def _error_of(error: BaseException | None) -> StudentError | None:
    """Return what the component's code raised, where that ended something."""
    found = None if error is None else getattr(error, "__dict__", {}).get("error")
    return found if isinstance(found, StudentError) else None


def _in_words(question: Question | None) -> Question | None:
    """Return a question whose arguments are words: what the suite has made stays in the fork."""
    if question is None or question.arguments is None:
        return question
    words = tuple((key, Word(show_value(value))) for key, value in question.arguments)
    return replace(question, arguments=words)


def _fault(error: BaseException | None) -> str:
    return str(error) if isinstance(error, CannotCross) else ""


def _words(report: pytest.TestReport) -> str:
    """Return what pytest says of a failure: its message, without the test's text."""
    crash = getattr(report.longrepr, "reprcrash", None)
    words = str(report.longrepr) if crash is None else str(crash.message)
    return clean(words, _MAX_WORDS)


def _place(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return "" if crash is None else f"{Path(crash.path).name}, line {crash.lineno}"


def _reason(report: pytest.TestReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    return str(reason)[:200] or "skipped"
