"""How the functions of the namespace are declared, all under the rule set `array_api`.

An element-wise function is declared with its kernel, the dtypes it computes in and its class of
promotion. A native fast path runs it without the rule set in force; other calls, mainly errors,
go to :mod:`suanzi.ops.calling`, or to the body of the function with `own_body`.

Every result is a tensor of the namespace: its symbols mean the functions declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from suanzi import _core
from suanzi.base.dtypes import DType
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch
from suanzi.ops.calling.declare import overriding, with_kernel
from suanzi.promote import registry
from suanzi.promote.context import promotion
from suanzi.promote.library import rule_set
from suanzi.promote.operators import OperatorClass
from suanzi.promote.registry import BOOL, COMPLEX, FLOATS, INTEGERS, NAMESPACES, SUBBYTE, Operator
from suanzi.tensors.elsewhere import Elsewhere
from suanzi.tensors.sparse.tensor import SparseTensor

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
SYMBOLS: dict[str, str] = {}
"""The functions that Python's symbols mean, by the operators behind the symbols."""


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
    stands for while the rules `array_api` are in force. With `own_body`, calls that the fast path
    declines go to the body.
    """

    def declare(function: F) -> F:
        declared = _record(
            function, dtypes=tuple(dtypes), kernel=kernel, ulp=ulp, operator_class=promotes
        )
        if symbol:
            SYMBOLS[symbol] = declared.key
        made = with_kernel(declared, function, own_body, symbol=symbol)
        registry.FUNCTIONS[declared.key] = made
        return made

    return declare


def declare_symbol(symbol: str, name: str) -> None:
    """Declare the function that a symbol of Python means under the rules `array_api`."""
    SYMBOLS[symbol] = FUNCTIONS[name].key
    _core.declare_symbol(symbol, registry.FUNCTIONS[SYMBOLS[symbol]], RULES)


def _record(function: Callable[..., Any], **facts: Any) -> Operator:
    """Return the record of a function, and keep it."""
    given = {"dtypes": (), "kernel": None, "ulp": None, **facts}
    name, clause = function.__name__, f"array API {VERSION}"
    declared = Operator(name, clause, function, **given, rules=RULES, catalogue=NAMESPACE)
    FUNCTIONS[name] = NAMESPACES[declared.key] = declared
    return declared


def _nested(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments that override functions, also those in lists of lists."""
    found, level = overriding(args, kwargs), args
    while not found and any(isinstance(x, list | tuple) and x for x in level):
        level = tuple(one for x in level if isinstance(x, list | tuple) for one in x)[:_LISTED]
        found = overriding(level, {})
    return found


_LISTED = 1 << 16
"""Elements of lists that are looked at: a list may contain itself."""


def _check(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise what a function raises on the host for dtypes, options and what is no list of tensors.

    It gets tensors of the same dtypes and ranks, in which axes of more than two have two. What
    depends on sizes is left to the operators.
    """
    try:
        function(*map(_stand_in, args), **{name: _stand_in(x) for name, x in kwargs.items()})
    except TypeMismatch:
        raise
    except InvalidArgument:
        if function.__name__ != "reshape":  # which needs the sizes
            raise
    except (StatusError, TypeError):
        pass  # axes and missing arguments, which the operators report


_AXES = 8


def _stand_in(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return type(x)(map(_stand_in, x)) if overriding(tuple(x), {}) else x
    if not isinstance(x, Elsewhere | SparseTensor):
        return x
    few = x.ndim - _AXES  # more of two would be many elements
    shape = tuple(min(n, 2 if axis >= few else 1) for axis, n in enumerate(x.shape))
    made = _core.full(shape, x.dtype, 1)
    if x.dtype.kind == "quantized":
        _core.set_quantization(made, [1.0], 0, -1)
    return made


def function(function: F) -> F:
    """Declare a function in Python; see :mod:`suanzi.faces.array_api.others` for other tensors.

    A tensor with ``__suanzi_function__(key, args, kwargs)`` computes it, or returns NotImplemented.
    """
    name, declared = function.__name__, _record(function)

    def override(*args: Any, **kwargs: Any) -> Any:
        for x in _nested(args, kwargs):
            own = getattr(x, "__suanzi_function__", None)
            made = NotImplemented if own is None else own(declared.key, args, kwargs)
            if made is not NotImplemented:
                return made
        other, tensors = OTHERS.get(name), _nested(args, kwargs)
        if other is None:
            types = sorted({type(x).__name__ for x in tensors})
            raise TypeMismatch(
                f"{name}: not implemented for {' and '.join(types)}. Make a Tensor first, with "
                "to_dense() or to_host()."
            )
        if all(isinstance(x, Elsewhere | SparseTensor) for x in tensors):
            _check(function, args, kwargs)
        try:
            with promotion(RULES):
                return other(*args, **kwargs)
        except StatusError:
            raise
        except (AttributeError, TypeError) as error:  # what is no tensor, or no axis
            raise TypeMismatch(
                f"{name}: {error}. It takes tensors first; axes and other options are numbers."
            ) from None

    made = _core.declare_function(function, override)
    registry.FUNCTIONS[declared.key] = made
    return made
