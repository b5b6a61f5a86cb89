"""Public checks of word_count.py. Source: handout, section 4."""

import pytest

TEXT = "The cat and the dog.\nThe end and THE cat"
LINES = "4 the\n2 and\n2 cat\n1 dog\n1 end\n"
NEWS = "News today: zebra, apple.\nNews!"


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_standard_input(component, expect):
    """the words of standard input are counted in lower case, the most frequent first"""
    program = component.run(stdin=TEXT).program
    expect.same(program.output, LINES, "standard output")
    expect.same(program.status, 0, "the exit status")


@pytest.mark.criterion(points=1.5, source="handout, section 4")
@pytest.mark.parametrize("top", [1, 3, 50])
def test_top(component, expect, top):
    """--top N leaves the first N lines"""
    program = component.run("--top", str(top), stdin="zoo yak zoo yak ant Zoo YAK bee\n").program
    lines = ["3 yak", "3 zoo", "1 ant", "1 bee"][:top]
    expect.same(program.output.splitlines(), lines, "the lines")
    expect.same(program.status, 0, "the exit status")


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_files(component, expect):
    """the files named are counted together, and standard input is left alone"""
    files = {"first.txt": TEXT, "second.txt": NEWS}
    program = component.run("first.txt", "second.txt", stdin="not this", files=files).program
    right = "4 the\n2 and\n2 cat\n2 news\n1 apple\n1 dog\n1 end\n1 today\n1 zebra\n"
    expect.same(program.output, right, "standard output")


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_out(component, expect):
    """--out FILE writes the lines to the file and prints nothing"""
    program = component.run("--out", "counts.txt", "text.txt", files={"text.txt": TEXT}).program
    expect.same(program.status, 0, "the exit status")
    expect.that("counts.txt" in program.files, "there is no file counts.txt")
    expect.same(program.files["counts.txt"].decode(), LINES, "the file")
    expect.same(program.output, "", "standard output")


@pytest.mark.criterion(points=1, source="handout, section 4")
def test_missing_file(component, expect):
    """a file that does not exist: a message on standard error, and the exit status 1"""
    files = {"text.txt": TEXT}
    expect.same(component.run("text.txt", files=files).program.status, 0, "the exit status")
    program = component.run("text.txt", "nowhere.txt", files=files).program
    expect.same(program.status, 1, "the exit status for a file that does not exist")
    expect.same(program.output, "", "standard output")
    expect.that("nowhere.txt" in program.errors, "the message does not name the file")
