"""The worked examples of Appendix A, run through the standard's form, and the data they are."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import Status
from suanzi.conformance.cases.examples import case_of
from suanzi.conformance.judging.verdict import Answer, verdict
from suanzi.conformance.subjects.suanzi_adapter import made, read
from suanzi.faces import interface
from suanzi.promote.registry import REGISTRY
from suanzi.standard import examples, interfaces
from suanzi.standard.worked_examples import Example, ExampleTensor, example

CHECKS = {"shape", "range", "allowed", "permutation", "destroyed", "eigen", "qr", "svd"}
# Those of Appendix A that have no example there.
WITHOUT = {"rank", "fft_c2c", "fft_r2c", "fft_c2r", "matmul", "dot", "lu", "cholesky", "qr", "svd"}


def named(found: list[Example]) -> list[Any]:
    """Return the examples as parameters of a test, each with an id of its own."""
    seen: Counter[str] = Counter()
    params = []
    for one in found:
        title = f"{one.number or 'ours'}-{one.name}"
        seen[title] += 1
        params.append(pytest.param(one, id=f"{title}-{seen[title]}"))
    return params


HERE = named([e for e in examples() if e.name in REGISTRY])


def arguments(example: Example) -> dict[str, Any]:
    """Return the arguments by name, tensors made anew."""
    return made(case_of(example, "").arguments)


def problem(example: Example, given: object, answer: tuple[Any, ...]) -> str | None:
    """Return what the kit says is wrong with an answer of the standard's form."""
    status, *outputs = answer
    return verdict(case_of(example, ""), Answer(status.name, as_data(outputs)), True).problem


def as_data(x: Any) -> Any:
    if isinstance(x, list | tuple):
        return [as_data(v) for v in x]
    return read(x) if hasattr(x, "dtype") and not isinstance(x, np.ndarray) else x


def numbers(x: Any) -> Any:
    if isinstance(x, sz.Tensor):
        return np.array((x.int_repr() if x.scale is not None else x).numpy())
    return np.array(x.to_dense().tolist())


def in_order(function: Any, name: str, given: dict[str, Any]) -> list[Any]:
    """Return the arguments in the standard's order; defaults stand for those in between."""
    order = [p.name for p in interfaces()[name].parameters]
    last = max(order.index(n) for n in given)
    defaults = {n: p.default for n, p in inspect.signature(function).parameters.items()}
    return [given.get(n, defaults[n]) for n in order[: last + 1]]


def function(name: str) -> Any:
    return getattr(interface, interfaces()[name].c_name)


def one(name: str, **facts: Any) -> Example:
    """Return the first example of an interface, with other facts."""
    return replace(next(e for e in examples() if e.name == name), **facts)


@pytest.mark.parametrize("entry", HERE)
def test_the_call_gives_what_the_example_says(entry: Example) -> None:
    op = function(entry.name)
    given = arguments(entry)
    assert problem(entry, given, op(*in_order(op, entry.name, given))) is None
    given = arguments(entry)
    assert problem(entry, given, op(**given)) is None


# ---- wrong answers are found ---------------------------------------------------------------------


@pytest.mark.parametrize("entry", HERE)
def test_a_wrong_answer_is_found(entry: Example) -> None:
    given = arguments(entry)
    status, *outputs = function(entry.name)(**given)
    wrong = Status.INTERNAL_ERROR
    assert "INTERNAL_ERROR, not" in (problem(entry, given, (wrong, *outputs)) or "")
    if status is Status.SUCCESS:
        assert "outputs" in (problem(entry, given, (status, *outputs, None)) or "")
    for at, output in enumerate(outputs):
        for other in spoilt(entry, output):
            answer = [*outputs[:at], other, *outputs[at + 1 :]]
            assert problem(entry, given, (status, *answer)) is not None, other


def spoilt(entry: Example, output: Any) -> list[Any]:
    """Return what an output must not be."""
    if output is None:
        return [0]
    if isinstance(output, list | tuple):
        return [output[:-1], None, *([other, *output[1:]] for other in spoilt(entry, output[0]))]
    if not isinstance(output, sz.Tensor):
        return [None, float("nan")]
    dtype = sz.complex128 if output.dtype is not sz.complex128 else sz.complex64
    values = numbers(output)
    others = [None, values, sz.tensor(values, dtype), sz.tensor(values[np.newaxis], output.dtype)]
    if entry.check != "shape":
        first = values.copy()
        element = first.reshape(-1)[:1]
        element[:] = ~element if element.dtype == bool else element + 30
        others.append(sz.tensor(first, output.dtype))
    return others


def test_the_last_digit_counts() -> None:
    entry = one("asin", digits=2)
    given = arguments(entry)
    for value, right in [(1.57, True), (1.5749, True), (1.5651, True), (1.5751, False),
                         (1.5649, False), (float("nan"), False)]:  # fmt: skip
        found = sz.tensor([0, value, -1.57], sz.float32)
        assert (problem(entry, given, (Status.SUCCESS, found)) is None) is right, value


def test_equal_is_equal_to_the_last_bit() -> None:
    entry = one("sqrt")
    given = arguments(entry)
    off = np.nextafter(np.float32(3), np.float32(4))
    assert problem(entry, given, (Status.SUCCESS, sz.tensor([2, 3, 4], sz.float32))) is None
    assert problem(entry, given, (Status.SUCCESS, sz.tensor([2, off, 4], sz.float32))) is not None


def test_an_output_where_a_failure_is_due() -> None:
    entry = one("topk", status=Status.INVALID_ARGUMENT, outputs={})
    answer = (Status.INVALID_ARGUMENT, None, None)
    assert problem(entry, {}, answer) is None
    assert problem(entry, {}, (Status.INVALID_ARGUMENT, None, sz.tensor([1]))) is not None


def test_sparse_and_quantised_answers() -> None:
    sparse = next(e for e in examples() if e.name == "create_sparse_tensor" and e.ours)
    made = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, 7])
    assert problem(sparse, {}, (Status.SUCCESS, made)) is None
    other = sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [5, 8])
    assert "8" in (problem(sparse, {}, (Status.SUCCESS, other)) or "")
    assert "sparse None, not COO" in (problem(sparse, {}, (Status.SUCCESS, made.to_dense())) or "")
    quantised = one("create_quant_tensor")
    stored = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int8)
    answer = (Status.SUCCESS, sz.create_quant_tensor((2, 3), 0.25, sz.QT_SYM_INT8, "cpu", stored))
    assert problem(quantised, {}, answer) is None
    for name, other_one in [("scale", (0.5,)), ("zero_point", 1)]:
        wanted = replace(quantised.outputs["output"], **{name: other_one})
        assert name in (problem(replace(quantised, outputs={"output": wanted}), {}, answer) or "")


def random_answer(name: str, values: Any, dtype: sz.DType) -> str | None:
    return problem(one(name), {}, (Status.SUCCESS, sz.tensor(values, dtype)))


def test_values_out_of_a_range_a_set_and_an_order() -> None:
    right = [[0.0, 0.5, 1.0], [1.5, 1.75, 1.99]]
    assert random_answer("rand_uniform", right, sz.float32) is None
    assert random_answer("rand_uniform", [[0, 0, -0.25], [0, 0, 0]], sz.float32) is not None
    assert random_answer("rand_uniform", [[0, 0, 0], [0, 0, np.nan]], sz.float32) is not None
    assert random_answer("rand_bernoulli", [0, 1, 1], sz.float32) is None
    assert random_answer("rand_bernoulli", [0, 1, 0.5], sz.float32) is not None
    assert random_answer("randperm", [2, 0, 3, 1], sz.float32) is None
    assert random_answer("randperm", [2, 0, 3, 2], sz.float32) is not None


def factors(name: str, *outputs: Any) -> str | None:
    """Return the problem with factors of the matrix of an example."""
    entry = one(name)
    names = interfaces()[name].outputs
    made = [
        sz.tensor(x, sz.dtype(entry.outputs[n].dtype)) for n, x in zip(names, outputs, strict=True)
    ]
    return problem(entry, arguments(entry), (Status.SUCCESS, *made))


def test_factors_of_a_matrix() -> None:
    h = 0.5**0.5
    assert factors("eig", [3, -1], [[h, -h], [h, h]]) is None
    assert factors("eig", [-1, 3], [[h * 1j, h], [-h * 1j, h]]) is None
    assert "v w" in (factors("eig", [-1, 3], [[h, -h], [h, h]]) or "")
    assert factors("eig", [-1, 3], [[-1, 1], [1, 1]]) is None  # as printed
    assert "length" in (factors("eig", [-1, 3], [[0, 1], [0, 1]]) or "")
    assert "eigenvalues" in (factors("eig", [-1, 2], [[-h, h], [h, h]]) or "")
    q, r = np.array([[0.6, 0.8], [0.8, -0.6]]), np.array([[5, 3], [0, 4.0]])
    assert factors("qr", q, r) is None
    assert factors("qr", -q, -r) is None
    assert "Q R" in (factors("qr", q, -r) or "")
    assert "R is " in (factors("qr", q, r.T) or "")
    u, s, v = np.array([[0, 1], [1, 0]]), np.diag([3, 2]), np.eye(2)
    assert factors("svd", u, s, v) is None
    assert factors("svd", -u, s, -v) is None
    assert "U S V^H" in (factors("svd", -u, s, v) or "")
    assert "S is" in (factors("svd", -u, -s, v) or "")
    assert "U is " in (factors("svd", v, s, u) or "")


# ---- the data ------------------------------------------------------------------------------------


def test_every_interface_has_an_example() -> None:
    assert list(dict.fromkeys(e.name for e in examples())) == list(interfaces())


def test_the_standard_has_those_it_has() -> None:
    printed = {e.name for e in examples() if not e.ours}
    backward = {name for name, facts in interfaces().items() if facts.backward_of}
    assert set(interfaces()) - printed == WITHOUT | backward
    assert sum(not e.ours for e in examples()) == 150


@pytest.mark.parametrize("entry", named(list(examples())))
def test_an_entry_says_what_the_standard_can_say(entry: Example) -> None:
    facts = interfaces()[entry.name]
    names = {p.name: p for p in facts.parameters}
    assert set(entry.arguments) <= set(names)
    assert {n for n, p in names.items() if p.required and not p.derived} <= set(entry.arguments)
    if entry.status is Status.SUCCESS:
        assert tuple(entry.outputs) == facts.outputs
    else:
        assert not entry.outputs
        assert entry.status in facts.statuses
    if entry.number is not None:
        assert entry.number == f"A.{facts.clause.removeprefix('7.')}"
    assert entry.check in {None, *CHECKS}
    assert all(re.fullmatch(r"E\d\d\d?", e) and 1 <= int(e[1:]) <= 138 for e in entry.errata)
    assert len(set(entry.errata)) == len(entry.errata)
    assert entry.printed is None or not entry.ours
    for name, value in [*entry.arguments.items(), *entry.outputs.items()]:
        for x in value if isinstance(value, tuple) else [value]:
            if isinstance(x, ExampleTensor):
                sz.dtype(x.dtype)
                assert x.values is not None or entry.check in {"shape", "range", "allowed"}, name
                assert x.values is None or np.shape(x.values) == x.shape, name


def test_nothing_is_given_twice() -> None:
    calls = Counter((e.name, repr(dict(e.arguments))) for e in examples())
    assert [call for call, times in calls.items() if times > 1] == []


def test_what_is_not_right_in_print_has_its_erratum() -> None:
    """All but a name that the list of errata leaves to the interface."""
    assert {e.name for e in examples() if e.printed and not e.errata} == {"bitwise_not"}


def test_examples_are_read_once_and_cannot_be_changed() -> None:
    assert examples() is examples()
    entry = one("add")
    assert isinstance(entry.arguments, MappingProxyType)
    assert isinstance(entry.outputs, MappingProxyType)
    with pytest.raises(AttributeError):
        entry.name = "sub"  # type: ignore[misc]


def test_what_the_words_of_the_file_stand_for() -> None:
    read = example({
        "name": "f", "ours": True, "digits": 2, "status": "OUT_OF_RANGE",
        "arguments": {"axis": "NULL", "dims": [2, 3],
                      "x": {"dtype": "INT32", "shape": [2, 2], "values": "0.."},
                      "y": [{"dtype": "COMPLEX64", "values": ["1-2j", 3]}],
                      "z": {"dtype": "FLOAT32", "values": 1.5},
                      "e": {"dtype": "FLOAT32", "values": []}},
    })  # fmt: skip
    assert (read.ours, read.number, read.tolerance) == (True, None, 0.005)
    assert read.status is Status.OUT_OF_RANGE
    assert dict(read.arguments) == {
        "axis": None,
        "dims": (2, 3),
        "x": ExampleTensor("INT32", (2, 2), ((0, 1), (2, 3))),
        "y": (ExampleTensor("COMPLEX64", (2,), (1 - 2j, 3)),),
        "z": ExampleTensor("FLOAT32", (), 1.5),
        "e": ExampleTensor("FLOAT32", (0,), ()),
    }
    with pytest.raises(ValueError, match="either ours or has a number"):
        example({"name": "f", "arguments": {}})
    with pytest.raises(TypeError, match="cheque"):
        example({"name": "f", "ours": True, "arguments": {}, "cheque": "shape"})
