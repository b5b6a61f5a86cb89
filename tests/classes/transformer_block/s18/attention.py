import torch
import torch.nn as nn
import torch.nn.functional as F


def causal_mask(seq_len):
    everything = torch.ones(seq_len, seq_len)
    lower = torch.tril(everything)
    return lower > 0


def padding_mask(token_ids, pad_id):
    real = torch.ne(token_ids, pad_id)
    number_of_tokens = token_ids.shape[1]
    rows = [real for _ in range(number_of_tokens)]
    return torch.stack(rows, dim=1)


def scaled_dot_product_attention(query, key, value, mask=None):
    similarity = torch.matmul(query, torch.transpose(key, -2, -1))
    d_k = query.shape[-1]
    similarity = similarity / d_k ** 0.5
    if mask is not None:
        forbidden = torch.logical_not(mask)
        similarity = similarity.masked_fill(forbidden, float('-inf'))
    weights = F.softmax(similarity, dim=-1)
    output = torch.matmul(weights, value)
    return (output, weights)


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super(SelfAttention, self).__init__()
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        query = self.q_linear(x)
        key = self.k_linear(x)
        value = self.v_linear(x)
        output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
        return (output, weights)
