"""What a call of PyTorch is in operators of the standard and of models.

Each function here is given `do`, which computes an operator by its name and the standard's argument
names, and the arguments of the call; it returns what the call returns. What only moves elements is
the same everywhere, and is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from suanzi.port.replay.kept import Value

Do: TypeAlias = Callable[..., Any]
Meaning: TypeAlias = Callable[..., Any]


class Unknown(Exception):
    """What cannot be made again; the words say why."""


MEANINGS: dict[str, Meaning] = {}
"""By the names of PyTorch's operators, without underscores."""
GIVEN = frozenset(
    """
    tensor as_tensor from_numpy zeros ones full empty arange linspace logspace eye randn rand
    randint randperm normal uniform bernoulli multinomial exponential zeros_like ones_like full_like
    empty_like randn_like rand_like randint_like new_zeros new_ones new_full new_empty new_tensor
    scalar_tensor fill zero asarray tril_indices triu_indices empty_strided frombuffer complex polar
    one_hot random
    """.split()
)
"""What makes tensors of numbers, or draws them: nothing is computed that could be made again."""


def put(*names: str) -> Callable[[Meaning], Meaning]:
    """Put a function into the table, under the names of PyTorch's operators."""

    def keep(function: Meaning) -> Meaning:
        for name in names:
            MEANINGS[name] = function
        return function

    return keep


def _unary(table: str, catalogue: str = "", argument: str = "x") -> None:
    for pair in table.split():
        name, _, op = pair.partition("=")

        def meaning(
            do: Do, x: Value, inplace: bool = False, _op: str = f"{catalogue}{op or name}"
        ) -> Any:
            return do(_op, **{argument: x})

        MEANINGS[name] = meaning


def _binary(table: str) -> None:
    for pair in table.split():
        name, _, op = pair.partition("=")

        def meaning(do: Do, x: Any, y: Any, alpha: Any = 1, _op: str = op or name) -> Any:
            return do(_op, x=x, y=y if alpha == 1 else do("mul", x=y, y=alpha))

        def swapped(do: Do, y: Any, x: Any, alpha: Any = 1, _op: str = op or name) -> Any:
            return do(_op, x=x, y=y if alpha == 1 else do("mul", x=y, y=alpha))

        MEANINGS[name] = MEANINGS[f"i{name}"] = meaning
        MEANINGS[f"r{name}"] = swapped


_unary(
    """
    abs absolute=abs exp expm1 log log2 log10 log1p sqrt rsqrt square sin cos tan asin acos atan
    sinh cosh tanh asinh acosh atanh floor ceil trunc round reciprocal bitwise_not logical_not
    invert=bitwise_not
    """
)
_unary("sign", argument="input")
_unary(
    """
    sigmoid silu relu relu6 erf erfc mish hardswish hardsigmoid softsign selu logsigmoid=log_sigmoid
    """,
    "nn:",
)
_binary(
    """
    add sub mul subtract=sub multiply=mul truediv=true_divide true_divide floordiv
    floor_divide=floordiv mod remainder=mod maximum=max minimum=min eq=equal ne=not_equal gt=greater
    ge=greater_equal lt=less le=less_equal equal not_equal greater greater_equal less less_equal
    and=bitwise_and or=bitwise_or xor=bitwise_xor bitwise_and bitwise_or bitwise_xor logical_and
    logical_or logical_xor
    """
)


@put("div", "divide", "idiv")
def _div(do: Do, x: Any, y: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "trunc":
        raise Unknown("div rounded towards zero")
    return do("floordiv" if rounding_mode == "floor" else "true_divide", x=x, y=y)


@put("rdiv")
def _rdiv(do: Do, y: Any, x: Any) -> Any:
    return do("true_divide", x=x, y=y)


@put("neg", "negative")
def _neg(do: Do, x: Value) -> Any:
    return do("sub", x=0, y=x) if x.dtype != "bool" else _no("neg of bool")


@put("pow", "ipow")
def _pow(do: Do, x: Any, exponent: Any) -> Any:
    return do("pow", x=x, e=exponent)


@put("rpow")
def _rpow(do: Do, exponent: Any, x: Any) -> Any:
    return do("pow", x=x, e=exponent)


@put("matmul", "mm", "bmm", "rmatmul")
def _matmul(do: Do, x: Value, y: Value) -> Any:
    return do("matmul", mat1=x, mat2=y)


@put("addmm", "baddbmm")
def _addmm(do: Do, bias: Value, x: Value, y: Value, beta: Any = 1, alpha: Any = 1) -> Any:
    if (beta, alpha) != (1, 1):
        raise Unknown("addmm with factors")
    return do("add", x=do("matmul", mat1=x, mat2=y), y=bias)


@put("linear")
def _linear(do: Do, x: Value, weight: Value, bias: Value | None = None) -> Any:
    return do("linear", x=x, weight=weight, bias=bias)


@put("addcmul")
def _addcmul(do: Do, x: Value, y: Value, z: Value, value: Any = 1) -> Any:
    product = do("mul", x=y, y=z)
    return do("add", x=x, y=product if value == 1 else do("mul", x=product, y=value))


@put("addcdiv")
def _addcdiv(do: Do, x: Value, y: Value, z: Value, value: Any = 1) -> Any:
    quotient = do("true_divide", x=y, y=z)
    return do("add", x=x, y=quotient if value == 1 else do("mul", x=quotient, y=value))


@put("lerp")
def _lerp(do: Do, x: Value, end: Value, weight: Any) -> Any:
    return do("add", x=x, y=do("mul", x=do("sub", x=end, y=x), y=weight))


@put("where")
def _where(do: Do, condition: Value, x: Any, y: Any) -> Any:
    return do("where", condition=condition, x=x, y=y)


@put("masked_fill")
def _masked_fill(do: Do, x: Value, mask: Value, value: Any) -> Any:
    if isinstance(value, Value):
        value = do("cast", input=value, type=x.dtype)
    return do("where", condition=mask, x=value, y=x)


@put("clamp", "clip")
def _clamp(do: Do, x: Value, min: Any = None, max: Any = None) -> Any:
    return do("clip", input=x, low=min, high=max)


@put("clamp_min")
def _clamp_min(do: Do, x: Value, min: Any) -> Any:
    return do("clip", input=x, low=min, high=None)


@put("clamp_max")
def _clamp_max(do: Do, x: Value, max: Any) -> Any:
    return do("clip", input=x, low=None, high=max)


def _reduced(mode: str) -> Meaning:
    def meaning(do: Do, x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        if dtype is not None:
            x = do("cast", input=x, type=dtype)
        axes = [dim] if isinstance(dim, int) else list(dim or ())
        return do("reduce", input=x, mode=mode, axis=axes or list(range(len(x.shape))),
                  keep_dims=keepdim)  # fmt: skip

    return meaning


for _name, _mode in (("sum", "SUM"), ("mean", "MEAN"), ("prod", "PROD"), ("amax", "MAX"),
                     ("amin", "MIN")):  # fmt: skip
    MEANINGS[_name] = _reduced(_mode)


def _extreme(mode: str, op: str) -> Meaning:
    def meaning(do: Do, x: Value, other: Any = None, keepdim: bool = False, dim: Any = None) -> Any:
        if isinstance(other, Value):
            return do(op, x=x, y=other)
        axis = dim if other is None else other
        if axis is None:
            return do("reduce", input=x, mode=mode, axis=list(range(len(x.shape))), keep_dims=False)
        return do("reduce", input=x, mode=mode, axis=[axis], keep_dims=keepdim)

    return meaning


MEANINGS["max"], MEANINGS["min"] = _extreme("MAX", "max"), _extreme("MIN", "min")


@put("cumsum")
def _cumsum(do: Do, x: Value, dim: int, dtype: Any = None) -> Any:
    return do("cumsum", input=x, axis=dim % max(len(x.shape), 1), dtype=dtype or x.dtype)


@put("argmax")
def _argmax(do: Do, x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        x, dim = x.like(x.array.reshape(-1)), 0
    return do("argmax", input=x, axis=dim, keepdim=keepdim, dtype="int64")


# Casts.

_CASTS = {
    "half": "float16", "float": "float32", "double": "float64", "bfloat16": "bfloat16",
    "int": "int32", "long": "int64", "short": "int16", "char": "int8", "byte": "uint8",
    "bool": "bool",
}  # fmt: skip


@put("to", "type", "_to_copy", "type_as")
def _to(do: Do, x: Value, *rest: Any, dtype: Any = None, **_: Any) -> Any:
    for one in (dtype, *rest):
        if isinstance(one, Value):
            return _cast(do, x, one.dtype)
        if isinstance(one, Name):
            return _cast(do, x, one.name)
    return x


def _cast(do: Do, x: Value, name: str) -> Any:
    return x if name == x.dtype else do("cast", input=x, type=name)


for _name, _dtype in _CASTS.items():
    MEANINGS[_name] = lambda do, x, _to=_dtype: _cast(do, x, _to)


@put("copy")
def _copy(do: Do, x: Value, source: Value, non_blocking: bool = False) -> Any:
    found = _cast(do, source, x.dtype)
    return found.like(np.broadcast_to(found.array, x.shape))


# Models.


@put("softmax", "_softmax")
def _softmax(do: Do, x: Value, dim: Any = None, _stacklevel: Any = 3, dtype: Any = None) -> Any:
    x = x if dtype is None else _cast(do, x, dtype)
    return do("nn:softmax", x=x, axis=-1 if dim is None else dim)


@put("log_softmax", "_log_softmax")
def _log_softmax(do: Do, x: Value, dim: Any = None, _stacklevel: Any = 3, dtype: Any = None) -> Any:
    x = x if dtype is None else _cast(do, x, dtype)
    return do("nn:log_softmax", x=x, axis=-1 if dim is None else dim)


@put("layer_norm")
def _layer_norm(
    do: Do, x: Value, normalized_shape: Sequence[int], weight: Value | None = None,
    bias: Value | None = None, eps: float = 1e-5, cudnn_enable: bool = False,
) -> Any:  # fmt: skip
    return do("nn:layer_norm", x=x, normalized_shape=list(normalized_shape), weight=weight,
              bias=bias, eps=eps)  # fmt: skip


@put("rms_norm")
def _rms_norm(
    do: Do, x: Value, normalized_shape: Sequence[int], weight: Value | None = None, eps: Any = None
) -> Any:
    if eps is None:
        raise Unknown("rms_norm without eps")
    return do("nn:rms_norm", x=x, normalized_shape=list(normalized_shape), weight=weight, eps=eps)


@put("gelu")
def _gelu(do: Do, x: Value, approximate: str = "none") -> Any:
    return do("nn:gelu", x=x, approximate=approximate)


@put("embedding")
def _embedding(do: Do, first: Value, second: Value, *rest: Any, **_: Any) -> Any:
    # The function takes the indices first, the operator below it the weights.
    weight, indices = (
        (first, second) if first.array.ndim == 2 and _is_float(first) else (second, first)
    )
    return do("nn:embedding", weight=weight, indices=indices, padding_idx=None)


@put("scaled_dot_product_attention")
def _attention(
    do: Do, query: Value, key: Value, value: Value, attn_mask: Value | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    if dropout_p or enable_gqa:
        raise Unknown("attention with dropout or groups")
    return do("nn:scaled_dot_product_attention", q=query, k=key, v=value, mask=attn_mask,
              causal=is_causal, scale=scale)  # fmt: skip


def _convolution(op: str) -> Meaning:
    def meaning(
        do: Do, x: Value, weight: Value, bias: Value | None = None, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1,
    ) -> Any:  # fmt: skip
        return do(f"nn:{op}", x=x, weight=weight, bias=bias, stride=stride, padding=padding,
                  dilation=dilation, groups=groups)  # fmt: skip

    return meaning


for _name in ("conv1d", "conv2d", "conv3d"):
    MEANINGS[_name] = _convolution(_name)


@put("dropout")
def _dropout(do: Do, x: Value, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    return _no("dropout draws numbers") if training and p else x


@put("group_norm")
def _group_norm(
    do: Do, x: Value, num_groups: int, weight: Value | None = None, bias: Value | None = None,
    eps: float = 1e-5, cudnn_enabled: bool = True,
) -> Any:  # fmt: skip
    return do("nn:group_norm", x=x, num_groups=num_groups, weight=weight, bias=bias, eps=eps)


@put("cross_entropy")
def _cross_entropy(
    do: Do, x: Value, target: Value, weight: Value | None = None, size_average: Any = None,
    ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    return do("nn:cross_entropy", logits=x, target=target, weight=weight, ignore_index=ignore_index,
              label_smoothing=label_smoothing, reduction=reduction,
              axis=1 if x.array.ndim > 1 else 0)  # fmt: skip


@put("mse_loss")
def _mse_loss(do: Do, x: Value, target: Value, *_: Any, reduction: str = "mean") -> Any:
    return do("nn:mse_loss", x=x, target=target, reduction=reduction)


class Name(str):
    """The name of a dtype, as an argument."""

    @property
    def name(self) -> str:
        """The name."""
        return str(self)


def _is_float(x: Value) -> bool:
    return "float" in x.dtype


def _no(why: str) -> Any:
    raise Unknown(why)
