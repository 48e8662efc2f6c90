"""The functions of the standard's form are those of the standard, and current."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from suanzi.faces import interface
from suanzi.faces.interface.calling import REQUIRED
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interfaces

TOOL = Path(__file__).parents[3] / "tools" / "write_names.py"
HERE = [facts for facts in interfaces().values() if facts.name in REGISTRY]


def writer() -> Any:
    spec = importlib.util.spec_from_file_location("write_names", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_files_are_current() -> None:
    tool = writer()
    for name, text in tool.texts().items():
        assert (tool.FOLDER / name).read_text() == text, f"run python tools/write_names.py: {name}"


@pytest.mark.parametrize("facts", HERE, ids=lambda facts: facts.c_name)
def test_names_and_parameters(facts: Any) -> None:
    function = getattr(interface, facts.c_name)
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [p.name for p in facts.parameters]
    for parameter in facts.parameters:
        given = parameters[parameter.name].default
        assert (given is REQUIRED) == (parameter.required and not parameter.derived)
    assert facts.clause in function.__doc__
    for printed in facts.printed:
        assert getattr(interface, printed) is function
        assert printed in interface.__all__
    assert facts.c_name in interface.__all__


@pytest.mark.parametrize("facts", HERE, ids=lambda facts: facts.c_name)
def test_nothing_given_is_a_status(facts: Any) -> None:
    """A missing argument is INVALID_ARGUMENT; without required ones, the call succeeds."""
    status, *outputs = getattr(interface, facts.c_name)()
    assert len(outputs) == len(facts.outputs)
    if any(p.required and not p.derived for p in facts.parameters):
        assert status is sz.Status.INVALID_ARGUMENT
        assert outputs == [None] * len(outputs)
        assert "must be given" in str(interface.last_error())
    else:
        assert status is sz.Status.SUCCESS
        assert interface.last_error() is None


OF_TENSORS = [
    facts
    for facts in HERE
    if facts.category != "creation" or facts.name in ("contiguous", "diag", "duplicate")
]
"""The others make tensors of other things."""


@pytest.mark.parametrize("facts", OF_TENSORS, ids=lambda facts: facts.c_name)
def test_nothing_where_a_tensor_belongs_is_uninitialized(facts: Any) -> None:
    required = [p.name for p in facts.parameters if p.required and not p.derived]
    given: dict[str, Any] = {name: sz.tensor([0.5]) for name in required}
    given |= (
        {required[0]: None, "mode": "TONEAREST"} if facts.name == "rint" else {required[0]: None}
    )
    status, *outputs = getattr(interface, facts.c_name)(**given)
    assert outputs == [None] * len(outputs)
    assert status is sz.Status.UNINITIALIZED_OBJECT, interface.last_error()
