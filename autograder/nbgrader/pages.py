"""Pages that nbgrader makes of workbooks: nothing of a student's runs in them, or calls home.

Markdown is cleaned after it is rendered, when there is one way left to read it: by allow-lists of
tags, attributes and schemes. Feedback pages carry a content security policy besides.
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import Any

import bleach
from bs4 import BeautifulSoup
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

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
_MACRO = re.compile(r"\\+(?=(?:href|url|class|cssId|style|require|unicode|data|bbox)(?![A-Za-z]))")
_MATHJAX = "https://cdnjs.cloudflare.com/ajax/libs/mathjax/"


@pass_context
def harmless_markdown(context: Any, source: str) -> str:
    """Render a Markdown cell; what a browser would act on stays in it as text."""
    cell = context.get("cell", {})
    renderer = IPythonRenderer(
        escape=False, attachments=cell.get("attachments", {}), exclude_anchor_links=True
    )
    return cleaned(MarkdownWithMath(renderer=renderer).render(source))


def cleaned(html: str) -> str:
    """Return HTML with nothing in it but what is allowed; formulas can make no links."""
    allowed: str = bleach.clean(
        html, tags=_TAGS, attributes=_allowed, protocols={"http", "https", "mailto", "data"}
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

    def from_notebook_node(self, nb: Any, resources: Any = None, **more: Any) -> tuple[str, Any]:
        """Convert a workbook."""
        html, found = super().from_notebook_node(nb, resources=resources, **more)
        return guarded(html), found


def guarded(html: str) -> str:
    """Return a page with a policy that runs the scripts of its head alone, and loads no others.

    These are MathJax, in its safe mode, and what sets it up.
    """
    soup = BeautifulSoup(html, features="html.parser")
    if soup.head is None:
        return html
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
    return str(soup)
