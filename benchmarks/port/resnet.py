"""torchvision's ResNet-18: transforms, SGD, a moving average of its weights, accuracy."""

import torch
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torchvision.models import resnet18
from torchvision.transforms import v2

torch.manual_seed(0)
transform = v2.Compose(
    [v2.RandomResizedCrop(32, antialias=True), v2.RandomHorizontalFlip(),
     v2.ToDtype(torch.float32, scale=True),
     v2.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])]
)  # fmt: skip
model = resnet18(num_classes=10)
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.99))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=4)
labels = torch.tensor([1, 7])
for _ in range(2):
    images = torch.stack(
        [transform(torch.randint(0, 256, (3, 40, 40), dtype=torch.uint8)) for _ in range(2)]
    )
    out = model(images)
    loss = torch.nn.functional.cross_entropy(out, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    average.update_parameters(model)
with torch.no_grad():
    _, first = average.eval()(images).topk(5, 1)
    right = first.t().eq(labels.view(1, -1))
    print(right[:5].reshape(-1).float().sum(0) * (100.0 / 2))
