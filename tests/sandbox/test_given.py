"""A child has the installed packages as they lie there, and nothing around them, on each tier."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from autograder.api.messages import Request
from autograder.sandbox import packages
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.asking import asks
from tests.conftest import BUDGET, ROOT, TIERS, skip
from tests.planted import plant

pytestmark = pytest.mark.slow

CANARY = "canary-7f3a"
NOT_THERE = ("ModuleNotFoundError", "PermissionError", "ImportError")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a solution, which is installed to be edited in an environment inside it."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("solution.py", "reference/solution.py", ".venv/secret.py", ".venv/lib/secret.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"SECRET = '{CANARY}'\n")
    return folder


@pytest.fixture(scope="module")
def site(project: Path) -> Iterator[Path]:
    """The folder of packages of that environment."""
    folder = project / ".venv" / "lib" / "site-packages"
    plant(folder, "wanted-pkg", {"wanted/__init__.py": "NAME = 'wanted'\n", "wanted/late.py": ""})
    plant(folder, "needs-it", {"needing.py": "import wanted\n"})
    plant(folder, "space-a", {"space/a/__init__.py": "", "space/only.py": ""})
    plant(folder, "gradeformer", {"autograder/__init__.py": f"SECRET = '{CANARY}'\n"})
    run = f"import sys; sys.canary = '{CANARY}'"
    files = {
        "__editable__.course.pth": f"{project}\n{run}\n",
        "__editable___course_finder.py": f"{run}\n",
        "sitecustomize.py": f"{run}\n",
    }
    plant(folder, "course", files, notes={"direct_url.json": f'{{"url": "file://{project}"}}'})
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield folder


@pytest.fixture(scope="module", params=TIERS)
def given(request: pytest.FixtureRequest, site: Path, project: Path) -> Iterator[Sandbox]:
    """A sandbox of each tier that keeps the project from children, whose packages lie in it."""
    secrets = [project, project / "solution.py", project / "reference", project / ".venv"]
    try:
        found, _ = open_sandbox(request.param, BUDGET, (), secrets, ["needs-it"])
    except NotIsolated as reason:
        skip(request.param, reason)
    yield found
    found.close()


def run(sandbox: Sandbox, body: str) -> str:
    """Run a function's body in a child; return the error that it ends in, or nothing."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    source = (
        f"import importlib, os, sys\nimport importlib.metadata\ndef f(x):\n{lines}    return x\n"
    )
    child = sandbox.fork("f", {"f.py": source.encode()})
    try:
        assert child.perform(Request()).error is None
        reply = child.perform(Request([asks("f", torch.zeros(1))]))
        return f"{reply.error.kind}: {reply.error.text}" if reply.error is not None else ""
    finally:
        child.close()


@pytest.mark.parametrize(
    "body",
    [
        "import wanted.late\nassert wanted.NAME == 'wanted'",
        "import needing",
        "import space.a, space.only",
        "import jinja2, sympy, typing_extensions, pytest",
        "import numpy.testing, torch.distributions",
        "assert importlib.metadata.version('wanted_pkg') == '1.0'",
        f"assert importlib.metadata.version('torch') == {torch.__version__!r}",
        "importlib.invalidate_caches()\nimport colorsys, xml.dom.minidom, sqlite3, wanted.late",
        "exit",
        "import inspect, statistics\nassert 'def mean' in inspect.getsource(statistics)",
    ],
)
def test_what_a_child_has(given: Sandbox, body: str) -> None:
    assert run(given, body) == ""


@pytest.mark.parametrize(
    "module", ["autograder", "autograder.judge", "autograder.sandbox.host", "solution", "reference"]
)
def test_what_a_child_cannot_import(given: Sandbox, project: Path, module: str) -> None:
    for places in ([], [str(project), str(ROOT)]):
        body = f"sys.path[:0] = {places!r}\nimportlib.invalidate_caches()\n"
        assert run(given, f"{body}importlib.import_module({module!r})").partition(":")[0] in (
            NOT_THERE
        )


def test_what_a_child_cannot_open(given: Sandbox, site: Path, project: Path) -> None:
    closed = [project, project / "solution.py", project / "reference", site.parent]
    closed += [project / "reference/solution.py", project / ".venv", project / ".venv/secret.py"]
    closed += [site.parent / "secret.py", ROOT, ROOT / "autograder", ROOT / "autograder/project.py"]
    closed += [Path(sys.prefix), Path(sys.base_prefix), Path("/usr/lib"), Path("/usr"), Path("/")]
    closed += [Path("/proc/self/maps"), Path("/proc/self/mountinfo"), Path.home()]
    body = (
        "opened = []\n"
        f"for path in {[*map(str, closed)]!r}:\n"
        "    for attempt in (os.listdir, lambda path: open(path).read()):\n"
        "        try:\n"
        "            opened.append((path, attempt(path)))\n"
        "        except OSError: pass\n"
        "if opened: raise AssertionError(opened)\n"
        # What lies among packages is open to all.
        f"assert 'wanted' in os.listdir({str(site)!r})"
    )
    assert run(given, body) == ""


def test_no_code_of_an_installation_has_run(given: Sandbox) -> None:
    body = (
        "assert not hasattr(sys, 'canary')\n"
        "ours = [name for name in sys.modules if name.partition('.')[0] == 'autograder']\n"
        "assert not any(sys.modules[name] for name in ours)\n"
        "told = repr((sys.path, sys.argv, sys.orig_argv, sys.meta_path, sys.path_importer_cache))\n"
        f"assert {str(ROOT / 'autograder')!r} not in told, told\n"
        "assert 'editable' not in told.lower(), told\n"
        "assert 'sitecustomize' not in sys.modules"
    )
    assert run(given, body) == ""


def test_where_nothing_is_kept_apart_the_same_can_be_imported(site: Path, project: Path) -> None:
    sandbox = Sandbox(0, BUDGET, (), ["needs-it"])
    try:
        assert run(sandbox, "import needing, space.a, jinja2, torch.distributions") == ""
        assert run(sandbox, "assert not hasattr(sys, 'canary')") == ""
        for module in ("autograder", "autograder.rules.guard", "solution"):
            assert run(sandbox, f"import {module}").startswith("ModuleNotFoundError")
        body = f"sys.path.insert(0, {str(ROOT)!r})\nimport autograder"
        assert run(sandbox, body).startswith("ModuleNotFoundError")
    finally:
        sandbox.close()


@pytest.mark.parametrize("tier", TIERS)
def test_a_project_among_the_packages_is_refused(site: Path, tier: str) -> None:
    plant(site, "leaking", {"leaking/reference/solution.py": ""})
    try:
        with pytest.raises(NotIsolated, match=r"could .*leaking; it lies in .*site-packages"):
            open_sandbox(tier, BUDGET, (), [site / "leaking"], ["needs-it"])
    except NotIsolated as reason:
        skip(tier, reason)


@pytest.mark.parametrize("tier", TIERS)
def test_where_there_are_many_libraries_their_folder_is_shown_and_closed(
    monkeypatch: pytest.MonkeyPatch, tier: str
) -> None:
    monkeypatch.setattr(packages, "MANY", 0)
    try:
        sandbox, _ = open_sandbox(tier, BUDGET, (), [])
    except NotIsolated as reason:
        skip(tier, reason)
    assert "/usr/lib" in sandbox.view.shown
    try:
        assert run(sandbox, "import sqlite3, jinja2") == ""
        body = (
            "for path in ('/usr/lib', '/usr/lib/python3/dist-packages', '/usr/lib/python3'):\n"
            "    try: raise RuntimeError(os.listdir(path))\n"
            "    except OSError: pass"
        )
        assert run(sandbox, body) == ""
    finally:
        sandbox.close()


@pytest.mark.parametrize("given", ["tier1"], indirect=True)
def test_on_the_first_tier_it_is_not_even_seen_what_lies_around(
    given: Sandbox, project: Path
) -> None:
    names = [project / "solution.py", project / "reference", project / ".venv" / "secret.py"]
    body = f"seen = [*filter(os.path.exists, {[*map(str, names)]!r})]\nassert not seen, seen"
    assert run(given, body) == ""


def test_the_scratch_folder_of_a_neighbour_is_closed(given: Sandbox) -> None:
    neighbour = given.fork("f", {"f.py": b"open('note.txt', 'w').write('mine')\n"})
    try:
        assert neighbour.perform(Request()).error is None
        # As this machine sees it; on the first tier it has a name inside alone.
        folder = os.path.dirname(os.readlink(f"/proc/{neighbour.host_pid}/cwd"))
        body = (
            "above = os.path.dirname(os.getcwd())\n"
            f"places = [above, {folder!r}]\n"
            f"places += [f'{{above}}/{os.getpid()}-{{n}}' for n in range(500)]\n"
            "own = os.getcwd()\n"
            "for place in places:\n"
            "    for attempt in (os.listdir, lambda place: open(place + '/note.txt').read()):\n"
            "        try: found = attempt(place)\n"
            "        except OSError: continue\n"
            "        if place != own and found != ['own']: raise RuntimeError((place, found))"
        )
        assert run(given, body) == ""
    finally:
        neighbour.close()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("broken-pkg", "raise ValueError('no licence')\n", "'broken-pkg' cannot be imported"),
        ("grading-pkg", "import autograder\n", "'grading-pkg' cannot be imported"),
        (
            "threaded-pkg",
            "from threading import *\nThread(target=Event().wait, daemon=True).start()\n",
            "starts a thread",
        ),
    ],
)
def test_a_package_that_spoils_the_fork_server_is_named(
    site: Path, name: str, text: str, said: str
) -> None:
    plant(site, name, {f"{name.replace('-', '_')}.py": text})
    with pytest.raises(SandboxFault, match=said):
        Sandbox(0, BUDGET, (), [name])
