"""What ``sz.NAME`` is where nothing of that name was imported, and what ``dir(sz)`` shows."""

from __future__ import annotations

import importlib
from typing import Any

_ON_FIRST_USE = (
    "array_api", "conformance", "interface", "mindspore", "npy", "port", "safetensors",
)  # fmt: skip


def find(name: str, known: list[str]) -> Any:
    """Return a module that is loaded on first use, or say what the name is called here.

    >>> import suanzi as sz
    >>> sz.interface.__name__
    'suanzi.interface'
    >>> sz.clamp
    Traceback (most recent call last):
        ...
    AttributeError: suanzi has no 'clamp'. What PyTorch and MindSpore call clamp is \
sz.clip(x, low, high) here.
    """
    if name in _ON_FIRST_USE:
        return importlib.import_module(f"suanzi.{name}")
    hint = "" if name.startswith("_") else _hint(name, known)
    raise AttributeError(f"suanzi has no {name!r}.{hint}", name=name)


def _hint(name: str, known: list[str]) -> str:
    from suanzi._hints import nearest
    from suanzi.standard import misprints
    from suanzi.standard.other_names import explained

    said = explained(name)
    if said:
        return f" {said}"
    right = misprints().get(name)
    if right:
        return f" The standard misprints {right} as {name}: use sz.{right}, or interface.op_{name}."
    return nearest(name, known)


def shown(known: list[str]) -> list[str]:
    """Return what ``dir(sz)`` lists: everything public."""
    return sorted({*known, *_ON_FIRST_USE})
