"""A few lines of Paddle for `suanzi port`: a 0-d float64 scale, and a sum with `+=`."""

import paddle

x = paddle.ones([4, 4])
scale = paddle.to_tensor(0.5, dtype="float64")
y = paddle.nn.functional.softmax(x * scale)
y += paddle.ones([4], dtype="float64")
