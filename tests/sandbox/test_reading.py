"""The text of a submission is read in a child that runs none of it, and that may die over it."""

from collections.abc import Iterator

import pytest

from autograder.rules.reading import reading_of
from autograder.sandbox.handle import ChildGone
from autograder.sandbox.host import Sandbox
from autograder.sandbox.profile import Budget

RUNS = b"import os\nopen('/dev/full', 'w').write('x')\nos._exit(3)\n"
# Takes a second to parse.
LONG = b"x = 1; y = [1, 2, 3]; z = x + y[0]\n" * 30_000


def found_in(sandbox: Sandbox, **files: bytes) -> list[tuple[str, int]]:
    found = sandbox.read({f"{name}.py": data for name, data in files.items()}, {})
    return [(f.file, f.line) for f in reading_of(found).findings]


def test_what_is_found_comes_back_with_its_place(sandbox: Sandbox) -> None:
    assert found_in(sandbox, work=b"import torch\n") == []
    assert ("work.py", 2) in found_in(sandbox, work=b"import torch\nimport ctypes\n", more=b"")


def test_nothing_of_it_runs(sandbox: Sandbox) -> None:
    found_in(sandbox, work=RUNS)


@pytest.fixture(params=[0, 2])
def narrow(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A sandbox with too little time for what is long; the second with the kernel's limits."""
    budget = Budget(call_cpu_s=0.1, call_wall_s=5.0, cpu_s=9, memory=1 << 30, file_size=1 << 20)
    sandbox = Sandbox(request.param, budget)
    yield sandbox
    sandbox.close()


@pytest.mark.slow
def test_who_takes_too_long_is_ended_and_the_next_is_read(narrow: Sandbox) -> None:
    with pytest.raises(ChildGone) as gone:
        narrow.read({"work.py": LONG}, {})
    assert gone.value.reason == "timeout"
    assert ("work.py", 1) in found_in(narrow, work=b"import ctypes\n")


def test_more_than_a_list_may_hold_is_not_taken(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.sandbox.host.MOST_LISTED", 20)
    with pytest.raises(ChildGone, match="larger than its cap"):
        sandbox.read({"work.py": b"import ctypes\n"}, {})
