"""Every status that a clause lists is produced: the table is the kit's, cases/statuses.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import suanzi as sz
from suanzi.conformance.cases.statuses import CHANGES, DISPUTED, NEVER, VALID, text
from suanzi.conformance.subjects.suanzi_adapter import made
from suanzi.faces import interface
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interfaces

S = sz.Status
HERE = [facts for facts in interfaces().values() if facts.name in REGISTRY]
# Said for all by tests of their own: test_memory.py, and a device that fails, below.
ELSEWHERE = {S.SUCCESS, S.UNINITIALIZED_OBJECT, S.ALLOC_FAILED, S.INTERNAL_ERROR}


@pytest.mark.parametrize("facts", HERE, ids=lambda facts: facts.name)
def test_a_call_that_succeeds(facts: Any) -> None:
    status, *outputs = getattr(interface, facts.c_name)(**made(VALID[facts.name]()))
    assert status is S.SUCCESS, interface.last_error()
    assert all(output is not None for output in outputs)


@pytest.mark.parametrize("facts", HERE, ids=lambda facts: facts.name)
def test_no_status_of_the_clause_is_without_a_case(facts: Any) -> None:
    wanted = {s for s in facts.statuses if s not in ELSEWHERE}
    assert wanted == {s for name, s in (*CHANGES, *NEVER) if name == facts.name}


@pytest.mark.parametrize(
    ("name", "status"),
    [key for key in CHANGES if key[0] in REGISTRY],
    ids=lambda part: getattr(part, "name", part),
)
def test_the_status(name: str, status: S) -> None:
    before = sz._core.pool_info()["storages"]
    changed = CHANGES[name, status]()
    if name in DISPUTED and status is S.TYPE_MISMATCH:  # of numbers, we promote; of text, nobody
        changed = dict.fromkeys(changed, text())
    arguments = made({**VALID[name](), **changed})
    after = sz._core.pool_info()["storages"]
    found, *outputs = getattr(interface, interfaces()[name].c_name)(**arguments)
    assert found is status, interface.last_error()
    assert outputs == [None] * len(outputs)
    assert sz._core.pool_info()["storages"] <= after, "what failed left memory behind"
    assert str(interface.last_error()).startswith(REGISTRY[name].title)
    assert after >= before


@pytest.mark.parametrize("facts", HERE, ids=lambda facts: facts.name)
def test_a_destroyed_tensor_is_uninitialized(facts: Any) -> None:
    arguments = made(VALID[facts.name]())
    names = [name for name, value in arguments.items() if isinstance(value, sz.Tensor)]
    for name in names:
        arguments = made(VALID[facts.name]())
        sz.destroy(arguments[name])
        found, *outputs = getattr(interface, facts.c_name)(**arguments)
        assert found is S.UNINITIALIZED_OBJECT, (name, interface.last_error())
        assert outputs == [None] * len(outputs)


class Broken:
    """A tensor of a device whose driver fails."""

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        raise RuntimeError(f"the driver failed in {name}")


class BrokenProvider:
    """A device that takes no tensors."""

    def count(self) -> int:
        return 1

    def upload(self, tensor: sz.Tensor, device: sz.Device) -> Any:
        raise RuntimeError("the driver failed")


@pytest.fixture
def broken_device() -> Iterator[str]:
    sz.register_device("asic", BrokenProvider())
    yield "asic"
    sz.register_device("asic", None)


@pytest.mark.parametrize(
    "facts", [f for f in HERE if S.INTERNAL_ERROR in f.statuses], ids=lambda facts: facts.name
)
def test_a_failure_inside_is_an_internal_error(facts: Any, broken_device: str) -> None:
    """The core has none; a device may."""
    arguments = made(VALID[facts.name]())
    if facts.name in ("wrap_tensor", "create_sparse_tensor"):  # which are on the CPU only
        arguments["values"] = Broken()
    elif "device" in {p.name for p in facts.parameters}:
        arguments["device"] = broken_device
    else:
        of_tensors = [n for n, v in arguments.items() if isinstance(v, sz.Tensor | list)]
        was_list = isinstance(arguments[of_tensors[0]], list)
        arguments[of_tensors[0]] = [Broken()] if was_list else Broken()
    found, *outputs = getattr(interface, facts.c_name)(**arguments)
    assert found is S.INTERNAL_ERROR, interface.last_error()
    assert outputs == [None] * len(outputs)
    assert "the driver failed" in str(interface.last_error())
