"""suanzi's functions as they are called, ``sz.exp(x)``: NaN outside a domain, not a status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import suanzi as sz
from suanzi.conformance.subjects import suanzi_adapter
from suanzi.conformance.subjects.more_functions import MORE
from suanzi.ops.calling.rounding import Rounding

_MORE = ("atan2", "hypot", "var")
"""Those of the array API that no catalogue has."""


class Adapter(suanzi_adapter.Adapter):
    """The embedded implementation, without the standard's form."""

    def __init__(self, level: str | None = None, rounding: Rounding = "default") -> None:
        super().__init__(level)
        sz.set_rounding(rounding, everywhere=True)
        self.mapping |= {MORE + name: f"suanzi.array_api.{name}" for name in _MORE}

    def call(self, op: str, arguments: Mapping[str, Any]) -> Any:
        """Call a function by its operands and named parameters."""
        of, _, name = op.rpartition(":")
        if op == f"{MORE}var":
            return sz.array_api.var(*arguments.values(), axis=-1)
        home = {"nn": sz.nn, "more": sz.array_api}.get(of, sz)
        tensors = [x for x in arguments.values() if isinstance(x, sz.Tensor)]
        named = {n: x for n, x in arguments.items() if not isinstance(x, sz.Tensor)}
        return getattr(home, name)(*tensors, **named)
