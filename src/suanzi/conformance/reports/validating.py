"""Holds data against the types that a JSON Schema has for it, and says where it has another.

What is missing and what is not known are no problem here: a report of an older or a newer version
is read as far as it goes. So only the words of JSON Schema that ``report.schema.json`` uses for
what is there are known: type, enum, const, minimum, anyOf, properties, items, $ref and
additionalProperties where that is a schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suanzi._hints import shown

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def wrong(schema: Mapping[str, Any], data: Any, defs: Mapping[str, Any], at: str = "") -> str:
    """Return the first thing that is not of its type, and where; nothing if all is.

    >>> wrong({"properties": {"seconds": {"type": "number"}}}, {"seconds": "many"}, {})
    "seconds is 'many', not number"
    """
    if "$ref" in schema:
        schema = defs[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        found = [wrong(one, data, defs, at) for one in schema["anyOf"]]
        return "" if "" in found else found[0]
    if expected := _expected(schema, data):
        return f"{at or 'it'} is {shown(data)}, not {expected}"
    below: list[tuple[Any, Any, Any]] = []
    if isinstance(data, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        rest = others if isinstance(others, dict) else None
        below = [(name, known.get(name, rest), value) for name, value in data.items()]
    elif isinstance(data, list) and "items" in schema:
        below = [(i, schema["items"], value) for i, value in enumerate(data)]
    for name, one, value in below:
        if one is not None:
            place = f"{at}.{name}" if at and isinstance(name, str) else f"{at}[{name}]"
            if found_below := wrong(one, value, defs, name if not at else place):
                return found_below
    return ""


def _expected(schema: Mapping[str, Any], data: Any) -> str:
    """Return what is allowed, where data is something else."""
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if kinds and not any(_is(kind, data) for kind in kinds):
        return " or ".join(kinds)
    words = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if words is not None and not any(type(word) is type(data) and word == data for word in words):
        return f"one of {', '.join(map(repr, words))}"
    if "minimum" in schema and not data >= schema["minimum"]:
        return f"{schema['minimum']} or more"
    return ""


def _is(kind: str, data: Any) -> bool:
    if isinstance(data, bool):  # which is an int to Python
        return kind == "boolean"
    if kind == "number" and isinstance(data, int):
        return data.bit_length() < 1000  # so that it can be a float
    return isinstance(data, _TYPES[kind])
