"""Operators of models in Paddle, for calls that are made again; the kit has no cases of them."""

from frameworks import paddle_adapter

MODELS = {
    "nn:softmax": "F.softmax(x, axis)",
    "nn:log_softmax": "F.log_softmax(x, axis)",
    "nn:layer_norm": "F.layer_norm(x, normalized_shape, weight, bias, eps)",
    "nn:gelu": "F.gelu(x, approximate=approximate == 'tanh')",
    "nn:embedding": "F.embedding(indices, weight)",
    "nn:conv1d": "F.conv1d(x, weight, bias, stride, padding, dilation, groups)",
    "nn:conv2d": "F.conv2d(x, weight, bias, stride, padding, dilation, groups)",
    "nn:conv3d": "F.conv3d(x, weight, bias, stride, padding, dilation, groups)",
    "nn:group_norm": "F.group_norm(x, num_groups, eps, weight, bias)",
    "nn:mse_loss": "F.mse_loss(x, target, reduction)",
    "nn:log_sigmoid": "F.log_sigmoid(x)",
    **{
        f"nn:{name}": f"F.{name}(x)"
        for name in "sigmoid silu relu relu6 mish hardswish hardsigmoid softsign selu".split()
    },
    "nn:erf": "paddle.erf(x)",
}


class Adapter(paddle_adapter.Adapter):
    """Paddle with these operators."""

    mapping = {**paddle_adapter.MAPPING, **MODELS}
