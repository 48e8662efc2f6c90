"""MindSpore in graph mode: value_and_grad, float16 activations with a float32 scale, SGD."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(0)


class Net(nn.Cell):
    """Two layers and a scale."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(8, 16), nn.Dense(16, 4)
        self.norm = nn.LayerNorm((16,))
        self.scale = ms.Parameter(ms.Tensor(0.5, ms.float32))

    def construct(self, x):
        """Return logits."""
        y = ops.relu(self.norm(self.first(x)))
        y = y.astype(ms.float16) - self.scale
        return self.second(y.astype(ms.float32))


net, loss = Net(), nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), 1e-3)


def forward(x, y):
    """Return the loss."""
    return loss(net(x), y)


step = ms.value_and_grad(forward, None, optimizer.parameters)
x, y = ms.Tensor(np.ones((2, 8), np.float32)), ms.Tensor([0, 3], ms.int32)
for _ in range(2):
    _, gradients = step(x, y)
    optimizer(gradients)
print(net(x).argmax(-1))
