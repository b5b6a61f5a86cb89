"""Text from outside is shown as one short printable line."""

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.text import clean


@given(text=st.text(max_size=2000))
@settings(deadline=None, database=None, derandomize=True)
def test_hostile_text_becomes_one_short_printable_line(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable() or not shown
    assert len(shown) <= 300


def test_escape_sequences_do_not_survive() -> None:
    assert clean("a\x1b[31mred\x1b]0;title\x07\u202eevil\nnext") == "a [31mred ]0;title evil next"
