"""A component's result as a piece of HTML: criteria, messages and views, every text escaped."""

from __future__ import annotations

import base64
import functools
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

_MARKS = {
    "passed": ("✓", "#1a7f37"),
    "failed": ("✗", "#c62828"),
    "student_error": ("✗", "#c62828"),
    "timeout": ("⧗", "#c62828"),
    "crashed": ("✗", "#c62828"),
}
_OTHER = ("–", "#6b6b6b")
# Styles stand on the elements: the page lands in notebooks and pages that have their own.
_PAGE = """\
<div style="font-family:sans-serif;font-size:14px;line-height:1.4;color:#1f1f1f;background:#fff;\
padding:6px;max-width:62em;overflow-wrap:anywhere">
<p style="margin:4px 0"><b>{{ headline }}</b></p>
{% for line in notes %}<p style="margin:4px 0">{% if line.cause %}<b>Likely cause:</b> {% endif %}\
{{ line.text }}</p>
{% endfor %}{% if rows %}<table style="border-collapse:collapse;table-layout:auto;\
width:100%;font-size:13px">
{% for row in rows %}<tr style="border-top:1px solid #ddd;background:#fff">
<td style="color:{{ row.colour }};padding:3px 6px;vertical-align:top;text-align:center">\
<b>{{ row.sign }}</b></td>
<td style="padding:3px 6px;text-align:left">{{ row.title }}
{% for line in row.lines %}<br><span style="color:#444">{% if line.cause %}<b>Likely cause:</b> \
{{ line.text }}{% else %}{{ line.text }}{% endif %}</span>
{% endfor %}{% if row.source %}<span style="color:#666"> ({{ row.source }})</span>{% endif %}</td>
<td style="padding:3px 6px;vertical-align:top;text-align:right;white-space:nowrap">\
{{ row.points }}</td>
</tr>
{% endfor %}</table>
{% endif %}{% for view in views %}<div style="display:inline-block;vertical-align:top;\
margin:10px 18px 4px 0"><b style="font-size:13px">{{ view.title }}</b>
{% if view.note %}<div style="color:#444;font-size:12px;max-width:36em">{{ view.note }}</div>
{% endif %}{% if view.kind == "table" %}<table style="border-collapse:collapse;font-size:13px">
<tr>{% for name in view.header %}<th style="padding:2px 8px;text-align:left">{{ name }}</th>\
{% endfor %}</tr>
{% for cells in view.rows %}<tr style="border-top:1px solid #ddd">{% for cell in cells %}\
<td style="padding:2px 8px;text-align:left">{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table>
{% elif view.kind == "bars" %}<table style="border-collapse:collapse;font-size:12px">
{% for bar in view.drawn %}<tr><td style="padding:1px 6px;text-align:right">{{ bar.label }}</td>\
<td style="padding:1px 6px;text-align:left"><div style="display:inline-block;height:10px;\
background:#3b6ea5;width:{{ bar.width }}px"></div> {{ bar.number }}</td></tr>
{% endfor %}</table>
{% elif view.kind == "heatmap" %}<table style="border-collapse:collapse;font-size:11px">
<tr>{% if view.rows %}<td style="padding:0 4px 0 0;text-align:right;vertical-align:top">\
{% for label in view.rows %}<div style="height:{{ view.cell }}px;line-height:{{ view.cell }}px;\
white-space:nowrap">{{ label }}</div>{% endfor %}</td>{% endif %}
<td style="padding:0">{% if view.png %}<img alt="{{ view.title }}" style="display:block;\
border:0;max-width:none;width:{{ view.width }}px;height:{{ view.height }}px" \
src="data:image/png;base64,{{ view.png }}">{% else %}Install matplotlib to see the picture.\
{% endif %}</td></tr>
{% if view.columns %}<tr>{% if view.rows %}<td></td>{% endif %}<td style="padding:0;\
white-space:nowrap;text-align:left">{% for label in view.columns %}\
<div style="display:inline-block;width:{{ view.cell }}px;text-align:center;vertical-align:top">\
<span style="writing-mode:{{ view.writing }}">{{ label }}</span></div>{% endfor %}</td></tr>
{% endif %}<tr>{% if view.rows %}<td></td>{% endif %}<td style="padding:2px 0;color:#444;\
text-align:left">{{ view.legend }}</td></tr>
</table>
{% endif %}</div>
{% endfor %}</div>
"""
_DOCUMENT = """\
<!DOCTYPE html>
<html lang="en"><head>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta charset="utf-8"><title>Results</title>
</head><body>
"""


@dataclass(frozen=True)
class Line:
    """A line of a message; a `cause` is the likely one."""

    text: str
    cause: bool = False


@dataclass(frozen=True)
class Row:
    """One criterion on a page; `cases` share its points, and `passed` of them pass."""

    title: str
    outcome: str
    score: float
    max_score: float
    lines: Sequence[Line] = ()
    source: str = ""
    passed: int = 0
    cases: int = 1


def page(
    headline: str, notes: Sequence[Line], rows: Sequence[Row], views: Sequence[Mapping[str, Any]]
) -> str:
    """Return the HTML of one component.

    Args:
        headline: its first line.
        notes: further lines before the table.
        rows: the criteria, in order.
        views: what the suite shows of the component, as `Show` collects it.
    """
    found: str = _template().render(
        headline=headline,
        notes=[line for line in notes if line.text],
        rows=[_row(row) for row in rows],
        views=[_DRAWN.get(view["kind"], dict)(view) for view in views],
    )
    return found


def document(pages: Sequence[str]) -> str:
    """Return a whole HTML document of pages, in which nothing runs and nothing is loaded."""
    return _DOCUMENT + "\n".join(pages) + "\n</body></html>\n"


@functools.cache
def _template() -> Any:
    # Not above: it comes with torch, but a student's plain run has no use for it.
    import jinja2

    return jinja2.Environment(autoescape=True).from_string(_PAGE)


def _row(row: Row) -> dict[str, Any]:
    sign, colour = _MARKS.get(row.outcome, _OTHER)
    return {
        "sign": sign,
        "colour": colour,
        "title": row.title
        if row.cases == 1
        else f"{row.title} ({row.passed} of {row.cases} cases)",
        "lines": [line for line in row.lines if line.text.strip()],
        "source": row.source,
        "points": f"{round(row.score, 2):g} / {row.max_score:g}",
    }


def _bars(view: Mapping[str, Any]) -> dict[str, Any]:
    most = max((abs(value) for value in view["values"] if value is not None), default=0.0) or 1.0
    drawn = [
        {
            "label": label,
            "number": "not finite" if value is None else f"{value:g}",
            "width": 0 if value is None else round(160 * abs(value) / most),
        }
        for label, value in zip(view["labels"] or [""] * 99, view["values"], strict=False)
    ]
    return {**view, "drawn": drawn}


def _heatmap(view: Mapping[str, Any]) -> dict[str, Any]:
    height, width = len(view["values"]), len(view["values"][0])
    cell = 26 if max(height, width) <= 12 else 14 if max(height, width) <= 32 else 8
    axes = " and ".join(
        part
        for part in (view["y"] and f"rows: {view['y']}", view["x"] and f"columns: {view['x']}")
        if part
    )
    legend = f"{view['low']:g} is dark, {view['high']:g} bright"
    longest = max(map(len, view["columns"]), default=0)
    return {
        **view,
        "png": _png(view, cell),
        "cell": cell,
        "width": cell * width,
        "height": cell * height,
        "writing": "vertical-rl" if longest * 7 > cell else "horizontal-tb",
        "legend": "; ".join(part for part in (axes, legend) if part),
    }


def _png(view: Mapping[str, Any], cell: int) -> str:
    """Return a heatmap as a PNG in base64, as large as it is shown; empty without matplotlib."""
    try:
        import numpy as np
        from matplotlib import image
    except ImportError:
        return ""
    values = np.array([[nan if v is None else v for v in row] for row in view["values"]])
    # As large as it is shown: a browser that enlarged it would blur it.
    pixels = values.repeat(cell, axis=0).repeat(cell, axis=1)
    low, high = view["low"], view["high"]
    file = io.BytesIO()
    # A matrix of one value has no range, and would be drawn as if it had nothing.
    image.imsave(file, pixels, vmin=low, vmax=high if high > low else low + 1.0, cmap="viridis")
    return base64.b64encode(file.getvalue()).decode()


_DRAWN = {"bars": _bars, "heatmap": _heatmap}
