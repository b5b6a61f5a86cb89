"""No mark depends on the caller's environment, folder or configuration."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import environment
from tests import sources
from tests.grading.processes import descendants

# Each starts a command of its own.
pytestmark = pytest.mark.slow

# Values that would matter to whoever looks: what fails is seen.
WORDS = {
    "PYTEST_ADDOPTS": "-k nothing_is_called_so --color=yes",
    "PYTEST_PLUGINS": "no_such_plugin",
    "PYTEST_THEME": "none",
    "PYTHONOPTIMIZE": "2",
    "PYTHONWARNINGS": "error",
    "PYTHONHASHSEED": "7",
    "PYTHONINTMAXSTRDIGITS": "640",
    "PYTHONDEVMODE": "1",
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii",
    "PYTHONBREAKPOINT": "no.such",
    "PYTHONSTARTUP": "/nowhere",
    "LANG": "C",
    "LC_ALL": "C",
    "TZ": "Pacific/Kiritimati",
    "CI": "1",
    "COLUMNS": "20",
    "LINES": "3",
    "NO_COLOR": "1",
    "FORCE_COLOR": "1",
    "PY_COLORS": "1",
    "TERM": "dumb",
    "HYPOTHESIS_STORAGE_DIRECTORY": "/nowhere",
    "HYPOTHESIS_NO_PLUGINS": "1",
    "OPENBLAS_CORETYPE": "Prescott",
    "OMP_NUM_THREADS": "3",
    "MKL_NUM_THREADS": "3",
    "OPENBLAS_NUM_THREADS": "3",
    "CUDA_VISIBLE_DEVICES": "0",
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "ONEDNN_MAX_CPU_ISA": "SSE41",
    "DNNL_DEFAULT_FPMATH_MODE": "BF16",
    "NPY_DISABLE_CPU_FEATURES": "AVX2 AVX512F",
    "TORCH_SHOW_CPP_STACKTRACES": "1",
    "TORCH_LOGS": "+all",
    "SETUPTOOLS_USE_DISTUTILS": "stdlib",
    "DASK_CONFIG": "/nowhere",
}
_PREFIXES = (
    *("PYTEST_", "HYPOTHESIS_", "TORCH_", "TORCHINDUCTOR_", "PYTORCH_", "ATEN_", "OMP_", "GOMP_"),
    *("KMP_", "MKL_", "OPENBLAS_", "BLIS_", "VECLIB_", "NUMEXPR_", "NUMBA_", "NPY_", "NUMPY_"),
    *("DNNL_", "ONEDNN_", "COVERAGE_", "GRADEFORMER_TEST_", "LC_", "SLURM_", "NBGRADER_", "DASK_"),
)
PLANTED = WORDS | {f"{start}PLANTED_{n}": "1" for start in _PREFIXES for n in range(8)}


def grade(batch: Path, project: Path, folder: Path, **planted: str) -> dict[str, object]:
    """Grade with the command, started in a folder; return the results without what they took."""
    out = folder / "out"
    words = ["grade", batch, "--assignment", "norm", "--root", project, "--out", out]
    done = subprocess.run(
        [sys.executable, "-m", "autograder", *words, "--sandbox", "none"],
        env={**os.environ, **planted},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {path.stem: json.loads(path.read_text()) for path in (out / "results").iterdir()}
    for result in found.values():
        del result["duration_s"]
        for component in result["components"].values():
            del component["usage"]
    return found


def test_marks_are_the_same_with_two_hundred_variables_and_an_ini_file(
    small_project: Path, write_class, tmp_path: Path
) -> None:
    wrong = sources.RIGHT.replace("unbiased=False", "unbiased=True")
    batch = write_class({"right": {"layer_norm.py": sources.RIGHT}, "w": {"layer_norm.py": wrong}})
    plain, planted = tmp_path / "plain", tmp_path / "planted"
    for folder in (plain, planted):
        folder.mkdir()
    # Above the batch and the project, and where the command is started.
    for folder in (tmp_path, planted):
        (folder / "pytest.ini").write_text("[pytest]\naddopts = -k nothing_is_called_so\n")
        (folder / "conftest.py").write_text("raise RuntimeError('read')\n")
    assert len(PLANTED) > 200
    before = grade(batch, small_project, plain)
    assert before["right"]["score"] == before["right"]["max_score"]  # type: ignore[index]
    assert grade(batch, small_project, planted, **PLANTED) == before


def test_worker_and_fork_server_have_the_short_list_alone(
    small_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder.assignment import load_assignment
    from autograder.grading.workers import Worker

    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    worker = Worker(load_assignment(small_project, "norm"), "none")
    try:
        worker.wait()
        for pid in (worker.pid, *descendants(worker.pid)):
            lines = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            found = dict(line.decode().split("=", 1) for line in lines if line)
            assert not {name: found[name] for name in PLANTED if found.get(name) == PLANTED[name]}
    finally:
        worker.close()


def test_what_is_done_alone_has_the_list_and_gives_everything_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)
    before = dict(os.environ)
    with environment.alone():
        assert dict(os.environ) == environment.for_marks()
        assert not {name for name in WORDS if os.environ.get(name) == WORDS[name]}
    assert dict(os.environ) == before


@pytest.mark.parametrize("name", ["PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONOPTIMIZE"])
def test_a_release_is_made_whatever_is_set(small_project: Path, tmp_path: Path, name: str) -> None:
    words = ["release", "norm", "--root", small_project, "--out", tmp_path / "handout"]
    done = subprocess.run(
        [sys.executable, "-m", "autograder", *words],
        env={**os.environ, name: WORDS[name]},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
