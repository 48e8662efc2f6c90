"""Subjects that follow the other reading wherever the standard has two: they, too, are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import suanzi as sz
from suanzi.conformance.model.operators import BINARY
from suanzi.conformance.subjects.suanzi_adapter import Adapter as Right
from suanzi.standard import interfaces

Call = Callable[[str, dict[str, Any]], Any]
AXES = ("axis", "axes", "dim0", "dim1", "start_axis", "stop_axis")
EXPLAINED = ("argmax", "argmin", "argsort", "argsort_bwd", "topk", "cumsum", "cumsum_bwd")
DOMAINS = "sqrt rsqrt acosh atanh log log1p log10 log2 asin acos pow".split()  # of these E90 speaks
BAD = "INVALID_ARGUMENT"


def refusal(op: str, *wanted: str) -> tuple[str, str]:
    """Return the first status that the clause lists, or the last."""
    listed = [status.name for status in interfaces()[op].statuses]
    return next((s for s in wanted if s in listed), wanted[-1]), "as this reader has it"


def array_of(x: Any) -> Any:
    return sz.cast(x, sz.float64).numpy()


def is_real(x: Any) -> bool:
    return isinstance(x, sz.Tensor) and x.dtype.kind == "float"


class Other(Right):
    """The other reading, in every place."""

    name = "other"

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        try:
            return self._call(super().call, op, arguments)
        except sz.UninitializedObject:  # which suanzi's own form tells
            return super().call(op, arguments)

    def _call(self, plain: Call, op: str, arguments: dict[str, Any]) -> Any:
        if self._refuses(op, arguments):
            return refusal(op, "OUT_OF_RANGE", "AXIS_ARGUMENT", BAD)
        if any(isinstance(x, sz.SparseTensor) for x in arguments.values()) and op != "destroy":
            return "TYPE_MISMATCH", "sparse tensors have interfaces of their own"
        own = getattr(self, f"_{op}", None)
        if own is not None:
            made = own(plain, arguments)
            if made is not None:
                return made
        if op.startswith("fft_"):
            return self._scaled(plain, op, arguments)
        if op in DOMAINS:
            return self._of_a_domain(plain, op, arguments)
        answer = plain(op, arguments)
        if op in (*BINARY, "muladd") and answer[0] == "DIMENSIONS_MISMATCH":
            return BAD, "shapes are arguments, too"
        return answer

    def _refuses(self, op: str, arguments: dict[str, Any]) -> bool:
        """Tell whether an axis is negative, where no clause says what that is."""
        given = [arguments[name] for name in AXES if name in arguments]
        each = [one for x in given for one in (x if isinstance(x, list | tuple) else [x])]
        return op not in EXPLAINED and any(isinstance(a, int) and a < 0 for a in each)

    # ---- elements ----

    def _round(self, plain: Call, arguments: dict[str, Any]) -> Any:
        x = arguments.get("x")
        if not is_real(x) or not x.storage:
            return None
        below = sz.trunc(x)
        beyond = sz.greater_equal(sz.abs(sz.sub(x, below)), 0.5)
        return "SUCCESS", sz.where(beyond, sz.add(below, sz.sign(x)), below)

    def _rint(self, plain: Call, arguments: dict[str, Any]) -> Any:
        is_nearest = arguments.get("mode", "TONEAREST") == "TONEAREST"
        return self._round(plain, arguments) if is_nearest else None

    def _div(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("div", arguments)
        if answer[0] != "SUCCESS" or answer[1].dtype.kind not in ("int", "uint"):
            return answer if answer[0] != "DIMENSIONS_MISMATCH" else None
        return plain("floordiv", arguments)

    def _mod(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("mod", arguments)
        if answer[0] != "SUCCESS":
            return None
        dtype = answer[1].dtype
        wide = sz.float64 if dtype.kind == "float" else dtype
        each = [self._converted(x, dtype, wide) for x in (arguments["x"], arguments["y"])]
        with np.errstate(all="ignore"):
            made = np.fmod(*(x.numpy() for x in each))
        return "SUCCESS", sz.cast(sz.tensor(np.asarray(made)), dtype)

    def _converted(self, x: Any, dtype: sz.DType, wide: sz.DType) -> sz.Tensor:
        one = x if isinstance(x, sz.Tensor) else sz.tensor(x)
        return sz.cast(sz.cast(one, dtype), wide)

    def _sign(self, plain: Call, arguments: dict[str, Any]) -> Any:
        x = arguments.get("input")
        if not isinstance(x, sz.Tensor) or plain("sign", arguments)[0] != BAD:
            return None
        if x.dtype.kind == "bool":
            return "SUCCESS", sz.duplicate(x)
        if x.dtype.kind == "complex":
            size = sz.abs(x)
            return "SUCCESS", sz.complex(sz.div(sz.real(x), size), sz.div(sz.imag(x), size))
        return None

    def _of_a_domain(self, plain: Call, op: str, arguments: dict[str, Any]) -> Any:
        """NaN where suanzi refuses, a refusal where it gives NaN or an infinity."""
        given = [arguments.get(name) for name in ("x", "e")]
        tensors = [x for x in given if isinstance(x, sz.Tensor)]
        if op == "pow" and len(tensors) == 2 and tensors[0].shape != tensors[1].shape:
            return "DIMENSIONS_MISMATCH", "the clause wants equal shapes"
        with sz.domain_errors(False):
            answer = plain(op, arguments)
        if answer[0] != "SUCCESS" or answer[1].dtype.kind != "float":
            return answer
        made, first = array_of(answer[1]), array_of(tensors[0])
        numbers = ~np.isnan(first)
        finite = np.isfinite(first)
        if len(tensors) == 2:
            second = array_of(tensors[1])
            numbers, finite = numbers & ~np.isnan(second), finite & np.isfinite(second)
        is_outside = bool(np.any(np.isnan(made) & numbers))
        # An overflow is no pole: the operand of one is 0, 1 or -1.
        ends = finite & ((first == 0) | (abs(first) == 1))
        at_pole = op != "pow" and bool(np.any(np.isinf(made) & ends))
        if op == "pow":
            at_pole = bool(np.any(np.isinf(made) & finite & (first == 0)))
        if at_pole or (is_outside and op in ("asin", "acos", "pow")):
            return BAD, "no number"
        return answer

    def _allclose(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("allclose", arguments)
        if answer[0] != "SUCCESS":
            return None
        x, y = (self._as_complex(arguments[name]) for name in ("x", "y"))
        if not (np.isinf(x).any() or np.isinf(y).any()):
            return answer
        rtol, atol = arguments.get("rtol", 1e-5), arguments.get("atol", 1e-8)
        with np.errstate(all="ignore"):
            near = abs(x - y) <= atol + rtol * abs(y)
        return "SUCCESS", sz.tensor([bool(near.all())])

    def _as_complex(self, x: Any) -> Any:
        if not isinstance(x, sz.Tensor):
            return np.asarray(x, complex)
        kind = sz.complex128 if x.dtype.kind == "complex" else sz.float64
        return sz.cast(x, kind).numpy()

    # ---- tensors ----

    def _reduce(self, plain: Call, arguments: dict[str, Any]) -> Any:
        x = arguments.get("input")
        is_bool = isinstance(x, sz.Tensor) and x.dtype.kind == "bool"
        if is_bool and arguments.get("mode") == "MEAN":
            answer = plain("reduce", arguments)
            return ("TYPE_MISMATCH", "no mean of bool") if answer[0] == "SUCCESS" else answer
        return None

    def _rand_normal(self, plain: Call, arguments: dict[str, Any]) -> Any:
        wanted = str(arguments.get("dtype", "float32"))
        if "int" not in wanted:
            return None
        status, *outputs = plain("rand_normal", {**arguments, "dtype": "float32"})
        return status, *(sz.cast(sz.round(x), wanted) for x in outputs if status == "SUCCESS")

    def _multinomial(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("multinomial", arguments)
        if answer[0] != "SUCCESS":
            return None
        return "SUCCESS", sz.cast(answer[1], arguments["input"].dtype)

    def _shape(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("shape", arguments)
        return ("SUCCESS", sz.cast(answer[1], sz.int64)) if answer[0] == "SUCCESS" else None

    def _gather(self, plain: Call, arguments: dict[str, Any]) -> Any:
        x, index = arguments.get("input"), arguments.get("index")
        if isinstance(x, sz.Tensor) and isinstance(index, sz.Tensor) and index.ndim > x.ndim:
            return BAD, "an index of more axes than the input"
        return None

    def _scatter(self, plain: Call, arguments: dict[str, Any]) -> Any:
        refused = self._gather(plain, arguments)
        if refused is not None or arguments.get("override", True):
            return refused
        x, updates = arguments.get("input"), arguments.get("updates")
        if not isinstance(x, sz.Tensor) or not isinstance(updates, sz.Tensor):
            return None
        nothing = sz.zeros(updates.shape, updates.dtype)
        answer = plain("scatter", {**arguments, "updates": nothing, "override": True})
        return (
            plain("scatter", {**arguments, "input": answer[1]})
            if answer[0] == "SUCCESS"
            else (None)
        )

    def _topk(self, plain: Call, arguments: dict[str, Any]) -> Any:
        x, k = arguments.get("input"), arguments.get("k")
        answer = plain("topk", arguments)
        if answer[0] == "SUCCESS" and k == x.shape[arguments.get("axis", -1)]:
            return BAD, "k is to be below the size"
        return None

    # ---- transforms and matrices ----

    def _scaled(self, plain: Call, op: str, arguments: dict[str, Any]) -> Any:
        answer = plain(op, arguments)
        mode = arguments.get("normalization", "none")
        if answer[0] != "SUCCESS" or mode == "none":
            return answer
        x = arguments["input"] if "input" in arguments else arguments["grad_out"]
        shape = list(x.shape)
        axes = [a % len(shape) for a in arguments.get("axes") or [-1]]
        lengths = [shape[a] for a in axes]
        if op == "fft_c2r":
            lengths[-1] = arguments["last_dim_size"]
        if op == "fft_c2r_backward":
            shape[axes[-1]] = shape[axes[-1]] // 2 + 1
        few, every = math.prod(lengths), math.prod(shape)
        ratio = few / every if few and every else 1.0
        made = answer[1]
        wide = sz.complex128 if made.dtype.kind == "complex" else sz.float64
        factor = math.sqrt(ratio) if mode == "by_sqrt_n" else ratio
        return "SUCCESS", sz.cast(sz.mul(sz.cast(made, wide), factor), made.dtype)

    def _solve(self, plain: Call, arguments: dict[str, Any]) -> Any:
        if not isinstance(arguments.get("adjoint"), bool):
            return None
        return plain("solve", {**arguments, "adjoint": not arguments["adjoint"]})

    def _svd(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("svd", arguments)
        if answer[0] != "SUCCESS" or arguments.get("format", True) is not True:
            return None
        _, u, s, v = answer
        n, m = arguments["mat"].shape[-2:]
        k = s.shape[-1]
        widths = (0, 0) * (s.ndim - 2) + (0, n - k, 0, m - k)
        return "SUCCESS", u, sz.pad(s, widths), v

    def _eig(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("eig", arguments)
        if answer[0] != "SUCCESS":
            return None
        _, w, v = answer
        longer = sz.mul(v, 2.0)
        is_plain = arguments["mat"].dtype.kind == "float"
        if is_plain and not array_any(sz.imag(w)) and not array_any(sz.imag(v)):
            return "SUCCESS", sz.real(w), sz.real(longer)
        return "SUCCESS", w, longer

    def _lu(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("lu", arguments)
        if answer[0] != "SUCCESS":
            return None
        return "SUCCESS", answer[1], sz.cast(answer[2], sz.int32)

    def _cast(self, plain: Call, arguments: dict[str, Any]) -> Any:
        """What is out of the range of an integer is 1."""
        answer = plain("cast", arguments)
        x = arguments.get("input")
        if answer[0] != "SUCCESS" or not is_real(x) or "int" not in answer[1].dtype.name:
            return answer
        back = sz.cast(answer[1], sz.float64)
        same = sz.equal(back, sz.trunc(sz.cast(x, sz.float64)))
        return "SUCCESS", sz.where(same, answer[1], sz.tensor(1, answer[1].dtype))


def array_any(x: sz.Tensor) -> bool:
    return bool(np.any(array_of(x)))


class InFloats(Other):
    """Integers divide into floating-point numbers."""

    name = "in floats"

    def _div(self, plain: Call, arguments: dict[str, Any]) -> Any:
        answer = plain("div", arguments)
        if answer[0] != "SUCCESS" or answer[1].dtype.kind not in ("int", "uint"):
            return None
        given = {
            n: self._converted(x, answer[1].dtype, answer[1].dtype) for n, x in arguments.items()
        }
        return plain("true_divide", given)


class Mixed(Right):
    """Ties to even in float32, and away from zero in float64."""

    name = "mixed"

    def call(self, op: str, arguments: dict[str, Any]) -> Any:
        x = arguments.get("x")
        if op == "round" and isinstance(x, sz.Tensor) and x.dtype is sz.float64:
            return Other().call(op, arguments)
        return super().call(op, arguments)
