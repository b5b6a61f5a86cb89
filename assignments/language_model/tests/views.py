"""What your own code does, as tables and pictures; nothing here is marked.

One function a component. Expected numbers are those that the course documents print. A picture is
left out where an answer has another shape than was asked for: its check says so.
"""

import json
from pathlib import Path

import torch

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
SEQUENCES = (["CLS", "a", "a", "c", "PAD"], ["CLS", "b", "a", "a", "c"])
YOURS = "your code"


def learned_positions(component, show):
    """TODO(author): learned_positions."""


def relative_positions(component, show):
    """TODO(author): relative_positions."""


def encoder(component, show):
    # Weights are drawn small, as at the start of training: what a block adds piles up slowly.
    ids = torch.tensor([[3, 1, 4, 1, 5, 2]])
    sizes = {}
    for norm in ("pre", "post"):
        built = component.build("Encoder", 7, 6, 8, 2, 16, 8, 0.0, norm)
        stream = built.load(drawn_encoder(8)).call("stream", ids).output
        if fits(stream, 9, 1, 6, 8):
            sizes[norm] = stream[:, 0].norm(dim=-1)
    if len(sizes) == 2:
        layers = ["embeddings", *(f"block {number}" for number in range(8))]
        show.heatmap(
            'The length of every token\'s vector on the stream, norm "pre"',
            sizes["pre"],
            rows=layers,
            columns=[str(number) for number in range(6)],
            x="position",
            y="after",
            low=0.0,
            note="The blocks add to the stream, and no norm stands on it: final_norm has to follow.",
        )
        rows = [
            [layer, *(sizes[norm][n].mean() for norm in sizes)] for n, layer in enumerate(layers)
        ]
        show.table(
            "The mean length of a token's vector",
            ["after", 'norm "pre"', 'norm "post"'],
            rows,
            note="With post every block ends in a norm: a length of sqrt(8), 2.828.",
        )
    masks = {
        "no mask": None,
        "a causal mask": torch.ones(6, 6, dtype=torch.bool).tril(),
        "a mask that hides the last two": (torch.arange(6) < 4).expand(6, 6),
    }
    for words, mask in masks.items():
        noticed = noticed_changes(component, ids, mask)
        if noticed is not None:
            positions = [str(number) for number in range(6)]
            show.heatmap(
                f"Which token notices a change of which, through two blocks, under {words}",
                noticed,
                rows=positions,
                columns=positions,
                x="the token that was changed",
                y="the token of the result",
                low=0.0,
                note="The largest change of a feature. A token always notices its own.",
            )


def classifier(component, show):
    state = {key: torch.tensor(value) for key, value in WALKTHROUGH["weights"].items()}
    asked = (torch.tensor(WALKTHROUGH["token_ids"]), torch.tensor(WALKTHROUGH["mask"]))
    built = component.build("Classifier", 5, 2, 2, 2).load(state)
    trace = built.call("trace", *asked).value
    weights = trace.get("attention_weights") if isinstance(trace, dict) else None
    heads = ("first head", "second head")
    if isinstance(weights, torch.Tensor) and fits(weights, 2, 2, 5, 5):
        for number, words in enumerate(SEQUENCES):
            rows = []
            for head, name in enumerate(heads):
                printed = WALKTHROUGH["printed"][f"attention_weights[:,{head},0]"][number]
                rows.append([f"{name}: walkthrough", *(f"{share:.5g}" for share in printed)])
                rows.append([f"{name}: {YOURS}", *(f"{w:.5g}" for w in weights[number, head, 0])])
            show.table(f"What CLS attends to in {' '.join(words)}", ["", *words], rows)
            for head, name in enumerate(heads):
                show.heatmap(
                    f"{' '.join(words)}, {name}",
                    weights[number, head],
                    rows=words,
                    columns=words,
                    x="key",
                    y="query",
                    low=0.0,
                    high=1.0,
                    note="The first row is CLS. Nobody attends to CLS or PAD.",
                )
    logits = built(*asked).output
    if fits(logits, 2):
        show.table(
            "The logits, and how sure the model is",
            ["", "aac", "baac"],
            [
                ["logit: handout", "-8.2945", "10.9587"],
                [f"logit: {YOURS}", *(f"{value:.4f}" for value in logits)],
                ["probability of label 1", *logits.sigmoid()],
            ],
        )


def language_model(component, show):
    """TODO(author): language_model."""


def training(component, show):
    """TODO(author): training."""


def generate(component, show):
    """TODO(author): generate."""


def cost(component, show):
    """TODO(author): cost."""


def fits(answer, *shape, dtype=None):
    """Tell whether an answer has this shape, and this dtype or any of real numbers."""
    right = answer.is_floating_point() if dtype is None else answer.dtype == dtype
    return answer.shape == shape and right


def drawn_encoder(blocks):
    """Draw a tensor for every parameter of an encoder, of 8 features, that is no bias or norm."""
    generator = torch.Generator().manual_seed(1)
    shapes = {"token_embedding.weight": (7, 8), "positions.weight": (6, 8)}
    for number in range(blocks):
        for name in ("q_linear", "k_linear", "v_linear", "out_proj"):
            shapes[f"blocks.{number}.attention.{name}.weight"] = (8, 8)
        shapes[f"blocks.{number}.feed_forward.linear1.weight"] = (16, 8)
        shapes[f"blocks.{number}.feed_forward.linear2.weight"] = (8, 16)
    return {key: torch.randn(shape, generator=generator) * 0.4 for key, shape in shapes.items()}


def noticed_changes(component, ids, mask):
    """Tell how much every token of the result (rows) notices a change of every token (columns).

    None if the encoder's answer has another shape.
    """
    length = ids.size(1)
    changed = (ids + torch.eye(length, dtype=ids.dtype)) % 7
    batch = torch.cat([ids, changed])
    built = component.build("Encoder", 7, 6, 8, 2, 16, 2, 0.0).load(drawn_encoder(2))
    result = built(batch, *([] if mask is None else [mask])).output
    if not fits(result, length + 1, length, 8):
        return None
    return (result[1:] - result[0]).abs().amax(-1).T
