"""What `--cluster` may name, and what is said of anything else."""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import UsageError
from autograder.platforms.cluster.schedulers import Address, Local, Slurm, reached, wanted
from tests.tiny import write_tiny

WHOLE = """\
[slurm]
jobs = 3
cores = 4
memory = "16 GB"
queue = "short"
account = "cs1"
walltime = "01:00:00"
job_extra_directives = ["--constraint=new"]
"""


def test_every_form_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wanted("local:3") == Local(3)
    assert wanted("tcp://10.0.0.1:8786") == Address("tcp://10.0.0.1:8786")
    assert wanted("tls://[::1]:8786/") == Address("tls://[::1]:8786")
    (tmp_path / "local.toml").write_text(WHOLE)
    monkeypatch.chdir(tmp_path)
    found = wanted("local.toml")
    assert isinstance(found, Slurm)
    assert (found.jobs, found.cores, found.queue) == (3, 4, "short")
    assert found.job_extra_directives == ("--constraint=new",)


BAD = [
    "",
    "local",
    "local:",
    "local:0",
    "local:-1",
    "local:x",
    "local:9999",
    "local:1:2",
    "local:²",
]
BAD += ["tcp://", "tcp://host", "tcp://host:x", "tcp://host:99999", "http://host:1", "ucx://h:1"]
BAD += [
    "tcp://u:p@host:1",
    "tcp://host:1/path",
    "host:8786",
    "missing.toml",
    "dask.yaml",
    "tcp://[:1",
    "tcp://host:1?x=1",
]


@pytest.mark.parametrize("text", BAD)
def test_anything_else_is_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        wanted(text)
    said = str(refused.value)
    assert "--cluster" in said
    assert "\n" not in said


@given(text=st.text(max_size=40))
def test_no_text_raises_anything_else(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert isinstance(wanted(text), Local | Address | Slurm)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("colour = 1\n", "slurm.colour: there is no such key"),
        ("colour = 1\n", "has one table, [slurm], with jobs, cores, memory"),
        ("interface = 3\n", "slurm.interface"),
        ("[more]\n", "more: there is no such key"),
        ("processes = 0\n", "slurm.processes"),
        ("x = \n", "cannot be read as TOML"),
    ],
)
def test_a_file_that_is_wrong_names_the_key(tmp_path: Path, change: str, said: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text(WHOLE + change)
    with pytest.raises(UsageError) as refused:
        wanted(str(path))
    assert str(path) in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("jobs = 3", "jobs = 0", "slurm.jobs"),
        ("jobs = 3", "jobs = 10001", "slurm.jobs"),
        ("cores = 4", "cores = 0", "slurm.cores"),
        ("cores = 4", "cores = 1025", "slurm.cores"),
        ('memory = "16 GB"', 'memory = ""', "slurm.memory"),
    ],
)
def test_a_number_that_no_cluster_has_names_its_key(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    (tmp_path / "c.toml").write_text(WHOLE.replace(old, new))
    with pytest.raises(UsageError, match=said):
        wanted(str(tmp_path / "c.toml"))


def test_a_file_that_lacks_a_key_names_it(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(WHOLE.replace("cores = 4\n", ""))
    with pytest.raises(UsageError, match=r"slurm\.cores: Field required"):
        wanted(str(tmp_path / "c.toml"))
    (tmp_path / "c.toml").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="cannot be read as TOML"):
        wanted(str(tmp_path / "c.toml"))


def test_what_does_not_go_with_a_cluster_is_refused_before_anything_is_made(
    tmp_path: Path, autograder: Callable
) -> None:
    project = write_tiny(tmp_path / "project")
    (tmp_path / "batch" / "ada").mkdir(parents=True)
    common = ["grade", tmp_path / "batch", "--assignment", "norm", "--root", project]
    common += ["--out", tmp_path / "out"]
    for more, said in (
        (["--cluster", "local:1", "--jobs", "2"], "leave it out with --cluster"),
        (["--cluster", "local:1", "--one"], "leave out --cluster"),
        (["--cluster", "nowhere"], "'nowhere' names no cluster"),
    ):
        run = autograder(*common, *more)
        assert run.returncode == 2
        assert said in run.stderr
        assert len(run.stderr.splitlines()) == 1, run.stderr
    assert not (tmp_path / "out").exists()


def test_without_dask_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        contextlib.ExitStack() as stack,
        pytest.raises(UsageError, match=r"pip install 'gradeformer\[cluster\]'"),
    ):
        reached(Local(1), stack)
