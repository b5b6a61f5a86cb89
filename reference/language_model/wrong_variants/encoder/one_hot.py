from learned_positions import LearnedPositionalEmbedding as Positions
from provided.blocks import TransformerBlock as Block
import torch as th


class Encoder(th.nn.Module):
    def __init__(self, vocab_size: int, max_len: int, d_model: int, num_heads: int, d_ff: int,
                 num_layers: int, dropout: float = 0.1, norm: str = "pre"):
        super().__init__()
        assert_norm(norm)
        one = lambda: Block(d_model, num_heads, d_ff, dropout, norm)
        self.token_embedding = th.nn.Embedding(vocab_size, d_model)
        th.nn.init.normal_(self.token_embedding.weight, std=0.02)
        self.positions = Positions(max_len, d_model)
        self.blocks = th.nn.Sequential(*[one() for _ in range(num_layers)])
        self.final_norm = th.nn.LayerNorm(d_model) if norm == "pre" else th.nn.Sequential()
        self.out = []

    def bottom(self, ids):
        hot = th.nn.functional.one_hot(ids.long(), self.token_embedding.num_embeddings)
        weight = self.token_embedding.weight
        return self.positions(th.einsum("btv,vd->btd", hot.to(weight.dtype), weight))

    def stream(self, token_ids, mask=None):
        entries = [self.bottom(token_ids)]
        for block in self.blocks:
            entries += [block(entries[-1], mask)]
        return th.stack(entries)

    def forward(self, token_ids, mask=None):
        return self.final_norm(self.stream(token_ids, mask)[-1])


def assert_norm(norm):
    if norm != "pre" and norm != "post":
        raise ValueError("unknown norm: " + str(norm))
