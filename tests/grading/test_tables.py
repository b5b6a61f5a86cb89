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
def test_a_reader_gets_every_text_back(text: str) -> None:
    assert raw(defused(text)) == text


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_begins_as_a_formula(text: str) -> None:
    assert defused(text).startswith("'")
    assert defused(text) == "'" + text


@pytest.mark.parametrize("text", ["ada", "a=b", "s-01", "87.5", "", "über", "1e5"])
def test_plain_texts_stay_as_they_are(text: str) -> None:
    assert defused(text) == text


@given(st.lists(st.text(st.characters(codec="utf-8")), min_size=1, max_size=4))
def test_rows_come_back(texts: list[str]) -> None:
    written = table([[*texts, 0.5, None]]).decode()
    # As it is written in a file: with no change to the ends of lines.
    (row,) = csv.reader(io.StringIO(written, newline=""))
    assert [raw(cell) for cell in row[:-2]] == texts
    assert row[-2:] == ["0.5", ""]
