"""The operators: one declaration each, kept with its facts.

An operator is a typed function with a docstring, its clause and the dtypes it takes. With
`kernel`, the function has no body: a native short cut answers, and :mod:`suanzi.resolve` does what
that leaves, errors above all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from suanzi import _core
from suanzi.device import Device
from suanzi.dtypes import DTYPES, DType
from suanzi.promote.operators import OPERATORS, OperatorClass
from suanzi.resolve import domains
from suanzi.status import (
    AllocFailed,
    InvalidArgument,
    StatusError,
    TypeMismatch,
    UninitializedObject,
)

F = TypeVar("F", bound=Callable[..., Any])

INTEGERS = tuple(d for d in DTYPES if d.kind in ("int", "uint") and d.bits >= 8)
SUBBYTE = tuple(d for d in DTYPES if d.kind in ("int", "uint") and d.bits < 8)
BOOL = tuple(d for d in DTYPES if d.kind == "bool")
FLOATS = tuple(d for d in DTYPES if d.kind == "float")
COMPLEX = tuple(d for d in DTYPES if d.kind == "complex")
QUANTIZED = tuple(d for d in DTYPES if d.kind == "quantized")
REALS = (*INTEGERS, *FLOATS)
NUMBERS = (*REALS, *COMPLEX)
ANY = DTYPES

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

    @property
    def operator_class(self) -> OperatorClass:
        """The promotion class."""
        return OPERATORS.get(self.name, OperatorClass.ANY)

    @property
    def title(self) -> str:
        """How errors name it."""
        return f"{self.name} ({self.clause})"

    def dtypes_in_words(self) -> str:
        """Return the dtypes it takes as words: ``integers and floating-point real numbers``."""
        parts = [words for group, words in _NAMES.items() if set(group) <= set(self.dtypes)]
        parts = parts or [d.name for d in self.dtypes]
        return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else parts[0]


REGISTRY: dict[str, Operator] = {}
"""Every operator by name."""


def operator(
    clause: str,
    *,
    dtypes: Iterable[DType] = ANY,
    kernel: str | None = None,
    own_body: bool = False,
    ulp: float | None = None,
    domain: str | None = None,
) -> Callable[[F], F]:
    """Declare an operator.

    `kernel` names the native loop of an element-wise operator. What its short cut leaves, the
    function's own body does with `own_body`, and else :mod:`suanzi.resolve`, for one or two
    operands. `domain` says which numbers it has a result for, where the clause makes the others an
    error; see :mod:`suanzi.resolve.domains`.
    """

    def declare(function: F) -> F:
        declared = Operator(function.__name__, clause, function, tuple(dtypes), kernel, ulp, domain)
        REGISTRY[declared.name] = declared
        if kernel is None:
            return _naming_itself(declared, function)
        return _with_kernel(declared, function, own_body)

    return declare


def _naming_itself(declared: Operator, function: F) -> F:
    """Return the function with errors of the core, which knows no operators, put in its name.

    An argument with ``__suanzi_operator__(name, args, kwargs)`` computes the operator in its own
    way: a sparse tensor, or a tensor on another device. It returns NotImplemented to leave the
    call to the next such argument.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        others = _with_own_way(args, kwargs)
        if others:
            _check_devices(declared, args, kwargs)
        for other in others:
            result = other.__suanzi_operator__(declared.name, args, kwargs)
            if result is not NotImplemented:
                return result
        if others:
            came = " and ".join(sorted({type(other).__name__ for other in others}))
            raise TypeMismatch(f"{declared.title}: it has no form for {came}.")
        try:
            return function(*args, **kwargs)
        except AllocFailed as error:
            raise AllocFailed(f"{declared.title}: {error}") from None
        except MemoryError as error:  # NumPy's
            problem = str(error).rstrip(".") or "the system has no more"
            raise AllocFailed(f"{declared.title}: there is no memory: {problem}.") from None

    named: Any = call
    made: F = named
    return made


def _with_own_way(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments, also those in lists, that compute operators in their own way."""
    found = []
    for x in (*args, *kwargs.values()):
        inside = x if isinstance(x, list | tuple) else (x,)
        found += [one for one in inside if hasattr(type(one), "__suanzi_operator__")]
    return found


def _check_devices(declared: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise InvalidArgument for tensors on different devices: none is moved unasked.

    What is made of a tensor, with `create_tensor`, is on its device, too.
    """
    found = []
    for x in (*args, *kwargs.values()):
        for one in x if isinstance(x, list | tuple) else (x,):
            try:
                place = getattr(one, "device", None) if hasattr(one, "shape") else None
            except UninitializedObject:  # of which the operator says which argument it is
                continue
            if isinstance(place, Device) and place not in found:
                found.append(place)
    signature = inspect.signature(declared.function)
    if "device" in signature.parameters:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{declared.title}: {error}") from None
        bound.apply_defaults()
        try:
            place = Device(bound.arguments["device"])
        except StatusError as error:
            raise error.__class__(f"{declared.title}: {error}") from None
        found += [place] if place not in found else []
    if len(found) > 1:
        raise InvalidArgument(
            f"{declared.title}: its arguments are on {' and '.join(map(str, found))}; they must be "
            f"on one device. Move them, with to_host() or to_device({str(found[-1])!r})."
        )


def _with_kernel(declared: Operator, function: F, own_body: bool = False) -> F:
    signature = inspect.signature(function)

    @wraps(function)
    def slow(*args: Any, **kwargs: Any) -> Any:
        from suanzi.resolve.arguments import elementwise

        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{declared.title}: {error}") from None
        made = elementwise(declared, bound.arguments)
        if declared.domain is not None and domains.matter():
            domains.check(declared, next(iter(bound.arguments.values())), made)
        return made

    assert declared.kernel is not None
    dear = declared.ulp is not None and declared.ulp > 0.5
    made: Any = _core.declare_operator(
        declared.name,
        declared.kernel,
        len(signature.parameters),
        declared.operator_class,
        declared.dtypes,
        dear,
        declared.domain is not None,
        _naming_itself(declared, function if own_body else slow),
    )
    fast: F = made
    return fast


def declare_symbol(
    name: str,
    function: Callable[..., Any],
    *,
    dtypes: Iterable[DType] = (),
    kernel: str | None = None,
) -> None:
    """Say what one of Python's symbols does, where the operator behind it has no short cut.

    With `kernel`, it is an operator of one operand that the standard does not have.
    """
    if kernel is None:
        _core.declare_symbol(name, function)
    else:
        _with_kernel(Operator(name, "-", function, tuple(dtypes), kernel, None), function)
