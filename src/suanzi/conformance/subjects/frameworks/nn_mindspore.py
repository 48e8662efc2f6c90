"""Operators of models in MindSpore, for calls that are made again; the kit has no cases of them."""

from frameworks import mindspore_adapter

MODELS = {
    "nn:softmax": "mint.nn.functional.softmax(x, axis)",
    "nn:log_softmax": "mint.nn.functional.log_softmax(x, axis)",
    "nn:layer_norm": "mint.nn.functional.layer_norm(x, tuple(normalized_shape), weight, bias, eps)",
    "nn:gelu": "mint.nn.functional.gelu(x, approximate=approximate)",
    "nn:embedding": "mint.nn.functional.embedding(indices, weight)",
    "nn:group_norm": "mint.nn.functional.group_norm(x, num_groups, weight, bias, eps)",
    "nn:conv2d": "mint.nn.functional.conv2d(x, weight, bias, stride, padding, dilation, groups)",
    "nn:mse_loss": "mint.nn.functional.mse_loss(x, target, reduction)",
    "nn:erf": "mint.erf(x)",
    **{
        f"nn:{name}": f"mint.nn.functional.{name}(x)"
        for name in "sigmoid silu relu relu6 mish hardswish hardsigmoid selu".split()
    },
}


class Adapter(mindspore_adapter.Adapter):
    """MindSpore with these operators."""

    mapping = {**mindspore_adapter.MAPPING, **MODELS}
