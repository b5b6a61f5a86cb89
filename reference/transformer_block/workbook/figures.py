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
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch, Rectangle

from autograder.api.make import Make

BLUE, ORANGE, VERMILION, GREEN = "#0072B2", "#E69F00", "#D55E00", "#009E73"
PALE, GREY, INK = "#D9D9D9", "#7F7F7F", "#222222"
MINUS = "\N{MINUS SIGN}"
_WIDTH = 640
_TESTS = Path(__file__).resolve().parents[3] / "assignments" / "transformer_block" / "tests"


def layer_norm(component: Any) -> Figure:
    """The worked example as bars, with the mean and one standard deviation to either side."""
    x = torch.tensor([2.0, 4.0, 6.0, 8.0])
    figure = _figure(260, 32, 66, 44, 26, 0.46)
    panels = figure.subplots(1, 2)
    after = component.call("layer_norm", x).output
    for axes, values, title in zip(panels, (x, after), ("before", "after"), strict=True):
        mean, deviation = float(values.mean()), float(values.std(correction=0))
        axes.axhspan(mean - deviation, mean + deviation, color=ORANGE, alpha=0.25, lw=0)
        axes.axhline(mean, color=VERMILION, lw=1.5)
        axes.bar(range(1, 5), values.tolist(), width=0.5, color=BLUE)
        axes.axhline(0, color=INK, lw=0.8)
        _label_bars(axes, range(1, 5), values.tolist(), "{:.3g}")
        axes.text(4.5, mean, f"mean {mean:.0f}", color=VERMILION, va="center")
        axes.text(4.5, mean + deviation, f"+{deviation:.3g}", color="#8A5F00", va="center")
        axes.text(4.5, mean - deviation, f"{MINUS}{deviation:.3g}", color="#8A5F00", va="center")
        axes.set(title=title, xlabel="feature", xticks=range(1, 5), xlim=(0.4, 4.4))
    panels[0].set_ylim(0, 9.4)
    panels[1].set_ylim(-1.9, 1.9)
    return figure


def positional_encoding(component: Any) -> Figure:
    """32 positions by 16 features, and the waves of a fast and a slow pair."""
    table = component.call("sinusoidal_encoding", 32, 16).output
    figure = _figure(300, 50, 14, 44, 26, 0.16)
    grid = figure.add_gridspec(2, 2, width_ratios=(1.3, 1))
    axes = figure.add_subplot(grid[:, 0])
    image = axes.imshow(table.T.tolist(), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    names = [f"{wave} {feature}" for feature, wave in enumerate(("sin", "cos") * 8)]
    axes.set_yticks(range(16), names, fontsize=7.5)
    axes.set(xlabel="position", title="the whole table")
    for pair in range(1, 8):
        axes.axhline(2 * pair - 0.5, color="white", lw=1.2)
    figure.colorbar(image, ax=axes, ticks=[-1, 0, 1], shrink=0.7, aspect=14)
    for row, pair in enumerate((0, 2)):
        axes = figure.add_subplot(grid[row, 1])
        axes.plot(table[:, 2 * pair].tolist(), color=BLUE, marker=".", ms=4, lw=1.2)
        axes.plot(table[:, 2 * pair + 1].tolist(), color=ORANGE, marker=".", ms=4, lw=1.2)
        axes.set(title=f"features {2 * pair} (sin) and {2 * pair + 1} (cos)", yticks=[-1, 0, 1])
        axes.set_xlabel("position" if row else "")
        if not row:
            axes.tick_params(labelbottom=False)
    return figure


def attention(component: Any) -> Figure:
    """A causal mask that also leaves padding out, beside the weights it leads to."""
    words = ["the", "cat", "sat", "down", "PAD"]
    causal = component.call("causal_mask", 5).output
    padding = component.call("padding_mask", torch.tensor([[4, 5, 6, 7, 0]]), 0).output[0]
    query = torch.tensor([[1.0, 0.2], [0.3, 1.4], [2.2, 0.4], [0.8, 1.9], [0.5, 0.5]])
    key = torch.tensor([[0.1, 0.6], [1.9, 0.3], [0.2, 1.6], [1.0, 1.0], [2.0, 2.0]])
    asked = ("scaled_dot_product_attention", query, key, torch.eye(5), causal & padding)
    weights = component.call(*asked).tensors("output", "weights")[1]
    figure = _figure(330, 62, 20, 76, 26, 0.32)
    left, right = figure.subplots(1, 2)
    kinds = torch.where(~padding, 1.0, torch.where(causal, 0.0, 2.0))
    for row in range(5):
        for column in range(5):
            kind = int(kinds[row, column])
            left.add_patch(_cell(column, row, (BLUE, ORANGE, PALE)[kind]))
            weight = float(weights[row, column])
            shade = 0.08 + 0.92 * weight
            right.add_patch(_cell(column, row, _mixed(BLUE, shade if weight else 0.0)))
            dark = shade > 0.5
            number = f"{weight:.2f}" if weight else "0"
            ink = "white" if dark else INK if weight else GREY
            right.text(column, row, number, ha="center", va="center", color=ink, fontsize=8.5)
    for axes, title in ((left, "the mask"), (right, "the weights: every row sums to 1")):
        axes.set(xlim=(-0.5, 4.5), ylim=(4.5, -0.5), title=title, xlabel="key", aspect="equal")
        axes.set_xticks(range(5), words, va="baseline")
        axes.set_yticks(range(5), words)
        axes.tick_params(length=0)
        axes.tick_params(axis="x", pad=12)
        axes.spines[:].set_visible(False)
    left.set_ylabel("query")
    # By hand: a legend's own place depends on how wide matplotlib's letters are.
    legend = (("allowed", BLUE), ("a later word", PALE), ("padding", ORANGE))
    for place, (label, color) in zip((0.1, 0.23, 0.4), legend, strict=True):
        square = Rectangle((place, 0.035), 0.018, 0.036, fc=color, transform=figure.transFigure)
        figure.add_artist(square)
        figure.text(place + 0.026, 0.053, label, va="center_baseline")
    return figure


def multi_head_attention(component: Any) -> Figure:
    """The attention weights of CLS in the walkthrough's two sequences, by head."""
    figures = json.loads((_TESTS / "walkthrough.json").read_text(encoding="utf-8"))
    layers = ("q_linear", "k_linear", "v_linear", "out_proj")
    state = {
        f"{name}.weight": torch.tensor(figures["weights"][f"attention.{name}.weight"])
        for name in layers
    }
    built = component.build("MultiHeadAttention", 2, 2, bias=False).load(state)
    weights = built(torch.tensor(figures["x"]), torch.tensor(figures["mask"])).tensors(
        "output", "weights"
    )[1]
    figure = _figure(260, 50, 10, 26, 26, 0.06)
    panels = figure.subplots(1, 2, sharey=True)
    sequences = (["CLS", "a", "a", "c", "PAD"], ["CLS", "b", "a", "a", "c"])
    for number, (axes, words) in enumerate(zip(panels, sequences, strict=True)):
        for head, color in enumerate((BLUE, ORANGE)):
            places = [place + 0.36 * (head - 0.5) for place in range(5)]
            values = weights[number, head, 0].tolist()
            axes.bar(places, values, width=0.34, color=color, label=f"head {head + 1}")
            for place, value in zip(places, values, strict=True):
                if value > 0.01:
                    axes.text(place, value + 0.02, f"{value:.2f}", ha="center", fontsize=8)
        for place, word in enumerate(words):
            if word in ("CLS", "PAD"):
                axes.text(place, 0.03, "masked", ha="center", color=GREY, fontsize=8)
        axes.set_xticks(range(5), words, va="baseline")
        axes.set(title=f"CLS attends to: {' '.join(words)}", ylim=(0, 1.18), yticks=[0, 0.5, 1])
        axes.tick_params(axis="x", length=0, pad=13)
    panels[0].set_ylabel("attention weight")
    panels[0].legend(frameon=False, loc="upper left", handlelength=1.0)
    return figure


def feed_forward(component: Any) -> Figure:
    """One token on its way through the layer: expanded, cut at 0, contracted."""
    x = torch.tensor([0.7, 0.4, 0.5, 0.2])
    grid = torch.arange(64, dtype=torch.float64).reshape(16, 4)
    keys = (torch.sin(grid * 2.7 + 0.4) * 1.2).float()
    values = (torch.cos(grid * 1.9) * 0.3).float()
    hidden = component.call("memory_lookup", x, keys, torch.eye(16)).output
    result = component.call("memory_lookup", x, keys, values).output
    before = keys @ x
    figure = _figure(300, 36, 8, 26, 26, 0.28)
    areas = figure.add_gridspec(2, 3, width_ratios=(1, 2.7, 1))
    first, last = figure.add_subplot(areas[:, 0]), figure.add_subplot(areas[:, 2])
    upper = figure.add_subplot(areas[0, 1])
    lower = figure.add_subplot(areas[1, 1], sharex=upper, sharey=upper)
    places = range(1, 17)
    upper.bar(places, before.tolist(), color=[BLUE if v > 0 else VERMILION for v in before])
    lower.bar(places, hidden.tolist(), color=BLUE)
    silent = [place for place, value in zip(places, hidden.tolist(), strict=True) if value == 0]
    lower.plot(silent, [0.0] * len(silent), "o", ms=4, color="white", mec=VERMILION)
    first.bar(range(1, 5), x.tolist(), color=GREY)
    last.bar(range(1, 5), result.tolist(), color=GREEN)
    first.set(title="in: 4 features", xticks=range(1, 5))
    last.set(title="out: 4 features", xticks=range(1, 5))
    upper.set(title="expanded to 16: x · keysᵀ", xticks=[1, 4, 8, 12, 16])
    upper.tick_params(labelbottom=False)
    lower.set(title=f"after relu: {len(silent)} of 16 are exactly 0")
    first.set_yticks([0, 0.5])
    last.set_yticks([-0.1, 0, 0.1])
    for axes in (first, upper, lower, last):
        axes.axhline(0, color=INK, lw=0.8)
    return figure


def transformer_block(component: Any) -> Figure:
    """Where the norm stands in the two kinds of block; the stream is the thick line."""
    del component
    figure = _figure(310, 6, 6, 6, 6, 0)
    axes = figure.subplots()
    axes.set(xlim=(-0.3, 12.8), ylim=(0.3, 6.5))
    axes.axis("off")
    for base, kind in ((3.6, "pre"), (0.3, "post")):
        _block(axes, base, kind)
    return figure


def lm_head(component: Any) -> Figure:
    """The handout's three words as arrows, and how likely each is to come next."""
    words, last = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [2.0, 1.0]
    head = component.build("TiedLMHead", Make().embedding(torch.tensor(words)))
    hidden = torch.tensor([[last]])
    logits = head(hidden).output[0, 0].tolist()
    shares = head.call("next_token_probabilities", hidden).output[0].tolist()
    figure = _figure(270, 24, 10, 26, 26, 0.1)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.25, 1, 1))
    colors = (BLUE, ORANGE, GREEN)
    for number, (word, color) in enumerate(zip(words, colors, strict=True)):
        _arrow(left, word, color)
        # Beside the tip, away from the other arrows.
        shift = ((0.0, -0.32), (-0.05, 0.12), (-0.1, 0.12))[number]
        place = (word[0] + shift[0], word[1] + shift[1])
        left.text(*place, f"word {number}", color=color, ha="center", weight="bold", fontsize=8.5)
    _arrow(left, last, INK)
    left.text(last[0], last[1] + 0.14, "last vector", color=INK, ha="center", fontsize=8.5)
    left.set(xlim=(-0.55, 2.6), ylim=(-1.1, 2.15), aspect="equal", xticks=[0, 1, 2], yticks=[0, 1])
    left.set_title("rows of E, and the last vector")
    names = [f"word {number}" for number in range(3)]
    for axes, values, title, form in (
        (middle, logits, "logits", "{:.0f}"),
        (right, shares, "probabilities", "{:.3f}"),
    ):
        axes.bar(names, values, color=colors, width=0.6)
        axes.set(title=title, ylim=(0, 1.18 * max(values)), yticks=[])
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="x", length=0)
        _label_bars(axes, range(3), values, form)
    return figure


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


def _cell(column: int, row: int, color: Any) -> Rectangle:
    return Rectangle((column - 0.45, row - 0.45), 0.9, 0.9, fc=color)


def _mixed(color: str, share: float) -> tuple[float, ...]:
    """Mix a colour with white."""
    parts = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    return tuple(1 - share * (1 - part) for part in parts)


def _arrow(axes: Axes, tip: list[float], color: str) -> None:
    axes.add_patch(
        FancyArrowPatch(
            (0, 0),
            (tip[0], tip[1]),
            color=color,
            lw=2,
            arrowstyle="-|>",
            mutation_scale=12,
            shrinkA=0,
            shrinkB=0,
        )
    )


def _block(axes: Axes, base: float, kind: str) -> None:
    """Draw one block: the stream below, its two sublayers above it."""
    stream = base + 0.5
    line = {"arrowstyle": "-|>", "mutation_scale": 11, "shrinkA": 0, "shrinkB": 0}
    axes.add_patch(FancyArrowPatch((1.0, stream), (12.7, stream), color=BLUE, lw=3.5, **line))
    axes.text(-0.3, stream + 1.0, f"{kind}-norm", weight="bold", va="center")
    axes.text(0.85, stream, "x", ha="right", va="center", color=BLUE, weight="bold")
    for start, sublayer, number in ((1.6, "attention", 1), (7.1, "feed-forward", 2)):
        high = stream + 1.75
        join = start + 4.0 if kind == "pre" else start + 2.9
        boxes = [(f"norm{number}", PALE, 1.2), (sublayer, _mixed(ORANGE, 0.55), 1.9)]
        if kind == "post":
            boxes = boxes[1:]
        axes.plot([start, start], [stream, high], color=INK, lw=1.3)
        place = start
        for name, color, width in boxes:
            left = place + 0.35
            axes.add_patch(FancyArrowPatch((place, high), (left, high), color=INK, lw=1.3, **line))
            _box(axes, left, high, width, name, color)
            place = left + width
        axes.plot([place, join], [high, high], color=INK, lw=1.3)
        axes.add_patch(
            FancyArrowPatch((join, high), (join, stream + 0.3), color=INK, lw=1.3, **line)
        )
        axes.add_patch(Circle((join, stream), 0.3, fc="white", ec=BLUE, lw=1.8, zorder=3))
        axes.text(join, stream, "+", ha="center", va="center", color=BLUE, weight="bold", zorder=4)
        if kind == "post":
            _box(axes, join + 0.75, stream, 1.2, f"norm{number}", PALE)


def _box(axes: Axes, left: float, middle: float, width: float, name: str, color: Any) -> None:
    box = FancyBboxPatch(
        (left, middle - 0.4),
        width,
        0.8,
        boxstyle="round,pad=0,rounding_size=0.12",
        fc=color,
        ec=INK,
        lw=1,
        zorder=3,
    )
    axes.add_patch(box)
    axes.text(left + width / 2, middle, name, ha="center", va="center", fontsize=9, zorder=4)
