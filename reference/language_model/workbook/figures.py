"""The figures of the workbook, one function a component, drawn from the solutions.

`component` is the solution behind the same API that a test has. A figure is 640 pixels wide; its
colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import itertools
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
    """The mean length of a token's vector on the stream, by layer and kind of norm."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(0, 20, (8, 10), generator=generator)
    figure = _figure(250, 60, 112, 44, 18, 0)
    axes, top = figure.subplots(), 0.0
    for norm, color in (("pre", BLUE), ("post", ORANGE)):
        built = component.build("Encoder", 20, 10, 16, 2, 64, 12, 0.0, norm)
        entries = built.state().entries
        state = {key: torch.zeros_like(value) for key, value in entries.items() if "bias" in key}
        state |= {
            key: torch.randn(value.shape, generator=generator) * value.size(1) ** -0.5
            for key, value in entries.items()
            if value.dim() == 2 and key.startswith("blocks")
        }
        state["token_embedding.weight"] = torch.randn(20, 16, generator=generator)
        state["positions.weight"] = torch.randn(10, 16, generator=generator) * 0.02
        stream = built.load(state).call("stream", ids).output
        lengths = stream.norm(dim=-1).mean((1, 2)).tolist()
        top = max(top, *lengths)
        axes.plot(range(13), lengths, color=color, marker=".", ms=6, lw=1.5)
        axes.text(12.3, lengths[-1], f'norm "{norm}"', color=color, va="center", weight="bold")
    axes.set(xlabel="blocks", ylabel="mean length", xticks=range(0, 13, 2))
    axes.set(xlim=(-0.3, 12.2), ylim=(0, 1.08 * top))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def classifier(component: Any) -> Figure:
    """The way of CLS through the plane of its two features, for both sequences."""
    figures = json.loads((_TESTS / "walkthrough.json").read_text(encoding="utf-8"))
    state = {key: torch.tensor(value) for key, value in figures["weights"].items()}
    built = component.build("Classifier", 5, 2, 2, 2).load(state)
    asked = (torch.tensor(figures["token_ids"]), torch.tensor(figures["mask"]))
    trace = built.call("trace", *asked).value
    figure = _figure(340, 52, 20, 44, 14, 0)
    axes = figure.subplots()
    weight = state["classifier.weight"][0].tolist()
    ends = [-9.0, 6.0]
    border = [-weight[0] * x / weight[1] for x in ends]
    axes.plot(ends, border, color=GREY, ls="--", lw=1.2)
    axes.text(-6.9, 7.5, "logit 0", color=GREY)
    stops = ("embedded", "after_attention", "block_output")
    for number, (name, color) in enumerate((("aac", VERMILION), ("baac", BLUE))):
        way = [trace[stop][number, 0].tolist() for stop in stops]
        for start, end in itertools.pairwise(way):
            arrow = {"arrowstyle": "-|>", "color": color, "lw": 2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=end, xytext=start, arrowprops=arrow)
        logit = f"{float(trace['logits'][number]):.2f}".replace("-", MINUS)
        below = number == 0
        place = (way[-1][0] + (0.1 if below else 0.4), way[-1][1] - (1.3 if below else 0.3))
        axes.text(*place, f"{name}: logit {logit}", color=color, weight="bold")
    start = trace["embedded"][0, 0].tolist()
    axes.plot(*start, "o", ms=7, color=INK)
    axes.text(start[0] + 0.2, start[1] - 0.5, "CLS, embedded", color=INK, ha="center", va="top")
    axes.set(xlim=(-9, 6), ylim=(-3.4, 10.2), xlabel="first feature", ylabel="second feature")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


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
