"""What ``sz.NAME`` is where nothing of that name was imported, and what ``dir(sz)`` shows."""

from __future__ import annotations

import builtins
import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.standard.catalogues import catalogue, catalogues

_ON_FIRST_USE = (
    "array_api", "conformance", "interface", "mindspore", "npy", "port", "rules", "safetensors",
    "truth",
)  # fmt: skip
_PATHS = ("device", "dtypes", "errata", "layout", "registry", "saving", "status")
"""More modules that are loaded on first use, and not listed."""
_OBJECTS = {
    "assert_right": "validate.judge", "blame": "validate.blame", "judge": "validate.judge",
    "judged": "validate.judge.testing",
}  # fmt: skip
"""Objects that are loaded on first use, by their modules."""
_NAMESPACES = ("array_api", "array_api.linalg", "array_api.fft", "interface", "port", "rules")
"""Where a name is looked for that the package itself does not have."""


def find(name: str, known: Callable[[], list[str]]) -> Any:
    """Return a module that is loaded on first use, a catalogue's too, or raise with a hint.

    >>> sz.interface.__name__
    'suanzi.faces.interface'
    >>> sz.clamp
    Traceback (most recent call last):
        ...
    AttributeError: suanzi has no 'clamp'. Use sz.clip(x, low, high).
    >>> sz.det
    Traceback (most recent call last):
        ...
    AttributeError: suanzi has no 'det'. Use sz.array_api.linalg.det(x).
    """
    if name in _ON_FIRST_USE or name in _PATHS:
        return importlib.import_module(f"suanzi.{name}")
    if name in _OBJECTS:
        return getattr(importlib.import_module(f"suanzi.{_OBJECTS[name]}"), name)
    if not name.startswith("_") and name in catalogues()[1:]:
        try:
            return catalogue(name).load()
        except InvalidArgument as error:  # of a broken package: hasattr() is False
            raise AttributeError(f"suanzi has no {name!r}: {error}", name=name) from error
    hint = "" if name.startswith("_") else _hint(name, known())
    raise AttributeError(f"suanzi has no {name!r}.{hint}", name=name)


def _hint(name: str, known: list[str]) -> str:
    from suanzi.base.hints import nearest
    from suanzi.standard import misprints
    from suanzi.standard.other_names import explained

    said = explained(name)
    right = misprints().get(name)
    if right and not said:
        said = f"The standard misprints {right} as {name}: use sz.{right}."
    others = [call for call in _elsewhere(name) if call.partition("(")[0] not in (said or "")]
    if others:
        said = f"{said} Also: {', '.join(others)}." if said else f"Use {' or '.join(others)}."
    return f" {said}" if said else nearest(name, known)


def _elsewhere(name: str) -> Iterator[str]:
    """Give the calls of what has the name as a method of tensors or in another namespace."""
    from suanzi.tensors.tensor import Tensor

    method = getattr(Tensor, name, None)
    if method is not None:
        yield f"x.{name}{_signature(method)}"
    for namespace in _NAMESPACES:
        module = importlib.import_module(f"suanzi.{namespace}")
        public = getattr(module, "__all__", dir(module))
        if name in public:
            yield f"sz.{namespace}.{name}{_signature(getattr(module, name))}"


def _signature(function: Any) -> str:
    """Return how a function is called, without types and without ``self``; nothing for others."""
    if not callable(function) or isinstance(function, type):
        return ""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    plain = [p.replace(annotation=p.empty) for n, p in signature.parameters.items() if n != "self"]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def shown(names: dict[str, Any]) -> list[str]:
    """Return what ``dir(sz)`` lists: what is public, built-in names too, which ``*`` leaves out."""
    shadowing = {name for name in names if hasattr(builtins, name) and not name.startswith("_")}
    return sorted({*names["__all__"], *shadowing, *_ON_FIRST_USE, *_OBJECTS, *catalogues()[1:]})
