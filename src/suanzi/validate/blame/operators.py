"""What is known of PyTorch's operators from their schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suanzi.truth.rounding import ROUNDED
from suanzi.validate.blame.budget import Lap
from suanzi.validate.blame.rules import ALLOCATIONS, RULES, VIEWS, WRITES
from suanzi.validate.blame.sampling import is_float

PROMOTING = frozenset(
    ["add", "sub", "rsub", "mul", "div", "pow", "remainder", "fmod", "floor_divide", "lerp",
     "addcmul", "addcdiv", "maximum", "minimum", "where", "cat", "stack", "atan2", "eq", "ne",
     "lt", "le", "gt", "ge", "sum", "mean", "sqrt", "rsqrt", "exp", "log", "sin",
     "cos", "reciprocal"]
)  # fmt: skip
"""Operators whose operands are converted to a common dtype."""
_TAKE_NUMBERS = frozenset(
    ["add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide",
     "remainder", "fmod"]
)  # fmt: skip
"""Operators that take numbers for tensors."""
_BITS = {"int64": 63, "int32": 31, "int16": 15, "uint8": 8, "int8": 7}


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
        whole = [i for i, a in enumerate(schema.arguments) if str(a.type) == "Tensor"]
        self.whole = () if self.name in _TAKE_NUMBERS else tuple(whole)
        self.is_plain = not tensors and not self.written
        tags = getattr(func, "tags", ())
        self.is_random = torch.Tag.nondeterministic_seeded in tags
        self.composite = has_kernel(torch, func, "CompositeImplicitAutograd")
        self.backends: dict[str, bool] = {}
        self.rule = space == "aten" and self.name in RULES
        self.is_allocation = space == "aten" and self.name in ALLOCATIONS
        self.lap = Lap()
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

    def as_tensors(self, torch: Any, args: Any) -> Any:
        """Return arguments with tensors where the operator takes no numbers.

        Constants of a script are tensors, but numbers by the time that a mode is given them.
        """
        numbers = [i for i in self.whole if i < len(args) and isinstance(args[i], int | float)]
        if not numbers:
            return args
        return [torch.tensor(x) if i in numbers else x for i, x in enumerate(args)]

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments by name."""
        return {**self.defaults, **dict(zip(self.names, args, strict=False)), **kwargs}


def conversion(name: str, dtypes: Sequence[str], result: str) -> str:
    """Say how the dtypes of tensors change that an operator is given; empty if they do not.

    >>> conversion("add", ["float16", "float32"], "float32")
    'float16 and float32 give float32'
    >>> conversion("mul", ["int64", "float16"], "float16")
    'int64 becomes float16, which does not have all of its values'
    """
    if name not in PROMOTING:
        return ""
    floats = [dtype for dtype in dict.fromkeys(dtypes) if is_float(dtype)]
    whole = [dtype for dtype in dict.fromkeys(dtypes) if dtype in _BITS]
    if len(floats) > 1:
        return f"{' and '.join(floats)} give {result}"
    common = floats[0] if floats else result
    lost = [d for d in whole if common in ROUNDED and _BITS[d] > ROUNDED[common].bits]
    return f"{lost[0]} becomes {common}, which does not have all of its values" if lost else ""


def has_kernel(torch: Any, func: Any, key: str) -> bool:
    """Tell whether an operator has a kernel of its own for a key of the dispatcher."""
    try:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key))
    except (AttributeError, RuntimeError):
        return False
