"""What the judge is asked for, checked before a kernel is started: dtypes, shapes, parameters."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suanzi.base.dtypes import dtype as dtype_named
from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS
from suanzi.conformance.nn._calls import Operand
from suanzi.conformance.running.defaults import completed
from suanzi.conformance.subjects.kernel_adapter import count_in_order, names_of
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import REGISTRY, function
from suanzi.standard import interface, interfaces, record
from suanzi.standard.catalogues import catalogues, key_of
from suanzi.truth import definitions
from suanzi.truth.standard import reason
from suanzi.validate.criteria import Criterion
from suanzi.validate.judge.cases import OWN_GRADIENTS, calls_of
from suanzi.validate.judge.given import has_truth
from suanzi.validate.judge.standards import criteria_named

DTYPES = ("float32", "float16", "bfloat16")
ARITHMETICS = ("float16", "bfloat16", "tfloat32", "float32", "float64")
MOST_ELEMENTS = 2**27
"""Elements of an operand; the truth needs a multiple of its memory."""


@dataclass(frozen=True)
class Request:
    """What a kernel is to be judged as."""

    key: str
    """The operator."""
    dtypes: tuple[str, ...]
    must: frozenset[str]
    """The dtypes that it has to take: those that were named."""
    shapes: list[Any] | None
    accumulate: str | None
    params: Mapping[str, Any]
    criteria: tuple[Criterion, ...]
    gradients: list[str] | None = None
    """The operands whose gradients are judged, too."""


def request(
    op: str,
    *,
    dtypes: Iterable[Any] | str | None = None,
    shapes: Sequence[Any] | None = None,
    accumulate: str | None = None,
    params: Mapping[str, Any] | None = None,
    standards: Sequence[str] | str = (),
    backward: bool = False,
) -> Request:
    """Check what is asked for; the arguments are those of `sz.judge`."""
    key = operator_key(op)
    if not key.startswith("own:") and not has_truth(key):
        raise InvalidArgument(f"judge: {op} has no truth over inputs: {reason(key)}.")
    names = dtype_names(dtypes, key, op)
    return Request(
        key, names, frozenset(() if dtypes is None else names), shapes_of(key, shapes),
        arithmetic_named(accumulate), params_of(key, params), criteria_named(standards),
        gradients_of(key) if backward else None,
    )  # fmt: skip


def operator_key(name: str) -> str:
    """Return the key of an operator by its name; those with a definition of their own come first.

    >>> operator_key("softmax"), operator_key("add")
    ('nn:softmax', 'add')
    """
    if not isinstance(name, str):
        raise InvalidArgument(f"judge: op is {shown(name)}; give the name of an operator.")
    known = definitions()
    # Model operators come before those of the standard: `linear` is both.
    for key in (*(key_of(of, name) for of in (*catalogues()[1:], "own")), name):
        if key in known:
            return key
    try:
        return interface(name).key
    except InvalidArgument:
        every = {key.rpartition(":")[2] for key in known} | set(interfaces())
        raise InvalidArgument(
            f"judge: {name!r} is not an operator that has a truth here.{nearest(name, every)} "
            "Register your own with sz.judge.register."
        ) from None


def dtypes_known(key: str) -> tuple[str, ...]:
    """Return the dtypes that an operator can be judged in: those that it takes, of numbers.

    >>> dtypes_known("nn:scaled_linear")
    ('int8', 'float8_e4m3fn', 'float8_e5m2')
    """
    if key.startswith("own:"):
        return tuple(FORMATS)
    function(key)  # its catalogue is loaded
    return tuple(d.name for d in REGISTRY[key].dtypes if d.kind not in ("quantized", "char"))


def dtype_names(wanted: Iterable[Any] | str | None, key: str, op: str = "") -> tuple[str, ...]:
    """Return dtypes by suanzi's names; without any, float32, float16 and bfloat16.

    An operator that takes none of these is judged in all dtypes that it takes. By a name that is
    the standard's too, as `linear`, it has the dtypes of both.
    """
    taken = dtypes_known(key)
    if op != key and op in interfaces():
        taken = tuple(dict.fromkeys([*taken, *dtypes_known(op)]))
    if wanted is None:
        return tuple(name for name in DTYPES if name in taken) or taken
    some = wanted.split(",") if isinstance(wanted, str) else wanted
    if not isinstance(some, Iterable):
        some = [some]
    found = []
    for one in some:
        try:
            found.append(dtype_named(one.strip() if isinstance(one, str) else one).name)
        except StatusError as error:
            raise InvalidArgument(f"judge: {error}") from None
    other = [name for name in found if name not in taken]
    if other and other[0] not in FORMATS and {*taken} <= {*FORMATS}:
        raise InvalidArgument(
            f"judge: {other[0]} is not a dtype of real floating-point numbers; "
            f"use {', '.join(taken)}."
        )
    if other:
        raise InvalidArgument(
            f"judge: {key.rpartition(':')[2]} is not judged in {other[0]}; it takes "
            f"{', '.join(taken)}."
        )
    if not found:
        raise InvalidArgument(f"judge: dtypes is empty; give some of {', '.join(taken)}.")
    return tuple(dict.fromkeys(found))


def arithmetic_named(name: str | None) -> str | None:
    """Return the arithmetic that a kernel declares, by its name."""
    if name is None or name in ARITHMETICS:
        return name
    try:
        known = dtype_named(name).name
    except StatusError:
        known = str(name)
    if known not in ARITHMETICS:
        raise InvalidArgument(
            f"judge: accumulate is {shown(name)}; it must be one of {', '.join(ARITHMETICS)}."
            + nearest(known, ARITHMETICS)
        )
    return known


def shapes_of(key: str, shapes: Sequence[Any] | None) -> list[Any] | None:
    """Return shapes of the first operand, or mappings of operands to shapes."""
    if shapes is None:
        return None
    known = calls_of(key)
    if known is None:
        raise InvalidArgument(
            f"judge: the shapes of {key} cannot be chosen: its cases are those of the conformance "
            "kit. Leave shapes out."
        )
    if not isinstance(shapes, Sequence) or isinstance(shapes, str) or not shapes:
        raise InvalidArgument(
            f"judge: shapes is {shown(shapes)}; give a list of shapes: [(2, 1000), (4097,)]."
        )
    operands = dict.fromkeys(
        name for call in known[0] for name, x in call.arguments.items()
        if isinstance(x, Operand)
    )  # fmt: skip
    found: list[Any] = []
    for one in shapes:
        if not isinstance(one, Mapping):
            found.append(_shape(one))
            continue
        for name in one:
            if name not in operands:
                raise InvalidArgument(
                    f"judge: shapes has a shape for {name!r}; the operands of {key} are "
                    f"{', '.join(operands)}.{nearest(str(name), operands)}"
                )
        found.append({name: _shape(shape) for name, shape in one.items()})
    return found


def _shape(given: Any) -> tuple[int, ...]:
    try:
        found = tuple(int(n) for n in given if n == int(n))
        good = len(found) == len(given) and all(n >= 0 for n in found)
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise InvalidArgument(
            f"judge: {shown(given)} is not a shape; give sizes of 0 or more, as (2, 1000)."
        )
    if math.prod(found) > MOST_ELEMENTS:
        raise InvalidArgument(
            f"judge: the shape {found} has {math.prod(found):,} elements; at most "
            f"{MOST_ELEMENTS:,} can be judged."
        )
    return found


def params_of(key: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the kernel does where it has no parameter; names are those of the operator."""
    found = dict(params or {})
    known = parameters_of(key)
    for name in found:
        if name not in known:
            raise InvalidArgument(
                f"judge: {key} has no parameter {name!r}; it has {', '.join(known)}."
                + nearest(str(name), known)
            )
    return found


def parameters_of(key: str) -> list[str]:
    """Return the names of an operator's parameters, tensors included."""
    if key in definitions():
        return list(inspect.signature(definitions()[key]).parameters)
    facts = record(key)
    return [] if facts is None else [p.name for p in facts.parameters]


def defaults_of(op: str) -> Mapping[str, Any]:
    """Return the parameters of an operator that have a default, with it."""
    if op in definitions():
        parameters = inspect.signature(definitions()[op]).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not p.empty}
    return completed(op, {})


def every_gradient(key: str) -> list[str]:
    """Return the inputs of an operator that its gradient is taken of, in order.

    >>> every_gradient("nn:mse_loss")
    ['x', 'target']
    """
    name, back = key.rpartition(":")[2], f"{key}_bwd"
    if back not in definitions():
        of = name.removesuffix("_bwd")
        words = f"is a gradient itself; name the operator, {of}" if of != name else "has none here"
        raise InvalidArgument(
            f"judge: with backward, the operator needs a gradient, and {name} {words}."
        )
    if key in OWN_GRADIENTS:
        return list(OWN_GRADIENTS[key])
    return [one.removesuffix("_grad") for one in interface(back).outputs]


def gradients_of(key: str) -> list[str]:
    """Return the inputs of an operator whose gradients are judged: not the target of a loss."""
    return [name for name in every_gradient(key) if name != "target"]


# ---- which cases a kernel can take ---------------------------------------------------------------


def is_operand(x: Any) -> bool:
    """Tell whether an argument is a tensor, or a list of them."""
    return isinstance(x, Data) or (isinstance(x, list) and bool(x) and isinstance(x[0], Data))


def forward_of(case: Case) -> Case:
    """Return the call of the kernel whose gradient a case asks for."""
    arguments = {n: x for n, x in case.arguments.items() if n != "out_grad"}
    return replace(case, op=case.op.removesuffix("_bwd"), arguments=arguments)


def misfit(case: Case, accepted: Sequence[str], params: Mapping[str, Any]) -> str | None:
    """Return why a kernel cannot be called as a case requires; None if it can.

    Tensors go in order, optional ones by name if the kernel has the name; a parameter by its name,
    if the kernel has it. One that it does not have must be the default, or what the caller says
    that the kernel does.
    """
    tensors = [n for n, x in case.arguments.items() if is_operand(x)]
    own = [name for name in accepted if not name.startswith("*")]
    names, count = names_of(list(accepted)), count_in_order(tensors, list(accepted))
    if (gap := _gap(case, tensors, count)) is not None:
        return f"the kernel has no parameter {gap!r}, and the call has that tensor"
    if "?" in accepted:
        names, own = [], []
    elif "*" not in accepted and sum("!" not in one for one in own) < count:
        return f"it has {_few(len(tensors), 'tensor')} ({', '.join(tensors)})"
    named = {n: x for n, x in case.arguments.items() if n not in tensors}
    for name, mark in zip(names[count:], own[count:], strict=True):
        if "=" not in mark and name not in named and name not in tensors[count:]:
            return (
                f"the kernel's parameter {name!r} has no default, and the call has nothing for it"
            )
    defaults = defaults_of(case.op)
    first = next((x for x in case.arguments.values() if isinstance(x, Data)), None)
    for name, value in named.items():
        if name in names[count:] or "**" in accepted:
            continue
        meant = params.get(name, defaults.get(name, value if name in params else _NOTHING))
        if not _same(name, value, meant, len(first.shape) if first else 0):
            return f"the kernel has no parameter {name!r}, and {name} is {shown(value)} in the call"
    return None


def without_defaults(case: Case, accepted: Sequence[str], params: Mapping[str, Any]) -> Case:
    """Return a case without parameters that are the default, for a kernel that takes any name.

    Such a kernel, as ``def wrapper(*args, **kwargs)``, often passes them on to one that does not.
    """
    if "**" not in accepted:
        return case
    names, defaults = names_of(list(accepted)), defaults_of(case.op)
    first = next((x for x in case.arguments.values() if isinstance(x, Data)), None)
    ndim = len(first.shape) if first else 0
    kept = {
        name: x
        for name, x in case.arguments.items()
        if isinstance(x, Data) or name in names
        or not _same(name, x, params.get(name, defaults.get(name, _NOTHING)), ndim)
    }  # fmt: skip
    return replace(case, arguments=kept)


def _gap(case: Case, tensors: Sequence[str], count: int) -> str | None:
    """Return a tensor that goes by position although an optional one before it is left out."""
    calls = calls_of(case.op)
    if calls is None:
        return None
    operands = {n for call in calls[0] for n, x in call.arguments.items() if isinstance(x, Operand)}
    order = [name for name in parameters_of(case.op) if name in operands]
    for i, name in enumerate(tensors[:count]):
        if name in order and order.index(name) > i:
            return name
    return None


_NOTHING = object()


def _few(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _same(name: str, a: Any, b: Any, ndim: int) -> bool:
    if name == "normalized_shape":  # the last axis, which no kernel asks for
        return isinstance(a, int) or len(a) == 1
    if name == "axis" and isinstance(a, int) and isinstance(b, int) and ndim:
        return a % ndim == b % ndim
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return list(a) == list(b)
    return bool(a == b)


def refuse_signature(key: str, kernel: str, accepted: Sequence[str], why: str) -> InvalidArgument:
    """Return the error for a kernel that no case can be put to."""
    own = ", ".join(one.replace("=", "=...").strip("/!").replace("!=", "=") for one in accepted)
    parameters, defaults = parameters_of(key), defaults_of(key)
    due = ", ".join(f"{n}={defaults[n]!r}" if n in defaults else n for n in parameters)
    return InvalidArgument(
        f"judge: {kernel} takes ({own}), and cannot be called as {key}({due}): {why}. Tensors come "
        "in this order, parameters by name if the kernel has them."
    )
