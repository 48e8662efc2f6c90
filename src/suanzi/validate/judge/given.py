"""What is due of given arguments: bounds of the outputs, or a property that several results have.

A definition gives bounds. Of other operators the kit knows the exact result, as of Fourier
transforms, or what every right result satisfies, as of the factors of a matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from suanzi.base.dtypes import dtype as dtype_named
from suanzi.conformance.cases.linear_algebra_solving import solution, solved_shape
from suanzi.conformance.cases.signal import Setting
from suanzi.conformance.model.case import Check, Expected, Output
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import (
    FORMATS,
    NARROW,
    PARTS,
    SIGNED,
    UNSIGNED,
    Real,
    Value,
    convert,
    decode,
    limits,
    real,
    rounded,
    unit,
)
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth import linear_algebra_matrices as exactly
from suanzi.conformance.truth.arrays import exact
from suanzi.conformance.truth.signal import (
    COMPLEX_OF,
    extended,
    real_part,
    taken,
    transform,
    weighted,
)
from suanzi.promote.engine import answer
from suanzi.promote.library import rule_set
from suanzi.standard import record
from suanzi.truth import definitions, plain_truths
from suanzi.truth.bounds import Bound
from suanzi.validate.judge.bounds import bounds, by_definition, requires_nothing
from suanzi.validate.judge.filling import numbers_of

Arguments = Mapping[str, Any]
Due = list[Bound] | Check
_MOST = 2**19
"""Products of integers that a Fourier transform by its definition may take: a second."""


def has_truth(key: str) -> bool:
    """Tell whether results of an operator can be judged by their inputs."""
    return key in definitions() or key in EXPECTED or key in _PLAIN


def due_of(key: str, arguments: Arguments, accumulate: str | None = None) -> list[Due]:
    """Return what may be due of a call, one of which must be met.

    There are several where floats of different dtypes meet: the result has the dtype that they are
    promoted to, or that of the first one. So there are where an operand is a number of Python that
    a narrow dtype does not have: kernels convert it to that dtype, or to float32.
    """
    if key in _PLAIN:
        return [[_PLAIN[key](arguments)]]
    if key in EXPECTED:
        expected = EXPECTED[key](arguments)
        made = expected if isinstance(expected, Check) else bounds(expected)
        assert made is not None
        return [made]
    found: list[Due] = []
    for dtype in result_dtypes(arguments):
        for given in with_numbers(key, arguments, dtype):
            found.append(by_definition(key, dtype, given, accumulate))
    return found


def with_numbers(key: str, arguments: Arguments, dtype: str) -> list[Arguments]:
    """Return a call as kernels may have it: operands that are numbers become tensors of floats.

    Integers next to integers stay; so do parameters that are no operands by the record, as eps.

    >>> [a["y"].dtype for a in with_numbers("add", {"y": 0.6}, "float16")]
    ['float16', 'float32']
    >>> [a["y"].dtype for a in with_numbers("add", {"y": 0.5}, "float16")]
    ['float16']
    """
    part, facts = PARTS.get(dtype, dtype), record(key)
    kinds = (int, float, complex) if part in FORMATS else (float, complex)
    names = [n for n in facts.operands if type(arguments.get(n)) in kinds] if facts else []
    own = part if part in FORMATS else "float32"  # floats of integers
    found: dict[str, Arguments] = {}
    for form in (own, "float64" if own == "float64" else "float32"):
        made = {n: _as_tensor(arguments[n], form) for n in names}
        numbers = repr([numbers_of(x).item() for x in made.values()])
        found.setdefault(numbers, {**arguments, **made})
    return [*found.values()]


def _as_tensor(x: complex, dtype: str) -> Data:
    """Return a number as a tensor without axes, rounded to a dtype of floats."""
    if not isinstance(x, complex):
        return tensor(dtype, [real(x)], ())
    first, second = (rounded(FORMATS[dtype], real(one)) for one in (x.real, x.imag))
    return tensor("complex128" if dtype == "float64" else "complex64", [(first, second)], ())


def result_dtypes(arguments: Arguments) -> list[str]:
    """Return the dtypes that floats of a result may have.

    >>> result_dtypes({"x": Data("float16", (0,), b""), "y": Data("float32", (0,), b"")})
    ['float32', 'float16']
    """
    tensors = [
        one for x in arguments.values() for one in (x if isinstance(x, list) else [x])
        if isinstance(one, Data)
    ]  # fmt: skip
    floats = [*dict.fromkeys(x.dtype for x in tensors if x.dtype in FORMATS or x.dtype in PARTS)]
    if len(floats) < 2:
        return floats or [tensors[0].dtype if tensors else "float32"]
    together = answer(floats, rule_set("torch")).dtype
    return [*dict.fromkeys([*([] if together is None else [together.name]), floats[0]])]


def undecided(due: Due) -> int | None:
    """Return the first output of which nothing is required, whatever it is."""
    return None if isinstance(due, Check) else requires_nothing(due)


# ---- exact results -------------------------------------------------------------------------------


def _exact(name: str) -> Callable[[Arguments], Bound]:
    """Return a truth on arrays as a bound of 0."""

    def found(a: Arguments) -> Bound:
        given = {n: np.empty(x.shape, bool) if isinstance(x, Data) else x for n, x in a.items()}
        made = np.asarray(plain_truths()[name](**given))
        if "dtype" in a and (named := dtype_named(a["dtype"]).name) in PARTS:
            whole = made.astype(np.complex128)
            return _pairs(named, whole)
        truth = made.astype(np.float64) if made.dtype.name in FORMATS else made
        return Bound(made.dtype.name, truth, np.zeros(made.shape))

    return found


def _pairs(dtype: str, whole: Any) -> Bound:
    truth = np.stack([whole.real, whole.imag], -1)
    return Bound(dtype, truth, np.zeros(truth.shape))


def _complex(a: Arguments) -> Bound:
    """Two parts as one number; NaN in one leaves the other alone."""
    parts = np.broadcast_arrays(numbers_of(a["real"]), numbers_of(a["imag"]))
    truth = np.stack(parts, -1)
    return Bound(COMPLEX_OF[a["real"].dtype], truth, np.zeros(truth.shape))


def _part(name: str) -> Callable[[Arguments], Bound]:
    def found(a: Arguments) -> Bound:
        x = a["input"]
        numbers = numbers_of(x)
        if x.dtype not in PARTS:
            truth = np.zeros_like(numbers) if name == "imag" else numbers
            return Bound(x.dtype, truth, np.zeros(x.shape))
        if name == "conj":
            return _pairs(x.dtype, numbers.conj())
        truth = numbers.real if name == "real" else numbers.imag
        return Bound(PARTS[x.dtype], truth, np.zeros(x.shape))

    return found


_PLAIN: Mapping[str, Callable[[Arguments], Bound]] = {
    **{name: _exact(name) for name in ("zeros", "full", "shape", "size", "rank")},
    **{name: _part(name) for name in ("real", "imag", "conj")},
    "complex": _complex,
}


# ---- numbers at equal distances ------------------------------------------------------------------


def _of_dtype(dtype: str, x: Fraction) -> Value:
    if dtype in PARTS:
        return real(x), real(0)
    return real(x) if dtype in FORMATS else math.trunc(x)


def _range(a: Arguments) -> Expected:
    dtype = dtype_named(a.get("dtype") or "float32").name
    first, last, by = (Fraction(a[name]) for name in ("start", "limit", "step"))
    part = PARTS.get(dtype, dtype)
    # A limit that is missed by no more than rounding counts as reached.
    near = Fraction(2) ** -50 * (abs(first) + abs(last)) / abs(by) if part in FORMATS else 0
    sums = [first + i * by for i in range(max(math.floor((last - first) / by + near) + 1, 0))]
    truth = tuple(_of_dtype(dtype, x) for x in sums)
    if part not in FORMATS:
        return (Output(dtype, (len(sums),), truth),)
    form, size = FORMATS[part], max(abs(first), abs(last))
    # The start, the step and the sum may each have been rounded to the dtype, halves of units.
    steps = [(unit(form, abs(first)) + i * unit(form, abs(by))) / 2 for i in range(len(sums))]
    allowed = tuple(step + unit(form, size) for step in steps)
    return (Output(dtype, (len(sums),), truth, allowed=allowed),)


def _linspace(a: Arguments) -> Expected:
    dtype = dtype_named(a.get("dtype") or "float32").name
    num = int(a["num"])
    first, last = complex(a["start"]), complex(a["stop"])
    parts = [_between(dtype, Fraction(first.real), Fraction(last.real), num)]
    if dtype in PARTS:
        parts.append(_between(dtype, Fraction(first.imag), Fraction(last.imag), num))
    truth = [row[0] for row in zip(*(truth for truth, _ in parts), strict=True)]
    if dtype in PARTS:
        truth = list(zip(*(truth for truth, _ in parts), strict=True))
    allowed = tuple(max(row) for row in zip(*(most for _, most in parts), strict=True))
    return (Output(dtype, (num,), tuple(truth), allowed=allowed),)


def _between(
    dtype: str, first: Fraction, last: Fraction, num: int
) -> tuple[list[Any], list[Fraction]]:
    """Return numbers from one to another, both as the dtype has them, and their errors."""
    form = FORMATS[PARTS.get(dtype, dtype)]
    inner = [first + (last - first) * i / max(num - 1, 1) for i in range(num)]
    ends = {num - 1: rounded(form, real(last)), 0: rounded(form, real(first))}
    # What is near zero between larger ends is as exact as they are; a step may be rounded.
    step = unit(form, max(abs(first), abs(last)))
    half = unit(form, abs(last - first) / max(num - 1, 1)) / 2
    allowed = [Fraction(0) if i in ends else step + i * half for i in range(num)]
    return [ends.get(i, real(x)) for i, x in enumerate(inner)], allowed


# ---- Fourier transforms --------------------------------------------------------------------------


def _fourier(op: str) -> Callable[[Arguments], Expected]:
    def found(a: Arguments) -> Expected:
        data = a["grad_out" if op.endswith("backward") else "input"]
        axes, mode = a.get("axes"), a.get("normalization") or "none"
        along = None if axes is None else [axes] if isinstance(axes, int) else list(axes)
        how = Setting(
            data.shape,
            along,
            str(getattr(mode, "name", mode)).lower(),
            bool(a.get("forward", True)),
        )
        if data.size * max([1, *(data.shape[k] for k in how.along)]) > _MOST:
            raise ValueError("the transform is too long to be computed exactly")
        return _TRANSFORMS[op](data, how, a)

    return found


def _c2c(data: Data, how: Setting, a: Arguments) -> Expected:
    x = exact(data)
    return how.output(transform(x, how.along, how.forward), x, data.dtype)


def _c2c_backward(data: Data, how: Setting, a: Arguments) -> Expected:
    x = exact(data)
    return how.output(transform(x, how.along, not how.forward), x, data.dtype)


def _r2c(data: Data, how: Setting, a: Arguments) -> Expected:
    x, last = exact(data), how.along[-1]
    n = data.shape[last]
    length = n // 2 + 1 if a.get("onesided", True) else n
    whole = transform(x, how.along, how.forward)
    return how.output(taken(whole, last, length), x, COMPLEX_OF[data.dtype])


def _r2c_backward(data: Data, how: Setting, a: Arguments) -> Expected:
    full = a["input"].shape
    how = how._replace(shape=full)
    x = taken(exact(data), how.along[-1], full[how.along[-1]])
    made = real_part(transform(x, how.along, not how.forward))
    return how.output(made, x, PARTS[data.dtype])


def _c2r(data: Data, how: Setting, a: Arguments) -> Expected:
    *others, last = how.along
    length = int(a["last_dim_size"])
    how = how._replace(shape=how.resized(length))
    x = exact(data)
    whole = extended(transform(x, others, how.forward), last, length)
    return how.output(real_part(transform(whole, [last], how.forward)), x, PARTS[data.dtype], 2)


def _c2r_backward(data: Data, how: Setting, a: Arguments) -> Expected:
    x, last = exact(data), how.along[-1]
    n = data.shape[last]
    half = taken(transform(x, how.along, not how.forward), last, n // 2 + 1)
    return how.output(weighted(half, last, n), x, COMPLEX_OF[data.dtype], 2)


_TRANSFORMS: Mapping[str, Callable[[Data, Setting, Arguments], Expected]] = {
    "fft_c2c": _c2c, "fft_c2c_backward": _c2c_backward, "fft_r2c": _r2c,
    "fft_r2c_backward": _r2c_backward, "fft_c2r": _c2r, "fft_c2r_backward": _c2r_backward,
}  # fmt: skip


# ---- matrices ------------------------------------------------------------------------------------


def _square(name: str, facts: Callable[[Data], dict[str, Any]]) -> Callable[[Arguments], Expected]:
    def found(a: Arguments) -> Expected:
        mat = a["mat"]
        if PARTS.get(mat.dtype, mat.dtype) not in FORMATS or len(mat.shape) < 2:
            raise ValueError("mat must be a matrix of floats, or a batch of them")
        exact(mat)  # all are finite, or no factors are right
        return Check(name, facts(mat))

    return found


def _eigen(mat: Data) -> dict[str, Any]:
    dtype = mat.dtype
    result = {"bfloat16": "complex64"}.get(dtype, "complex32" if dtype in NARROW else dtype)
    return {"dtype": COMPLEX_OF.get(result, result), "traces": True}


def _cholesky(a: Arguments) -> Expected:
    """Return the property with the whole matrix, of which one triangle is read."""
    mat, n = a["mat"], a["mat"].shape[-1]
    upper = str(a["upper"]).upper().startswith("U")
    some = values(mat)
    for i in range(mat.size):
        row, column, start = i // n % n, i % n, i // (n * n) * (n * n)
        if row > column if upper else row < column:
            other = some[start + column * n + row]
            some[i] = (other[0], -other[1]) if isinstance(other, tuple) else other
    whole = tensor(mat.dtype, some, mat.shape)
    exact(whole)
    return Check("cholesky_factor", {"mat": whole})


def _solve(a: Arguments) -> Expected:
    exact(a["mat"]), exact(a["rhs"])
    return Check("solutions", {"shape": solved_shape(a["mat"].shape, a["rhs"].shape)})


def _lstsq(a: Arguments) -> Expected:
    """Return the solution of a matrix of full rank, which no cut of singular values lowers."""
    mat, rhs, prec = a["mat"], a["rhs"], a.get("prec")
    *batch, m, n = mat.shape
    one = len(rhs.shape) == 1
    sides = 1 if one else rhs.shape[-1]
    if not one and [*rhs.shape[:-2]] != batch:
        raise ValueError("batches that are broadcast have no truth here")
    shape = (*batch, n) if one else (*batch, n, sides)
    if not math.prod(shape) or not m:
        nothing: Value = (real(0), real(0)) if mat.dtype in PARTS else real(0)
        return (Output(mat.dtype, shape, (nothing,) * math.prod(shape), zero_sign=False),)
    truth: list[Value] = []
    allowed: list[Fraction] = []
    some, right = exact(mat), exact(rhs)
    count = math.prod(batch)
    for b in range(count):
        rows = _rows(some.reshape((count, m, n)).at(b).fractions(), n)
        side = _rows(right.reshape((count, m, sides)).at(b).fractions(), sides)
        found, most = _of_full_rank(rows, side, mat.dtype, prec)
        truth, allowed = truth + found, allowed + most
    return (Output(mat.dtype, shape, tuple(truth), allowed=tuple(allowed), zero_sign=False),)


def _rows(flat: Any, columns: int) -> Any:
    some = list(flat)
    return [some[i : i + columns] for i in range(0, len(some), columns)]


def _of_full_rank(a: Any, side: Any, dtype: str, prec: Any) -> tuple[list[Value], list[Fraction]]:
    m, n = len(a), len(a[0])
    one = exactly.identity(min(m, n))
    try:
        inverse = exactly.pseudo_inverse(*((a, one) if m >= n else (one, a)))
    except (ZeroDivisionError, StopIteration, IndexError):
        raise ValueError("a matrix of lower rank has no truth here") from None
    size = exactly.squared_norm(a) * exactly.squared_norm(inverse)
    cut = (
        Fraction(prec) if prec is not None else unit(FORMATS[PARTS.get(dtype, dtype)], Fraction(1))
    )
    if cut * cut * size >= 1:
        raise ValueError("singular values near the cut have no truth here")
    return solution(a, inverse, side, dtype)


def _cast(a: Arguments) -> Expected:
    """Return elements in another dtype; of a float that an integer dtype has not, nothing."""
    x, target = a["input"], dtype_named(a.get("type") or "float32").name
    some = values(x)
    free: list[int] = []
    if target in (*SIGNED, *UNSIGNED):
        low, high = limits(target)
        for i, value in enumerate(some):
            part = value[0] if isinstance(value, tuple) else value
            if isinstance(part, Real) and (part.size is None or part.is_nan or not (
                low - 1 < part.value < high + 1
            )):  # fmt: skip
                free.append(i)
    truth = tuple(convert(value, target) for value in some)
    if a.get("saturate") and target in NARROW:
        truth = tuple(_saturated(y, value, target) for y, value in zip(truth, some, strict=True))
    return (Output(target, x.shape, truth, free=tuple(free), zero_sign=False),)


def _saturated(made: Value, given: Value, target: str) -> Value:
    """Return the largest finite number for what leaves the range of a narrow float."""
    part = given[0] if isinstance(given, tuple) else given
    lost = isinstance(made, Real) and (made.size is None or made.is_nan)
    if not lost or not isinstance(part, Real) or part.is_nan:
        return made
    most = decode(FORMATS[target], FORMATS[target].largest)
    return -most if part.negative else most


EXPECTED: Mapping[str, Callable[[Arguments], Expected]] = {
    "cast": _cast,
    "range": _range,
    "linspace": _linspace,
    **{op: _fourier(op) for op in _TRANSFORMS},
    "lu": _square("lu_factors", lambda mat: {}),
    "qr": _square("qr_factors", lambda mat: {}),
    "svd": _square("svd_factors", lambda mat: {}),
    "eig": _square("eigen_pairs", _eigen),
    "inverse": _square("inverses", lambda mat: {}),
    "cholesky": _cholesky,
    "solve": _solve,
    "lstsq": _lstsq,
}
"""What the kit expects of the operators that have no definition."""
