"""What was built apart, used together: sparse, quantised and other layouts in every operator."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import suanzi as sz
from suanzi import _core
from suanzi.registry import REGISTRY

REAL = [[0.0, 5.0, -2.0], [7.0, 0.0, 1.0]]


def sparse() -> sz.SparseTensor:
    return sz.to_sparse(sz.tensor(REAL))


class Elsewhere:
    """A tensor on a device that computes nothing."""

    def __init__(self) -> None:
        self.hidden, self.device = sz.tensor(REAL), sz.Device("npu")
        self.dtype, self.shape = self.hidden.dtype, self.hidden.shape

    def to_host(self) -> sz.Tensor:
        return sz.duplicate(self.hidden)

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        return NotImplemented


# ---- what is no dense tensor on the host ---------------------------------------------------------

INTO_DENSE: dict[str, Callable[[Any], Any]] = {
    "tensor": sz.tensor,
    "tensor of a list": lambda x: sz.tensor([x, x]),
    "key": lambda x: sz.zeros((2, 3))[x],
    "keys": lambda x: sz.zeros((2, 3))[0, x],
    "value": lambda x: sz.zeros((2, 3)).__setitem__(0, x),
    "value and key": lambda x: sz.zeros((2, 3)).__setitem__(x, x),
    "quantize": lambda x: sz.quantize(x, sz.QT_SYM_INT8),
    "dequantize": sz.dequantize,
}


@pytest.mark.parametrize("way", INTO_DENSE)
def test_what_takes_dense_tensors_alone_says_how_to_make_one(way: str) -> None:
    with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)\.$"):
        INTO_DENSE[way](sparse())
    with pytest.raises(sz.TypeMismatch, match=r"to_host\(\)\.$"):
        INTO_DENSE[way](Elsewhere())
