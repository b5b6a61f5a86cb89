"""A child has the packages that it is given, on each tier, and comes at nothing beside them."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from autograder.exchange.messages import Request
from autograder.exchange.operations import Call
from autograder.sandbox import paths
from autograder.sandbox.handle import SandboxFault
from autograder.sandbox.host import Sandbox
from autograder.sandbox.packages import strangers
from autograder.sandbox.tiers import NotIsolated, open_sandbox
from tests.conftest import BUDGET, TIERS, skip
from tests.planted import plant

pytestmark = pytest.mark.slow

CANARY = "canary-7f3a"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of packages with some to be given, and some with secrets."""
    folder = tmp_path_factory.mktemp("prefix") / "lib" / "site-packages"
    plant(folder, "wanted-pkg", {"wanted/__init__.py": "NAME = 'wanted'\n", "wanted/late.py": ""})
    plant(folder, "needs-it", {"needing.py": "import wanted\n"}, ["wanted-pkg", "space-a"])
    plant(folder, "space-a", {"space/a/__init__.py": "", "space/only.py": ""})
    plant(folder, "space-b", {"space/b/__init__.py": f"SECRET = '{CANARY}'\n"})
    secret = {"secrets_pkg/__init__.py": f"SECRET = '{CANARY}'\n", "secret_file.py": CANARY}
    plant(folder, "secrets-pkg", secret, notes={"direct_url.json": CANARY})
    (folder / "secret.pth").write_text(f"import sys; sys.canary = '{CANARY}'\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield folder


@pytest.fixture(scope="module", params=TIERS)
def given(request: pytest.FixtureRequest, site: Path) -> Iterator[Sandbox]:
    """A sandbox of each tier whose children have `needs-it`."""
    try:
        found, _ = open_sandbox(request.param, BUDGET, (), [], ["needs-it"])
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
        reply = child.perform(Request([Call("f", args=(torch.zeros(1),))]))
        return f"{reply.error.kind}: {reply.error.text}" if reply.error is not None else ""
    finally:
        child.close()


@pytest.mark.parametrize(
    "body",
    [
        "import wanted.late\nassert wanted.NAME == 'wanted'",
        "import needing",
        "import space.a, space.only",
        "import jinja2, sympy, typing_extensions",
        "import numpy.testing, torch.distributions",
        "assert importlib.metadata.version('wanted_pkg') == '1.0'",
        f"assert importlib.metadata.version('torch') == {torch.__version__!r}",
        # A folder that may not be listed is asked anew.
        "importlib.invalidate_caches()\nimport colorsys, xml.dom.minidom, sqlite3, wanted.late",
        "exit",
        "import inspect, statistics\nassert 'def mean' in inspect.getsource(statistics)",
    ],
)
def test_what_a_child_has(given: Sandbox, body: str) -> None:
    assert run(given, body) == ""


@pytest.mark.parametrize(
    "module",
    [
        *("secrets_pkg", "secret_file", "space.b", "pydantic", "pytest", "hypothesis", "pyseccomp"),
        *("autograder", "autograder.judge", "autograder.exchange", "autograder.sandbox.host"),
    ],
)
def test_what_a_child_cannot_import(given: Sandbox, site: Path, module: str) -> None:
    folders = [str(site), str(Path(pytest.__file__).parents[1]), str(Path(__file__).parents[2])]
    trying = (
        f"sys.path[:0] = {folders!r}\nimportlib.invalidate_caches()\n"
        f"importlib.import_module({module!r})"
    )
    for body in (f"import {module}", trying):
        assert run(given, body).partition(":")[0] in (
            "ModuleNotFoundError",
            "PermissionError",
            "ImportError",
        )


def test_what_a_child_cannot_open(given: Sandbox, site: Path) -> None:
    hidden = {*strangers(given.view.packages), Path(__file__).parents[2] / "autograder"}
    assert {site, site / "secret.pth", site / "secrets_pkg"} <= hidden
    paths = sorted(map(str, hidden))
    # The folders in which some may be seen, above those: what is in them is nobody's business.
    paths += [str(site / "secrets_pkg" / "__init__.py"), str(site / "space" / "b" / "__init__.py")]
    paths += [str(site.parent), sys.prefix, sys.base_prefix, f"{sys.base_prefix}/lib"]
    paths += [str(Path(pytest.__file__).parent), "/usr/lib", "/usr/local/lib", "/usr/local", "/"]
    paths += [str(path) for path in Path("/usr/lib/python3/dist-packages").glob("*")]
    paths += ["/proc/self/maps", "/proc/self/mountinfo"]
    body = (
        "opened = []\n"
        f"for path in {paths!r}:\n"
        "    for attempt in (os.listdir, lambda path: open(path).read()):\n"
        "        try:\n"
        "            opened.append((path, attempt(path)))\n"
        "        except OSError: pass\n"
        "if opened: raise AssertionError(opened)"
    )
    assert run(given, body) == ""


def test_nothing_in_memory_tells_of_the_rest(given: Sandbox, site: Path) -> None:
    body = (
        "names = {d.metadata['Name'] for d in importlib.metadata.distributions()}\n"
        "assert 'wanted-pkg' in names and 'torch' in names, names\n"
        "assert not names & {'secrets-pkg', 'space-b', 'gradeformer', 'pytest'}, names\n"
        "assert not hasattr(sys, 'canary')\n"
        "told = repr((sys.path, sys.argv, sys.orig_argv, sys.meta_path, sys.path_importer_cache))\n"
        "assert 'site-packages\\'' not in told and 'editable' not in told.lower(), told\n"
        f"assert {str(Path(__file__).parents[2] / 'autograder')!r} not in told, told\n"
    )
    assert run(given, body) == ""


def test_another_sandbox_does_not_have_it(sandbox: Sandbox, site: Path) -> None:
    assert run(sandbox, "import wanted").startswith("ModuleNotFoundError")


def test_where_nothing_is_kept_apart_the_same_can_be_imported(site: Path) -> None:
    sandbox = Sandbox(0, BUDGET, (), ["needs-it"])
    try:
        assert run(sandbox, "import needing, space.a, jinja2, torch.distributions") == ""
        for module in ("autograder", "autograder.exchange.guard", "secrets_pkg", "pytest"):
            assert run(sandbox, f"import {module}").startswith("ModuleNotFoundError")
    finally:
        sandbox.close()


def test_where_there_are_many_libraries_their_folder_holds_no_packages(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "_MANY", 0)
    try:
        sandbox, _ = open_sandbox("tier1", BUDGET, (), [])
    except NotIsolated as reason:
        skip("tier1", reason)
    assert "/usr/lib" in sandbox.view.shown
    assert not {f"{place}" for place in Path("/usr/lib").glob("*/dist-packages")} - {
        *sandbox.view.emptied
    }
    try:
        assert run(sandbox, "import sqlite3, jinja2") == ""
        body = (
            "for path in ('/usr/lib', '/usr/lib/python3/dist-packages', '/usr/lib/python3'):\n"
            "    try: raise RuntimeError(os.listdir(path))\n"
            "    except OSError: pass"
        )
        assert run(sandbox, body) == ""
        there = [str(path) for path in Path("/usr/lib").glob("*/dist-packages/*")]
        assert run(sandbox, f"assert not any(map(os.path.exists, {there!r}))") == ""
    finally:
        sandbox.close()


@pytest.mark.parametrize("given", ["tier1"], indirect=True)
def test_on_the_first_tier_it_is_not_even_seen_that_others_are_there(
    given: Sandbox, site: Path
) -> None:
    # Of what lies beside what is given, in the same folder, the folder is there.
    given_away = {
        site,
        site / "__pycache__",
        *(path.parent for path in given.view.packages.readable()),
    }
    hidden = [path for path in strangers(given.view.packages) if path not in given_away]
    assert site / "secrets_pkg" in hidden
    names = [str(path) for path in hidden if path.parent.name == "site-packages"]
    assert run(given, f"seen = [*filter(os.path.exists, {names!r})]\nassert not seen, seen") == ""


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
        (
            "threaded-pkg",
            "from threading import *\nThread(target=Event().wait, daemon=True).start()\n",
            "starts a thread",
        ),
    ],
)
def test_a_package_that_spoils_the_zygote_is_named(
    site: Path, name: str, text: str, said: str
) -> None:
    plant(site, name, {f"{name.replace('-', '_')}.py": text})
    with pytest.raises(SandboxFault, match=said):
        Sandbox(0, BUDGET, (), [name])
