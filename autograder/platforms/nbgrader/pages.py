"""Pages that nbgrader makes of workbooks: nothing of a student's runs in them, or calls home.

Markdown is cleaned after it is rendered, when there is one way left to read it: by allow-lists of
tags, attributes and schemes. Feedback pages carry a content security policy besides.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import Any

import bleach
from bs4 import BeautifulSoup
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.highlight import Highlight2HTML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from autograder.platforms.nbgrader.exchange import forgive

_TAGS = {
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "div", "dl", "dt", "em"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "s"),
    *("span", "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
# Of pages that a reader may want to open, and places in the same page.
_LINK = re.compile(r"(https?://|mailto:|#)", re.IGNORECASE)
# A picture that came with the workbook. Any other would be fetched from somewhere.
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*\Z")
_PLAIN = {"alt", "title", "colspan", "rowspan", "class"}
# Macros with which a formula makes links, loads code, or takes another element's name or style.
_MACRO = re.compile(
    r"(?<!\\)\\++(?=(?:href|url|class|cssId|style|require|unicode|data|bbox|mmlToken|csname)(?![A-Za-z]))"
)
# Readers of Markdown and of code take time by the square of how many of these there are. A text of
# which one is there more often is shown as it is; so is one that is longer.
_SIGNS = "[]()*_`<>$\\~|#!&\"'"
_MOST_SIGNS = 2_000
_LONGEST = 100_000
_MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"


@pass_context
def harmless_markdown(context: Any, source: str) -> str:
    """Render a Markdown cell; what a browser would act on stays in it as text."""
    if _takes_long(source):
        # nbconvert looks for links in what comes of it, too.
        shown = _MACRO.sub("", html.escape(source)).replace("[", "&#91;")
        return f"<pre>{shown}</pre>"
    cell = context.get("cell", {})
    renderer = IPythonRenderer(
        escape=False, attachments=cell.get("attachments", {}), exclude_anchor_links=True
    )
    return cleaned(MarkdownWithMath(renderer=renderer).render(source))


def harmless_code(source: str, language: str | None = None, metadata: Any = None) -> str:
    """Render a code cell, in colours where that takes no time."""
    if _takes_long(source):
        return f'<div class="highlight"><pre>{html.escape(source)}</pre></div>'
    rendered: str = Highlight2HTML()(source, language=language, metadata=metadata)
    return rendered


def _takes_long(source: str) -> bool:
    return len(source) > _LONGEST or any(source.count(sign) > _MOST_SIGNS for sign in _SIGNS)


def cleaned(page: str) -> str:
    """Return HTML with nothing in it but what is allowed; formulas can make no links."""
    allowed: str = bleach.clean(
        page, tags=_TAGS, attributes=_allowed, protocols={"http", "https", "mailto", "data"}
    )
    return _MACRO.sub("", allowed)


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "a" and name == "href":
        return _LINK.match(value) is not None
    if tag == "img" and name == "src":
        return _PICTURE.match(value) is not None
    # No `id` and no `name`: a page finds its own elements by them. No `style`: it could cover them.
    return name in _PLAIN


class FeedbackExporter(HTMLExporter):  # type: ignore[misc]
    """Makes feedback pages that a content security policy guards."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        forgive(self.parent)

    def from_notebook_node(self, nb: Any, resources: Any = None, **more: Any) -> tuple[str, Any]:
        """Convert a workbook.

        The page runs the scripts of its head alone, and loads no others. These are MathJax, in its
        safe mode, and what sets it up.
        """
        page, found = super().from_notebook_node(nb, resources=resources, **more)
        soup = BeautifulSoup(page, features="html.parser")
        if soup.head is None:
            return page, found
        scripts = [script.string or "" for script in soup.head.find_all("script", src=False)]
        digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
        hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
        policy = (
            f"default-src 'none'; script-src {_MATHJAX} 'unsafe-eval' {hashes}; "
            f"style-src 'unsafe-inline'; img-src data:; font-src {_MATHJAX} data:; "
            "base-uri 'none'; form-action 'none'"
        )
        about = {"http-equiv": "Content-Security-Policy", "content": policy}
        # First, because it holds for what comes after it.
        soup.head.insert(0, soup.new_tag("meta", attrs=about))
        return str(soup), found
