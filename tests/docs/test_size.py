"""The script that measures the size of the package."""

from tests.benchmarks.size import room_of, size_of, terms_of

_MODULE = '''"""A docstring

of three lines."""

# A comment.
import os


def here() -> str:
    """Another."""
    return os.path.join(
        "a",  # a comment behind code

        "b",
    )
'''


def test_docstrings_comments_and_blank_lines_are_not_code() -> None:
    assert size_of(_MODULE).code == 6
    assert size_of(_MODULE).lines == 15


def test_layout_changes_no_nodes() -> None:
    assert size_of("a = f(1, 2)\n").nodes == size_of("a = f(\n    1,\n\n    2,\n)\n").nodes


def test_one_more_name_is_more_nodes() -> None:
    assert size_of("x = a + b\n").nodes < size_of("x = a + b + c\n").nodes


def test_rooms() -> None:
    assert room_of("autograder/results.py") == "autograder"
    assert room_of("autograder/api/values.py") == "autograder/api"
    assert room_of("autograder/platforms/ci/api.py") == "autograder/platforms/ci"
    assert room_of("reference/hw/tests/test_a.py") == "reference/hw"
    assert room_of("tests/conftest.py") == "tests"


def test_a_glossary_has_as_many_terms_as_rows() -> None:
    assert terms_of("# Glossary\n\n| term | meaning |\n|---|---|\n| a | b |\n| c | d |\n") == 2
