"""The message of a refused promotion: written when it is read, and the same whoever reads it."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import suanzi as sz
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.promote import fixes, questions

FLOATS, INTEGERS = sz.tensor([1.0]), sz.tensor([1], sz.uint16)
REFUSED: dict[str, Callable[[], Any]] = {
    "promote_types": lambda: sz.promote_types(sz.float32, sz.uint16),
    "result_type": lambda: sz.result_type(sz.uint16, sz.ZeroDim(sz.float32)),
    "a function": lambda: sz.add(FLOATS, INTEGERS),
    "a symbol": lambda: FLOATS * INTEGERS,
    "concat": lambda: sz.concat([FLOATS, INTEGERS], 0),
    "matmul": lambda: sz.matmul(FLOATS, INTEGERS),
}
FIX = "Cast the uint16 operand to float32."


def caught(call: Callable[[], Any]) -> sz.TypeMismatch:
    with pytest.raises(sz.TypeMismatch) as found:
        call()
    return found.value


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What a fix was searched for since."""
    found: list[Any] = []
    search = fixes.fix_for

    def counting(answer: Any) -> Any:
        found.append(answer)
        return search(answer)

    monkeypatch.setattr(fixes, "fix_for", counting)
    monkeypatch.setattr(questions, "_refusals", {})
    monkeypatch.setattr(questions, "_advice", {})
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_is_searched_for_until_it_is_read(name: str, searches: list[Any]) -> None:
    errors = [caught(REFUSED[name]) for _ in range(3)]
    assert not searches
    assert FIX in str(errors[0])
    assert len({str(error) for error in errors}) == len(searches) == 1


@pytest.mark.parametrize("name", REFUSED)
def test_every_reader_sees_the_same(name: str) -> None:
    error = caught(REFUSED[name])
    again = pickle.loads(pickle.dumps(error))
    assert type(error) is type(again) is sz.TypeMismatch
    assert error.args == again.args == copy.deepcopy(error).args == (str(error),)
    assert type(error.args[0]) is type(again.args[0]) is str
    assert repr(error) == repr(again) == f"TypeMismatch({str(error)!r})"
    assert FIX in str(error)


def test_a_message_of_the_usual_kind() -> None:
    error = sz.TypeMismatch("one", 2)
    assert error.args == ("one", 2)
    error.args = ("three",)
    assert (error.args, str(error)) == (("three",), "three")


def test_the_numbers_of_each_call() -> None:
    """What is remembered is that their kind is refused."""
    with sz.promotion("mindspore"):
        x = sz.tensor([1], sz.uint16)
        messages = [str(caught(lambda n=n: sz.add(x, n))) for n in (3, 5, 3)]  # type: ignore[misc]
    assert "uint16 and 3 have no" in messages[0] == messages[2]
    assert "uint16 and 5 have no" in messages[1]


def test_an_error_that_is_kept_keeps_no_tensor() -> None:
    gc.collect()  # tensors of other tests that lie in circles
    before = _core.pool_info()["storages"]
    try:
        sz.add(sz.tensor([1.0]), sz.tensor([1], sz.uint16))
    except sz.TypeMismatch as error:
        kept = error.with_traceback(None)
    assert _core.pool_info()["storages"] == before
    assert FIX in str(kept)


OPERATORS = ("add", "true_divide", "exp", "bitwise_or", "less", "reciprocal", "bitwise_not", "max")
UNARY = ("exp", "reciprocal", "bitwise_not")


def said(call: Callable[[], Any]) -> tuple[type, str] | None:
    try:
        call()
    except sz.StatusError as error:
        return type(error), str(error)
    return None


@pytest.mark.parametrize("rules", sz.rule_sets())
def test_the_core_refuses_what_python_refuses(rules: str) -> None:
    """Arguments by name are Python's affair; by place, what was refused before is the core's.

    A third of the dtypes first, others under the next rules, with a third of them second.
    """
    dtypes = [d for d in DTYPES if d.kind not in ("quantized", "char")]
    refused, turn = 0, list(sz.rule_sets()).index(rules)
    with sz.promotion(rules):
        for a in dtypes[turn % 3 :: 3]:
            for b in dtypes[::3]:
                x, y = sz.zeros((2,), a), sz.zeros((), b)
                for name in OPERATORS:
                    named = {"x": x, "y": y} if name not in UNARY else {"x": x}
                    function = getattr(sz, name)
                    by_name = said(lambda f=function, n=named: f(**n))  # type: ignore[misc]
                    by_place = said(lambda f=function, n=named: f(*n.values()))  # type: ignore[misc]
                    assert by_name == by_place, (name, a, b)
                    refused += by_name is not None
                first = said(lambda q=(x, y): sz.result_type(*q, op="sub"))  # type: ignore[misc]
                again = said(lambda q=(x, y): q[0] - q[1])  # type: ignore[misc]
                if first is not None:
                    assert again is not None
                    assert again[1].endswith(first[1].removeprefix("sub: "))
    assert refused > 10


def test_what_one_operator_refuses_is_not_its_class() -> None:
    """Table 66 has no bool for reciprocal; quotients of two have one."""
    flag = sz.tensor([True])
    for _ in range(2):
        assert said(lambda: sz.reciprocal(flag)) is not None
        assert sz.true_divide(flag, flag).dtype == sz.float32


def test_a_refusal_says_which_operator_was_called() -> None:
    x, y = sz.tensor([1.0]), sz.tensor([2.0])
    for _ in range(2):
        for name in ("bitwise_and", "bitwise_or"):
            assert str(caught(lambda n=name: getattr(sz, n)(x, y))).startswith(name)  # type: ignore[misc]


def test_names_that_are_no_dtype_are_looked_for_when_read(monkeypatch: pytest.MonkeyPatch) -> None:
    from suanzi.base import dtypes

    asked: list[Any] = []
    monkeypatch.setattr(dtypes, "nearest", lambda *words: asked.append(words) or " Near.")
    calls: list[Callable[[], Any]] = [
        lambda: sz.dtype("flot32"),
        lambda: sz.cast(FLOATS, "flot32"),
        lambda: sz.zeros((2,), "flot32"),
        lambda: sz.argmax(FLOATS, dtype="flot32"),
    ]
    for call in calls:
        with pytest.raises(sz.InvalidArgument) as found:
            call()
        assert not asked
        assert "'flot32' is not a dtype. Near. `suanzi dtypes`" in str(found.value)
        asked.clear()


SHAPES = [
    ((2, 3), (4, 5)),
    ((2,), (3,)),
    ((2, 3), (2,)),
    ((0,), (2,)),
    ((2, 3, 4), (5, 4, 1)),
    ((2,), (2,)),
]
TWO_TENSORS = {
    "matmul": ("mat1", "mat2"),
    "dot": ("vec1", "vec2"),
    "linear": ("x", "weight"),
} | dict.fromkeys(
    ("add", "sub", "less", "equal", "max", "bitwise_and", "logical_or", "true_divide"), ("x", "y")
)


@pytest.mark.parametrize("name", TWO_TENSORS)
@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_shapes_are_refused_by_the_core_as_by_python(
    name: str, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    function, names = getattr(sz, name), TWO_TENSORS[name]
    for a, b in [(sz.int32, sz.int32), (sz.float32, sz.float32), (sz.bfloat16, sz.float16)]:
        x, y = sz.zeros(first, a), sz.zeros(second, b)
        by_name = said(lambda q=(x, y): function(**dict(zip(names, q, strict=True))))  # type: ignore[misc]
        for _ in range(2):
            assert said(lambda q=(x, y): function(*q)) == by_name  # type: ignore[misc]
    if (first, second) == ((2, 3), (4, 5)):
        assert by_name is not None


def test_an_error_of_shapes_keeps_no_tensor_and_is_written_when_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from suanzi.ops.calling import elementwise

    sz.add(sz.zeros((2, 3)), sz.zeros((3,)))  # the first call of a process fills the core's cell
    gc.collect()
    asked: list[Any] = []
    check = elementwise.common_shape
    monkeypatch.setattr(
        elementwise, "common_shape", lambda *given: asked.append(given) or check(*given)
    )
    before = _core.pool_info()["storages"]
    try:
        sz.add(sz.zeros((2, 3)), sz.zeros((4,)))
    except sz.StatusError as error:
        kept = error.with_traceback(None)
    assert _core.pool_info()["storages"] == before
    assert not asked
    assert "x has shape (2, 3) and y has shape (4,)" in str(kept)
    assert pickle.loads(pickle.dumps(kept)).args == (str(kept),)


@pytest.mark.parametrize("name", ["matmul", "dot", "linear"])
def test_dtypes_of_products_are_refused_by_the_core_as_by_python(name: str) -> None:
    for rules in ("cann", "strict", "numpy", "lossless"):
        with sz.promotion(rules):
            for a in (sz.uint16, sz.float32, sz.complex64, sz.bool):
                for b in (sz.float32, sz.uint16, sz.int8, sz.bool):
                    x, y = sz.zeros((2, 2), a), sz.zeros((2, 2), b)
                    named = dict(zip(TWO_TENSORS[name], (x, y), strict=True))
                    by_name = said(lambda n=named: getattr(sz, name)(**n))  # type: ignore[misc]
                    for _ in range(2):
                        assert said(lambda n=named: getattr(sz, name)(*n.values())) == by_name  # type: ignore[misc]
