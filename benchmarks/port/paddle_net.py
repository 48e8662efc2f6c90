"""Paddle: its ResNet-18 and an encoder, AdamW."""

import paddle
from paddle import nn

paddle.seed(0)
net = paddle.vision.models.resnet18(num_classes=4)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2)
parameters = [*net.parameters(), *encoder.parameters()]
optimizer = paddle.optimizer.AdamW(1e-3, parameters=parameters)
images, labels = paddle.rand([2, 3, 32, 32]), paddle.to_tensor([0, 3])
for _ in range(2):
    out = encoder(paddle.rand([2, 5, 16])).mean([1, 2])
    scale = paddle.to_tensor(0.5, dtype="float64")
    loss = nn.functional.cross_entropy(net(images), labels) + (out * scale).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
net.eval()
print((net(images).argmax(-1) == labels).astype("float32").mean())
