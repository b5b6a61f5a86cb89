"""The figures of the workbook, one function a component, drawn from the solutions.

`component` is the solution behind the same API that a test has. A figure is 640 pixels wide; its
colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

BLUE, ORANGE, VERMILION, GREEN = "#0072B2", "#E69F00", "#D55E00", "#009E73"
PALE, GREY, INK = "#D9D9D9", "#7F7F7F", "#222222"
MINUS = "\N{MINUS SIGN}"
SENTENCE = ["So", "long", "and", "thanks", "for", "all", "the", "fish"]
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
    """The chances of every word at every position, and what each position adds to the loss."""
    count, eye = len(SENTENCE), torch.eye(len(SENTENCE))
    ahead = torch.cat([eye[1:] - eye[:-1], torch.zeros(1, count)])
    state = {"encoder.token_embedding.weight": eye, "encoder.positions.weight": ahead}
    model = component.build("LanguageModel", count, count, count, 1, 4, 0, 0.0).load(state)
    tokens = torch.arange(count)[None]
    # All positions know their next word but the one after "and", which has it mixed up.
    logits = model(tokens).output.clone()
    logits[0, 2, [3, 5]] = logits[0, 2, [5, 3]]
    chances = logits[0].softmax(-1)
    loss = component.call("next_token_loss", logits, tokens).output
    figure = _figure(320, 62, 20, 62, 26, 0.06)
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    left.imshow(chances[:-1].tolist(), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for place in range(count - 1):
        left.add_patch(
            Rectangle((place + 0.5, place - 0.5), 1, 1, fill=False, ec=ORANGE, lw=2, zorder=3)
        )
    left.set_xticks(range(count), SENTENCE, rotation=45)
    left.set_yticks(range(count - 1), SENTENCE[:-1])
    left.set(title="the chances of the next word", xlabel="", ylabel="the last word seen")
    surprise = [-float(chances[t, t + 1].log()) for t in range(count - 1)]
    right.barh(range(count - 1), surprise, height=0.6, color=ORANGE)
    right.axvline(float(loss), color=VERMILION, lw=1.5)
    right.text(float(loss) + 0.08, 5.9, f"loss {float(loss):.2f}", color=VERMILION, va="center")
    right.set(title=f"{MINUS}ln of the right one", ylim=(count - 1.5, -0.5), yticks=[])
    return figure


def training(component: Any) -> Figure:
    """The learning rate and the loss of thirty steps on the sentence, warmed up and not."""
    count = len(SENTENCE)
    figure = _figure(270, 52, 20, 44, 26, 0.28)
    left, right = figure.subplots(1, 2)
    for warmup, color, name in ((10, BLUE, "warm-up of 10"), (0, ORANGE, "no warm-up")):
        model = component.provided("models").build("Bigram", count)
        model.load({"table.weight": torch.zeros(count, count), "bias": torch.zeros(count)})
        trainer = component.make("Trainer", model, 0.1, warmup)
        trainer.call("fit", torch.arange(count)[None], 30, 1)
        log = trainer.get("log").items(30)
        for axes, key in ((left, "learning_rate"), (right, "loss")):
            values = [entry[key] for entry in log]
            axes.plot(values, color=color, marker=".", ms=4, lw=1.2, label=name)
    left.set(title="learning rate", xlabel="step", ylim=(0, 0.115))
    right.set(title="loss", xlabel="step", ylim=(0, 2.3))
    right.axhline(math.log(count), color=GREY, lw=0.8, ls="--")
    right.text(29, math.log(count) + 0.06, "ln 8", color=GREY, ha="right")
    left.legend(loc="lower right", frameon=False, fontsize=9)
    return figure


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
