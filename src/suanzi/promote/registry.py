"""The operators by key: what each was declared with, and the function that runs it.

The key of an operator of the standard is its name, ``add``; those of other catalogues have the name
of the catalogue before it, ``nn:softmax``.

:mod:`suanzi.ops.calling.declare` fills it; what lies below the operators calls them through it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from suanzi.base.dtypes import DTYPES, DType
from suanzi.promote.operators import OperatorClass
from suanzi.promote.rules import RuleSet
from suanzi.standard import Form, Interface, record
from suanzi.standard.catalogues import STANDARD, catalogue, key_of

INTEGERS = tuple(d for d in DTYPES if d.kind in ("int", "uint") and d.bits >= 8)
SUBBYTE = tuple(d for d in DTYPES if d.kind in ("int", "uint") and d.bits < 8)
BOOL = tuple(d for d in DTYPES if d.kind == "bool")
FLOATS = tuple(d for d in DTYPES if d.kind == "float")
COMPLEX = tuple(d for d in DTYPES if d.kind == "complex")
QUANTIZED = tuple(d for d in DTYPES if d.kind == "quantized")
REALS = (*INTEGERS, *FLOATS)
NUMBERS = (*REALS, *COMPLEX)
ANY = DTYPES

# What a declaration says of promotion.
ARITHMETIC, TRUE_DIVISION, COMPARISON, BITWISE, LOGICAL, REAL_FUNCTION, JOINING = (
    kind for kind in OperatorClass if kind
)

_NAMES = {
    INTEGERS: "integers",
    BOOL: "bool",
    SUBBYTE: "integers of less than a byte",
    FLOATS: "floating-point real numbers",
    COMPLEX: "complex numbers",
    QUANTIZED: "quantised integers",
}


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator as it was declared."""

    name: str
    clause: str
    function: Callable[..., Any]
    """The Python function, with its signature and docstring."""
    dtypes: tuple[DType, ...]
    """The dtypes it computes in; operands are promoted to one of them."""
    kernel: str | None
    ulp: float | None
    """The largest error in float32 and float64; 0.5 is correctly rounded, None: not a float."""
    domain: str | None = None
    """The numbers it has a result for, if not all: ``x >= 0``. Others are NaN, or an error."""
    operator_class: OperatorClass = OperatorClass.ANY
    """The promotion class."""
    rules: RuleSet | None = None
    """What it promotes by; None is the rule set in force."""
    catalogue: str = STANDARD

    @property
    def key(self) -> str:
        """Its key in the registry: the name, after that of its catalogue if not the standard."""
        return key_of(self.catalogue, self.name)

    @property
    def title(self) -> str:
        """How errors name it."""
        before = "" if self.catalogue == STANDARD or self.rules else f"{self.catalogue}."
        return f"{before}{self.name} ({self.clause})"

    @property
    def record(self) -> Interface | None:
        """Its record; None for a function that no catalogue has, as those of the array API."""
        return record(self.key) if self.rules is None else None

    @property
    def form(self) -> Form | None:
        """How its result follows from its operands; None if it has no record."""
        return self.record.form if self.record else None

    def dtypes_in_words(self) -> str:
        """Return the dtypes it takes as words: ``integers and floating-point real numbers``."""
        parts = [words for group, words in _NAMES.items() if set(group) <= set(self.dtypes)]
        parts = parts or [d.name for d in self.dtypes]
        return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


REGISTRY: dict[str, Operator] = {}
"""Every operator by key."""

NAMESPACES: dict[str, Operator] = {}
"""The functions of the array API's namespace by key: ``array_api:add``. They have no records."""

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""What is called for every operator, by key: the public function, fast path and all."""


LOADERS: dict[str, Callable[[], Any]] = {}
"""What imports a module of a layer above, by its name: `suanzi.faces.loading` sets it."""


@cache
def namespace_function(name: str) -> Operator:
    """Return the record of a function of the array API's namespace, which is loaded if need be."""
    key = key_of("array_api", name)
    if key not in NAMESPACES:
        LOADERS["array_api"]()
    return NAMESPACES[key]


def call(name: str, /, *args: Any, **kwargs: Any) -> Any:
    """Call an operator by key.

    >>> call("add", sz.tensor([1, 2]), 1)
    Tensor([2, 3], dtype=int64)
    """
    return function(name)(*args, **kwargs)


def function(name: str) -> Callable[..., Any]:
    """Return the function of an operator by key; the first of a catalogue loads it."""
    if name not in FUNCTIONS and ":" in name:
        catalogue(name.partition(":")[0]).load()
    return FUNCTIONS[name]
