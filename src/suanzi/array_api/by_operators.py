"""What the core leaves of linear algebra to the standard's operators, or refuses unexplained."""

from __future__ import annotations

from typing import Any

from suanzi import _core
from suanzi.array_api.declare import RULES
from suanzi.libraries import room
from suanzi.promote.context import promotion
from suanzi.registry import REGISTRY
from suanzi.status import AllocFailed, StatusError
from suanzi.tensors.exchange import check_room
from suanzi.tensors.tensor import Tensor

_COPIES = 4
"""How often LAPACK and what calls it hold the matrices: a copy, a result and a workspace of two."""


def by_operator(function: str, name: str, *args: Any) -> Any:
    """Call the standard's operator: it scales, computes again and explains; errors are ours."""
    try:
        with promotion(RULES):
            return REGISTRY[name].function(*args)
    except StatusError as error:
        title, _, words = str(error).partition(": ")
        words = words or title  # of the core, which knows no operator
        words = words.replace("mat", "x1" if function == "solve" else "x", 1).replace("rhs", "x2")
        raise type(error)(f"{function}: {words}") from None
    except MemoryError as error:  # NumPy's
        problem = str(error).rstrip(".") or "the system has no more"
        raise AllocFailed(f"{function}: not enough memory: {problem}.") from None


def check_memory(function: str, x: Tensor) -> None:
    """Raise AllocFailed where it was memory that was missing for matrices."""
    needed = _COPIES * x.size * max(x.dtype.itemsize, 4)
    what = f"copies of x of shape {x.shape} that LAPACK works on"
    try:
        check_room(needed, what)
        room.check()
        if not _core.has_room(needed):
            raise AllocFailed(f"not enough memory for the {needed} bytes of {what}.")
    except AllocFailed as error:
        raise AllocFailed(f"{function}: {error}") from None
