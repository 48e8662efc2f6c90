"""Registers loaders of the array API for the layers below, which must not import it."""

from functools import partial
from importlib import import_module

from suanzi.promote.library import BRINGS
from suanzi.promote.registry import LOADERS

LOADERS["array_api"] = BRINGS["array_api"] = partial(import_module, "suanzi.faces.array_api")
LOADERS["array_api.numpy_functions"] = partial(
    import_module, "suanzi.faces.array_api.numpy_functions"
)
