"""What the encoder is made of."""

from provided.blocks import TransformerBlock
from torch import nn


def end_of(norm, d_model):
    """Return what stands behind the last block."""
    try:
        return {"pre": nn.LayerNorm, "post": nn.Identity}[norm](d_model)
    except KeyError as error:
        raise ValueError(f"there is no norm {norm!r}") from error


class Stack(nn.ModuleList):
    """Blocks that tell what each of them left."""

    def __init__(self, count, *arguments):
        super().__init__(TransformerBlock(*arguments) for _ in range(count))

    def visit(self, x, mask, tell):
        """Pass x through all blocks; call `tell` with what stands on the stream."""
        tell(x)
        for block in self:
            x = block(x, mask)
            tell(x)
        return x
