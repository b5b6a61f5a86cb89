"""What a child cannot do is refused at home in the same words, and the rest works in both."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from autograder.api.answer import Question, StudentRaised
from autograder.api.executor import Executor
from autograder.api.messages import Reply, Request
from autograder.api.wording import find
from autograder.rules.forbidden import Rules
from autograder.rules.guard import NO_PROCESSES, Guard
from autograder.sandbox.profile import Profile
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.asking import asks
from tests.conftest import BUDGET, TIERS, skip

SOURCE = """
import concurrent.futures
import multiprocessing
import os
import subprocess
from pathlib import Path

import torch
from torch.utils.data import DataLoader


def loader():
    return len(list(DataLoader(list(range(8)), num_workers=2)))


def pool():
    with multiprocessing.Pool(2) as pool:
        return pool.map(abs, [1])


def process():
    multiprocessing.Process(target=abs, args=(1,)).start()


def executor():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(abs, 1).result()


def program():
    return subprocess.run(["true"]).returncode


def shell():
    return os.system("true")


def value():
    return multiprocessing.Value("i", 3).value


def lock():
    multiprocessing.Lock()


def alone():
    loaded = len(list(DataLoader(list(range(8)), num_workers=0)))
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return loaded, pool.submit(abs, -1).result()


def shared():
    x = torch.ones(3)
    rest = x[1:]
    before = x.is_shared()
    x.share_memory_()[1] = 5
    module = torch.nn.Linear(2, 2).share_memory()
    return before, rest[0].item(), x.is_shared(), rest.is_shared(), module.weight.is_shared()


def cached():
    folder = Path.home() / ".cache" / "work"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.txt").write_text("kept")
    return (folder / "a.txt").read_text()
"""
REFUSED = ("loader", "pool", "process", "executor", "program", "shell", "value", "lock")
WORKS = {"alone": (8, 1), "shared": (False, 5.0, True, True, True), "cached": "kept"}


@pytest.fixture(scope="module", params=["home", "none", *TIERS])
def ask(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Reply]]:
    """Ask the work at home, or in a child."""
    folder = tmp_path_factory.mktemp("home")
    if request.param == "home":
        (folder / "work.py").write_text(SOURCE)
        guard = Guard([])
        guard.install()
        guard.begin(folder, Rules())
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("HOME", str(folder))
            patch.delitem(sys.modules, "work", raising=False)
            session = Executor(folder, "work")
            yield lambda name: session.perform(Request([asks(name)]))
        guard.uninstall()
        return
    try:
        sandbox, _ = open_sandbox(request.param, BUDGET, (), [])
    except NotIsolated as reason:
        skip(request.param, reason)

    def in_a_child(name: str) -> Reply:
        child = sandbox.fork(
            "work", {"work.py": SOURCE.encode()}, Profile(BUDGET, free=("work.py",))
        )
        try:
            return child.perform(Request([asks(name)]))
        finally:
            child.close()

    yield in_a_child
    sandbox.close()


@pytest.mark.parametrize("name", REFUSED)
def test_no_process_is_started(ask: Callable[[str], Reply], name: str) -> None:
    error = ask(name).error
    assert error is not None
    assert error.kind == "PermissionError"
    assert error.text.startswith(NO_PROCESSES)
    assert ("num_workers=0" in error.text) == (name == "loader")


@pytest.mark.parametrize("name", WORKS)
def test_what_needs_no_other_process_works(ask: Callable[[str], Reply], name: str) -> None:
    reply = ask(name)
    assert reply.error is None, reply.error
    assert reply.value == WORKS[name]


def test_whoever_else_starts_a_process_at_home_is_let(tmp_path: Path) -> None:
    import subprocess
    import sys

    guard = Guard([])
    guard.install()
    try:
        guard.begin(tmp_path, Rules())
        assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    finally:
        guard.uninstall()


@pytest.mark.parametrize("text", ["", "can't allocate memory: you tried to allocate 9 bytes"])
def test_who_takes_too_much_memory_hears_where_the_limit_is_named(text: str) -> None:
    from autograder.api.messages import StudentError

    error = StudentError("RuntimeError" if text else "MemoryError", "call", text)
    found = find(StudentRaised(error, Question("f", ())), None)
    assert found.hints == ["grading bounds the memory; at home pytest's first lines name the limit"]
