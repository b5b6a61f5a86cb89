"""The figures of the workbook, one function a component, drawn from the solutions.

`component` is the solution behind the same API that a test has. A figure is 640 pixels wide; its
colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

import itertools
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
    """Similarity of the vectors of all pairs of positions: random ones, and slow waves."""
    shape = (24, 16)
    random = torch.randn(shape, generator=torch.Generator().manual_seed(1)) * 0.02
    speeds, phases = torch.linspace(0.05, 0.4, shape[1]), torch.arange(shape[1])
    waves = torch.sin(torch.arange(shape[0]).unsqueeze(1) * speeds + phases)
    figure = _figure(300, 50, 80, 44, 26, 0.22)
    panels = figure.subplots(1, 2)
    titles = ("at the start", "similar neighbours")
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
    titles = ("distances, clipped at 2", "weights: the word before", "weights: near words")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlabel="key", xticks=range(length), yticks=range(length))
        axes.tick_params(length=0)
    panels[0].set_ylabel("query")
    return figure


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
    """The path of CLS in the plane of its two features, for both sequences."""
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
    """The probability of every word at every position, and the loss of each position."""
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
    left.set(title="probability of the next word", xlabel="", ylabel="the last word seen")
    surprise = [-float(chances[t, t + 1].log()) for t in range(count - 1)]
    right.barh(range(count - 1), surprise, height=0.6, color=ORANGE)
    right.axvline(float(loss), color=VERMILION, lw=1.5)
    right.text(float(loss) + 0.08, 5.9, f"loss {float(loss):.2f}", color=VERMILION, va="center")
    right.set(title=f"{MINUS}ln of the right word", ylim=(count - 1.5, -0.5), yticks=[])
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
    """The probabilities of twelve words, unchanged and with each setting."""
    logits = -0.5 * torch.arange(12.0)
    plain = component.call("next_probabilities", logits).output.tolist()
    figure = _figure(220, 34, 10, 42, 30, 0.14)
    panels = figure.subplots(1, 4, sharey=True)
    controls = (
        ("temperature 0.5", {"temperature": 0.5}, BLUE),
        ("temperature 2", {"temperature": 2.0}, ORANGE),
        ("top-k 4", {"top_k": 4}, GREEN),
        ("top-p 0.6", {"top_p": 0.6}, VERMILION),
    )
    words = list(range(1, 13))
    for axes, (title, options, color) in zip(panels, controls, strict=True):
        shares = component.call("next_probabilities", logits, **options).output.tolist()
        axes.bar(words, shares, color=color, width=0.8)
        axes.plot(words, plain, color=GREY, lw=1.6, marker=".", ms=4)
        axes.set(title=title, xticks=[1, 4, 8, 12], ylim=(0, 0.7), yticks=[0, 0.2, 0.4, 0.6])
        axes.tick_params(labelsize=8)
        axes.title.set_fontsize(10)
    figure.supxlabel("word, most likely first", fontsize=9, y=0.02)
    return figure


def cost(component: Any) -> Figure:
    """The cost of the parts of a block against the number of tokens."""
    d, f = 64, 256
    lengths = [2**power for power in range(3, 13)]

    def counts(name: str, *sizes: int) -> list[float]:
        return [component.call(name, n, *sizes).number for n in lengths]

    projections = counts("projection_cost", d)
    feed_forward = counts("feed_forward_cost", d, f)
    rest = [one + other for one, other in zip(projections, feed_forward, strict=True)]
    figure = _figure(280, 70, 120, 44, 16, 0)
    axes = figure.subplots()
    for name, values, color, style, lifted in (
        ("attention", counts("attention_cost", d), VERMILION, "-", 1.0),
        ("all else", rest, INK, "-", 2.2),
        ("feed-forward", feed_forward, BLUE, "--", 1.1),
        ("projections", projections, GREEN, "--", 0.7),
    ):
        axes.loglog(lengths, values, style, color=color, lw=2)
        place = (1.08 * lengths[-1], lifted * values[-1])
        axes.text(*place, name, color=color, va="center", fontsize=9)
    met = component.call("meeting_length", d, f).number
    height = component.call("attention_cost", met, d).number
    axes.plot([met], [height], "o", color=INK, ms=6)
    axes.plot([met, met], [1e4, height], ":", color=INK, lw=1.2)
    axes.text(0.93 * met, 1.6 * height, f"{met} tokens", ha="right", fontsize=9)
    axes.set(xlabel="tokens", ylabel="multiplications of a block")
    axes.set_xticks(lengths[::3], [str(n) for n in lengths[::3]])
    axes.minorticks_off()
    axes.set_ylim(bottom=1e4)
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
