"""What many calls of operators leave behind: memory of the pool, of Python, of malloc."""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from helpers.valid_calls import valid
from suanzi import _core
from suanzi.conformance.subjects.suanzi_adapter import function_of
from suanzi.faces import interface

MALLOC, BLOCKS = 48 << 10, 400
"""Bytes of malloc and blocks of Python that calls may leave: what is cached, not what leaks."""


class Kept(NamedTuple):
    """What is in use: bytes and storages of the pool, bytes of malloc, blocks of Python."""

    pool: int
    storages: int
    malloc: int
    blocks: int


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost",
    )]  # fmt: skip


def _of_malloc() -> int:
    """Return the bytes that malloc has given out; 0 where the C library does not say."""
    asked = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if asked is None:
        return 0
    asked.restype = _Mallinfo
    found = asked()
    return int(found.uordblks + found.hblkhd)


def kept() -> Kept:
    """Return what is in use now."""
    for _ in range(3):
        gc.collect()
    _core.trim_pool()
    pool = _core.pool_info()
    return Kept(pool["in_use"], pool["storages"], _of_malloc(), sys.getallocatedblocks())


def classes() -> dict[str, list[str]]:
    """Return the operators by catalogue and file: ``standard.arithmetic``, ``nn.losses``."""
    found: dict[str, list[str]] = {}
    for name, op in REGISTRY.items():
        if name != "destroy":  # which leaves nothing to call twice
            file = op.function.__module__.rpartition(".")[2].lstrip("_")
            found.setdefault(f"{op.catalogue}.{file}", []).append(name)
    return found


def calls(name: str) -> list[Callable[[], Any]]:
    """Return a valid call of an operator, in Python's form and in the standard's."""
    given = valid(name)
    found: list[Callable[[], Any]] = [partial(_python, function(name), given)]
    form = function_of(name)
    if form(**given)[0] is sz.Status.SUCCESS:
        found.append(partial(form, **given))
    return found


def _python(called: Callable[..., Any], given: dict[str, Any]) -> Any:
    with sz.domain_errors(False):
        return called(**given)


def growth(names: list[str], count: int) -> dict[str, int]:
    """Make so many calls of operators, all equally often, and return what grew beyond a cache."""
    made = [call for name in names for call in calls(name)]
    interface.last_error()
    rounds = max(count // len(made), 1)
    before = _after(made, max(rounds // 10, 20))
    after = _after(made, rounds)
    grown = Kept(*(b - a for a, b in zip(before, after, strict=True)))
    limits = Kept(0, 0, MALLOC, BLOCKS)
    return {name: n for name, n, most in zip(Kept._fields, grown, limits, strict=True) if n > most}


def _after(made: list[Callable[[], Any]], rounds: int) -> Kept:
    for call in made:
        for _ in range(rounds):
            call()
    return kept()
