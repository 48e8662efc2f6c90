"""How the functions of the namespace are declared, all under the rule set `array_api`.

An element-wise function is declared with its kernel, the dtypes it computes in and its class of
promotion. A native fast path runs it without asking for the rule set in force; the rest, mostly
errors, is done by :mod:`suanzi.resolve`, or by the body of the function with `own_body`.

Every result is a tensor of the namespace: its symbols mean the functions declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from suanzi import _core, registry
from suanzi.dtypes import DType
from suanzi.promote.context import promotion
from suanzi.promote.library import rule_set
from suanzi.promote.operators import OperatorClass
from suanzi.registry import BOOL, COMPLEX, FLOATS, INTEGERS, NAMESPACES, SUBBYTE, Operator
from suanzi.resolve.declare import overriding, with_kernel
from suanzi.resolve.elementwise import elementwise as resolved
from suanzi.status import TypeMismatch
from suanzi.tensors.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])

RULES = rule_set("array_api")
"""What the namespace promotes by, whatever rule set is in force."""

NAMESPACE = "array_api"
VERSION = __array_api_version__ = "2025.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", VERSION)
"""Those whose programs it runs: a later version takes nothing away."""

__all__ = ["__array_api_version__"]

# bfloat16, float16, float8, complex32, int4 and their kin belong to all of them.
WHOLE = (*INTEGERS, *SUBBYTE)
REALS = (*WHOLE, *FLOATS)
FLOATING = (*FLOATS, *COMPLEX)
NUMBERS = (*REALS, *COMPLEX)
EVERY = (*BOOL, *NUMBERS)

FUNCTIONS: dict[str, Operator] = {}
"""The functions by name, as they were declared."""
OTHERS: dict[str, Callable[..., Any]] = {}
"""What they do with tensors that compute operators themselves; :mod:`others` has them."""


def elementwise(
    kernel: str,
    *,
    dtypes: Iterable[DType],
    promotes: OperatorClass,
    ulp: float | None = 0.5,
    symbol: str = "",
    own_body: bool = False,
) -> Callable[[F], F]:
    """Declare an element-wise function: its native kernel, dtypes and class of promotion.

    `symbol` is the operator behind one of Python's symbols (``sub`` for ``-``) that the function
    stands for while the rules `array_api` are in force. With `own_body`, what the fast path leaves
    comes to the body, which calls `rest` for what it does not know.
    """

    def declare(function: F) -> F:
        name = function.__name__
        declared = Operator(
            name,
            f"array API {VERSION}",
            function,
            tuple(dtypes),
            kernel,
            ulp,
            None,
            promotes,
            RULES,
            NAMESPACE,
        )
        FUNCTIONS[name] = NAMESPACES[declared.key] = declared
        made = with_kernel(declared, function, own_body, symbol=symbol)
        registry.FUNCTIONS[declared.key] = made
        return made

    return declare


def rest(name: str, **operands: Any) -> Tensor:
    """Compute an element-wise function the careful way, or raise what explains."""
    return resolved(FUNCTIONS[name], operands)


def declare_symbol(symbol: str, name: str) -> None:
    """Say which function in Python a symbol of Python means under the rules `array_api`."""
    _core.declare_symbol(symbol, registry.FUNCTIONS[FUNCTIONS[name].key], RULES)


def record(name: str, function: Callable[..., Any] = print) -> Operator:
    """Return the record of a function in Python: its name in errors, and the rules."""
    return Operator(
        name, f"array API {VERSION}", function, (), None, None, rules=RULES, catalogue=NAMESPACE
    )


def function(function: F) -> F:
    """Declare a function in Python; see :mod:`suanzi.array_api.others` for other tensors."""
    name = function.__name__
    declared = record(name, function)
    FUNCTIONS[name] = NAMESPACES[declared.key] = declared

    def override(*args: Any, **kwargs: Any) -> Any:
        other = OTHERS.get(name)
        if other is None:
            types = sorted({type(x).__name__ for x in overriding(args, kwargs)})
            raise TypeMismatch(
                f"{name}: not implemented for {' and '.join(types)}. Make a Tensor first, with "
                "to_dense() or to_host()."
            )
        with promotion(RULES):
            return other(*args, **kwargs)

    made = _core.declare_function(function, override)
    registry.FUNCTIONS[declared.key] = made
    return made
