import math

import torch
from torch import nn


def causal_mask(seq_len):
    mask = torch.zeros(seq_len, seq_len, dtype=torch.bool)
    for i in range(seq_len):
        for j in range(seq_len):
            if j <= i:
                mask[i][j] = True
    return mask


def padding_mask(token_ids, pad_id):
    B, T = token_ids.shape
    masks = []
    for b in range(B):
        is_word = token_ids[b] != pad_id
        rows = []
        for t in range(T):
            rows.append(is_word)
        masks.append(torch.stack(rows))
    return torch.stack(masks)


def attention_for_one_sequence(query, key, value, mask):
    """query (Tq, d_k), key (Tk, d_k), value (Tk, d_v), mask (Tq, Tk) or None"""
    d_k = query.shape[-1]
    outputs = []
    all_weights = []
    for i in range(query.shape[0]):
        scores = []
        for j in range(key.shape[0]):
            scores.append((query[i] * key[j]).sum() / math.sqrt(d_k))
        scores = torch.stack(scores)
        if mask is not None:
            scores = torch.where(mask[i], scores, float("-inf"))
        weights = torch.softmax(scores, dim=0)
        out = 0
        for j in range(value.shape[0]):
            out = out + weights[j] * value[j]
        outputs.append(out)
        all_weights.append(weights)
    return torch.stack(outputs), torch.stack(all_weights)


def scaled_dot_product_attention(query, key, value, mask=None):
    batch_shape = query.shape[:-2]
    Tq, d_k = query.shape[-2:]
    Tk, d_v = value.shape[-2:]
    q = query.reshape(-1, Tq, d_k)
    k = key.reshape(-1, Tk, d_k)
    v = value.reshape(-1, Tk, d_v)
    m = None
    if mask is not None:
        # give every sequence its own copy of the mask
        m = mask.expand(batch_shape + (Tq, Tk)).reshape(-1, Tq, Tk)
    outs = []
    weights = []
    for n in range(q.shape[0]):
        o, w = attention_for_one_sequence(q[n], k[n], v[n], None if m is None else m[n])
        outs.append(o)
        weights.append(w)
    out = torch.stack(outs).reshape(batch_shape + (Tq, d_v))
    weight = torch.stack(weights).reshape(batch_shape + (Tq, Tk))
    return out, weight


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super(SelfAttention, self).__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias=bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=bias)

    def forward(self, x, mask=None):
        q = self.q_linear(x)
        k = self.k_linear(x)
        v = self.v_linear(x)
        output, weights = scaled_dot_product_attention(q, k, v, mask)
        return output, weights
