"""Hidden checks of word_count.py: comparison with the reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

SEEDS = st.integers(0, 10_000)
WORDS = ("cat", "Cat", "dog", "it's", "'quoted'", "été", "ÉTÉ", "z", "a", "42", "a-z")


@pytest.mark.criterion(points=1.5, source="handout, section 4")
@given(seed=SEEDS, length=st.integers(20, 40))
def test_random_text(component, reference, expect, make, seed, length):
    """the counts of random texts are right"""
    text = " ".join(WORDS[n] for n in make.integers(length, seed=seed, below=len(WORDS)).tolist())
    right = reference.run(stdin=text).program
    program = component.run(stdin=text).program
    expect.same(program.output, right.output, "standard output")
    expect.same(program.status, 0, "the exit status")


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_apostrophes(component, reference, expect):
    """an apostrophe belongs to a word between two letters alone"""
    text = "don't 'don't' dogs' 'tis rock'n'roll x''y ' ''"
    right = reference.run(stdin=text).program.output
    expect.same(component.run(stdin=text).program.output, right, "standard output")


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_letters(component, reference, expect):
    """letters of other alphabets are letters; digits, hyphens and underscores are none"""
    text = "Äpfel äpfel ÄPFEL naïve Ωμέγα слово 4you well-known snake_case"
    right = reference.run(stdin=text).program.output
    expect.same(component.run(stdin=text).program.output, right, "standard output")


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_together(component, reference, expect):
    """options and files go together; a word ends with its file"""
    files = {"a.txt": "one two", "b.txt": b"two three\nd\xc3\xa9j\xc3\xa0", "c.txt": "vu one"}
    arguments = ("--top", "3", "--out", "top.txt", "a.txt", "b.txt", "c.txt")
    right = reference.run(*arguments, files=files).program
    program = component.run(*arguments, files=files).program
    expect.same(program.status, right.status, "the exit status")
    expect.that("top.txt" in program.files, "there is no file top.txt")
    expect.same(program.files["top.txt"], right.files["top.txt"], "the file")
    expect.same(program.output, "", "standard output")
