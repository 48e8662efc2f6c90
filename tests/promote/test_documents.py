"""Every cell of the documents' tables, against a second transcription of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import suanzi as sz
from helpers import documents


def observe(question: Callable[[str, str], sz.DType], keys: documents.Table) -> documents.Table:
    """Ask every cell by the public function; a refusal is None."""
    observed: documents.Table = {}
    for a, b in keys:
        try:
            observed[a, b] = question(a, b).name
        except sz.TypeMismatch:
            observed[a, b] = None
    return observed


def draw(table: documents.Table, expected: documents.Table) -> str:
    """The observed table, wrong cells marked with what was expected."""
    rows, columns = (list(dict.fromkeys(key[i] for key in table)) for i in (0, 1))

    def cell(a: str, b: str) -> str:
        got, want = table[a, b] or "-", expected[a, b] or "-"
        return got if got == want else f"{got}!={want}"

    lines = [["", *columns], *([a, *(cell(a, b) for b in columns)] for a in rows)]
    width = max(len(text) for line in lines for text in line) + 1
    return "\n" + "\n".join("".join(text.ljust(width) for text in line) for line in lines)


def assert_same(observed: documents.Table, expected: documents.Table) -> None:
    if observed != expected:
        pytest.fail(draw(observed, expected))


def refused(table: documents.Table) -> int:
    return sum(found is None for found in table.values())


def by_rules(rules: str, **kwargs: str) -> Callable[[str, str], sz.DType]:
    if kwargs:
        return lambda a, b: sz.result_type(sz.dtype(a), sz.dtype(b), rules=rules, **kwargs)
    return lambda a, b: sz.promote_types(a, b, rules=rules)


def test_cann() -> None:
    expected = documents.cann()
    assert (len(expected), refused(expected)) == (256, 84)
    assert_same(observe(by_rules("cann"), expected), expected)
    assert_same(observe(by_rules("cann", op="add"), expected), expected)
    assert_same(observe(by_rules("cann", op="equal"), expected), expected)


def test_mindspore() -> None:
    expected = documents.mindspore()
    assert (len(expected), refused(expected)) == (225, 72)
    assert_same(observe(by_rules("mindspore"), expected), expected)


def test_mindspore_numbers() -> None:
    expected = documents.mindspore_numbers()
    assert (len(expected), refused(expected)) == (45, 6)
    numbers = {"bool": True, "int": 3, "float": 2.5}
    observed = observe(
        lambda a, kind: sz.result_type(sz.dtype(a), numbers[kind], rules="mindspore"), expected
    )
    assert_same(observed, expected)
    on_the_left = observe(
        lambda a, kind: sz.result_type(numbers[kind], sz.dtype(a), rules="mindspore"), expected
    )
    assert_same(on_the_left, expected)


def test_mindspore_refuses_complex_numbers() -> None:
    for dt in sz.rule_set("mindspore").dtypes:
        with pytest.raises(sz.TypeMismatch, match="Python complex"):
            sz.result_type(dt, 1j, rules="mindspore")


def test_paddle_table() -> None:
    expected = documents.paddle()
    assert (len(expected), refused(expected)) == (144, 0)
    assert_same(observe(by_rules("paddle_table"), expected), expected)


@pytest.mark.parametrize(
    ("rules", "op", "mended", "refusals"),
    [
        ("paddle", None, False, 78),
        ("paddle", "add", False, 78),
        ("paddle", "equal", False, 78),
        ("paddle_compare_fix", None, True, 18),
        ("paddle_compare_fix", "equal", True, 18),
        ("paddle_compare_fix", "add", False, 78),
    ],
)
def test_paddle_gates(rules: str, op: str | None, mended: bool, refusals: int) -> None:
    expected = {
        (a, b): found if documents.paddle_gate(a, b, mended=mended) else None
        for (a, b), found in documents.paddle().items()
    }
    assert refused(expected) == refusals
    question = by_rules(rules, op=op) if op else by_rules(rules)
    assert_same(observe(question, expected), expected)


def test_the_drawing_shows_a_wrong_cell() -> None:
    expected = documents.paddle()
    wrong = expected | {("int8", "float16"): "float32"}
    with pytest.raises(pytest.fail.Exception, match="float32!=float16"):
        assert_same(wrong, expected)


# CANN prints a table of scalar dtypes too; a Python number reads one row of it.
CANN_NUMBERS = {
    "float32": "float32 float32 float32 complex64",
    "float16": "float16 float16 float16 complex32",
    "float64": "float64 float64 float64 complex128",
    "bfloat16": "bfloat16 bfloat16 bfloat16 complex64",
    "int8": "int8 int8 float32 complex64",
    "uint8": "uint8 uint8 float32 complex64",
    "int16": "int16 int16 float32 complex64",
    "uint16": "uint16 uint16 - complex64",
    "int32": "int32 int32 float32 complex64",
    "uint32": "uint32 uint32 - complex64",
    "int64": "int64 int64 float32 complex64",
    "uint64": "uint64 uint64 - complex64",
    "bool": "bool int64 float32 complex64",
    "complex32": "complex32 complex32 complex32 complex32",
    "complex64": "complex64 complex64 complex64 complex64",
    "complex128": "complex128 complex128 complex128 complex128",
}


def test_cann_numbers() -> None:
    numbers = {"bool": True, "int": 3, "float": 2.5, "complex": 1j}
    expected: documents.Table = {
        (name, kind): None if cell == "-" else cell
        for name, row in CANN_NUMBERS.items()
        for kind, cell in zip(numbers, row.split(), strict=True)
    }
    observed = observe(
        lambda a, kind: sz.result_type(sz.dtype(a), numbers[kind], rules="cann"), expected
    )
    assert_same(observed, expected)
