"""Text from outside is shown as one short printable line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.text import clean, counted, points


@given(text=st.text(max_size=2000))
@settings(deadline=None, database=None, derandomize=True)
def test_hostile_text_becomes_one_short_printable_line(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable() or not shown
    assert len(shown) <= 300


def test_escape_sequences_do_not_survive() -> None:
    assert clean("a\x1b[31mred\x1b]0;title\x07\u202eevil\nnext") == "a [31mred ]0;title evil next"


def test_points_have_two_decimals_at_most_and_one_thing_is_one() -> None:
    assert [points(value) for value in (100.0, 95.0909, 0.5, 1 / 3, 0.0, 12345.678)] == [
        *("100", "95.09", "0.5", "0.33", "0", "12345.68")
    ]
    assert counted(1.0, "point") == "1 point"
    assert counted(0.999, "point") == "1 point"
    assert counted(1.5, "point") == "1.5 points"
    assert counted(0, "criterion", "criteria") == "0 criteria"
