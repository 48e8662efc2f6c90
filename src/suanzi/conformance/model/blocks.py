"""Results in blocks, as a report of many cases has them: what they share is written once.

A block has the cases of an interface and a group that have the same titles in several dtypes. What
else is said of them stands by dtype, or once for all of those: one value if it is that of all
titles, or a list of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_SHARED = ("id", "op", "group", "dtype", "outcome")
_DIGITS = {"mean_relative": 2, "max_relative": 2}
"""Significant digits of the measures of what passed, four of the others: nobody compares more."""
_BASES = {
    name[0]: name for name in ("normative", "interpretation", "tentative", "quality", "extension")
}
"""The bases by their initials, as they are written: one for all titles, or one for each."""


def packed(results: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return results, as `Result.to_dict` gives them, in blocks.

    >>> made = [{"id": f"add/plain/{d}/{t}", "op": "add", "group": "plain", "dtype": d,
    ...          "outcome": "passed", "ulp": 0.123456} for d in ("f32", "f64") for t in "ab"]
    >>> packed(made)[0]["all"], packed(made)[0]["dtypes"]
    ({'ulp': 0.1235}, {'f32': {}, 'f64': {}})
    >>> [one["id"] for one in unpacked(packed(made))] == [one["id"] for one in made]
    True
    """
    by_dtype: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for one in results:
        key = tuple(one[name] for name in ("op", "group", "outcome", "dtype"))
        by_dtype.setdefault(key, []).append(one)
    blocks: dict[tuple[Any, ...], dict[str, Any]] = {}
    for (op, group, outcome, dtype), some in by_dtype.items():
        titles = tuple(one["id"].removeprefix(f"{op}/{group}/{dtype}/") for one in some)
        block = blocks.setdefault(
            (op, group, outcome, titles),
            {"op": op, "group": group, "outcome": outcome, "titles": list(titles), "dtypes": {}},
        )
        block["dtypes"][dtype] = _columns(some)
    for block in blocks.values():
        first, *others = block["dtypes"].values()
        same = {n: x for n, x in first.items() if all(n in o and o[n] == x for o in others)}
        if others and same:
            block["all"] = same
            for columns in block["dtypes"].values():
                for name in same:
                    del columns[name]
    return list(blocks.values())


def _columns(some: list[Mapping[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for one in some for name in one if name not in _SHARED)
    found: dict[str, Any] = {}
    for name in names:
        column = [_rounded(name, one.get(name)) for one in some]
        if name == "extension":
            continue
        same = all(x == column[0] for x in column)
        if name == "basis" and None not in column:
            found["bases"] = column[0][0] if same else "".join(x[0] for x in column)
        elif same:
            found[name] = column[0]
        else:
            found[name] = column
    # Elsewhere their bases say which results are extensions.
    if any(("extension" in one) != (one.get("basis") == "extension") for one in some):
        found["extension"] = [one.get("extension", False) for one in some]
    return found


def _rounded(name: str, x: Any) -> Any:
    if not isinstance(x, float):
        return x
    short = float(f"{x:.{_DIGITS.get(name, 4)}g}")
    return int(short) if short.is_integer() and short < 1e4 else short  # 0 is shorter than 0.0


def unpacked(blocks: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Give the results of blocks, as `Result.from_dict` takes them."""
    for block in blocks:
        op, group, titles = block["op"], block["group"], block["titles"]
        for dtype, own in block["dtypes"].items():
            columns = {**block.get("all", {}), **own}
            if "bases" in columns:
                bases: Any = [_BASES[initial] for initial in columns["bases"]]
                bases = bases[0] if len(bases) == 1 else bases
                columns = {**{n: c for n, c in columns.items() if n != "bases"}, "basis": bases}
            for name, column in columns.items():
                if isinstance(column, list) and len(column) != len(titles):
                    raise ValueError(f"{len(column)} of {name}, not {len(titles)}")
            for i, title in enumerate(titles):
                said = {n: c[i] if isinstance(c, list) else c for n, c in columns.items()}
                if said.get("basis") == "extension":
                    said.setdefault("extension", True)
                yield {
                    "id": f"{op}/{group}/{dtype}/{title}",
                    "op": op,
                    "group": group,
                    "dtype": dtype,
                    "outcome": block["outcome"],
                    **{name: value for name, value in said.items() if value is not None},
                }
