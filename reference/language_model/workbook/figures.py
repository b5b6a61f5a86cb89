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
    """How alike the vectors of all pairs of positions are: random ones, and slow waves."""
    shape = (24, 16)
    random = torch.randn(shape, generator=torch.Generator().manual_seed(1)) * 0.02
    speeds, phases = torch.linspace(0.05, 0.4, shape[1]), torch.arange(shape[1])
    waves = torch.sin(torch.arange(shape[0]).unsqueeze(1) * speeds + phases)
    figure = _figure(300, 50, 80, 44, 26, 0.22)
    panels = figure.subplots(1, 2)
    titles = ("at the start", "neighbours alike")
    for axes, weight, title in zip(panels, (random, waves), titles, strict=True):
        module = component.build("LearnedPositionalEmbedding", *shape).load({"weight": weight})
        added = module(torch.zeros(1, *shape)).output[0]
        unit = torch.nn.functional.normalize(added, dim=-1)
        image = axes.imshow((unit @ unit.T).tolist(), cmap="RdBu_r", vmin=-1, vmax=1)
        axes.set(title=title, xlabel="position", xticks=[0, 6, 12, 18], yticks=[0, 6, 12, 18])
    panels[0].set_ylabel("position")
    bar = figure.add_axes((1 - 66 / _WIDTH, 0.24, 0.016, 0.58))
    figure.colorbar(image, cax=bar, ticks=[-1, 0, 1])
    return figure


def relative_positions(component: Any) -> Figure:
    """The clipped distances of six tokens, and the weights that two heads' biases lead to."""
    length, far = 6, 2
    distances = component.call("relative_distances", length, far).output
    number = torch.arange(-far, far + 1.0)
    table = torch.stack([-2 * (number + 1).abs(), -number.abs()], dim=1)
    bias = component.build("RelativePositionBias", 2, far).load({"weight": table})(length).output
    zeros = torch.zeros(1, 2, length, 1)
    asked = ("relative_attention", zeros, zeros, zeros, bias)
    weights = component.call(*asked).tensors("output", "weights")[1][0]
    figure = _figure(260, 44, 10, 44, 26, 0.16)
    panels = figure.subplots(1, 3)
    panels[0].imshow(distances.tolist(), cmap="RdBu_r", vmin=-4, vmax=4)
    for row, columns in enumerate(distances.tolist()):
        for column, value in enumerate(columns):
            text = str(value).replace("-", MINUS)
            panels[0].text(column, row, text, ha="center", va="center", color=INK, fontsize=9)
    for axes, head in zip(panels[1:], weights.tolist(), strict=True):
        axes.imshow(head, cmap="Blues", vmin=0, vmax=1)
    titles = ("distances, clipped at 2", "weights: the word before", "weights: what is near")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlabel="key", xticks=range(length), yticks=range(length))
        axes.tick_params(length=0)
    panels[0].set_ylabel("query")
    return figure


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
