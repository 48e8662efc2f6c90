"""What an example of the standard asks for: its arguments, and whether an answer is right.

It knows the data of `suanzi.standard.examples`, tensors, and NumPy, and no operator.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import suanzi as sz
from suanzi.sparse.tensor import SparseTensor
from suanzi.standard import interfaces
from suanzi.worked_examples import Example, ExampleTensor

Arguments = dict[str, Any]


def arguments(example: Example) -> Arguments:
    """Return the arguments by name, tensors made anew."""
    return {name: _made(value) for name, value in example.arguments.items()}


def _made(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_made(v) for v in value]
    if not isinstance(value, ExampleTensor):
        return value
    dtype = sz.dtype(value.dtype)
    x = sz.tensor(_lists(value.values), dtype)
    if value.min2maj is None:
        return x
    # Bytes are read in the order of the layout: the slowest axis first.
    order = value.min2maj[::-1]
    raw = np.ascontiguousarray(x.numpy().transpose(order)).tobytes()
    return sz.create_tensor(value.shape, raw, dtype, layout=value.min2maj)


def _lists(values: Any) -> Any:
    return [_lists(v) for v in values] if isinstance(values, tuple) else values


def in_order(function: Callable[..., Any], name: str, given: Arguments) -> list[Any]:
    """Return the arguments in the standard's order; defaults stand for those in between."""
    order = [p.name for p in interfaces()[name].parameters]
    last = max(order.index(n) for n in given)
    defaults = {n: p.default for n, p in inspect.signature(function).parameters.items()}
    return [given.get(n, defaults[n]) for n in order[: last + 1]]


def problem(example: Example, given: Arguments, answer: tuple[Any, ...]) -> str | None:
    """Return what is wrong with an answer of the standard's form; None if it is right."""
    status, *outputs = answer
    if status is not example.status:
        return f"status {status!r}, not {example.status!r}"
    names = interfaces()[example.name].outputs
    if len(outputs) != len(names):
        return f"{len(outputs)} outputs, not {len(names)}"
    if example.status is not sz.Status.SUCCESS:
        return next((f"{n} is there" for n, o in zip(names, outputs, strict=True) if o is not None),
                    None)  # fmt: skip
    if example.check == "destroyed":
        return None if _is_destroyed(given["input"]) else "input lives on"
    found = dict(zip(names, outputs, strict=True))
    for name in names:
        wrong = _difference(example, example.outputs[name], found[name])
        if wrong is not None:
            return f"{name}: {wrong}"
    together = _TOGETHER.get(example.check or "")
    return None if together is None else together(example, given["mat"], found)


def _is_destroyed(x: sz.Tensor) -> bool:
    try:
        sz.destroy(x)
    except sz.UninitializedObject:
        return True
    return False


def _difference(example: Example, wanted: Any, found: Any) -> str | None:
    if isinstance(wanted, ExampleTensor):
        return _tensor_difference(example, wanted, found)
    if isinstance(wanted, tuple):
        if not isinstance(found, list | tuple) or len(found) != len(wanted):
            return f"{found!r} is not a sequence of {len(wanted)}"
        parts = (_difference(example, w, f) for w, f in zip(wanted, found, strict=True))
        return next((part for part in parts if part is not None), None)
    same = type(found) is type(wanted) and found == wanted
    return None if same else f"{found!r}, not {wanted!r}"


def _tensor_difference(example: Example, wanted: ExampleTensor, found: Any) -> str | None:
    kind: type = sz.Tensor if wanted.layout is None else SparseTensor
    if not isinstance(found, kind):
        return f"{found!r} is no {kind.__name__}"
    facts = {
        "shape": (tuple(found.shape), wanted.shape),
        "dtype": (found.dtype.name.upper(), wanted.dtype),
    }
    if wanted.layout is not None:
        facts["layout"] = (f"k{found.layout.type.name}", wanted.layout)
    if wanted.scale is not None:
        facts["scale"] = (found.scale, wanted.scale)
        facts["zero_point"] = (found.zero_point, wanted.zero_point)
    for name, (came, right) in facts.items():
        if came != right:
            return f"{name} {came}, not {right}"
    return _values_difference(example, wanted, numbers(found))


def numbers(x: Any) -> Any:
    """Return the elements of a tensor, if quantised those it stores, as an array."""
    if isinstance(x, SparseTensor):
        return np.array(x.to_dense().tolist())
    if x.scale is not None:
        x = x.int_repr()
    return np.array(x.numpy())


def _values_difference(example: Example, wanted: ExampleTensor, found: Any) -> str | None:
    right = None if wanted.values is None else np.array(wanted.values)
    match example.check:
        case None:
            ok = _close(found, right, example)
        case "range":
            ok = bool(((found >= wanted.low) & (found <= wanted.high)).all())
        case "allowed":
            ok = bool(np.isin(found, wanted.allowed).all())
        case "permutation":
            ok = right is not None and bool((np.sort(found) == np.sort(right)).all())
        case "shape" | "eigen":
            ok = True
        case "qr" | "svd":
            ok = right is not None and _close(abs(found), abs(right), example)
        case other:
            raise ValueError(f"there is no check {other!r}")
    return None if ok else f"{found.tolist()}, not {wanted}"


def _close(found: Any, right: Any, example: Example) -> bool:
    if example.digits is None:
        with np.errstate(over="ignore"):
            return np.array_equal(found, right.astype(found.dtype))
    # More bits than either has, so that the difference is exact enough to compare.
    wide = np.complex128 if np.iscomplexobj(right) or np.iscomplexobj(found) else np.float64
    return bool((abs(found.astype(wide) - right.astype(wide)) <= example.tolerance).all())


def _eigen(example: Example, mat: sz.Tensor, found: Arguments) -> str | None:
    a, w, v = (numbers(x).astype(np.complex128) for x in (mat, found["w"], found["v"]))
    right = np.array(example.outputs["w"].values, np.complex128)
    if not _close(np.sort_complex(w), np.sort_complex(right), example):
        return f"eigenvalues {w.tolist()}, not {right.tolist()}"
    if not _close(np.linalg.norm(v, axis=0), np.ones(len(w)), example):
        return f"columns of v are not of length 1: {v.tolist()}"
    return None if _close(a @ v, v * w, example) else f"mat v is not v w: {v.tolist()}"


def _qr(example: Example, mat: sz.Tensor, found: Arguments) -> str | None:
    q, r = numbers(found["Q"]), numbers(found["R"])
    return None if _close(q @ r, numbers(mat), example) else "Q R is not mat"


def _svd(example: Example, mat: sz.Tensor, found: Arguments) -> str | None:
    u, s, v = (numbers(found[name]) for name in "USV")
    if not _close(s, np.array(example.outputs["S"].values), example):
        return f"S is {s.tolist()}"
    return None if _close(u @ s @ v.conj().T, numbers(mat), example) else "U S V^H is not mat"


_TOGETHER: dict[str, Callable[[Example, sz.Tensor, Arguments], str | None]] = {
    "eigen": _eigen,
    "qr": _qr,
    "svd": _svd,
}
