"""The operators of the standard; `suanzi.registry.REGISTRY` also has those of loaded catalogues."""

from suanzi.promote import registry
from suanzi.standard.catalogues import STANDARD

REGISTRY = {key: op for key, op in registry.REGISTRY.items() if op.catalogue == STANDARD}
