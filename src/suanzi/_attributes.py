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
    from suanzi.standard.other_names import explained

    said = explained(name)
    return f" {said}" if said else nearest(name, known)


def shown(known: list[str]) -> list[str]:
    """Return what ``dir(sz)`` lists: what is public, without what is only printed wrong."""
    from suanzi.standard import interfaces

    misprints = {printed for one in interfaces().values() for printed in one.printed}
    hidden = {name.removeprefix("op_") for name in misprints}
    return sorted({*known, *_ON_FIRST_USE} - hidden)
