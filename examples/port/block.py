"""A block of a transformer, a step of training: ordinary PyTorch, for `suanzi port`.

bfloat16 activations, a 0-d float32 temperature, an int64 mask, a float64 learning rate.
"""

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width=32, heads=4):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.temperature = torch.tensor(0.125, dtype=torch.float32)

    def forward(self, x, mask):
        b, n, w = x.shape
        q, k, v = self.qkv(self.norm(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * self.temperature
        scores = scores + (1 - mask) * -1e4
        weights = scores.softmax(-1).to(v.dtype)
        return x + self.out((weights @ v).transpose(1, 2).reshape(b, n, w))


block = Block().to(torch.bfloat16)
x = torch.randn(2, 8, 32, dtype=torch.bfloat16)
mask = torch.ones(2, 1, 8, 8, dtype=torch.int64)

block(x, mask).square().mean().backward()

rate = torch.tensor(1e-3, dtype=torch.float64)
with torch.no_grad():
    for weight in block.parameters():
        weight -= rate * weight.grad
