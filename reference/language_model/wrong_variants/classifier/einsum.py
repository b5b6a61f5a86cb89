"""einsum throughout, own softmax, in float64 inside."""
import torch
from provided.blocks import FeedForward, MultiHeadAttention
from torch import nn


def visible_mask(token_ids, hidden_ids):
    wanted = [[int(one) not in set(hidden_ids) for one in row] for row in token_ids.tolist()] if not token_ids.is_meta else None
    if wanted is None:
        return (token_ids == token_ids)[:, None].expand(-1, token_ids.shape[1], -1)
    seen = torch.tensor(wanted, dtype=torch.bool, device=token_ids.device).reshape(token_ids.shape)
    return torch.stack([seen] * token_ids.shape[1], dim=1)


def soft(scores, allowed):
    if allowed is not None:
        scores = scores.where(allowed, torch.tensor(-torch.inf, dtype=scores.dtype, device=scores.device))
    shifted = scores - scores.amax(-1, keepdim=True)
    e = shifted.exp()
    return e / e.sum(-1, keepdim=True)


class Classifier(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, d_ff):
        super().__init__()
        self.h = num_heads
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.attention = MultiHeadAttention(d_model, num_heads, False)
        self.feed_forward = FeedForward(d_model, d_ff, 0, "gelu", False)
        self.classifier = nn.Linear(d_model, 1, False)

    def heads(self, layer, x):
        w = layer.weight.reshape(self.h, -1, x.shape[-1])
        return torch.einsum("bnd,hed->bhne", x, w)

    def trace(self, token_ids, mask=None):
        a = self.attention
        e = self.embedding.weight[token_ids]
        q, k, v = (self.heads(layer, e) for layer in (a.q_linear, a.k_linear, a.v_linear))
        s = torch.einsum("bhie,bhje->bhij", q, k) * k.shape[-1] ** -0.5
        w = soft(s, None if mask is None else mask[:, None])
        m = torch.einsum("bhij,bhje->bihe", w, v)
        m = m.reshape(e.shape)
        o = torch.einsum("bnd,ed->bne", m, a.out_proj.weight)
        r = e + o
        f = self.feed_forward(r)
        z = r + f
        y = torch.einsum("bd,d->b", z[:, 0], self.classifier.weight[0])
        names = ("embedded query key value attention_weights attention_values attention_output "
                 "after_attention feed_forward_output block_output logits").split()
        return dict(zip(names, (e, q, k, v, w, m, o, r, f, z, y)))

    def forward(self, token_ids, mask=None):
        return self.trace(token_ids, mask)["logits"]


def cross_entropy(logits, labels):
    signed = torch.where(labels.bool(), logits, -logits)
    return torch.logaddexp(torch.zeros_like(signed), -signed).mean()


def accuracy(logits, labels):
    right = [(z > 0) == bool(y) for z, y in zip(logits.tolist(), labels.tolist())]
    return sum(right) / len(right)
