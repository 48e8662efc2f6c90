"""ViT, bfloat16: an image of bytes, a step of SGD."""

import torch
from transformers import ViTConfig, ViTForImageClassification

torch.manual_seed(0)
model = ViTForImageClassification(
    ViTConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
              image_size=32, patch_size=8, num_labels=4)
).to(torch.bfloat16)  # fmt: skip
image = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8)
mean = torch.tensor([0.5, 0.4, 0.3]).view(1, 3, 1, 1)
pixels = ((image / 255 - mean) / 0.25).to(torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
out = model(pixel_values=pixels, labels=torch.tensor([0, 3]))
out.loss.backward()
optimizer.step()
print((out.logits.argmax(-1) == torch.tensor([0, 3])).float().mean().item())
