"""What stands below a public path, as `suanzi.nn.softmaxes`, is the module of the room, not a copy.

A file at the top of suanzi gives a module of a room its public path: the same module by a second
name. Python would import what is below that name once more, and declare its operators again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _BelowPublicPaths(MetaPathFinder):
    """Finds what is imported below a module that has another name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return where a module is; nothing for all others."""
        if not fullname.startswith("suanzi."):
            return None
        parent, _, name = fullname.rpartition(".")
        known = sys.modules.get(parent)
        if known is None or known.__name__ == parent:
            return None
        return ModuleSpec(fullname, _SameModule(f"{known.__name__}.{name}"))


class _SameModule(Loader):
    """Loads a module by its own name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of the room."""
        module = import_module(self.name)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own description back, which the import has replaced."""
        module.__spec__ = self.spec


sys.meta_path.insert(0, _BelowPublicPaths())
