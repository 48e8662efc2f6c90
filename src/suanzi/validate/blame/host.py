"""Tensors of other frameworks in this machine's memory, as the rules use those of PyTorch.

`HOST` stands for the module torch, as far as rules and samples need it.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.validate.blame.sampling import is_float


class Host:
    """Numbers as float64, int64 or bool, with the name of the dtype that they had."""

    device = SimpleNamespace(type="cpu")

    def __init__(self, data: NDArray[Any], dtype: str) -> None:
        self.data, self.dtype = data, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return self.data.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.data.ndim

    def numel(self) -> int:
        """Return the number of elements."""
        return self.data.size

    def is_floating_point(self) -> bool:
        """Tell whether the elements are floats."""
        return is_float(self.dtype)

    def is_complex(self) -> bool:
        """Tell whether the elements are complex."""
        return self.dtype.startswith("complex")

    def is_neg(self) -> bool:
        """Tell whether a sign is pending, which it is not."""
        return False

    def detach(self) -> Host:
        """Return the tensor without gradients, as it is."""
        return self

    cpu = clone = detach

    def to(self, *_: Any) -> Host:
        """Return the tensor on another device, or as wide as it is already."""
        return self

    def numpy(self) -> NDArray[Any]:
        """Return the numbers."""
        return self.data

    def tolist(self) -> Any:
        """Return the numbers as a list."""
        return self.data.tolist()

    def _with(self, data: Any) -> Host:
        return Host(np.asarray(data), self.dtype)

    def reshape(self, *shape: Any) -> Host:
        """Return another shape."""
        return self._with(self.data.reshape(*shape))

    def permute(self, *axes: int) -> Host:
        """Return the axes in another order."""
        return self._with(self.data.transpose(axes))

    def transpose(self, a: int, b: int) -> Host:
        """Return two axes exchanged."""
        return self._with(self.data.swapaxes(a, b))

    def index_select(self, axis: int, index: Any) -> Host:
        """Return some positions of an axis."""
        return self._with(np.take(self.data, _plain(index), axis))

    def abs(self) -> Host:
        """Return the sizes."""
        return self._with(np.abs(self.data))

    def sum(self, *axes: Any) -> Host:
        """Return the sum."""
        return self._with(self.data.sum(*axes))

    def argmax(self) -> int:
        """Return where the largest is."""
        return int(np.argmax(self.data))

    def argmin(self) -> int:
        """Return where the smallest is."""
        return int(np.argmin(self.data))

    def __getitem__(self, at: Any) -> Host:
        index = tuple(map(_plain, at)) if isinstance(at, tuple) else _plain(at)
        return self._with(self.data[index])

    def __eq__(self, other: object) -> Any:
        return Host(np.asarray(self.data == _plain(other)), "bool")

    __hash__ = None  # type: ignore[assignment]

    def __invert__(self) -> Host:
        return self._with(~self.data)

    def __float__(self) -> float:
        return float(self.data)

    def __int__(self) -> int:
        return int(self.data)

    def __bool__(self) -> bool:
        return bool(self.data)


def _plain(x: Any) -> Any:
    return x.data if isinstance(x, Host) else x


def _where(condition: Any, x: Any, y: Any) -> Host:
    dtype = next((one.dtype for one in (x, y) if isinstance(one, Host)), "float64")
    return Host(np.where(_plain(condition), _plain(x), _plain(y)), dtype)


HOST = SimpleNamespace(
    Tensor=Host, float64="float64", float32="float32", int64="int64", bool="bool", uint8="uint8",
    isfinite=lambda x: Host(np.isfinite(x.data.astype(np.float64)), "bool"),
    nonzero=lambda x: Host(np.argwhere(x.data), "int64"),
    as_tensor=lambda x, dtype=None: Host(np.asarray(x), "int64"),
    where=_where, inf=math.inf, get_float32_matmul_precision=lambda: "highest",
    finfo=lambda dtype: np.finfo(dtype),
)  # fmt: skip


def host(data: NDArray[Any], dtype: str) -> Host:
    """Return numbers of a framework, with the name of their dtype."""
    if data.dtype.kind == "c":
        return Host(data, dtype)
    if data.dtype.kind == "b":
        return Host(data, "bool")
    whole = data.dtype.kind in "iu"
    return Host(np.asarray(data.astype(np.int64 if whole else np.float64)), dtype)
