"""Tables: no cell is a formula, and every text can be had back."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.grading.tables import defused, raw, table

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", '"=1', "'=1", "' \"@x", "＝1"]


@given(st.text())
@example("'")
@example("''=1")
@example(";=1")
@example(";'=1;\t;=")
def test_a_reader_gets_every_text_back(text: str) -> None:
    assert raw(defused(text)) == text


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_begins_as_a_formula(text: str) -> None:
    assert defused(text).startswith("'")


@pytest.mark.parametrize("text", ["a;=1", ";-1", "a; +1", "a\t@x", ";;=1", ";'=1"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_none_does_where_another_sign_separates_cells(text: str, separator: str) -> None:
    written = table([["a", f"{text} in a.zip", 1.0]]).decode()
    for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
        for cell in row:
            assert not cell.lstrip(' "').startswith(("=", "+", "-", "@"))


@pytest.mark.parametrize("text", ["ada", "a=b", "s-01", "87.5", "", "über", "1e5", "a; b"])
def test_plain_texts_stay_as_they_are(text: str) -> None:
    assert defused(text) == text


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_rows_come_back(texts: list[str]) -> None:
    written = table([[*texts, 0.5, None]]).decode()
    # As it is written in a file: with no change to the ends of lines.
    (row,) = csv.reader(io.StringIO(written, newline=""))
    assert [raw(cell) for cell in row[:-2]] == texts
    assert row[-2:] == ["0.5", ""]
