"""The text tables of the built-in rule sets, which lie in ``tables/``."""

from __future__ import annotations

from os import path

from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument

TABULATED = (
    "cann", "mindspore", "paddle", "paddle_compare_fix", "paddle_table", "torch", "torch_npu",
    "inductor", "numpy", "jax", "jax_x32", "triton", "flaggems", "array_api",
)  # fmt: skip


def table_text(name: str) -> str:
    """Return the text table of a built-in rule set."""
    if name not in TABULATED:
        raise InvalidArgument(
            f"{name!r} is not a rule set with a text table; those are {', '.join(TABULATED)}."
            + nearest(name, TABULATED)
        )
    file = path.join(path.dirname(__file__), "tables", f"{name}.txt")
    with open(file, encoding="utf-8") as text:
        return text.read()
