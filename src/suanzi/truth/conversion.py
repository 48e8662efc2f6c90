"""Operands that are converted before an operator computes with them, as its `dtype` asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from suanzi.base.dtypes import dtype as dtype_named
from suanzi.truth import machine_numbers
from suanzi.truth.rounding import ROUNDED, round_exact, rounded
from suanzi.truth.tracked import Tracked, tracked

CONVERTED = ("cumsum", "matmul", "dot", "nn:linear")
"""Operators whose operands are converted to the `dtype` that is named, which the result has."""
_WHOLE = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_KINDS = ("complex", "float", "int")
"""No operand becomes one of a lower kind."""


def result_named(key: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the dtype that a call names for its operands and its result; None without one.

    >>> result_named("cumsum", {"dtype": "half"}), result_named("argmax", {"dtype": "int32"})
    ('float16', None)
    """
    named = arguments.get("dtype") if key in CONVERTED else None
    return None if named is None else dtype_named(named).name


def converted(x: Any, dtype: Any) -> Any:
    """Return an operand as `cast` makes it, each element rounded once; as it is without a dtype."""
    if dtype is None:
        return x
    name = dtype_named(dtype).name
    given = machine_numbers.plain(x.value) if isinstance(x, Tracked) else np.asarray(x)
    kinds_of = {"c": ("complex",), "f": ("complex", "float")}.get(given.dtype.kind, _KINDS)
    if not name.lstrip("bu").startswith(kinds_of):
        raise ValueError(f"operands of this kind are not converted to {name}")
    if name in ROUNDED:
        return tracked(_floats(given, name))
    if name in ("complex64", "complex128"):
        with np.errstate(all="ignore"):
            return tracked(given.astype(name).astype(np.complex128))
    if name not in _WHOLE:
        raise ValueError(f"a conversion to {name} has no definition here")
    with np.errstate(all="ignore"):
        return given.astype(name)  # integers wrap


def _floats(x: NDArray[Any], name: str) -> NDArray[np.float64]:
    if x.dtype.kind == "f":
        return rounded(x.astype(np.float64), name)
    made = [round_exact(mpmath.mpf(int(one)), name) for one in x.ravel()]
    return np.array(made, np.float64).reshape(x.shape)
