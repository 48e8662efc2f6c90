"""The message of a refused promotion: written when it is read, and the same whoever reads it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import suanzi as sz
from suanzi import _core
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
    before = _core.pool_info()["storages"]
    try:
        sz.add(sz.tensor([1.0]), sz.tensor([1], sz.uint16))
    except sz.TypeMismatch as error:
        kept = error.with_traceback(None)
    assert _core.pool_info()["storages"] == before
    assert FIX in str(kept)
