import torch
import torch.nn as nn
import torch.nn.functional as F


def causal_mask(seq_len):
    # everything True, then cut off the part above the diagonal
    everything = torch.ones(seq_len, seq_len)
    lower = torch.tril(everything)
    return lower > 0


def padding_mask(token_ids, pad_id):
    # (B, T): is it a real token?
    real = torch.ne(token_ids, pad_id)
    # the same row for every query
    number_of_tokens = token_ids.shape[1]
    rows = [real for _ in range(number_of_tokens)]
    return torch.stack(rows, dim=1)


def scaled_dot_product_attention(query, key, value, mask=None):
    # how similar is every query to every key
    similarity = torch.matmul(query, torch.transpose(key, -2, -1))
    # forbidden keys get -infinity, after the softmax this is 0
    if mask is not None:
        forbidden = torch.logical_not(mask)
        similarity = similarity.masked_fill(forbidden, float("-inf"))
    # every row sums to 1
    weights = F.softmax(similarity, dim=-1)
    # mixture of the values
    output = torch.matmul(weights, value)
    return output, weights


class SelfAttention(nn.Module):
    def __init__(self, d_model, bias=True):
        super(SelfAttention, self).__init__()
        # queries, keys, values
        self.q_linear = nn.Linear(d_model, d_model, bias)
        self.k_linear = nn.Linear(d_model, d_model, bias)
        self.v_linear = nn.Linear(d_model, d_model, bias)

    def forward(self, x, mask=None):
        query = self.q_linear(x)
        key = self.k_linear(x)
        value = self.v_linear(x)
        output, weights = scaled_dot_product_attention(query, key, value, mask=mask)
        return output, weights
