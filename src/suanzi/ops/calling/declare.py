"""How an operator is declared, and what wraps every call of one.

An operator is a typed function with a docstring, its clause and the dtypes it takes. With
`kernel`, the function has no body: a native fast path answers, and :mod:`suanzi.ops.calling`
handles the remaining calls, mainly errors.

An argument with ``__suanzi_operator__(name, args, kwargs)`` overrides the operator: a sparse
tensor, or a tensor on another device. It returns NotImplemented to leave the call to the next such
argument.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any, TypeVar

from suanzi import _core
from suanzi.base.device import Device
from suanzi.base.dtypes import DType
from suanzi.base.status import (
    AllocFailed,
    InvalidArgument,
    StatusError,
    TypeMismatch,
    UninitializedObject,
)
from suanzi.ops.calling import differences, domains, recording, spellings
from suanzi.ops.calling.elementwise import elementwise
from suanzi.promote.operators import OperatorClass, declare_class
from suanzi.promote.registry import ANY, FUNCTIONS, REGISTRY, Operator
from suanzi.standard.catalogues import STANDARD
from suanzi.tensors.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


REPEATED: dict[type, Callable[[str, tuple[Any, ...], dict[str, Any]], Any]] = {}
"""By the type of a tensor on a device: what answers a call that was checked before, or returns
NotImplemented."""


def operator(
    clause: str,
    *,
    dtypes: Iterable[DType] = ANY,
    kernel: str | None = None,
    own_body: bool = False,
    fast: bool = False,
    ulp: float | None = None,
    domain: str | None = None,
    promotes: OperatorClass = OperatorClass.ANY,
    catalogue: str = STANDARD,
) -> Callable[[F], F]:
    """Declare an operator.

    `kernel` names the native loop of an element-wise operator. Calls that its fast path declines
    go to the function's body with `own_body`, and else to :mod:`suanzi.ops.calling`, for one or two
    operands. With `fast`, the native fast path of its name is tried first. `domain` states for
    which numbers it has a result, if the clause makes the others an error; see
    :mod:`suanzi.ops.calling.domains`. `promotes` is the class that rule sets know it by.
    `catalogue` is the catalogue that has its record, see :mod:`suanzi.standard.catalogues`.
    """

    def declare(function: F) -> F:
        name, of = function.__name__, tuple(dtypes)
        declared = Operator(
            name, clause, function, of, kernel, ulp, domain, promotes, catalogue=catalogue
        )
        REGISTRY[declared.key] = declared
        if promotes:
            declare_class(declared.key, promotes, _promoted(function))
        if kernel is not None:
            made = with_kernel(declared, function, own_body)
        else:
            made = _with_overrides(declared, function)
        if fast:
            repeated = not differences.may_differ(declared.key)
            made = _core.accelerate(_with_types(made, function), declared.key, repeated)
        FUNCTIONS[declared.key] = made
        return made

    return declare


def _promoted(function: Callable[..., Any]) -> tuple[int, ...]:
    """Return the positions of the operands that are promoted; a condition is not one."""
    kinds = [(name, str(kind)) for name, kind in function.__annotations__.items()]
    return tuple(
        i for i, (name, kind) in enumerate(kinds)
        if kind.startswith("TensorLike") and name not in ("condition", "return")
    )  # fmt: skip


def _with_types(made: F, function: Callable[..., Any]) -> F:
    """Return a function with its typed signature in its docstring, after the summary.

    A built-in function cannot have annotations: Python reads its signature from text without them.
    """
    code, kinds = function.__code__, function.__annotations__
    count, every = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    given = function.__defaults__ or ()
    defaults = dict(zip(code.co_varnames[count - len(given) : count], given, strict=True))
    defaults |= function.__kwdefaults__ or {}
    parts = [f"{name}: {kinds.get(name, 'Any')}" for name in code.co_varnames[:every]]
    for i, name in enumerate(code.co_varnames[:every]):
        if name in defaults:
            parts[i] += f" = {getattr(defaults[name], 'name', defaults[name])!r}"
    if every > count:
        parts.insert(count, "*")
    summary, _, rest = (function.__doc__ or "").partition("\n\n")
    call = f"    {function.__name__}({', '.join(parts)}) -> {kinds.get('return', 'Any')}"
    made.__doc__ = "\n\n".join(filter(None, (summary.rstrip(), call, rest)))
    return made


def _with_overrides(declared: Operator, function: F) -> F:
    """Return the function that tries overrides first, and names the operator in core errors."""

    spelling = spellings.of(function)
    may_differ = differences.may_differ(declared.key)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if spelling is not None:
            args, kwargs = spelling(args, kwargs)
        if may_differ:
            differences.warn(declared.key, args, kwargs)
        if REPEATED:
            for x in (*args, *kwargs.values()) if kwargs else args:
                repeated = REPEATED.get(type(x))
                if repeated is not None:
                    made = repeated(declared.key, args, kwargs)
                    if made is not NotImplemented:
                        return made
                    break
        others = overriding(args, kwargs)
        if others:
            return _override(declared, others, args, kwargs)
        try:
            if recording.on:
                return recording.recorded(declared, function, args, kwargs)
            return function(*args, **kwargs)
        except AllocFailed as error:
            if str(error).startswith(declared.title):  # a provider's, named already
                raise
            raise AllocFailed(f"{declared.title}: {error}") from None
        except MemoryError as error:  # NumPy's
            problem = str(error).rstrip(".") or "the system has no more"
            raise AllocFailed(f"{declared.title}: not enough memory: {problem}.") from None
        except ImportError as error:  # a library that finds no memory for its code
            if not _core.memory_is_limited():
                raise
            raise AllocFailed(f"{declared.title}: not enough memory: {error}.") from None

    named: Any = call
    made: F = named
    return made


def overriding(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments, also those in lists, that override operators."""
    found = []
    for x in (*args, *kwargs.values()) if kwargs else args:
        if type(x) in _PLAIN:
            continue
        for one in x if isinstance(x, list | tuple) else (x,):
            if type(one) not in _PLAIN and hasattr(type(one), "__suanzi_operator__"):
                found.append(one)
    return found


_PLAIN = frozenset({Tensor, DType, bool, int, float, complex, str, type(None)})
"""Types that override nothing: to look them up would take most of the time of a refusal."""


def _override(
    declared: Operator, others: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the result of the first argument that overrides the operator."""
    _check_devices(declared, args, kwargs)
    for other in others:
        result = other.__suanzi_operator__(declared.key, args, kwargs)
        if result is not NotImplemented:
            return result
    received = " and ".join(sorted({type(other).__name__ for other in others}))
    raise TypeMismatch(f"{declared.title}: not supported for {received}.")


def _check_devices(declared: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise InvalidArgument for tensors on different devices: none is moved implicitly.

    What `create_tensor` makes of a tensor is on its device, too.
    """
    found = []
    for x in (*args, *kwargs.values()):
        for one in x if isinstance(x, list | tuple) else (x,):
            try:
                place = getattr(one, "device", None) if hasattr(one, "shape") else None
            except UninitializedObject:  # the operator reports which argument it is
                continue
            if isinstance(place, Device) and place not in found:
                found.append(place)
    signature = _signature(declared.function)
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


_signature = cache(inspect.signature)


def with_kernel(declared: Operator, function: F, own_body: bool = False, *, symbol: str = "") -> F:
    """Return an operator with its native fast path, and the Python function behind it.

    One with fixed rules takes tensors of the host only; `symbol` is the operator of Python's symbol
    that it stands for while they are in force.
    """
    signature = inspect.signature(function)
    names = tuple(signature.parameters)

    @wraps(function)
    def slow(*args: Any, **kwargs: Any) -> Any:
        try:
            if kwargs or len(args) != len(names):
                given = signature.bind(*args, **kwargs).arguments
            else:  # the same in a fraction of the time
                given = dict(zip(names, args, strict=True))
        except TypeError as error:
            said = spellings.hint(declared.name, args, kwargs)
            raise TypeError(f"{declared.title}: {error}{said}") from None
        made = elementwise(declared, given)
        if declared.domain is not None and domains.matter():
            domains.check(declared, next(iter(given.values())), made)
        return made

    assert declared.kernel is not None
    expensive = declared.ulp is not None and declared.ulp > 0.5
    made: Any = _core.declare_operator(
        declared.key,
        declared.kernel,
        len(signature.parameters),
        declared.operator_class,
        declared.dtypes,
        expensive,
        declared.domain is not None,
        _with_types(_with_overrides(declared, function if own_body else slow), function),
        declared.rules,
        symbol,
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
    """Declare what one of Python's symbols does, if the operator behind it has no fast path.

    With `kernel`, it is an operator of one operand that the standard does not have.
    """
    if kernel is None:
        _core.declare_symbol(name, function)
    else:
        with_kernel(Operator(name, "-", function, tuple(dtypes), kernel, None), function)
