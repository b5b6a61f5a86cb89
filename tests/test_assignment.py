"""Reading assignment.toml: what is wrong is named with its place, its value and the repair."""

from pathlib import Path

import pytest

from autograder.assignment import Assignment, find_root, load_assignment
from autograder.errors import UsageError


def test_the_points_are_those_of_the_handout(assignment: Assignment) -> None:
    assert list(assignment.totals.values()) == [14, 12, 18, 18, 12, 16, 10]
    assert assignment.max_score == 100


def test_an_unknown_assignment_names_the_known_ones(small_project: Path) -> None:
    with pytest.raises(UsageError, match="no assignment 'nrm'; there is: norm"):
        load_assignment(small_project, "nrm")


@pytest.mark.parametrize("name", ["../norm", "", "norm/tests", "/"])
def test_a_name_that_leads_elsewhere_is_unknown(small_project: Path, name: str) -> None:
    with pytest.raises(UsageError, match="no assignment"):
        load_assignment(small_project, name)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("schema = 1", "schema = ", "not valid TOML"),
        ("schema = 1", "schema = 2", r"schema: .*\(it is 2\)"),
        ("points = 14", "points = -1", r"components\.0\.points: .*\(it is -1\)"),
        ("points = 14", "pionts = 14", r"components\.0\.points: Field required"),
        ('name = "layer_norm"', 'name = "layer-norm"', "cannot be the name of a Python module"),
        ('"rms_norm"', '"rmsnorm"', "'rmsnorm' is no known operation; known: layer_norm"),
        ("deaths = 3", "deaths = 0", r"limits\.deaths: .*\(it is 0\)"),
        ('name = "norm"', 'name = "other"', "its folder is called 'norm'"),
    ],
)
def test_a_malformed_file_is_one_sentence(
    small_project: Path, old: str, new: str, said: str
) -> None:
    path = small_project / "assignments" / "norm" / "assignment.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=said) as caught:
        load_assignment(small_project, "norm")
    assert str(path) in str(caught.value)


def test_the_project_is_found_from_below_it(
    small_project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small_project / "assignments" / "norm")
    assert find_root(None) == small_project
    with pytest.raises(UsageError, match="--root"):
        find_root(small_project / "assignments")


@pytest.mark.parametrize(
    "path",
    ["reference/norm/layer_norm.py", "assignments/norm/tests/test_layer_norm.py"],
)
def test_the_suite_hash_follows_every_source(small_project: Path, path: str) -> None:
    before = load_assignment(small_project, "norm").suite_hash()
    assert load_assignment(small_project, "norm").suite_hash() == before
    (small_project / path).write_text((small_project / path).read_text() + "# changed\n")
    assert load_assignment(small_project, "norm").suite_hash() != before
