"""Three small models, written here: a transformer block, a ResNet and a UNet."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    """Attention and a gated layer, each behind a norm."""

    def __init__(self, width: int = 48, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.table = nn.Embedding(50, width)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.gate = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width)
        self.down, self.head = nn.Linear(2 * width, width), nn.Linear(width, 50, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.table(tokens)
        n, length, width = x.shape
        q, k, v = (
            part.view(n, length, self.heads, -1).transpose(1, 2)
            for part in self.qkv(self.first(x)).chunk(3, -1)
        )
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        mixed = (weights @ v).transpose(1, 2).reshape(n, length, width)
        x = x + self.out(mixed)
        h = self.second(x)
        x = x + self.down(F.gelu(self.gate(h)) * self.up(h))
        return self.head(x)


class Residual(nn.Module):
    """Two convolutions with batch norms."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(h)) + x)


class ResNet(nn.Module):
    """Convolutions, pooling and a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.bn = nn.Conv2d(3, 12, 5, 2, 2), nn.BatchNorm2d(12)
        self.block = Residual(12)
        self.head = nn.Linear(12, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.bn(self.stem(x))), 3, 2, 1)
        x = self.block(x)
        return self.head(x.mean((2, 3)))


class UNet(nn.Module):
    """Down, up and across, with group norms and the time."""

    def __init__(self, channels: int = 8) -> None:
        super().__init__()
        self.begin = nn.Conv2d(3, channels, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(2, channels), nn.GroupNorm(2, 2 * channels)
        self.down = nn.Conv2d(channels, 2 * channels, 3, 2, 1)
        self.time = nn.Linear(8, 2 * channels)
        self.up = nn.Conv2d(2 * channels, channels, 3, padding=1)
        self.end = nn.Conv2d(2 * channels, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        angles = t[:, None] * torch.exp(-torch.arange(4) / 4.0)
        time = F.silu(self.time(torch.cat([angles.sin(), angles.cos()], -1)))
        a = F.silu(self.norm1(self.begin(x)))
        b = self.down(F.avg_pool2d(F.pad(a, (0, 1, 0, 1)), 2, 1)) + time[:, :, None, None]
        b = F.silu(self.norm2(b))
        c = self.up(F.interpolate(b, scale_factor=2.0, mode="nearest"))
        return self.end(torch.cat([a, c], 1))


def transformer_step() -> torch.Tensor:
    """Run the block and its gradients."""
    torch.manual_seed(0)
    model = Block()
    tokens = torch.randint(0, 50, (2, 17))
    logits = model(tokens)
    loss = F.cross_entropy(logits[:, :-1].reshape(-1, 50), tokens[:, 1:].reshape(-1))
    loss.backward()
    return torch.cat([loss.detach().reshape(1), *(p.grad.reshape(-1) for p in model.parameters())])


def resnet_step() -> torch.Tensor:
    """Run the ResNet, its gradients and an optimizer."""
    torch.manual_seed(0)
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    loss = F.cross_entropy(model(torch.randn(3, 3, 21, 21)), torch.tensor([1, 2, 9]))
    loss.backward()
    optimizer.step()
    return torch.cat([p.detach().reshape(-1) for p in model.parameters()])


def unet_step() -> torch.Tensor:
    """Run the UNet and its gradients."""
    torch.manual_seed(0)
    model = UNet()
    x = torch.randn(2, 3, 12, 12)
    loss = F.mse_loss(model(x, torch.tensor([3.0, 40.0])), torch.randn(2, 3, 12, 12))
    loss.backward()
    return torch.cat([loss.detach().reshape(1), *(p.grad.reshape(-1) for p in model.parameters())])


STEPS = {"transformer": transformer_step, "resnet": resnet_step, "unet": unet_step}
