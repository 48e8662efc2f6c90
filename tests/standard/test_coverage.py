"""The standard is covered: what each of its interfaces must have here."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from helpers.memory_cases import NOTHING_ALLOCATED, calls
from helpers.standard_operators import REGISTRY
from suanzi.base.dtypes import DTYPES
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.cases.statuses import VALID
from suanzi.faces import interface
from suanzi.standard import examples, interfaces

EVERY = list(interfaces().values())


def test_the_standard_and_nothing_else() -> None:
    assert len(EVERY) == 151
    assert set(REGISTRY) == set(interfaces())


def test_the_minimal_set_of_table_154() -> None:
    minimal = [facts for facts in EVERY if facts.minimal]
    assert len(minimal) == 77
    assert all(facts.backward_of is None and facts.name in REGISTRY for facts in minimal)


@pytest.mark.parametrize("facts", EVERY, ids=lambda facts: facts.name)
def test_an_interface_has_everything(facts: Any) -> None:
    assert facts.name in REGISTRY, "no operator"
    assert facts.name in dir(sz), "not public"
    assert facts.c_name in interface.__all__, "no function of the standard's form"
    assert ">>>" in (getattr(sz, facts.name).__doc__ or ""), "no example in its documentation"
    assert any(e.name == facts.name for e in examples()), "no worked example"
    assert facts.name in VALID, "no call that succeeds"
    # tests/faces/interface/test_statuses.py produces the others.
    allocates = facts.name in calls(2) or facts.name in NOTHING_ALLOCATED
    assert allocates or sz.Status.ALLOC_FAILED not in facts.statuses


QUANTISED = {d.name for d in DTYPES if d.kind == "quantized"}
OF_CHANNELS = {name for name in QUANTISED if "CH" in name}
"""How a move changes scales per channel: tests/tensors/test_quantized_carried.py."""
WHATEVER_IS_STORED = {"destroy", "shape", "size", "rank", "is_contiguous"}
"""They ask nothing of the elements, so that integers stand for quantised ones."""
NO_QUANTISED_GRADIENTS = {"slice_backward"}


def dtypes_tried(name: str) -> set[str]:
    """Return the dtypes of the operands of the plain cases; after a dash is what they become."""
    plain = cases(name, Wanted(frozenset({"plain"})))
    return {case.dtype.partition("-")[0] for case in plain}


@pytest.mark.parametrize("name", interfaces())
def test_the_kit_tries_every_dtype_that_an_interface_takes(name: str) -> None:
    taken = {d.name for d in REGISTRY[name].dtypes}
    if name in WHATEVER_IS_STORED | NO_QUANTISED_GRADIENTS:
        taken -= QUANTISED
    elif name != "create_quant_tensor":
        taken -= OF_CHANNELS
    assert dtypes_tried(name) == taken


NOT_TRIED = {
    # They take no tensor that could lie otherwise, and compute nothing of values that are given.
    "zeros": "strided special random",
    "empty": "strided special random",
    "full": "strided random",
    "range": "strided random empty",  # its limit is included
    "linspace": "strided random empty",  # num is at least 1
    # Their numbers are random themselves, and judged as a whole.
    "rand_uniform": "strided random",
    "rand_normal": "strided special random",
    "rand_bernoulli": "special random",
    "multinomial": "special random empty",  # weights must have a sum
    "randperm": "strided special random empty",  # len is at least 1
    # They ask nothing of the elements.
    **dict.fromkeys(WHATEVER_IS_STORED, "special random"),
    # They take over the elements as they are, which distinct ones show best.
    **dict.fromkeys(
        "create_tensor wrap_tensor create_sparse_tensor create_quant_tensor contiguous duplicate "
        "diag".split(),
        "random",
    ),
}
"""The groups of which an interface has no cases, with the reason."""


@pytest.mark.parametrize("name", interfaces())
def test_the_kit_tries_every_group(name: str) -> None:
    groups = {"plain", "strided", "empty", "special", "random"}
    some = frozenset({"int32", "float32", "complex64", "QT_SYM_INT8"})
    found = {case.group for case in cases(name, Wanted(frozenset(groups), some))}
    assert groups - found == set(NOT_TRIED.get(name, "").split())
