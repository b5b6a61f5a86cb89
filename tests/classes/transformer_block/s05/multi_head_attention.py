"""Multi-head attention."""
import torch
import torch.nn as nn

from utils import ModelConfig, complain, log, masked_softmax

print("multi_head_attention.py is being imported")


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads, bias=True):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model %d cannot be divided by num_heads %d" % (d_model, num_heads))
        self.config = ModelConfig(d_model=d_model, num_heads=num_heads, bias=bias)
        log("config:", self.config)
        self.q_linear = nn.Linear(d_model, d_model, bias=self.config.bias)
        self.k_linear = nn.Linear(d_model, d_model, bias=self.config.bias)
        self.v_linear = nn.Linear(d_model, d_model, bias=self.config.bias)
        self.out_proj = nn.Linear(d_model, d_model, bias=self.config.bias)

    def split_heads(self, tensor):
        batch_size, seq_len, _ = tensor.shape
        tensor = tensor.reshape(batch_size, seq_len, self.config.num_heads, self.config.head_size)
        return tensor.permute(0, 2, 1, 3)

    def merge_heads(self, tensor):
        batch_size, num_heads, seq_len, head_size = tensor.shape
        return tensor.permute(0, 2, 1, 3).contiguous().view(batch_size, seq_len, num_heads * head_size)

    def forward(self, x, mask=None):
        complain("MultiHeadAttention.forward was called (nn.MultiheadAttention is not used)")
        log("x", tuple(x.shape), "mask", None if mask is None else tuple(mask.shape))
        q = self.split_heads(self.q_linear(x))
        k = self.split_heads(self.k_linear(x))
        v = self.split_heads(self.v_linear(x))
        scale = self.config.head_size ** 0.5
        scores = torch.matmul(q, k.transpose(2, 3)) / scale
        log("scores", tuple(scores.shape))
        if mask is not None:
            if len(mask.shape) == 2:
                mask = mask.unsqueeze(0)
            mask = mask.unsqueeze(1)
        attention_weights = masked_softmax(scores, mask)
        context = self.merge_heads(torch.matmul(attention_weights, v))
        output = self.out_proj(context)
        return output, attention_weights


if __name__ == "__main__":
    torch.manual_seed(0)
    m = MultiHeadAttention(64, 4)
    out, w = m(torch.randn(2, 5, 64))
    print(out.shape, w.shape)
