"""Tables and pictures of your own results; nothing here is marked.

There is one function per component. Expected numbers come from the course documents and the
handout. A picture is omitted if the result has a wrong shape, which is reported by a check.
"""

import json
from pathlib import Path

import torch

WALKTHROUGH = json.loads((Path(__file__).parent / "walkthrough.json").read_text("utf-8"))
SEQUENCES = (["CLS", "a", "a", "c", "PAD"], ["CLS", "b", "a", "a", "c"])
YOURS = "your code"


def layer_norm(component, show):
    x = torch.tensor([2.0, 4.0, 6.0, 8.0])
    z = component.call("layer_norm", x).output
    if fits(z, 4):
        features = [f"feature {number}" for number in range(1, 5)]
        # Rounded, or a right mean would read 1.5e-08.
        after = [round(float(value), 4) + 0.0 for value in (z.mean(), z.var(correction=0))]
        show.table(
            "The worked example",
            ["", *features, "mean", "variance"],
            [
                ["input", *x.tolist(), 5.0, 5.0],
                ["slides, page 8", "-1.34", "-0.45", "0.45", "1.34", "0", "1"],
                [YOURS, *z, *after],
            ],
        )
    start = torch.tensor([3.0, -1.0, 0.5, 2.0, -2.5, 0.0, 1.0, -1.5])
    tokens = torch.stack([start, start + 100, start * 50, start.flip(0)])
    result = component.call("layer_norm", tokens).output
    if fits(result, 4, 8):
        show.heatmap(
            "Four tokens, normalised",
            result,
            rows=["a token", "the same, plus 100", "the same, times 50", "the same, backwards"],
            x="feature",
            note="Each token is normalised separately: the first three rows should be equal.",
        )


def positional_encoding(component, show):
    table = component.call("sinusoidal_encoding", 32, 16).output
    if fits(table, 32, 16):
        show.heatmap(
            "sinusoidal_encoding(32, 16)",
            table.T,
            rows=range(16),
            x="position",
            y="feature",
            low=-1.0,
            high=1.0,
            note="Sine and cosine alternate; the waves get slower from the top down.",
        )
    words = torch.tensor([[[0.0, 0.0, 0.0, 0.0], [0.5, 0.3, -0.2, 0.8]]])
    result = component.build("PositionalEncoding", 4).train(False)(words).output
    if fits(result, 1, 2, 4):
        cat = words[0, 1]
        show.table(
            'The word "cat" at position 1',
            ["", *(f"feature {number}" for number in range(4))],
            [
                ["embedding", *cat],
                ["position 1: slides, page 25", "0.841", "0.540", "0.010", "1.000"],
                [f"position 1: {YOURS}", *(result[0, 1] - cat)],
                ["sum: slides, page 25", "1.341", "0.840", "-0.190", "1.800"],
                [f"sum: {YOURS}", *result[0, 1]],
            ],
        )


def attention(component, show):
    query, key, value = (walkthrough(name)[0, 0] for name in ("query", "key", "value"))
    asked = (query[:1], key, value, walkthrough("mask")[0, :1])
    weights = component.call("scaled_dot_product_attention", *asked).tensors("output", "weights")[1]
    if fits(weights, 1, 5):
        show.table(
            "The walkthrough: attention weights of CLS in CLS a a c PAD, first head",
            ["", *SEQUENCES[0]],
            [
                ["key", *key[:, 0]],
                ["weight: walkthrough", "0", "0.49982", "0.49982", "0.00035828", "0"],
                [f"weight: {YOURS}", *weights[0]],
            ],
            note="The query of CLS is -1.392, so keys far below 0 get the largest scores. "
            "CLS and PAD are masked.",
        )
    mask = component.call("causal_mask", 6).output
    if fits(mask, 6, 6, dtype=torch.bool):
        even, values = torch.zeros(6, 2), torch.eye(6)
        equal = component.call("scaled_dot_product_attention", even, even, values, mask).tensors(
            "output", "weights"
        )[1]
        if fits(equal, 6, 6):
            positions = [str(number) for number in range(6)]
            show.heatmap(
                "Your causal mask at work, all scores equal",
                equal,
                rows=positions,
                columns=positions,
                x="key",
                y="query",
                low=0.0,
                high=1.0,
                note="Row n has n equal weights of 1/n. All weights above the diagonal are 0.",
            )
    rows = []
    for size in (4, 64, 512):
        generator = torch.Generator().manual_seed(size)
        query, key = (torch.randn(32, size, generator=generator) for _ in range(2))
        row = [str(size)]
        # Larger queries undo the division.
        for scaled in (query, query * size**0.5):
            asked = (scaled, key, torch.eye(32))
            weights = component.call("scaled_dot_product_attention", *asked)
            weights = weights.tensors("output", "weights")[1]
            if fits(weights, 32, 32):
                row.append(f"{float(weights.amax(-1).mean()):.2f}")
        rows.append(row)
    if all(len(row) == 3 for row in rows):
        show.table(
            "Why the scores are divided: the largest of 32 weights, for random queries and keys",
            ["d_k", YOURS, "the same without the division"],
            rows,
            note="The sum of d_k random products is as large as the square root of d_k. Without "
            "the division, one key gets nearly all of the weight, and the softmax hardly passes "
            "a gradient on.",
        )


def multi_head_attention(component, show):
    layers = ("q_linear", "k_linear", "v_linear", "out_proj")
    weight = {name: WALKTHROUGH["weights"][f"attention.{name}.weight"] for name in layers}
    built = component.build("MultiHeadAttention", 2, 2, bias=False)
    built.load({f"{name}.weight": torch.tensor(weight[name]) for name in layers})
    weights = built(walkthrough("x"), walkthrough("mask")).tensors("output", "weights")[1]
    if not fits(weights, 2, 2, 5, 5):
        return
    printed = (
        (
            ["0", "0.49982", "0.49982", "0.00035828", "0"],
            ["0", "0.0038669", "0.0038669", "0.99227", "0"],
        ),
        (
            ["0", "4.5179e-06", "0.49982", "0.49982", "0.00035828"],
            ["0", "0.99959", "1.5737e-06", "1.5737e-06", "0.00040383"],
        ),
    )
    for number, words in enumerate(SEQUENCES):
        rows = []
        for head, name in enumerate(("first head", "second head")):
            rows.append([f"{name}: walkthrough", *printed[number][head]])
            rows.append([f"{name}: {YOURS}", *weights[number, head, 0]])
        show.table(f"Attention weights of CLS in {' '.join(words)}", ["", *words], rows)
    for head, name in enumerate(("first head", "second head")):
        show.heatmap(
            f"CLS b a a c, {name}",
            weights[1, head],
            rows=SEQUENCES[1],
            columns=SEQUENCES[1],
            x="key",
            y="query",
            low=0.0,
            high=1.0,
        )


def feed_forward(component, show):
    x = torch.tensor([0.7, 0.4, 0.5, 0.2, 1.0])
    keys = torch.tensor([[0.8, 0.1, 0.9, -0.1, 0.17], [0.1, 0.8, -0.2, 0.3, 0.05]])
    # The first two columns read out the activations themselves.
    values = torch.tensor([[1.0, 0.0, 0.9, 0.8, 0.6], [0.0, 1.0, 0.1, 0.7, 0.05]])
    found = component.call("memory_lookup", x, keys, values).output
    if fits(found, 5):
        show.table(
            'The values that the memory adds to "Tower"',
            ["", "neuron 2847", "neuron 5432", "dim. 42", "dim. 73", "dim. 158"],
            [
                ["slides, pages 20 and 21", "1.2", "0.4", "1.12", "1.24", "0.74"],
                [YOURS, *found],
            ],
            note="A fifth dimension replaces those that page 20 leaves out; see the handout.",
        )
    # With the identity as linear2, the result is the hidden layer.
    generator = torch.Generator().manual_seed(1)
    built = component.build("FeedForward", 24, 24, dropout=0.0, bias=False)
    first = torch.randn(24, 24, generator=generator)
    built.load({"linear1.weight": first, "linear2.weight": torch.eye(24)})
    hidden = built(torch.randn(1, 8, 24, generator=generator) / 24**0.5).output
    if fits(hidden, 1, 8, 24):
        share = float((hidden == 0).double().mean())
        show.heatmap(
            "The hidden layer of FeedForward after relu",
            hidden[0],
            rows=[f"token {number}" for number in range(8)],
            x="hidden feature",
            note=f"{share:.0%} of the values are exactly 0: these keys do not match.",
        )


def transformer_block(component, show):
    plain = component.build(
        "TransformerBlock", 2, 2, 2, dropout=0.0, norm="none", activation="gelu", bias=False
    )
    plain.load({key: torch.tensor(value) for key, value in WALKTHROUGH["weights"].items()})
    output = plain(walkthrough("x"), walkthrough("mask")).output
    if fits(output, 2, 5, 2):
        before = walkthrough("x")[:, 0].flatten()
        show.table(
            "CLS before and after the walkthrough's block",
            ["", "aac, 1st", "aac, 2nd", "baac, 1st", "baac, 2nd"],
            [
                ["before", *before],
                ["after: handout", "-6.4319", "-0.9393", "0.2414", "9.1150"],
                [f"after: {YOURS}", *output[:, 0].flatten()],
            ],
            note="The two features of CLS. Before the block they are the same in both sequences, "
            "afterwards they differ.",
        )
    # Sequence j of the batch differs from the first, unchanged sequence only in token j - 1.
    state = drawn_block(4, 8)
    generator = torch.Generator().manual_seed(2)
    batch = torch.randn(1, 6, 4, generator=generator).repeat(7, 1, 1)
    batch[range(1, 7), range(6)] = torch.randn(6, 4, generator=generator)
    mask = torch.ones(6, 6, dtype=torch.bool).tril()
    built = component.build("TransformerBlock", 4, 2, 8, dropout=0.0, bias=False).load(state)
    result = built(batch, mask).output
    if fits(result, 7, 6, 4):
        noticed = (result[1:] - result[0]).abs().amax(-1).T
        positions = [str(number) for number in range(6)]
        show.heatmap(
            "Effect of changing a token on the result of each token, with a causal mask",
            noticed,
            rows=positions,
            columns=positions,
            x="the token that was changed",
            y="the token of the result",
            low=0.0,
            note="The largest change of a feature. Above the diagonal all changes must be 0: "
            "no token depends on later tokens.",
        )


def lm_head(component, show):
    words = ["word 0: [1, 0]", "word 1: [0, 1]", "word 2: [1, 1]"]
    embedding = show.embedding(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    head = component.build("TiedLMHead", embedding)
    hidden = torch.tensor([[[-1.0, 3.0], [2.0, 1.0]]])
    logits = head(hidden).output
    shares = head.call("next_token_probabilities", hidden).output
    if fits(logits, 1, 2, 3) and fits(shares, 1, 3):
        show.table(
            "After the last vector (2, 1)",
            ["", *words],
            [
                ["logits: handout", "2", "1", "3"],
                [f"logits: {YOURS}", *logits[0, 1]],
                ["probabilities: handout", "0.2447", "0.0900", "0.6652"],
                [f"probabilities: {YOURS}", *shares[0]],
            ],
        )
        show.bars(
            "Your probabilities of the next word",
            words,
            shares[0].tolist(),
            note="Computed from the last of two tokens; the first, (-1, 3), has no effect.",
        )


def fits(answer, *shape, dtype=None):
    """Return whether an answer has this shape, and this dtype (default: any floating point)."""
    right = answer.is_floating_point() if dtype is None else answer.dtype == dtype
    return answer.shape == shape and right


def walkthrough(key):
    """Read one of the walkthrough's tables."""
    return torch.tensor(WALKTHROUGH[key])


def drawn_block(features, hidden):
    """Make random parameters for a block without biases, except for its norms."""
    generator = torch.Generator().manual_seed(1)
    names = ("q_linear", "k_linear", "v_linear", "out_proj")
    shapes = {f"attention.{name}.weight": (features, features) for name in names}
    shapes["feed_forward.linear1.weight"] = (hidden, features)
    shapes["feed_forward.linear2.weight"] = (features, hidden)
    return {key: torch.randn(shape, generator=generator) * 0.5 for key, shape in shapes.items()}
