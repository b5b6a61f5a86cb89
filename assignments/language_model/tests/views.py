"""What your own code does, as tables and pictures; nothing here is marked.

One function a component. Expected numbers are those that the course documents print. A picture is
left out where an answer has another shape than was asked for: its check says so.
"""

import json
from pathlib import Path

import torch

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
YOURS = "your code"
SENTENCE = ["So", "long", "and", "thanks", "for", "all", "the", "fish"]


def learned_positions(component, show):
    """TODO(author): learned_positions."""


def relative_positions(component, show):
    """TODO(author): relative_positions."""


def encoder(component, show):
    """TODO(author): encoder."""


def classifier(component, show):
    """TODO(author): classifier."""


def language_model(component, show):
    # Embeddings of their own for all words, and positions that turn each into the next one.
    count, eye = len(SENTENCE), torch.eye(len(SENTENCE))
    ahead = torch.cat([eye[1:] - eye[:-1], torch.zeros(1, count)])
    state = {"encoder.token_embedding.weight": eye, "encoder.positions.weight": ahead}
    model = component.build("LanguageModel", count, count, count, 1, 4, 0, 0.0).load(state)
    tokens = torch.arange(count)[None]
    logits = model.train(False)(tokens).output
    if fits(logits, 1, count, count):
        show.heatmap(
            "The next word, at every position",
            logits[0].softmax(-1),
            rows=SENTENCE,
            columns=SENTENCE,
            x="a word, and its probability to be next",
            y="the last word that is seen",
            low=0.0,
            high=1.0,
            note="A model without blocks that has the sentence by heart: each row is brightest one "
            "place to the right of its own word; after the last one, it repeats that.",
        )
        loss = component.call("next_token_loss", logits, tokens).output
        guess = component.call("perplexity", loss).output
        if fits(loss) and fits(guess):
            show.table(
                "How well it foretells the sentence",
                ["", "loss", "perplexity"],
                [["right", "0.2930", "1.340"], [YOURS, loss, guess]],
                note="Seven words are foretold, each with 0.7461: the loss is minus its logarithm.",
            )
    # Sequence j differs from the first, unchanged one in token j - 1 alone.
    batch = torch.tensor([[0, 1, 2, 3, 4, 5]]).repeat(7, 1)
    batch[range(1, 7), range(6)] = 6
    built = component.build("LanguageModel", 7, 6, 8, 2, 8, 1, 0.0)
    logits = built.load(drawn_block(8, "encoder.blocks.0.attention.")).train(False)(batch).output
    if fits(logits, 7, 6, 7):
        show.heatmap(
            "Which position notices a change of which token",
            (logits[1:] - logits[0]).abs().amax(-1).T,
            rows=range(6),
            columns=range(6),
            x="the token that was changed",
            y="the position that foretells",
            low=0.0,
            note="Above the diagonal nothing may show: what comes later is to be foretold.",
        )


def training(component, show):
    count = len(SENTENCE)
    model = component.provided("models").build("Bigram", count)
    model.load({"table.weight": torch.zeros(count, count), "bias": torch.zeros(count)})
    trainer = component.make("Trainer", model, 0.1, 5)
    component_ran = trainer.call("fit", torch.arange(count)[None], 30, 1)
    if component_ran.error is not None:
        return
    log = trainer.get("log").items()
    steps = [str(number) for number in range(len(log))]
    for key, title, note in (
        ("loss", "The loss, step by step", "From ln 8 = 2.079 down to 0.081."),
        ("learning_rate", "The learning rate", "Warmed up over five steps, then 0.1."),
    ):
        values = [entry.get(key) for entry in log if isinstance(entry, dict)]
        if len(values) == 30 and all(isinstance(value, float) for value in values):
            show.bars(title, steps, values, note=note)
    logits = model.train(False)(torch.tensor([[3, 4, 5, 6]])).output
    if fits(logits, 1, 4, count):
        chances = logits[0, -1].softmax(-1)
        show.bars('After "thanks for all the"', SENTENCE, chances, note="Right: 0.928 for fish.")


def generate(component, show):
    """TODO(author): generate."""


def cost(component, show):
    """TODO(author): cost."""


def fits(answer, *shape, dtype=None):
    """Tell whether an answer has this shape, and this dtype or any of real numbers."""
    right = answer.is_floating_point() if dtype is None else answer.dtype == dtype
    return answer.shape == shape and right


def drawn_block(features, prefix):
    """Draw weights for a block's attention, large enough for it to be seen."""
    generator = torch.Generator().manual_seed(1)
    names = ("q_linear", "k_linear", "v_linear", "out_proj")
    shape = (features, features)
    return {f"{prefix}{name}.weight": torch.randn(shape, generator=generator) for name in names}
