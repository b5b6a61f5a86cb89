"""Results and submissions are not taken for one another."""

from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("batch", "lies in"),
        ("batch/results", "the next run would take the results for a submission"),
        ("project/reference", "name a folder outside of it"),
        ("project/assignments/norm/out", "name a folder outside of it"),
    ],
)
def test_results_lie_elsewhere(
    autograder, small_project: Path, write_class, tmp_path: Path, out: str, said: str
) -> None:
    batch = write_class({"s01": {"layer_norm.py": ""}})
    place = tmp_path / out
    before = sorted(tmp_path.rglob("*"))
    done = autograder(
        *("grade", batch, "--assignment", "norm", "--out", place, "--root", small_project)
    )
    assert done.returncode == 2 and said in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_of_results_is_no_class(
    autograder, small_project: Path, write_class, tmp_path: Path
) -> None:
    batch = write_class({"results": {"layer_norm.py": ""}})
    (batch / "results.csv").write_text("")
    out = tmp_path / "out"
    done = autograder(
        *("grade", batch, "--assignment", "norm", "--out", out, "--root", small_project)
    )
    assert done.returncode == 2 and "holds results, not submissions" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(("option", "value"), [("--jobs", "1"), ("--gradebook", "sqlite://")])
def test_the_option_that_does_not_fit_is_named(
    autograder, tmp_path: Path, option: str, value: str
) -> None:
    done = autograder("grade", tmp_path, "--one", option, value)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(f"leave out {option}")
