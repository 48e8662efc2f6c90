"""The operators of the standard and of models by key; catalogues that single tests load are not."""

from suanzi.promote.registry import REGISTRY as LOADED
from suanzi.promote.registry import function
from suanzi.standard.catalogues import STANDARD, catalogue

__all__ = ["REGISTRY", "function"]

catalogue("nn").load()
REGISTRY = {key: op for key, op in LOADED.items() if op.catalogue in (STANDARD, "nn")}
