"""A call through C: suanzi as a shared library with the standard's header, which the kit calls.

Its answer is compared with that of the standard's form in Python: the same status, and the same
elements. What C cannot say, as a list where one tensor is due, is counted and not compared.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import suanzi as sz
from fuzzing import judging
from fuzzing.making import Call
from fuzzing.values import Code
from suanzi.conformance.subjects.wire import Broken, Data, Unsaid, Unsupported
from suanzi.standard.prototypes import prototype, prototypes

NAME = "c"
UNSAID = "not said in C"
COUNTERS = (UNSAID,)
_OF_VALUES = {"create_tensor", "create_quant_tensor", "create_sparse_tensor", "wrap_tensor"}
_HELPERS = Path(__file__).parents[2] / "tests"


@cache
def _known() -> frozenset[str]:
    return frozenset(one.interface.name for one in prototypes())


def has(op: str) -> bool:
    """Say whether C has an operator."""
    return op in _known()


@cache
def _library() -> Any:
    """Return the kit's adapter of suanzi as a C library, which is compiled for it."""
    if str(_HELPERS) not in sys.path:
        sys.path.insert(0, str(_HELPERS))
    from helpers.suanzi_in_c import library
    from suanzi.conformance.subjects.c_adapter import Adapter as Library

    with TemporaryDirectory(prefix="suanzi-fuzz-") as folder:
        return Library(str(library(Path(folder))))


def use() -> None:
    """Compile the library, once for all processes."""
    _library()


def verdict(call: Call) -> str:
    """Return "gives", the name of a status, or why there is nothing to compare."""
    if any(isinstance(x, Code) for x in call.arguments.values()) or _has_codes(call):
        return UNSAID
    given = {name: _laid_out(value) for name, value in call.arguments.items()}
    try:
        status, *outputs = _library().call(call.op, given)
    except (Unsaid, Unsupported):
        return UNSAID
    except Broken as error:
        raise judging.Found("memory", str(error)) from None
    if status == sz.Status.INTERNAL_ERROR.name:
        raise judging.Found("internal", "of a call through C")
    _compare(replace(call, arguments=given), status, outputs)
    return "gives" if status == sz.Status.SUCCESS.name else str(status)


def _compare(call: Call, status: str, outputs: list[Any]) -> None:
    """Compare with the standard's form in Python."""
    call = replace(call, form="interface", rules="strict", domain_errors=True)
    arguments = {name: judging.made(value) for name, value in call.arguments.items()}
    wanted = judging.outcome(call, arguments)
    if {wanted[0], status} - {"gives", "SUCCESS"} and call.op in _OF_VALUES:
        return  # C counts the values itself, and NULL has none
    if status != sz.Status.SUCCESS.name:
        judging.compare("c", call, wanted, (status, None))
    elif call.op not in judging.RANDOM:
        found = judging.made([list(x) if isinstance(x, tuple) else x for x in outputs])
        judging.compare("c", call, wanted, ("gives", found), judging.layout_is_exact)


def _has_codes(call: Call) -> bool:
    """Say whether C and Python say other things of quantised tensors.

    An element is given by its bits in C, and by its number in Python; and scales of channels that
    are all the same are one scale in C.
    """
    given = judging.flat(list(call.arguments.values()))
    kinds = {x.dtype for x in given if isinstance(x, Data) and x.scale}
    by_bits = any(item.base == "void" for item in prototype(call.op).parameters)
    names = kinds | {x for x in given if isinstance(x, str)}
    return (bool(kinds) and by_bits) or any("_CH_" in name for name in names)


def _laid_out(value: Any) -> Any:
    """Return an argument as C may have it: its tensors have no gaps."""
    if isinstance(value, list):
        return [_laid_out(x) for x in value]
    if isinstance(value, Data) and value.layout not in ("dense", "columns"):
        return replace(value, layout="dense")
    return value
