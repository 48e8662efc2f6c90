"""Every operator of the catalogue, judged with suanzi's own implementation as the kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.conformance.subjects.kernel_tensors import Suanzi
from suanzi.conformance.subjects.wire import Data
from suanzi.promote.registry import function
from suanzi.standard import interfaces
from suanzi.validate.judge import CaseResult, Verdict

CASES = 10
"""From so many cases an operator is right, in each of its dtypes."""
_RANDOM = "its result is random"
_MEMORY = "it makes, frees or describes memory"
REFUSED: Mapping[str, str] = {
    "rand_uniform": _RANDOM, "rand_normal": _RANDOM, "rand_bernoulli": _RANDOM,
    "multinomial": _RANDOM, "randperm": _RANDOM,
    "create_tensor": _MEMORY, "wrap_tensor": _MEMORY, "empty": _MEMORY, "destroy": _MEMORY,
    "create_sparse_tensor": _MEMORY, "create_quant_tensor": _MEMORY, "is_contiguous": _MEMORY,
}  # fmt: skip
"""The operators that refuse, each with the sentence that it must say."""
OPERATORS = [facts.key for of in ("standard", "nn") for facts in interfaces(of).values()]
_ASKED = 24
"""So many of the cases of a dtype, or twice as many, are asked of `assert_right`."""
_PLANTED = 5
"""A case in which so many faults were planted is enough."""
_FULL = 65535
"""Larger outputs are not copied for planted faults."""


def judged(key: str, dtype: str) -> Verdict:
    """Judge suanzi's own operator in a dtype."""
    return sz.judge(function(key), key, dtypes=dtype, framework="suanzi")


def right_cases(verdict: Verdict) -> list[CaseResult]:
    """Return the cases that count for a kernel, once it is known to be right."""
    found = [case for case in verdict.cases if case.outcome == "right"]
    assert verdict.answer == "right", verdict
    assert len(found) >= CASES, f"{verdict.operator}: {len(found)} cases count: {verdict}"
    return found


def arguments_of(case: CaseResult) -> dict[str, Any]:
    """Return the arguments of a case as suanzi takes them."""
    assert case.case is not None
    return {name: _argument(x) for name, x in case.case.arguments.items()}


def _argument(x: Any) -> Any:
    if isinstance(x, Data):
        return Suanzi().make(x)
    if isinstance(x, list) and x and isinstance(x[0], Data):
        return [_argument(one) for one in x]
    return x


def outputs_of(key: str, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """Call an operator."""
    made = function(key)(**arguments)
    return tuple(made) if isinstance(made, tuple | list) else (made,)


def assert_by_inputs(key: str, cases: list[CaseResult]) -> None:
    """Ask `assert_right` for cases: right, or refused with a reason, in few of them."""
    right, refused = 0, []
    for case in cases[:: max(1, len(cases) // _ASKED)]:
        arguments = arguments_of(case)
        made = outputs_of(key, arguments)
        try:
            sz.assert_right(key, (), made, **arguments)
        except InvalidArgument as error:
            refused.append(f"{case.id}: {error}")
            continue
        except AssertionError as error:
            raise AssertionError(f"{case.id}: {error}") from None
        right += 1
    assert right >= CASES, f"{key}: {right} right, refused: {refused[:3]}"


# ---- planted faults ------------------------------------------------------------------------------


def assert_refuses_faults(key: str, cases: list[CaseResult]) -> int:
    """Plant faults in right outputs; return how many were planted, each of which was found.

    One case of a dtype is enough, where its outputs have elements and its truth is known: each
    fault costs the truth once more.
    """
    most = 0
    for case in _telling(cases):
        arguments = arguments_of(case)
        made = outputs_of(key, arguments)
        planted = 0
        for name, wrong in faults(made):
            try:
                sz.assert_right(key, (), wrong, **arguments)
            except AssertionError:
                planted += 1
                continue
            except InvalidArgument:
                break  # nothing is known of these inputs
            pytest.fail(f"{case.id}: {name} passes", pytrace=False)
        else:
            most = max(most, planted)
        if most >= _PLANTED:
            return most
    pytest.fail(f"{key}: at most {most} faults were planted in a case", pytrace=False)


def _telling(cases: list[CaseResult]) -> list[CaseResult]:
    """Return cases of ordinary numbers first: of special ones not every element is required."""
    some = [c for c in cases if c.case is not None and c.case.group in ("plain", "sizes")]
    return some or cases


def faults(made: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Give outputs that are wrong, each with its name."""
    yield "nothing", ()
    if len(made) > 1:
        yield "a missing output", made[:-1]
    yield "one more output", (*made, made[0])
    for i, x in enumerate(made):
        if x is None:
            continue
        whole = np.asarray(x) if isinstance(x, int | bool) else x.numpy()
        for name, wrong in _faults_of(whole):
            yield f"output {i}: {name}", (*made[:i], wrong, *made[i + 1 :])


def _faults_of(x: Any) -> Iterator[tuple[str, Any]]:
    yield "an axis more", x[None]
    wide, less = ("c16", "c8") if _is_complex(x.dtype) else ("f8", "f4")
    yield "another dtype", x.astype(wide if x.dtype != np.dtype(wide) else less)
    if x.size and np.asarray(x != 0).any():
        yield "zeros", np.zeros_like(x)
    if x.ndim and x.shape[-1] > 1:
        yield "a column less", x[..., :-1]
    if 0 < x.size <= _FULL:
        other = x.copy()
        other.flat[-1] = _another(x.flat[-1], x.dtype)
        yield "another last element", other


def _is_complex(dtype: np.dtype[Any]) -> bool:
    return "complex" in dtype.name


def _another(x: Any, dtype: np.dtype[Any]) -> Any:
    """Return an element that is far from another one, or any other one of integers."""
    if dtype.kind == "b":
        return not x
    if dtype.kind in "iu" or dtype.name in ("int4", "uint4", "uint1"):
        return np.array(int(x) ^ 1).astype(dtype)
    number = complex(x) if _is_complex(dtype) else float(x)
    if number != number or abs(number) == float("inf"):
        return np.array(1.0).astype(dtype)
    top = 1e4 if _is_complex(dtype) else ml_dtypes.finfo(dtype).max
    far = -float(top) / 2 if number.real > 0 else float(top) / 2
    return np.array(far).astype(dtype)
