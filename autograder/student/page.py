"""A component's result as a piece of HTML: criteria, messages and views, every text escaped."""

from __future__ import annotations

import base64
import functools
import struct
import zlib
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
# From dark blue over green to yellow, ever brighter, for those who see no colours, too.
_COLOURS = (
    *((68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141)),
    *((39, 173, 129), (92, 200, 99), (170, 220, 50), (253, 231, 37)),
)
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
{% endif %}{{ pictures }}</div>
"""
# A page with a dark form says so by these variables; others have none of them.
_VIEWS = """\
{% for view in views %}<div style="display:inline-block;vertical-align:top;\
margin:10px 18px 4px 0"><b style="font-size:13px">{{ view.title }}</b>
{% if view.note %}<div style="color:var(--gf-soft,#444);font-size:12px;max-width:36em">\
{{ view.note }}</div>
{% endif %}{% if view.kind == "table" %}<table style="border-collapse:collapse;font-size:13px">
<tr>{% for name in view.header %}<th style="padding:2px 8px;text-align:left">{{ name }}</th>\
{% endfor %}</tr>
{% for cells in view.rows %}<tr style="border-top:1px solid var(--gf-line,#ddd)">\
{% for cell in cells %}\
<td style="padding:2px 8px;text-align:left">{{ cell }}</td>{% endfor %}</tr>
{% endfor %}</table>
{% elif view.kind == "bars" %}<table style="border-collapse:collapse;font-size:12px">
{% for bar in view.drawn %}<tr><td style="padding:1px 6px;text-align:right">{{ bar.label }}</td>\
<td style="padding:1px 6px;text-align:left"><div style="display:inline-block;height:10px;\
background:var(--gf-bar,#3b6ea5);width:{{ bar.width }}px"></div> {{ bar.number }}</td></tr>
{% endfor %}</table>
{% elif view.kind == "heatmap" %}<table style="border-collapse:collapse;font-size:11px">
<tr>{% if view.rows %}<td style="padding:0 4px 0 0;text-align:right;vertical-align:top">\
{% for label in view.rows %}<div style="height:{{ view.cell }}px;line-height:{{ view.cell }}px;\
white-space:nowrap">{{ label }}</div>{% endfor %}</td>{% endif %}
<td style="padding:0"><img alt="{{ view.title }}" style="display:block;border:0;max-width:none;\
image-rendering:pixelated;width:{{ view.width }}px;height:{{ view.height }}px" \
src="data:image/png;base64,{{ view.png }}"></td></tr>
{% if view.columns %}<tr>{% if view.rows %}<td></td>{% endif %}<td style="padding:0;\
white-space:nowrap;text-align:left">{% for label in view.columns %}\
<div style="display:inline-block;width:{{ view.cell }}px;text-align:center;vertical-align:top">\
<span style="writing-mode:{{ view.writing }}">{{ label }}</span></div>{% endfor %}</td></tr>
{% endif %}<tr>{% if view.rows %}<td></td>{% endif %}<td style="padding:2px 0;text-align:left;\
color:var(--gf-soft,#444)">{{ view.legend }}</td></tr>
</table>
{% endif %}</div>
{% endfor %}"""
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
    found: str = _templates()[0].render(
        headline=headline,
        notes=[line for line in notes if line.text],
        rows=[_row(row) for row in rows],
        pictures=pictures(views),
    )
    return found


def pictures(views: Sequence[Mapping[str, Any]]) -> Any:
    """Return the HTML of views, which no template escapes once more.

    Args:
        views: what the suite shows of a component, as `Show` collects it.
    """
    import markupsafe

    drawn = [_DRAWN.get(view["kind"], dict)(view) for view in views]
    return markupsafe.Markup(_templates()[1].render(views=drawn))  # noqa: S704 - escaped there


def document(pages: Sequence[str]) -> str:
    """Return a whole HTML document of pages, in which nothing runs and nothing is loaded."""
    return _DOCUMENT + "\n".join(pages) + "\n</body></html>\n"


@functools.cache
def _templates() -> tuple[Any, Any]:
    # Not above: it comes with torch, but a student's plain run has no use for it.
    import jinja2

    environment = jinja2.Environment(autoescape=True)
    return environment.from_string(_PAGE), environment.from_string(_VIEWS)


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
        "png": _png(view),
        "cell": cell,
        "width": cell * width,
        "height": cell * height,
        "writing": "vertical-rl" if longest * 7 > cell else "horizontal-tb",
        "legend": "; ".join(part for part in (axes, legend) if part),
    }


def _png(view: Mapping[str, Any]) -> str:
    """Return a heatmap as a PNG in base64, a pixel a value; what is not finite is not painted."""
    # Not above: a student's plain run has no use for it.
    import numpy as np

    values = np.array([[nan if v is None else v for v in row] for row in view["values"]])
    low, high = view["low"], view["high"]
    # A matrix of one value has no range.
    share = (values - low) / (high - low if high > low else 1.0)
    known = np.isfinite(share)
    place = np.clip(np.where(known, share, 0.0), 0.0, 1.0) * (len(_COLOURS) - 1)
    stops = np.array(_COLOURS, dtype=float)
    channels = [np.interp(place, range(len(stops)), stops[:, channel]) for channel in range(3)]
    pixels = np.stack([*channels, 255.0 * known], axis=-1).round().astype(np.uint8)
    height, width = values.shape
    header = struct.pack(">2I5B", width, height, 8, 6, 0, 0, 0)
    # Every row begins with a filter's number; 0 is none.
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(map(_chunk, chunks))).decode()


def _chunk(chunk: tuple[bytes, bytes]) -> bytes:
    data = b"".join(chunk)
    return struct.pack(">I", len(chunk[1])) + data + struct.pack(">I", zlib.crc32(data))


_DRAWN = {"bars": _bars, "heatmap": _heatmap}
