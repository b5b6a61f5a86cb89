"""With neither namespaces nor Landlock, root grades on tier 3, and others are told why not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import sources
from tests.conftest import ROOT

# Each starts graders of its own; tests/grading/test_tiers.py has tier 3 once.
pytestmark = pytest.mark.slow
SYS_CHROOT = 18
# What an honest submission may import late, and what one that is not looks for.
HONEST = f"import decimal, json, statistics, sqlite3, torch.distributions\n{sources.RIGHT}"
PRYING = (
    "import os, torch\n"
    "from pathlib import Path\n"
    f"PLACES = [{str(ROOT / 'reference')!r}, '/etc', '/tmp', '/root', '/home', '/proc/1']\n"
    "def layer_norm(x, *args, **kwargs):\n"
    "    for folder in PLACES:\n"
    "        for place, _, files in os.walk(folder):\n"
    "            for name in files:\n"
    "                raise RuntimeError('FOUND ' + open(os.path.join(place, name)).read())\n"
    "    Path('/etc/passwd').read_text()\n"
)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="tier 3 CANNOT BE TESTED HERE: not root")


def bare(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bare", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.release
@as_root
def test_a_class_is_graded_on_tier_3(small_project: Path, write_class, tmp_path: Path) -> None:
    settings = small_project / "assignments" / "norm" / "assignment.toml"
    # The sandbox is tried: what is out of the ordinary runs.
    settings.write_text(settings.read_text().replace("[rules]\n", '[rules]\nreview = "note"\n'))
    batch = write_class({"honest": {"layer_norm.py": HONEST}, "prying": {"layer_norm.py": PRYING}})
    out = tmp_path / "out"
    grade = [sys.executable, "-m", "autograder", "grade", batch, "--assignment", "norm"]
    done = bare(*grade, "--root", small_project, "--out", out, "--jobs", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "sandbox tier 3: " in " ".join(done.stdout.split())
    results = {path.stem: json.loads(path.read_text()) for path in (out / "results").iterdir()}
    assert results["honest"]["score"] == results["honest"]["max_score"]
    assert results["prying"]["score"] == 0
    assert results["prying"]["sandbox"].startswith("tier 3: ")
    said = json.dumps(results["prying"])
    assert "No such file or directory: '/etc/passwd'" in said
    assert "FOUND" not in said


def asked(choice: str, before: str = "") -> str:
    """Open a sandbox in a bare process, with some code before; return why it is refused."""
    code = (
        "import os, sys\n"
        "from autograder.sandbox.tiers import NotIsolated, open_sandbox\n"
        "from tests.bare import take_away\n"
        "from tests.conftest import BUDGET\n"
        f"{before}\n"
        "take_away()\n"
        f"try: open_sandbox({choice!r}, BUDGET, (), [])[0].close()\n"
        "except NotIsolated as reason: print('REFUSED', reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@as_root
def test_another_user_is_told_to_be_root() -> None:
    said = asked("auto", "os.setgroups([]); os.setresgid(*[65534] * 3); os.setresuid(*[65534] * 3)")
    assert said.startswith("REFUSED")
    assert "tier 2: this kernel has no Landlock" in said
    assert "tier 3: it needs the grader to run as root (this is user 65534)" in said
    assert "--sandbox none" in said


@as_root
def test_root_without_a_right_is_told_which() -> None:
    code = "from autograder.sandbox import tiers\nprint(tiers.lacking(3))\n"
    done = bare("--without", str(SYS_CHROOT), sys.executable, "-c", code)
    assert "it lacks CAP_SYS_CHROOT" in done.stdout, done.stderr
    assert "--cap-add SYS_CHROOT" in done.stdout
    assert bare(sys.executable, "-c", code).stdout == "\n"


@as_root
@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("os.setresuid = os.setresgid = lambda *ids: None", "change a file that it may read"),
        pytest.param(
            "os.closerange = lambda *ends: None",
            "list a folder that was opened before",
            marks=pytest.mark.release,
        ),
    ],
)
def test_a_jail_that_does_not_hold_is_refused(broken: str, said: str) -> None:
    # The far side is a program of its own, which is spoiled before anything of ours runs in it.
    spoil = f"import ctypes, os; os.open('/', os.O_RDONLY); {broken}; "
    before = (
        "import subprocess\n"
        "class Spoiled(subprocess.Popen):\n"
        "    def __init__(self, command, **kwargs):\n"
        f"        super().__init__([*command[:-1], {spoil!r} + command[-1]], **kwargs)\n"
        "subprocess.Popen = Spoiled\n"
    )
    told = asked("tier3", before)
    assert told.startswith("REFUSED")
    assert said in told
