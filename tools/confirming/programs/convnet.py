"""A residual net as torchvision builds them, with torch.nn: bfloat16, and a float32 scale."""

import math

import torch
from torch import nn


class Block(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(cout)
        self.down = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))
        self.scale = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        """Add both ways."""
        y = torch.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return torch.relu(y * self.scale + self.down(x))


class Net(nn.Module):
    """Images to ten classes."""

    def __init__(self):
        super().__init__()
        self.register_buffer(
            "mean", torch.tensor([0.485, 0.456, 0.406], dtype=torch.float64).view(1, 3, 1, 1)
        )
        self.stem = nn.Conv2d(3, 8, 3, 2, 1)
        self.blocks = nn.Sequential(Block(8, 8, 1), Block(8, 16, 2))
        self.head = nn.Linear(16, 10)

    def forward(self, images):
        """Return the logits."""
        x = (images.float() / 255 - self.mean).to(self.stem.weight.dtype)
        x = self.blocks(self.stem(x))
        return self.head(x.mean((2, 3)))


torch.manual_seed(0)
net = Net().to(torch.bfloat16)
net.mean = net.mean.double()
for block in net.blocks:
    block.scale.data = block.scale.data.float()
images, labels = (
    torch.randint(0, 256, (4, 3, 16, 16), dtype=torch.uint8),
    torch.randint(0, 10, (4,)),
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for step in range(2):
    for group in optimizer.param_groups:
        group["lr"] = 0.05 * (1 + math.cos(math.pi * step / 2))
    logits = net(images)
    smooth = torch.full_like(logits, 0.1 / 10).scatter(1, labels[:, None], 0.9)
    loss = -(smooth * logits.float().log_softmax(-1)).sum(-1).mean()
    accuracy = (logits.argmax(-1) == labels).sum() / torch.tensor(len(labels))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
