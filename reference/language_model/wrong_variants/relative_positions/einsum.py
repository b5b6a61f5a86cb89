import torch
from torch import einsum, nn


def relative_distances(seq_len, max_distance):
    pos = torch.arange(seq_len)
    return torch.clamp(pos.view(1, -1) - pos.view(-1, 1), -max_distance, max_distance)


class RelativePositionBias(nn.Module):
    def __init__(self, num_heads, max_distance):
        super().__init__()
        self.max_distance = max_distance
        self.weight = nn.Parameter(torch.randn(2 * max_distance + 1, num_heads) * 0.02)

    def forward(self, seq_len):
        idx = relative_distances(seq_len, self.max_distance) + self.max_distance
        hot = nn.functional.one_hot(idx, self.weight.shape[0]).to(self.weight)
        return einsum("qkr,rh->hqk", hot, self.weight)


def relative_attention(query, key, value, bias, mask=None):
    sim = einsum("bhqd,bhkd->bhqk", query, key) * query.shape[-1] ** -0.5
    sim = sim + bias
    if mask is not None:
        if mask.ndim == 3:
            mask = mask[:, None]
        sim = torch.where(mask, sim, torch.full_like(sim, -torch.inf))
    sim = sim - sim.amax(-1, keepdim=True).detach()
    attn = sim.exp()
    attn = attn / attn.sum(-1, keepdim=True)
    return einsum("bhqk,bhkd->bhqd", attn, value), attn
