"""Bad input is one sentence and exit code 2, and nothing is lost."""

from pathlib import Path

import pytest


@pytest.fixture
def batch(write_class) -> Path:
    return write_class({"s01": {"layer_norm.py": "x = 1\n"}})


def grade(autograder, batch: Path, out: Path, root: Path, *more: str, name: str = "norm"):
    return autograder(
        "grade", batch, "--assignment", name, "--out", out, "--root", root, *more, "--jobs", "1"
    )


def refused(done, *words: str) -> None:
    assert done.returncode == 2, done.stdout + done.stderr
    lines = done.stderr.strip()
    assert lines.startswith("autograder: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in " ".join(lines.split()), lines


def test_a_missing_batch(autograder, small_project, tmp_path) -> None:
    done = grade(autograder, tmp_path / "nothing", tmp_path / "out", small_project)
    refused(done, "does not exist", "one submission an entry")


def test_a_file_for_a_batch(autograder, small_project, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    refused(grade(autograder, tmp_path / "file", tmp_path / "out", small_project), "is a file")


def test_an_empty_batch(autograder, small_project, tmp_path) -> None:
    (tmp_path / "empty").mkdir()
    refused(grade(autograder, tmp_path / "empty", tmp_path / "out", small_project), "is empty")


def test_an_unknown_assignment(autograder, batch, small_project, tmp_path) -> None:
    done = grade(autograder, batch, tmp_path / "out", small_project, name="nrm")
    refused(done, "no assignment 'nrm'", "there is: norm")


def test_a_malformed_assignment(autograder, batch, small_project, tmp_path) -> None:
    path = small_project / "assignments" / "norm" / "assignment.toml"
    path.write_text("schema = [")
    refused(grade(autograder, batch, tmp_path / "out", small_project), "not valid TOML")


def test_an_out_folder_that_is_a_file(autograder, batch, small_project, tmp_path) -> None:
    (tmp_path / "out").write_text("precious")
    done = grade(autograder, batch, tmp_path / "out", small_project)
    refused(done, "cannot hold results", "give a folder you can write to")
    assert (tmp_path / "out").read_text() == "precious"


def test_an_out_folder_that_cannot_be_written(autograder, batch, small_project) -> None:
    # Not even root can write here.
    done = grade(autograder, batch, Path("/proc/gradeformer"), small_project)
    refused(done, "cannot hold results")


def test_an_unknown_sandbox(autograder, batch, small_project, tmp_path) -> None:
    done = grade(autograder, batch, tmp_path / "out", small_project, "--sandbox", "tier9")
    refused(done, "'tier9' is unknown; choose one of auto, tier1, tier2, none")


def test_a_broken_suite(autograder, batch, small_project, tmp_path) -> None:
    path = small_project / "reference" / "norm" / "tests" / "test_layer_norm.py"
    path.write_text(path.read_text().replace("points=1,", "points=2,", 1))
    done = grade(autograder, batch, tmp_path / "out", small_project)
    refused(done, "the suite of norm is broken", "assignment.toml gives it 14")


def test_outside_a_project(autograder, tmp_path) -> None:
    done = autograder("release", "norm", "--out", tmp_path / "out", cwd=tmp_path)
    refused(done, "--root")


def test_a_drifted_stub_is_not_released(autograder, small_project, tmp_path) -> None:
    stub = small_project / "assignments" / "norm" / "layer_norm.py"
    stub.write_text(stub.read_text() + "# changed\n")
    arguments = ("release", "norm", "--out", tmp_path / "out", "--root", small_project)
    refused(autograder(*arguments), "layer_norm.py differ", "autograder stubs norm")
    assert autograder("stubs", "norm", "--root", small_project).returncode == 0
    assert autograder(*arguments).returncode == 0
