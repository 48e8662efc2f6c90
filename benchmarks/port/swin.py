"""torchvision's Swin: a step of AdamW under autocast, then inference in bfloat16."""

import torch
from torchvision.models import SwinTransformer

torch.manual_seed(0)
model = SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], num_classes=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images, labels = torch.rand(2, 3, 32, 32), torch.tensor([0, 3])
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = torch.nn.functional.cross_entropy(model(images), labels, label_smoothing=0.1)
loss.backward()
optimizer.step()
with torch.no_grad():
    model.to(torch.bfloat16).eval()(images.to(torch.bfloat16)).softmax(-1)
