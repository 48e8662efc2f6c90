"""What a call in the standard's form returns: a status and outputs, whatever comes."""

from __future__ import annotations

import inspect
import math
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suanzi as sz
from helpers.standard_operators import REGISTRY
from suanzi.conformance.cases.statuses import VALID
from suanzi.conformance.subjects.suanzi_adapter import made
from suanzi.faces import interface
from suanzi.faces.interface.functions import _default
from suanzi.promote.registry import FUNCTIONS
from suanzi.standard import Parameter, interfaces

S = sz.Status
HERE = [facts for facts in interfaces().values() if facts.name in REGISTRY]


def test_one_output_several_and_none() -> None:
    x = sz.tensor([3.0, 4.0])
    status, made = interface.op_square(x=x)
    assert status is S.SUCCESS
    assert made.tolist() == [9, 16]
    status, parts = interface.op_split(input=x, split_sizes=[1, 1])
    assert status is S.SUCCESS
    assert [part.tolist() for part in parts] == [[3], [4]]
    assert interface.op_destroy(x) == (S.SUCCESS,)
    assert interface.op_destroy(x) == (S.UNINITIALIZED_OBJECT,)
    assert interface.op_size(sz.tensor([1, 2])) == (S.SUCCESS, 2)


def test_the_order_of_the_standard() -> None:
    status, made = interface.op_zeros("int8", "cpu", (2,))
    assert (status, made.dtype, made.shape) == (S.SUCCESS, sz.int8, (2,))
    status, made = interface.op_create_tensor("int8", "cpu", (2, 2), [[1, 2], [3, 4]], 4)
    assert (status, made.tolist()) == (S.SUCCESS, [[1, 2], [3, 4]])


LENGTHS = [(f, p) for f in HERE for p in f.parameters if p.length_of is not None]


@pytest.mark.parametrize(("facts", "parameter"), LENGTHS, ids=lambda x: x.name)
def test_a_length_is_that_of_its_array(facts: Any, parameter: Any) -> None:
    function, arguments = getattr(interface, facts.c_name), made(VALID[facts.name]())
    array = arguments.get(parameter.length_of)
    right = 0 if array is None else len(array)
    for length in (right, np.int64(right), np.array(right), sz.tensor(right), None):
        found = function(**made(VALID[facts.name]()), **{parameter.name: length})
        assert found[0] is S.SUCCESS, interface.last_error()
    arrays = [np.array([right]), np.array([1, 2]), np.array([]), np.array(1.0), sz.tensor([1, 2])]
    wrong = [right + 1, -1, 2**70, float(right), str(right), bool(right), object(), [right]]
    for length in [*wrong, *arrays]:
        found = function(**made(VALID[facts.name]()), **{parameter.name: length})
        assert found[0] is S.INVALID_ARGUMENT, length
        assert parameter.name in str(interface.last_error())
    if isinstance(array, list | tuple) and np.array(array).dtype.kind == "i":  # or all in NumPy's
        given = {**made(VALID[facts.name]()), parameter.length_of: np.array(array)}
        assert function(**given, **{parameter.name: right})[0] is S.SUCCESS
        assert function(**given, **{parameter.name: np.array([right])})[0] is S.INVALID_ARGUMENT


def test_domain_errors_have_a_status_here_and_are_nan_in_python() -> None:
    outside = {"sqrt": -1.0, "rsqrt": -1.0, "acosh": 0.5, "atanh": 1.5, "log": -1.0,
               "log1p": -1.5, "log10": -1.0, "log2": -1.0}  # fmt: skip
    assert {op.name for op in REGISTRY.values() if op.domain} == set(outside)
    poles = {"rsqrt": 0.0, "atanh": -1.0, "log": 0.0, "log1p": -1.0, "log10": 0.0, "log2": -0.0}
    for name, value in outside.items():
        python, standard = getattr(sz, name), getattr(interface, f"op_{name}")
        for x in (sz.tensor([1.0, value]), sz.tensor(value), sz.tensor([[value]], sz.bfloat16)):
            assert math.isnan(float(python(x).reshape(-1)[-1].item()))
            assert standard(x) == (S.INVALID_ARGUMENT, None)
            assert "domain" in str(interface.last_error())
            with sz.domain_errors():
                with pytest.raises(sz.InvalidArgument, match=name):
                    python(x)
                with sz.domain_errors(False):
                    assert standard(x)[0] is S.SUCCESS
            assert math.isnan(float(python(x).reshape(-1)[-1].item()))
        assert standard(sz.tensor([1.0, math.nan]))[0] is S.SUCCESS
    for name, value in poles.items():
        status, made = getattr(interface, f"op_{name}")(sz.tensor([value]))
        assert status is S.SUCCESS
        assert math.isinf(made.item())
        # Without infinities a pole is NaN, and still inside the domain.
        status, made = getattr(interface, f"op_{name}")(sz.tensor([value], sz.float8_e4m3fn))
        assert status is S.SUCCESS
        assert math.isnan(made.item())
        bad = sz.tensor([value, outside[name]], sz.float8_e4m3fn)
        assert getattr(interface, f"op_{name}")(bad)[0] is S.INVALID_ARGUMENT
    # asin, acos and pow have no status for it.
    assert interface.op_asin(sz.tensor([2.0]))[0] is S.SUCCESS
    assert interface.op_pow(sz.tensor([-2.0]), sz.tensor([0.5]))[0] is S.SUCCESS


def test_a_structure_of_a_1_is_an_argument() -> None:
    column_major = interface.Layout(interface.LayoutType.DENSE, (0, 1))
    shape = interface.Shape((2, 3), column_major)
    status, made = interface.op_zeros(interface.DataType(4, 16), interface.Device("cpu"), shape)
    assert status is S.SUCCESS
    assert made.dtype is sz.float16
    assert made.layout == column_major
    assert interface.op_cast(made, interface.DataType.of(sz.int8))[1].dtype is sz.int8
    assert interface.op_expand(sz.tensor([1]), interface.Shape((3,)))[1].shape == (3,)


def test_the_last_error_is_that_of_the_thread() -> None:
    assert interface.op_abs(None)[0] is S.UNINITIALIZED_OBJECT
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(interface.last_error()))
    thread.start()
    thread.join()
    assert seen == [None]
    assert interface.last_error() is not None


def test_what_nobody_foresaw_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setitem(FUNCTIONS, "abs", broken)
    assert interface.op_abs(sz.tensor([1])) == (S.INTERNAL_ERROR, None)
    error = interface.last_error()
    assert error is not None
    assert "ZeroDivisionError: a bug" in str(error)
    assert "in broken" in error.__notes__[0]


def test_an_unknown_keyword_is_pythons_own_error() -> None:
    with pytest.raises(TypeError):
        interface.op_abs(y=1)  # type: ignore[call-arg]


values = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.integers(), st.floats(), st.text(max_size=3),
    st.binary(max_size=3), st.lists(st.integers(-2, 4), max_size=3), st.complex_numbers(),
    st.sampled_from([sz.tensor([1.0, 2.0]), sz.tensor([[1, 2], [3, 4]]), sz.tensor(1j),
                     sz.tensor("a"),
                     sz.zeros((0, 3)), object(), ..., sz.float32, "float16", {}, print]),
)  # fmt: skip


@given(st.data())
def test_whatever_comes_is_answered_with_a_status(data: st.DataObject) -> None:
    facts = data.draw(st.sampled_from(HERE))
    arguments = {
        p.name: data.draw(values, label=p.name)
        for p in facts.parameters
        if p.required or data.draw(st.booleans())
    }
    status, *outputs = getattr(interface, facts.c_name)(**arguments)
    assert isinstance(status, S)
    assert len(outputs) == len(facts.outputs)
    assert status is not S.INTERNAL_ERROR, (facts.name, arguments, interface.last_error())
    assert (status is S.SUCCESS) == (interface.last_error() is None)


@pytest.mark.parametrize("name", ["op_sqrt", "op_atanh", "op_log1p"])
def test_a_domain_of_sparse_tensors(name: str) -> None:
    function = getattr(interface, name)
    status, found = function(sz.to_sparse(sz.tensor([0.0, 0.25, math.nan])))
    assert status is sz.Status.SUCCESS
    assert isinstance(found, sz.SparseTensor)
    status, _ = function(sz.to_sparse(sz.tensor([0.0, 0.25, -4.0])))
    assert status is sz.Status.INVALID_ARGUMENT
    assert "contains -4" in str(interface.last_error())


def test_a_grid_of_one_tensor() -> None:
    x = sz.tensor([1.0, 2.0])
    for one in (x, [x], (x,)):
        status, (found,) = interface.op_meshgrid(one)
        assert (status, found.tolist()) == (sz.Status.SUCCESS, [1, 2])
    assert interface.op_meshgrid(sz.tensor([[1.0]]))[0] is sz.Status.INVALID_ARGUMENT


def test_a_bool_is_of_one_bit_or_of_eight() -> None:
    one = interface.DataType(interface.TypeCode.kBool, 1)
    assert one == interface.DataType.of(sz.bool)
    assert one.dtype is sz.bool


def holding() -> Iterator[None]:
    with sz.domain_errors():
        yield
        yield


def raises() -> bool:
    try:
        sz.log(sz.tensor([-1.0]))
    except sz.InvalidArgument:
        return True
    return False


def test_a_generator_that_leaks_domain_errors_is_seen() -> None:
    one = holding()
    outer = sz.domain_errors(False)
    outer.__enter__()
    next(one)
    assert raises()  # as is documented
    with pytest.warns(RuntimeWarning, match="domain_errors: blocks end in another order"):
        outer.__exit__(None, None, None)
    assert not raises()
    with pytest.warns(RuntimeWarning, match="so that its choice leaks"):
        list(one)
    assert not raises()


def test_domain_errors_in_order_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sz.domain_errors():
            assert raises()
            with sz.domain_errors(False):
                assert not raises()
            assert len(list(holding())) == 2
            assert raises()
    assert not raises()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1e300])
def test_a_default_of_any_float_is_written_as_python_reads_it(value: float) -> None:
    def own(x: float = value) -> None: ...

    written = _default(Parameter("x", str(value)), inspect.signature(own).parameters)
    assert repr(eval(written)) == repr(value)
