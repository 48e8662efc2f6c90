"""The declared operators against the standard's data."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import pytest

import suanzi as sz
from helpers.every_operator import REGISTRY as EVERY
from helpers.every_operator import function as public_function
from helpers.standard_operators import REGISTRY
from suanzi.standard import Interface, Parameter, interface, interfaces

# Where the standard promises a default and prints none, this is ours; others are as printed.
OUR_DEFAULTS = {("trace", "dim0"): 0, ("trace", "dim1"): 1, ("trace_backward", "offset"): 0,
                ("trace_backward", "dim0"): 0, ("trace_backward", "dim1"): 1,
                **{("slice_backward", name): None for name in ("input", "begin", "size", "step")},
                ("create_quant_tensor", "zero_point"): 0,
                ("norm", "axis"): (), ("linear", "bias"): None, ("bilinear", "bias"): None,
                ("full", "shape"): (), ("full", "value"): 0,
                ("reduce", "mode"): sz.ReduceMode.SUM, ("reduce_bwd", "input"): None,
                ("interpolate", "size"): None, ("interpolate", "scale_factor"): None}  # fmt: skip
PRINTED = {"0": 0, "1": 1, "None": None, "1e-5": 1e-5, "1e-8": 1e-8, "false": False,
           "FLOAT32": sz.float32, "QT_SYM_INT16": sz.QT_SYM_INT16, "CPU": sz.Device("cpu"),
           "empty": (), "true": True, "PAD_CONST": sz.PadMode.PAD_CONST,
           "-1": -1, "int64": sz.int64, "inf": "inf", '"reduced"': "reduced",
           "machine epsilon of dtype": None, "SUM": sz.ReduceMode.SUM,
           "NULL": None, "none": sz.FFTNormMode.none, "nearest": "nearest",
           "lowest value of dtype": None, "highest value of dtype": None}  # fmt: skip
# Python's own additions, by keyword only: they never shift a parameter of the standard.
LAID_OUT = """create_tensor wrap_tensor zeros full empty rand_uniform rand_normal
    create_quant_tensor create_sparse_tensor""".split()
EXTRAS = {"cast": {"saturate", "layout"}} | {name: {"layout"} for name in LAID_OUT}
FOURIER = {"fft_r2c"}  # it takes what has a complex dtype of the same width
EXTRAS |= {name: {"dtype"} for name in ("matmul", "linear")}
EXTRAS |= {"dot": {"dtype", "accumulate"}, "reduce": {"accumulate"}, "norm": {"accumulate"}}
DECLARED_ELSEWHERE = {"cast", "sign", "where", "clip", "clip_backward"}


def test_the_counts_of_the_standard() -> None:
    every = interfaces().values()
    assert sum(i.backward_of is None for i in every) == 135
    assert sum(i.backward_of is not None for i in every) == 16
    assert sum(i.minimal for i in every) == 77
    assert len({i.clause for i in every}) == len({i.table for i in every}) == len(every)
    assert all(i.statuses and i.statuses[0] is sz.Status.SUCCESS for i in every)
    assert all(i.backward_of in interfaces() for i in every if i.backward_of)


def test_every_interface_of_7_2_4_to_7_2_12_is_declared() -> None:
    categories = tuple(f"7.2.{n}." for n in range(4, 13))
    wanted = {i.name for i in interfaces().values() if i.clause.startswith(categories)}
    forward = {name for name in wanted if interface(name).backward_of is None}
    assert wanted - forward == {"trace_backward"}
    assert set(REGISTRY) >= wanted | DECLARED_ELSEWHERE


def _expected(facts: Interface, declared: set[str]) -> list[Parameter]:
    """Required parameters first, then optional ones, each group in the standard's order.

    Lengths of arrays are left out, or optional.
    """
    parameters = [
        replace(p, default="None") if p.derived else p
        for p in facts.parameters
        if not p.derived or p.name in declared
    ]
    return sorted(parameters, key=lambda p: not p.required)


@pytest.mark.parametrize("name", REGISTRY)
def test_a_declaration_agrees_with_the_standard(name: str) -> None:
    op = REGISTRY[name]
    facts = interface(name)
    assert (op.name, op.clause) == (facts.name, facts.clause)
    signature = inspect.signature(op.function)
    own = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    extra = {p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    assert extra == EXTRAS.get(name, set())
    expected = _expected(facts, {p.name for p in own})
    assert [p.name for p in own] == [p.name for p in expected]
    for ours, printed in zip(own, expected, strict=True):
        assert (ours.default is inspect.Parameter.empty) == printed.required, ours.name
        if (name, ours.name) in OUR_DEFAULTS or printed.default == "":
            assert ours.default == OUR_DEFAULTS[name, ours.name]
        elif printed.default:
            assert ours.default == PRINTED[printed.default]
    assert sz.Status.SUCCESS in facts.statuses
    assert len(facts.statuses) > 1


@pytest.mark.parametrize("key", EVERY)
def test_a_declared_operator_is_public_and_documented(key: str) -> None:
    op = EVERY[key]
    name, home = op.name, sz.nn if op.catalogue == "nn" else sz
    assert name in dir(home)
    function: Any = getattr(home, name)
    assert function is public_function(key)
    assert function.__name__ == name
    typed = f"{name}{inspect.signature(op.function)}".replace("'", "")
    shown = inspect.getdoc(function) or ""
    if shown != inspect.getdoc(op.function):
        _, signature, *_ = shown.replace("'", "").split("\n\n")
        for part in typed.split(" = ")[0], typed.rpartition(" -> ")[2]:
            assert part in signature
    else:  # a built-in function cannot have annotations, and has them in its docstring
        assert not inspect.isbuiltin(function)
        assert typed == f"{name}{inspect.signature(function)}".replace("'", "")
    assert ": " in typed
    if "_pool" not in name:  # of which one rank has the example
        assert f"{'sz.nn' if home is sz.nn else 'sz'}.{name}(" in shown  # it runs
    assert op.dtypes
    assert op.dtypes_in_words()
    assert op.title == f"{key.replace(':', '.')} ({op.clause})"


@pytest.mark.parametrize("name", EVERY)
def test_the_signature_of_the_short_cut(name: str) -> None:
    """Built-in functions tell their parameters, too; dtypes, devices and modes by their names."""
    found = inspect.signature(public_function(name)).parameters
    declared = inspect.signature(EVERY[name].function).parameters
    assert list(found) == list(declared)
    for own, other in zip(found.values(), declared.values(), strict=True):
        assert own.kind is other.kind
        expected = other.default
        if isinstance(own.default, str):
            expected = getattr(expected, "name", str(expected))
        assert own.default == expected, own


def test_dtypes_are_what_the_clause_names() -> None:
    """I integers, FP floats (with complex where the result is defined), B bool."""
    integers = {d for d in REGISTRY["add"].dtypes if d.kind in ("int", "uint")}
    assert {d.name for d in integers} == {f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
    floats = {d for d in REGISTRY["add"].dtypes if d.kind == "float"}
    assert len(floats) == 6
    for name, op in REGISTRY.items():
        said = interface(name).dtypes
        # Integers given to these become floating-point first.
        becomes_float = name in ("true_divide", "reciprocal")
        if said.startswith("I") and not becomes_float:
            assert integers <= set(op.dtypes), name
        # Complex dtypes are made of some floats only.
        parts = name == "complex" or name in FOURIER
        if ("FP" in said or said == "FR") and not parts:
            assert floats <= set(op.dtypes), name
        if said == "FR" and not parts:
            assert floats == set(op.dtypes), name
        # What 7.2.3 moves about may be anything.
        moved = op.clause.startswith("7.2.3.") and name not in ("clip", "clip_backward", "sign")
        # A mask is what is asked most often where it is not zero.
        anything = (moved and ("ns" in said or name == "roll")) or name == "nonzero"
        if said != "ns" or op.clause.startswith("7.2.3."):
            assert (sz.bool in op.dtypes) == ("B" in said.split() or anything), name


@pytest.mark.parametrize("name", EVERY)
def test_python_can_read_the_signature(name: str) -> None:
    """Built-in functions keep theirs as text, in which only literals can be read."""
    public = inspect.signature(public_function(name))
    declared = inspect.signature(EVERY[name].function)
    assert [(p.name, p.kind) for p in public.parameters.values()] == [
        (p.name, p.kind) for p in declared.parameters.values()
    ]
