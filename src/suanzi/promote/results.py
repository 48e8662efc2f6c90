"""Which dtype operators give that do not promote, or not alone: the tables in ``results/``.

The tables were asked of the frameworks by ``suanzi live FRAMEWORK --results``. Rows are operators
by PyTorch's names, perhaps with the type of a Python number (``clamp float``), or with the position
of the tensor that comes out (``topk 1``: the indices); columns are dtypes of the tensor, or types
of the only number (``full``). What a table does not list is unknown.

>>> results("numpy").of("sum", dtype("u8")), results("numpy").of("full", "int")
(suanzi.uint64, suanzi.int64)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from suanzi.base.dtypes import DType, dtype
from suanzi.base.status import InvalidArgument
from suanzi.promote.operands import NUMBER_KINDS, NumberKind, Operand, Role

FOLDER = Path(__file__).parent / "results"
FILES = {"openvino+torch": "openvino_torch"}
"""Rule sets whose table has another name."""
Column: TypeAlias = "DType | NumberKind | None"


@dataclass(frozen=True)
class Results:
    """The table of one framework."""

    target: str
    version: str
    source: str
    cells: Mapping[tuple[str, Column], DType]
    """By row and column; None is the column of operators that take neither."""

    def of(self, row: str, column: Column) -> DType | None:
        """Return the dtype that comes out; None where it is not known."""
        return self.cells.get((row, column))

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows in their order."""
        return tuple(dict.fromkeys(row for row, _ in self.cells))


@cache
def results(rules: str) -> Results | None:
    """Return the table for a rule set by its name; None where there is none."""
    name = FILES.get(rules, rules)
    file = FOLDER / f"{name}.txt"
    if not name.isidentifier() or not file.is_file():
        return None
    return read_results(file.read_text("utf-8"))


def read_results(text: str) -> Results:
    """Read a table."""
    facts: dict[str, str] = {}
    cells: dict[tuple[str, Column], DType] = {}
    section = ""
    heads: list[Any] | None = None
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            section, heads = words[0].strip("[]"), [None] if words[0] == "[none]" else None
        elif not section:
            facts[words[0]] = " ".join(words[1:])
        elif heads is None:
            heads = [dtype(word) for word in words] if section == "tensors" else words
        else:
            row = " ".join(words[: -len(heads)])
            found = zip(heads, words[-len(heads) :], strict=True)
            cells |= {(row, head): dtype(word) for head, word in found if word != "-"}
    if not cells or not facts.keys() >= {"target", "version", "source"}:
        raise InvalidArgument(
            "results: the text is not a table of results; "
            "`suanzi live paddle --results --write FILE` writes one."
        )
    return Results(facts["target"], facts["version"], facts["source"], cells)


@cache
def names() -> frozenset[str]:
    """Return the operators of the tables, by PyTorch's names."""
    found = [results(file.stem) for file in FOLDER.glob("*.txt")]
    rows = {row for one in found if one is not None for row in one.rows}
    return frozenset(row.partition(" ")[0] for row in rows if not row.startswith("**"))


def row_and_column(name: str, operands: tuple[Operand, ...]) -> tuple[str, Column] | None:
    """Return the row and the column of an operator with operands; None where no table has such."""
    dtypes = {o.dtype for o in operands if o.role is not Role.NUMBER}
    kinds = [o.kind for o in operands if o.kind is not None]
    if len(dtypes) > 1:
        return None
    kind = max(kinds, key=NUMBER_KINDS.index) if kinds else None
    if not dtypes:
        return name, kind
    return (name if kind is None else f"{name} {kind}"), dtypes.pop()
