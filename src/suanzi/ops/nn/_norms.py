"""How norms read their arguments and call the core: by layers, by channels, by lengths."""

from __future__ import annotations

from math import inf, isfinite, prod
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import DType, float64, widened
from suanzi.base.hints import shown
from suanzi.base.numpy import np
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.ops.calling.elementwise import common_shape
from suanzi.ops.calling.scalars import integer_argument, is_several, shape_argument
from suanzi.ops.nn._arguments import axis_argument, broadcast, dense, float_operands, real_parameter
from suanzi.ops.nn.softmaxes import computed_dtype
from suanzi.promote.registry import Operator
from suanzi.tensors.parts import converted, permuted, readable, reshaped
from suanzi.tensors.tensor import Tensor

Gradients = Tensor | tuple[Tensor, ...]
"""The gradient of x, and those of weight and bias where they are given."""
_LAYERS, _GROUPS, _CHANNELS = range(3)
"""What the core calls the rows of a norm."""


def finite_argument(op: Operator, name: str, x: Any) -> float:
    """Return a parameter that is a finite number."""
    number = real_parameter(op, name, x)
    if not isfinite(number):
        raise InvalidArgument(f"{op.title}: {name} is {shown(x)}; it must be finite.")
    return number


def eps_argument(op: Operator, eps: Any) -> float:
    """Return what keeps a quotient from being one by 0."""
    found = finite_argument(op, "eps", eps)
    if found < 0:
        raise InvalidArgument(f"{op.title}: eps is {shown(eps)}; it must be at least 0.")
    return found


def _computed(x: Tensor) -> Tensor:
    """Return a tensor as the core reads it: in row-major order, of a dtype that it computes in."""
    return dense(converted(x, computed_dtype(x.dtype)))


def _check_gradient(op: Operator, grad: Tensor, shape: tuple[int, ...]) -> None:
    if grad.shape != shape:
        raise DimensionsMismatch(
            f"{op.title}: out_grad has shape {grad.shape}; it must be {shape}, that of the result."
        )


class _Norm:
    """A norm whose operands were read: what the core is called with."""

    def __init__(self, op: Operator, given: dict[str, Any], eps: Any) -> None:
        self.op = op
        self.found = float_operands(op, given)
        self.eps = eps_argument(op, eps)
        self.centred, self.offset = True, 0.0
        self.kind, self.size, self.groups = _LAYERS, 1, 1
        self.fixed: Tensor | None = None
        if "out_grad" in self.found:
            _check_gradient(op, self.found["out_grad"], self.x.shape)

    @property
    def x(self) -> Tensor:
        return self.found["x"]

    def _check_weights(self, shape: tuple[int, ...], expected: str) -> None:
        for name, one in self.found.items():
            if name not in ("x", "out_grad") and one.shape != shape:
                raise DimensionsMismatch(
                    f"{self.op.title}: {name} has shape {one.shape}; it must be {shape}, "
                    f"{expected}."
                )

    def _tensors(self, x: Tensor) -> tuple[Any, ...]:
        weights = (self.found.get(name) for name in ("weight", "bias"))
        return _computed(x), *(w if w is None else _computed(w) for w in weights), self.fixed

    def _settings(self) -> tuple[int, int, int, bool, float, float]:
        return self.kind, self.size, self.groups, self.centred, self.eps, self.offset

    def _computed(self) -> tuple[Tensor, Tensor | None]:
        """Return the result, and the mean and the variance of each row as float64."""
        if not self.x.size:
            return _core.empty(self.x.shape, self.x.dtype), None
        made, statistics = _core.nn_norm(self._tensors(self._shaped(self.x)), *self._settings())
        return converted(self._back(made), self.x.dtype), statistics

    def _shaped(self, x: Tensor) -> Tensor:
        """Return a tensor with its axes as the core takes them."""
        return x

    def _back(self, x: Tensor) -> Tensor:
        return x

    def forward(self) -> Tensor:
        """Return the result."""
        return self._computed()[0]

    def backward(self) -> Gradients:
        """Return the gradients of x, and of weight and bias if they are given."""
        dtype, given = self.x.dtype, [n for n in ("weight", "bias") if n in self.found]
        if not self.x.size:
            shapes = [self.x.shape, *(self.found[name].shape for name in given)]
            made: list[Tensor] = [_core.full(shape, dtype, 0) for shape in shapes]
        else:
            grad = _computed(self._shaped(self.found["out_grad"]))
            tensors = self._tensors(self._shaped(self.x))
            first, *others = _core.nn_norm_bwd(tensors, grad, *self._settings())
            made = [self._back(first), *(one for one in others if one is not None)]
        result = tuple(converted(one, dtype) for one in made)
        return result if given else result[0]


class Layers(_Norm):
    """Over the last axes."""

    def __init__(
        self,
        op: Operator,
        given: dict[str, Any],
        normalized_shape: Any,
        eps: Any,
        centred: bool = True,
        offset: float = 0.0,
    ) -> None:
        super().__init__(op, given, eps)
        self.centred, self.offset = centred, offset
        one = not is_several(op, "normalized_shape", normalized_shape)
        sizes = (normalized_shape,) if one else normalized_shape
        shape = shape_argument(op, "normalized_shape", sizes)
        if not shape or self.x.shape[-len(shape) :] != shape:
            raise DimensionsMismatch(
                f"{op.title}: normalized_shape is {shown(normalized_shape)}, and x has shape "
                f"{self.x.shape}; it must be the sizes of the last axes of x, at least one."
            )
        self._check_weights(shape, "normalized_shape")
        self.size = prod(shape)


EACH_CHANNEL = object()
"""As many groups as channels, whatever their number."""


class Pieces(_Norm):
    """Over groups of channels, or by channel over the batch."""

    def __init__(
        self,
        op: Operator,
        given: dict[str, Any],
        eps: Any,
        num_groups: Any,
        by_channel: bool = False,
    ) -> None:
        super().__init__(op, given, eps)
        if self.x.ndim < 2:
            raise DimensionsMismatch(
                f"{op.title}: x has rank {self.x.ndim}; it must be at least 2: (batch, channels, "
                "...)."
            )
        channels = self.x.shape[1]
        each = num_groups is EACH_CHANNEL
        groups = channels if each else integer_argument(op, "num_groups", num_groups)
        if not each and (groups < 1 or channels % groups):
            raise InvalidArgument(
                f"{op.title}: num_groups is {shown(groups)}, and x has {channels} channels; it "
                "must be at least 1 and divide them."
            )
        self._check_weights((channels,), "a number for each channel")
        self.kind = _CHANNELS if by_channel else _GROUPS
        self.size, self.groups = channels, max(groups, 1)
        # Rows of few elements each are slow: then the batch is the last axis.
        self.moved = by_channel and prod(self.x.shape[2:]) < 8

    def _shaped(self, x: Tensor) -> Tensor:
        """Return (1, channels, ...) with the batch last, if that is better."""
        if not self.moved:
            return x
        order = (1, *range(2, x.ndim), 0)
        return reshaped(_computed(permuted(x, order)), (1, self.size, x.size // max(self.size, 1)))

    def _back(self, x: Tensor) -> Tensor:
        if not self.moved:
            return x
        shape = self.x.shape
        turned = reshaped(x, (shape[1], *shape[2:], shape[0]))
        return _computed(permuted(turned, (len(shape) - 1, *range(len(shape) - 1))))

    def with_running(self) -> Pieces:
        """Return itself with the running statistics."""
        for name in ("running_mean", "running_var"):
            if name not in self.found:
                raise InvalidArgument(
                    f"{self.op.title}: {name} is None; it is needed unless training is True."
                )
        self.fixed = _core.empty((self.size, 2), float64)
        for i, name in enumerate(("running_mean", "running_var")):
            _core.copy_into(_column(self.fixed, i), converted(self.found[name], float64))
        return self

    def in_training(self, momentum: float, unbiased: bool) -> tuple[Tensor, Tensor, Tensor]:
        """Return the result by the batch's statistics, and the new running ones."""
        count = self.x.size // self.size if self.size else 0
        if count <= unbiased:
            raise InvalidArgument(
                f"{self.op.title}: x has shape {self.x.shape}, {count} elements for each channel; "
                f"training needs at least {1 + unbiased}"
                + (", or unbiased=False." if count else ".")
            )
        made, statistics = self._computed()
        assert statistics is not None
        factors = {"running_mean": 1.0, "running_var": count / (count - 1) if unbiased else 1.0}
        news = []
        for i, (name, factor) in enumerate(factors.items()):
            new = readable(_column(statistics, i)) * factor
            if name in self.found:
                new = (1 - momentum) * _numbers(self.found[name]) + momentum * new
            news.append(_tensor(new, self.x.dtype))
        return made, news[0], news[1]


def _column(x: Tensor, i: int) -> Tensor:
    return _core.view(x, x.offset + i, (x.shape[0],), (2,))


def _numbers(x: Tensor) -> Any:
    return readable(converted(x, float64))


def _tensor(x: Any, dtype: DType) -> Tensor:
    """Return float64 numbers as a tensor, rounded once."""
    made = _core.empty(x.shape, float64)
    made.numpy()[...] = x
    return converted(made, dtype)


# ---- lengths and angles --------------------------------------------------------------------------


def _last(x: Tensor, axis: int) -> Tensor:
    """Return a tensor with an axis last, dense."""
    return _computed(permuted(x, [*(a for a in range(x.ndim) if a != axis), axis]))


def _unlast(x: Tensor, axis: int) -> Tensor:
    order = list(range(x.ndim - 1))
    order.insert(axis, x.ndim - 1)
    return x if axis == x.ndim - 1 else _computed(permuted(x, order))


class Lengths:
    """Division by the length along an axis."""

    def __init__(self, op: Operator, given: dict[str, Any], p: Any, axis: Any, eps: Any) -> None:
        self.op = op
        self.found = float_operands(op, given)
        self.x = self.found["x"]
        self.axis = axis_argument(op, axis, self.x.ndim)
        self.eps = eps_argument(op, eps)
        self.p = real_parameter(op, "p", p)
        if not self.p >= 0:
            raise InvalidArgument(f"{op.title}: p is {shown(p)}; it must be at least 0.")
        if "out_grad" in self.found:
            _check_gradient(op, self.found["out_grad"], self.x.shape)

    def forward(self) -> Tensor:
        """Return the result."""
        if not self.x.size:
            return _core.empty(self.x.shape, self.x.dtype)
        rows = _last(self.x, self.axis)
        made = _core.nn_normalize(rows, rows.shape[-1], self.p, self.eps)
        return converted(_unlast(made, self.axis), self.x.dtype)

    def backward(self) -> Tensor:
        """Return the gradient."""
        if not self.x.size:
            return _core.empty(self.x.shape, self.x.dtype)
        if self.p != 2:
            return self._other()
        rows, grad = (_last(t, self.axis) for t in (self.x, self.found["out_grad"]))
        made = _core.nn_normalize_bwd(grad, rows, rows.shape[-1], self.eps)
        return converted(_unlast(made, self.axis), self.x.dtype)

    def _other(self) -> Tensor:
        """Return it for p other than 2, in float64: dL/dx = g / n - sum(g x) / n**2 dn/dx."""
        x, g, p = _numbers(self.x), _numbers(self.found["out_grad"]), self.p
        with np.errstate(all="ignore"):
            size, along = np.abs(x), {"axis": self.axis, "keepdims": True}
            most = size.max(**along)
            if p == 0:
                length = (size != 0).sum(**along).astype(np.float64)
            elif p == inf:
                length = most
            else:
                scale = np.where((most > 0) & (most < inf), most, 1.0)
                length = scale * ((size / scale) ** p).sum(**along) ** (1 / p)
            clamped = np.where(length < self.eps, self.eps, length)
            if p == inf:
                slope = (size == most) / (size == most).sum(**along)
            else:
                slope = 0.0 if p == 0 else np.where(x == 0, 0.0, (size / clamped) ** (p - 1))
            back = (g * x).sum(**along) / clamped**2 * np.sign(x) * slope
            return _tensor(g / clamped - np.where(length < self.eps, 0.0, back), self.x.dtype)


class Cosines:
    """Cosines of the angles between two tensors along an axis."""

    def __init__(
        self, op: Operator, given: dict[str, Any], axis: Any, eps: float, joint: bool
    ) -> None:
        self.op, self.eps, self.joint = op, eps, joint
        self.found = float_operands(op, given)
        self.shape = common_shape(op, {name: self.found[name].shape for name in ("x1", "x2")})
        self.axis = axis_argument(op, axis, len(self.shape))
        self.kept = (*self.shape[: self.axis], *self.shape[self.axis + 1 :])
        self.dtype = self.found["x1"].dtype
        if "out_grad" in self.found:
            _check_gradient(op, self.found["out_grad"], self.kept)

    def _rows(self, name: str) -> Tensor:
        return _last(broadcast(self.op, name, self.found[name], self.shape), self.axis)

    def forward(self) -> Tensor:
        """Return the cosines; 0 over no elements."""
        if not prod(self.shape):
            return _core.full(self.kept, self.dtype, 0)
        x, y = self._rows("x1"), self._rows("x2")
        made = _core.nn_cosines(x, y, x.shape[-1], self.eps, self.joint)
        return reshaped(converted(made, self.dtype), self.kept)

    def backward(self) -> tuple[Tensor, Tensor]:
        """Return the gradients of both."""
        return self._gradient("x1", "x2"), self._gradient("x2", "x1")

    def _gradient(self, name: str, other: str) -> Tensor:
        shape = self.found[name].shape
        if not prod(self.shape):
            return _core.full(shape, self.dtype, 0)
        x, y = self._rows(name), self._rows(other)
        repeated = shape != self.shape
        if repeated:  # a sum follows, which is rounded once
            x, y = (converted(one, widened(one.dtype)) for one in (x, y))
        grad = _computed(converted(self.found["out_grad"], float64))
        made = _core.nn_cosines_bwd(grad, x, y, x.shape[-1], self.eps, self.joint)
        made = _unlast(made, self.axis)
        if not repeated:
            return converted(made, self.dtype)
        new = len(self.shape) - len(shape)
        axes = [a for a in range(len(self.shape)) if a < new or shape[a - new] != self.shape[a]]
        total = np.add.reduce(_numbers(made), axis=tuple(axes), keepdims=True)
        return _tensor(total.reshape(shape), self.dtype)
