"""Convolution nets of transformers from configurations: a step under autocast, then bfloat16."""

import torch
from transformers import (
    ConvNextConfig,
    ConvNextForImageClassification,
    MobileNetV2Config,
    MobileNetV2ForImageClassification,
    ResNetConfig,
    ResNetForImageClassification,
)

torch.manual_seed(0)
images, labels = torch.rand(2, 3, 32, 32), torch.randint(0, 4, (2,))
nets = [
    ResNetForImageClassification(
        ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], num_labels=4)
    ),
    ConvNextForImageClassification(
        ConvNextConfig(
            patch_size=4,
            hidden_sizes=[8, 16],
            depths=[1, 1],
            num_stages=2,
            num_labels=4,
            drop_path_rate=0.1,
        )
    ),
    MobileNetV2ForImageClassification(MobileNetV2Config(depth_multiplier=0.25, num_labels=4)),
]
for net in nets:
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = net(pixel_values=images, labels=labels).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    with torch.no_grad():
        net.to(torch.bfloat16).eval()(pixel_values=images.to(torch.bfloat16))
