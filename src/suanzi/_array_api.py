"""Registers a loader of the array API for the layers below, which must not import it."""

from __future__ import annotations

from types import ModuleType

from suanzi.promote.library import BRINGS
from suanzi.registry import LOADERS


def _namespace() -> ModuleType:
    from suanzi import array_api

    return array_api


def _numpy_functions() -> ModuleType:
    from suanzi.array_api import numpy_functions

    return numpy_functions


LOADERS["array_api"] = BRINGS["array_api"] = _namespace
LOADERS["array_api.numpy_functions"] = _numpy_functions
