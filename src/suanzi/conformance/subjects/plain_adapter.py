"""suanzi's functions as they are called, ``sz.exp(x)``: NaN outside a domain, not a status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import suanzi as sz
from suanzi.conformance.subjects import suanzi_adapter


class Adapter(suanzi_adapter.Adapter):
    """The embedded implementation, without the standard's form."""

    def call(self, op: str, arguments: Mapping[str, Any]) -> Any:
        """Call a function of an operand."""
        of, _, name = op.rpartition(":")
        return getattr(sz.nn if of == "nn" else sz, name)(*arguments.values())
