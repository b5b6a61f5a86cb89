# -*- coding: latin-1 -*-
# Self-attention. Vérifié avec les exemples du cours, très lent mais ça marche.
import torch
import torch.nn as nn

from utils import complain, log, masked_softmax

print("attention.py is being imported")

CAFÉ = "è"  # see if accents in names work as well


def causal_mask(seq_len):
    mask = torch.ones(seq_len, seq_len).tril().bool()
    log("causal mask of size", seq_len)
    return mask


def padding_mask(token_ids, pad_id):
    batch_size, seq_len = token_ids.shape
    keys_allowed = token_ids != pad_id          # (B, T)
    keys_allowed = keys_allowed.unsqueeze(1)    # (B, 1, T)
    keys_allowed = keys_allowed.expand(batch_size, seq_len, seq_len)
    return keys_allowed.clone()


def scaled_dot_product_attention(query, key, value, mask=None):
    log("query", tuple(query.shape), "key", tuple(key.shape), "value", tuple(value.shape))
    d_k = query.size()[-1]
    scores = torch.matmul(query, key.transpose(-2, -1)) / torch.sqrt(torch.tensor(d_k).float())
    attention_weights = masked_softmax(scores, mask)
    output = torch.matmul(attention_weights, value)
    return output, attention_weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super().__init__()
        self.d_model = d_model
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        complain("SelfAttention.forward was called")
        q = self.q_linear(x)
        k = self.k_linear(x)
        v = self.v_linear(x)
        output, attention_weights = scaled_dot_product_attention(q, k, v, mask)
        log("output", tuple(output.shape), "weights", tuple(attention_weights.shape))
        return output, attention_weights


def compare_with_torch():
    """never called: F.scaled_dot_product_attention is not allowed in the solution"""
    q = torch.randn(2, 5, 8)
    expected = torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return torch.allclose(scaled_dot_product_attention(q, q, q)[0], expected, atol=1e-5)


if __name__ == "__main__":
    print(causal_mask(4))
    print(padding_mask(torch.tensor([[5, 6, 0], [7, 0, 0]]), 0))
    assert compare_with_torch()
