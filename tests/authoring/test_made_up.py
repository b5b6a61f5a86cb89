"""Made-up classes: what a submission shares with variants is taken from them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.assignment import load_assignment
from autograder.authoring.wrong_variants import write_class
from autograder.errors import UsageError
from tests.tiny import write_tiny

EDITS = "@@ no_more in plain: none\nit returns nothing\n-    return x\n+    return None\n"
Make = Callable[[str], dict[str, str]]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    """Write the class of a table, in which s02 has a file of its own; return all its files."""

    def make(table: str) -> dict[str, str]:
        root = write_tiny(tmp_path / "project")
        variants = root / "reference" / "norm" / "wrong_variants"
        (variants / "layer_norm").mkdir(parents=True)
        (variants / "layer_norm" / "plain.py").write_text("def layer_norm(x):\n    return x\n")
        (variants / "layer_norm.diff").write_text(EDITS)
        right = root / "reference" / "norm" / "right_variants" / "v1"
        right.mkdir(parents=True)
        (right / "layer_norm.py").write_text("# right\n")
        (right / "helper.py").write_text("# helps\n")
        folder = root / "tests" / "classes" / "norm"
        (folder / "s02").mkdir(parents=True)
        (folder / "s02" / "layer_norm.py").write_text("# own\n")
        folder.with_suffix(".toml").write_text(table)
        out = tmp_path / "out" / "class"
        write_class(load_assignment(root, "norm"), root, folder, out)
        files = [path for path in out.rglob("*") if path.is_file()]
        return {path.relative_to(out).as_posix(): path.read_text() for path in files}

    return make


OF = 'of = "reference/norm/right_variants/v1"\n'
WRONG = 'wrong = { layer_norm = "no_more" }\n'


def test_what_is_not_there_is_taken_from_where_the_table_says(made: Make) -> None:
    assert made(f"[s01]\n{OF}[s02]\n{OF}[s03]\n{OF}{WRONG}") == {
        "s01/helper.py": "# helps\n",
        "s01/layer_norm.py": "# right\n",
        "s02/helper.py": "# helps\n",
        "s02/layer_norm.py": "# own\n",
        "s03/helper.py": "# helps\n",
        "s03/layer_norm.py": "def layer_norm(x):\n    return None\n",
    }


def test_a_submission_of_which_the_table_says_nothing_stays_as_it_is(made: Make) -> None:
    assert made('[s02]\nabout = "its own"\n') == {"s02/layer_norm.py": "# own\n"}


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[s01]\nof = "reference/norm/right_variants/v9"\n', "s01: there are no files in .*v9"),
        (
            '[s01]\nwrong = { layer_norm = "no_moer" }\n',
            "s01: layer_norm has no wrong variant 'no_moer'",
        ),
    ],
)
def test_what_does_not_exist_is_refused(made: Make, table: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        made(table)
