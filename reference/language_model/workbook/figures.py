"""The figures of the workbook, one function a component, drawn from the solutions.

`component` is the solution behind the same API that a test has. A figure is 640 pixels wide; its
colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE, ORANGE, VERMILION, GREEN = "#0072B2", "#E69F00", "#D55E00", "#009E73"
PALE, GREY, INK = "#D9D9D9", "#7F7F7F", "#222222"
MINUS = "\N{MINUS SIGN}"
_WIDTH = 640
_TESTS = Path(__file__).resolve().parents[3] / "assignments" / "language_model" / "tests"


def learned_positions(component: Any) -> Figure:
    """TODO(author): learned_positions."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def relative_positions(component: Any) -> Figure:
    """TODO(author): relative_positions."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def encoder(component: Any) -> Figure:
    """TODO(author): encoder."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def classifier(component: Any) -> Figure:
    """TODO(author): classifier."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def language_model(component: Any) -> Figure:
    """TODO(author): language_model."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def training(component: Any) -> Figure:
    """TODO(author): training."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def generate(component: Any) -> Figure:
    """TODO(author): generate."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def cost(component: Any) -> Figure:
    """TODO(author): cost."""
    return _figure(260, 32, 66, 44, 26, 0.46)


def _figure(height: int, left: int, right: int, bottom: int, top: int, between: float) -> Figure:
    """Make a figure whose panels leave so many pixels free, whatever matplotlib's letters take."""
    figure = Figure(figsize=(_WIDTH / 100, height / 100), dpi=100, facecolor="white")
    figure.subplots_adjust(
        left / _WIDTH, bottom / height, 1 - right / _WIDTH, 1 - top / height, between, 0.42
    )
    return figure


def _label_bars(axes: Axes, places: Any, values: list[float], form: str) -> None:
    """Write every value at the end of its bar."""
    reach = max(abs(value) for value in values)
    for place, value in zip(places, values, strict=True):
        text = form.format(value).replace("-", MINUS)
        up = value >= 0
        axes.text(
            place,
            value + (0.04 if up else -0.04) * reach,
            text,
            ha="center",
            va="bottom" if up else "top",
            fontsize=9,
        )
