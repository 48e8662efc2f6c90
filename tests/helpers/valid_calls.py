"""A call of every operator that succeeds, from its record, and the kinds of its parameters."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from helpers.every_operator import REGISTRY
from suanzi.conformance.cases.examples import case_of
from suanzi.conformance.subjects.suanzi_adapter import made
from suanzi.standard import examples, interface
from suanzi.standard.prototypes import prototype


def valid(name: str) -> dict[str, Any]:
    """Return arguments by the names of the Python function, tensors made anew."""
    call = next(e for e in examples(REGISTRY[name].catalogue) if e.name == name and not e.status)
    given = made(case_of(call, "").arguments)
    return {key: given[key] for key in parameters(name) if key in given}


@cache
def parameters(name: str) -> dict[str, inspect.Parameter]:
    """Return the parameters of the Python function."""
    return dict(inspect.signature(REGISTRY[name].function).parameters)


@cache
def kinds(name: str) -> dict[str, str]:
    """Return the kind of every parameter: tensor, tensors, flag, integer, integers, axis, ..."""
    arrays = {item.name for item in prototype(name).parameters if item.pointer}
    found = {}
    for key, parameter in parameters(name).items():
        words = str(parameter.annotation)
        if key in interface(name).operands and name != "wrap_tensor":  # which takes buffers
            several = key in arrays and name != "destroy" and not words.startswith("TensorLike")
            found[key] = "tensors" if several else "tensor"
        elif words == "bool":
            found[key] = "flag"
        elif key in ("shape", "input_shape"):
            found[key] = "shape"
        elif "Sequence[int]" in words or (key in ("axis", "axes") and "int" not in words):
            found[key] = "integers"
        elif words.removesuffix(" | None") == "int":
            is_axis = key.endswith("axis") or key in ("dim0", "dim1")
            found[key] = "axis" if is_axis else "integer"
        else:
            names = {"DTypeLike": "dtype", "DeviceLike": "device", "Scalar": "scalar",
                     "LayoutLike": "layout", "str": "word", "Rows": "word", "Corner": "word",
                     "Accumulate": "word", "Each": "sizes", "Sizes": "sizes", "Padding": "sizes",
                     }  # fmt: skip
            if name.startswith("nn:"):
                names["float"] = "real"
            found[key] = next((kind for word, kind in names.items() if word in words), "other")
    return found


def of_kind(*wanted: str) -> list[tuple[str, str]]:
    """Return the parameters of a kind, with the names of their operators."""
    return [(n, key) for n in REGISTRY for key, kind in kinds(n).items() if kind in wanted]
