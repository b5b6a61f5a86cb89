"""What a student wrote runs nowhere: not in formgrader's pages, not in feedback."""

import re
import warnings

import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

with warnings.catch_warnings():
    # nbconvert's own imports warn, and warnings are errors here.
    warnings.simplefilter("ignore")
    from nbconvert.exporters import HTMLExporter

    from autograder.platforms.nbgrader.pages import FeedbackExporter, cleaned

HOSTILE = [
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](  javascript:alert(1))",
    "[x](java&#x0A;script:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:x)",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](//evil.example/x)",
    "[x](file:///etc/passwd)",
    "<javascript:alert(1)>",
    "![x](https://evil.example/x.png)",
    "![x](//evil.example/x.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<iframe src='https://evil.example'></iframe>",
    "<style>@import url(https://evil.example/x.css)</style>",
    "<p style='background:url(https://evil.example/x)'>x</p>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<form action=https://evil.example><input name=x></form>",
    "<svg><a xlink:href='javascript:alert(1)'>x</a></svg>",
    "<input id='layer_norm' value='18'>",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\let\a\href \a{javascript:alert(1)}{x}$",
    r"$$\require{html}\style{background:url(https://evil.example)}{x}$$",
    r"$\cssId{layer_norm}{x}$",
    r"\\[\\class{score}{x}\\]",
    r'$\mmlToken{mi}[href="https://evil.example"]{x}$',
    r"$\csname href\endcsname{https://evil.example}{x}$",
    r"$\href{javascript:alert(1)}{x}$" + "[" * 5_000,
    "<script>alert(1)</script>" * 2_000,
]
KEPT = [
    ("[a](https://pytorch.org/docs)", 'href="https://pytorch.org/docs"'),
    ("[a](http://example.org)", 'href="http://example.org"'),
    ("[a](mailto:s01@example.org)", 'href="mailto:s01@example.org"'),
    ("[a](#section)", 'href="#section"'),
    ("**bold** and `code`", "<strong>bold</strong>"),
    ("| a | b |\n|---|---|\n| 1 | 2 |", "<td>1</td>"),
    ("```python\nx = 1\n```", "highlight"),
    (r"$\frac{a}{b} < c$", r"\frac{a}{b}"),
    ("![a](attachment:a.png)", 'src="data:image/png;base64,AAAA"'),
]
FILTER = {
    "markdown2html": "autograder.platforms.nbgrader.pages.harmless_markdown",
    "highlight_code": "autograder.platforms.nbgrader.pages.harmless_code",
}


def rendered(source: str, feedback: bool, code: bool = False) -> str:
    """Return the page of a workbook with one cell, as one of the two exporters makes it."""
    cell = new_code_cell(source) if code else new_markdown_cell(source)
    if not code:
        cell.attachments = {"a.png": {"image/png": "AAAA"}}
    config = Config({"HTMLExporter": {"filters": FILTER, "template_name": "classic"}})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exporter = (FeedbackExporter if feedback else HTMLExporter)(config=config)
        html: str = exporter.from_notebook_node(new_notebook(cells=[cell]))[0]
    return html


@pytest.mark.parametrize("source", HOSTILE)
def test_nothing_of_a_text_runs_or_calls_home(source: str) -> None:
    soup = BeautifulSoup(rendered(source, feedback=False), "html.parser").body
    assert soup is not None
    text = soup.select_one(".text_cell_render")
    assert text is not None
    for element in text.find_all(True):
        assert element.name not in {
            *("script", "iframe", "style", "link", "form", "input", "svg", "object", "base"),
        }
        for name, value in element.attrs.items():
            assert name not in ("id", "name", "style", "xlink:href") and not name.startswith("on")
            if name == "href":
                assert re.match(r"(https?://|mailto:|#)", value)
            if name == "src":
                assert value.startswith("data:image/png")
    assert not re.search(r"\\(href|require|style|cssId|class|mmlToken|csname)\b", text.get_text())


@pytest.mark.parametrize("feedback", [True, False])
@pytest.mark.parametrize("source, kept", KEPT)
def test_honest_texts_look_as_before(source: str, kept: str, feedback: bool) -> None:
    assert kept in rendered(source, feedback)


@pytest.mark.parametrize("sign", ["[", "![](", "*", "_", "`", "<", "$", "\\\\", "(", "x "])
def test_a_text_of_which_a_reader_would_make_much_work_is_shown_as_it_is(sign: str) -> None:
    source = sign * 60_000
    soup = BeautifulSoup(rendered(source, feedback=False), "html.parser")
    text = soup.select_one(".text_cell_render pre")
    assert text is not None
    assert text.get_text() == source


@pytest.mark.parametrize("source", ["x=(\\\n" * 20_000, "'" * 50_000, "a = 1\n" * 20_000])
def test_code_of_which_a_reader_would_make_much_work_has_no_colours(source: str) -> None:
    soup = BeautifulSoup(rendered(source, feedback=False, code=True), "html.parser")
    text = soup.select_one(".highlight pre")
    assert text is not None
    assert text.get_text().strip() == source.strip()
    assert text.find("span") is None


def test_code_is_in_colours() -> None:
    page = rendered("def double(x):\n    return 2 * x", feedback=True, code=True)
    assert '<span class="k">def</span>' in page


def test_a_feedback_page_begins_with_its_policy() -> None:
    soup = BeautifulSoup(rendered("text", feedback=True), "html.parser")
    assert soup.head is not None
    first = soup.head.find(True)
    assert first.attrs["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.strip().split(" ", 1) for part in first["content"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    # No link runs a script, and no script that is not of the page's own head.
    assert "'unsafe-inline'" not in policy["script-src"]
    urls = [part for part in policy["script-src"].split() if part.startswith("http")]
    assert urls == ["https://cdnjs.cloudflare.com/ajax/libs/mathjax/"]


def test_what_is_clean_stays_clean() -> None:
    once = cleaned('<p>a &amp; <a href="#x">b</a> &lt;script&gt;</p>')
    assert cleaned(once) == once
