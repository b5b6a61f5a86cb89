"""Goal: show the reader of the source other code than Python runs.

At most: 0
Status: graded
"""


def layer_norm(x, eps=1e-5):
    honest = True
    # ‮ ⁦ if honest:⁩ ⁦ the rest is right ⁩
    return "‮" + "x" + "⁦"


LayerNorm = layer_norm
