"""What the header says of each function, in words of C: what it does, of which dtypes, each status.

>>> summary("sqrt")
'Return the square root of x.'
>>> dtypes("gather")
'input any, index integers'
>>> statuses("reshape")[0]
('DIMENSIONS_MISMATCH', 'shapes or sizes that do not match')
"""

from __future__ import annotations

import re

from suanzi.base.status import Status
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interfaces
from suanzi.standard.prototypes import prototype

# What Python's summaries say of this library alone: of quality, of a reading, of promotion.
_OWN = re.compile(
    r"[;,] (?:precise|minus infinity|infini|NaN|of several|of two|the product and|in the dtype|"
    r"as int64|both of them exact|each element is rounded)[^.]*"
)
_IN_C = (
    ("None or ()", "NULL"),
    ("; `input.shape` is the same as a tuple", ""),
    ("as an int32 tensor", "as an integer tensor"),
    (": of integers rounded towards zero, of floats as IEEE 754 has it", ""),
    (" with the sign of y: x = floordiv(x, y) * y + mod(x, y)", ""),
)
_KINDS = {
    "I": "integers",
    "FR": "real floating-point numbers",
    "FC": "complex numbers",
    "FP": "floating-point numbers",
    "B": "bool",
    "ns": "any",
}
_WHEN = {
    Status.DIMENSIONS_MISMATCH: "shapes or sizes that do not match",
    Status.INVALID_ARGUMENT: "any other invalid argument",
    Status.ALLOC_FAILED: "not enough memory for the output",
    Status.OUT_OF_RANGE: "an axis or an index out of range",
    Status.INTERNAL_ERROR: "any other internal failure",
    Status.AXIS_ARGUMENT: "an axis that does not exist",
}
_MIXES = frozenset({"true_divide"})
"""What takes operands of different dtypes, though its clause lists TYPE_MISMATCH."""


def summary(op: str) -> str:
    """Return what a function does, without what only this library adds to it."""
    text = (REGISTRY[op].function.__doc__ or "").splitlines()[0]
    for python, c in _IN_C:
        text = text.replace(python, c)
    return _OWN.sub("", text).replace("`", "")


def dtypes(op: str) -> str:
    """Return which dtypes a function takes, as its clause has it; empty if it says nothing."""
    said = interfaces()[op].dtypes
    if said == "ns":
        return ""
    parts = []
    for part in said.split("; "):
        words = part.split()
        if not all(word.strip(":,") in _KINDS for word in words[1:]):
            return said  # of quantised tensors, or of the forward interface: words already
        kinds = ", ".join(_KINDS.get(word.strip(","), word.removesuffix(":")) for word in words)
        parts.append(re.sub(r"^(\w+), ", r"\1 ", kinds) if words[0] not in _KINDS else kinds)
    return ", ".join(parts)


def statuses(op: str) -> list[tuple[str, str]]:
    """Return each status that the clause lists but success, and when it is returned."""
    facts, function = interfaces()[op], prototype(op)
    required = [p.name for p in facts.parameters if p.default is None]
    tensors = [i.name for i in function.parameters if i.base == "Tensor" and i.name in required]
    found = []
    for status in facts.statuses:
        if status is Status.SUCCESS:
            continue
        when = _WHEN.get(status, "")
        if status is Status.UNINITIALIZED_OBJECT:
            when = f"{' or '.join(tensors)} is NULL" if tensors else "a tensor is NULL"
        if status is Status.TYPE_MISMATCH:
            when = "an unsupported dtype"
            if len(tensors) > 1 and op not in _MIXES:
                when += f", or different ones in {tensors[0]} and {tensors[1]}"
        if status is Status.INVALID_ARGUMENT and REGISTRY[op].domain is not None:
            when += "; an element outside its domain, if the result is not NaN"
        found.append((status.name, when))
    return found
