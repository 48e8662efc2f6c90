"""ViT, ConvNeXt, EVA02 and EfficientNet of timm, bfloat16: AdamW, EMA, Mixup."""

import timm
import torch
from timm.data.mixup import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.utils import ModelEmaV3

torch.manual_seed(0)
nets = {
    "vit_tiny_patch16_224": {"img_size": 32, "patch_size": 8, "depth": 2},
    "convnext_atto": {"depths": (1, 1, 1, 1), "dims": (8, 16, 16, 32)},
    "eva02_tiny_patch14_224": {"img_size": 28, "depth": 2},
    "efficientnet_b0": {},
}
mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=4)
for name, options in nets.items():
    size = options.get("img_size", 32)
    model = timm.create_model(name, num_classes=4, drop_path_rate=0.1, **options)
    model = model.to(torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    average = ModelEmaV3(model, decay=0.999)
    images, labels = mixup(torch.rand(2, 3, size, size), torch.tensor([0, 3]))
    loss = SoftTargetCrossEntropy()(model(images.to(torch.bfloat16)), labels)
    loss.backward()
    timm.utils.dispatch_clip_grad(model.parameters(), 1.0)
    optimizer.step()
    average.update(model)
    with torch.no_grad():
        model.eval()(images.to(torch.bfloat16))
