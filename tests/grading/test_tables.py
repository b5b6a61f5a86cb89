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


@pytest.mark.parametrize(
    "value, cell",
    [
        (1234.0, "1234"),
        (1234.5, "1234.5"),
        (0.0, "0"),
        (100.0, "100"),
        (33.333, "33.333"),
        (0.005, "0.005"),
        (0.1 + 0.2, "0.3"),
        (99.995, "99.995"),
        (2 / 3, "0.6667"),
        (1e-9, "0"),
        # Where six digits would not be enough for the four decimals that a result has.
        (1234.3333, "1234.3333"),
        (123456.7891, "123456.7891"),
        (1234567.5, "1234567.5"),
    ],
)
def test_a_number_is_as_short_as_it_can_be_and_not_rounded_away(value: float, cell: str) -> None:
    assert table([["s01", value]]) == f"s01,{cell}\n".encode()


@pytest.mark.parametrize("sign", [*"=+-@|%＝＋－＠", "\t", "\r", "\n", "\0"])
@pytest.mark.parametrize(
    "before", ["", " ", '"', "'", "`", "\u00a0", "\u200b", "\ufeff", " \u200b"]
)
def test_no_sign_begins_a_formula_behind_anything_that_is_passed_over(
    before: str, sign: str
) -> None:
    text = f"{before}{sign}SUM(1)"
    assert defused(text) == f"'{text}"
    assert raw(defused(text)) == text
    assert defused(f"a{text}") == f"a{text}"
