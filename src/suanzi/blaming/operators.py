"""What is known of PyTorch's operators from their schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suanzi.blaming.rules import ALLOCATIONS, RULES, VIEWS, WRITES

KEYS = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "meta": "Meta"}
"""What the dispatcher calls devices."""


class Operator:
    """What is known of an operator from its schema."""

    def __init__(self, torch: Any, func: Any) -> None:
        schema = func._schema
        space, _, name = schema.name.partition("::")
        self.full = schema.name
        self.name = name[:-1] if name.endswith("_") and not name.endswith("__") else name
        self.names = [a.name for a in schema.arguments]
        self.defaults = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
        written = [a.name for a in schema.arguments if a.alias_info and a.alias_info.is_write]
        self.written = [*written, *WRITES.get(name, ())]
        self.out = [a.name for a in schema.arguments if a.is_out]
        aliased = [r for r in schema.returns if r.alias_info is not None]
        self.is_view = (bool(aliased) and not self.written) or self.name in VIEWS
        tensors = [r for r in schema.returns if "Tensor" in str(r.type)]
        self.is_plain = not tensors and not self.written
        tags = getattr(func, "tags", ())
        self.is_random = torch.Tag.nondeterministic_seeded in tags
        self.composite = has_kernel(torch, func, "CompositeImplicitAutograd")
        self.backends: dict[str, bool] = {}
        self.rule = space == "aten" and self.name in RULES
        self.is_allocation = space == "aten" and self.name in ALLOCATIONS
        self.title = self.name if space == "aten" else schema.name

    def status(self) -> str:
        """Return why no call of it is judged; empty if they are."""
        if self.is_view:
            return "views"
        if self.is_allocation:
            return "allocations"
        if self.rule:
            return ""
        if self.is_plain:
            return "no tensors"
        return "random" if self.is_random else "no truth"

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name."""
        return {**self.defaults, **dict(zip(self.names, args, strict=False)), **kwargs}


def has_kernel(torch: Any, func: Any, key: str) -> bool:
    """Tell whether an operator has a kernel of its own for a key of the dispatcher."""
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key))
    except (AttributeError, RuntimeError):
        return False
