"""The truth of operators: what the exact answer is, and how far a right kernel may be off.

``suanzi.truth.softmax(x, axis=-1)`` takes NumPy arrays, of ml_dtypes' dtypes too, and returns the
correctly rounded answer. `bound` returns it unrounded, with the error that follows from the
arithmetic of a kernel. A definition is a function over `suanzi.truth.tracked` numbers; it shares
no code with any kernel.

>>> import numpy as np
>>> from suanzi import truth
>>> truth.softmax(np.array([0, 1, 2], np.float16))
array([0.09  , 0.2448, 0.665 ], dtype=float16)
>>> found = truth.bound("softmax", np.array([0, 1, 2], np.float32))
>>> found.value.round(6).tolist(), bool((found.error < 1e-6).all())
([0.090031, 0.244728, 0.665241], True)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument
from suanzi.standard import interfaces
from suanzi.truth.define import DEFINITIONS, PLAIN, Definition

if TYPE_CHECKING:
    from suanzi.truth.bounds import Bound


def definitions() -> Mapping[str, Definition]:
    """Return all definitions by key."""
    import suanzi.truth.gradients
    import suanzi.truth.moves
    import suanzi.truth.nn
    import suanzi.truth.standard  # noqa: F401  they declare them

    return DEFINITIONS


def plain_truths() -> Mapping[str, Definition]:
    """Return the truths of operators without a definition, on NumPy arrays, by key."""
    import suanzi.truth.plain  # noqa: F401  it declares them

    return PLAIN


def definition(key: str) -> Definition:
    """Return the definition of an operator by its key, ``nn:softmax``.

    >>> definition("nn:softmax").__name__
    'softmax'
    """
    return definitions()[_key(key)]


def _key(name: str) -> str:
    """Return the key of a definition by a key, or by a name without its catalogue."""
    if not isinstance(name, str):
        raise InvalidArgument(f"truth: {shown(name)} is not the name of an operator.")
    known = definitions()
    # Model operators come before those of the standard: `linear` is both.
    short = {key.rpartition(":")[2]: key for key in sorted(known, key=lambda key: ":" in key)}
    if name in short:
        return short[name]
    if name in known:
        return name
    if name in interfaces():
        from suanzi.truth.standard import reason

        raise InvalidArgument(f"truth: {name} has no truth over inputs: {reason(name)}.")
    raise InvalidArgument(f"truth: {name!r} has no definition here.{nearest(name, short)}")


def bound(
    name: str, *inputs: Any, accumulate: str | None = None, **parameters: Any
) -> Bound | tuple[Bound, ...]:
    """Return the exact result of a call, and how far a right kernel may be off.

    `accumulate` is the dtype that the kernel computes in: by default float32 for narrower floats,
    and otherwise that of the operands. The rounding of the result to its own dtype is included.

    >>> import numpy as np
    >>> x = np.linspace(-4, 4, 9, dtype=np.float32)
    >>> half, single = (bound("softmax", x, accumulate=of) for of in ("float16", "float32"))
    >>> bool((half.error > 1000 * single.error).all())
    True
    """
    from suanzi.truth.public import bound_of

    key = _key(name)
    known = ("float16", "bfloat16", "tfloat32", "float32", "float64")
    if accumulate is not None and accumulate not in known:
        raise InvalidArgument(
            f"truth.bound: accumulate is {shown(accumulate)}; it must be one of {', '.join(known)}."
        )
    found: Bound | tuple[Bound, ...]
    found = bound_of(key, definition(key), inputs, parameters, accumulate)
    return found


def exact_function(name: str) -> Callable[..., Any]:
    """Return the function ``suanzi.truth.NAME`` by the name or the key of an operator.

    >>> exact_function("nn:softmax").__name__
    'softmax'
    """
    return _function(_key(name))


@cache
def _function(name: str) -> Callable[..., Any]:
    from suanzi.truth.public import array_function, plain_function

    if name in plain_truths():
        return array_function(name, plain_truths()[name])
    key = _key(name)
    return plain_function(key, definition(key))


@cache
def _modules() -> frozenset[str]:
    return frozenset(module.name for module in iter_modules(__path__))


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and name not in _modules():
        try:
            return _function(name)
        except InvalidArgument as error:
            raise AttributeError(f"module 'suanzi.truth' has no {name!r}: {error}") from None
    raise AttributeError(f"module 'suanzi.truth' has no attribute {name!r}")


def __dir__() -> list[str]:
    known = (*definitions(), *plain_truths())
    return sorted({*globals(), *(key.rpartition(":")[2] for key in known)})
