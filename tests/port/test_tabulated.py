"""Results by operator: the program whose 22 pairs (line, target) differ, and what it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import suanzi as sz
from suanzi.port import judge, read_calls
from suanzi.port.tabulated import rows
from suanzi.promote import results as tables
from suanzi.recording.calls import Calls, from_records

ROOT = Path(__file__).parents[2]
# Each was seen in the live frameworks: what becomes of the values of the line.
PAIRS = {
    "a": "paddle jax_x32", "b": "paddle", "c": "paddle jax_x32", "d": "paddle",
    "e": "paddle openvino+torch jax_x32", "f": "mindspore openvino+torch jax_x32", "g": "mindspore",
    "h": "paddle mindspore", "i": "paddle mindspore", "j": "mindspore",
    "k": "openvino+torch jax_x32 mindspore", "l": "openvino+torch",
}  # fmt: skip
TO = ["mindspore", "paddle", "openvino", "jax"]


def differing(calls: Calls) -> dict[str, set[str]]:
    lines = (ROOT / "examples/port/results.py").read_text("utf-8").splitlines()
    found: dict[str, set[str]] = {}
    for one in judge(calls, TO).findings:
        assert one.call.where is not None
        found.setdefault(lines[one.call.where.line - 1][0], set()).add(one.rules)
    return found


def test_all_pairs_are_reported_and_no_other() -> None:
    wanted = {line: set(targets.split()) for line, targets in PAIRS.items()}
    assert sum(map(len, wanted.values())) == 22
    assert differing(read_calls(ROOT / "examples/port/results.jsonl")) == wanted


def call(op: str, arguments: list[Any], result: str, **more: Any) -> Calls:
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0"}
    numbers = [[x, x] for x in arguments if isinstance(x, int | float)]
    given = [
        {"number": type(x).__name__} if isinstance(x, int | float)
        else x if x is None else {"dtype": sz.dtype(x).name} for x in arguments
    ]  # fmt: skip
    record = {"call": 0, "op": op, "arguments": given, "result": sz.dtype(result).name}
    end = {"end": True, "raised": None, "counts": {}, "numbers": {"0": numbers}}
    return from_records([head, record | {"where": ["m.py", 1, "f", "m"]} | more, end])


@pytest.mark.parametrize(
    ("to", "calls", "said"),
    [
        ("paddle", call("sum", ["u8"], "i64"),
         "SZ003 uint8, int64 in torch: wraps beyond 255 and below 0"),
        ("paddle", call("sum", ["i8"], "i64"), "SZ003 int8, int64 in torch: wraps beyond 127"),
        ("openvino", call("cumsum", ["bool", 0], "i64"),
         "SZ003 bool, int64 in torch: every number but 0 becomes True"),
        ("openvino", call("clamp", ["i64", 1e-9], "f32"),
         "SZ003 int64, float32 in torch: loses fractions"),
        ("paddle", call("atan2", ["i64", "i64"], "f32"),
         "SZ005 float64, float32 in torch: silently wider, 2 times the memory"),
        ("mindspore", call("topk", ["f32", 2], "f32"),
         "SZ001 its indices are int32, int64 in torch: another width, up to 2**31-1"),
        ("paddle", call("pow", ["i64", 0.5], "f32", symbol=False),
         "SZ003 int64, float32 in torch: loses fractions"),
        ("paddle", call("pow", ["i64", 0.5], "f32", symbol=True), None),
        ("paddle", call("pow", ["i64", 0.5], "f32"), None),
        ("openvino", call("clamp", ["f16", None, 1.0], "f16"), None),
        ("openvino", call("clamp", ["bf16", None, 1.0], "bf16"), None),
        ("jax", call("clamp", ["i64", 0, 2**40], "i64"), "SZ006 2**40 is out of range of int32"),
        ("jax", call("sum", ["i32"], "i64"), None),
        ("paddle", call("sum", ["u8"], "f32"), None),
        ("paddle", call("sum", ["u8"], "i64", named={"dtype": None}), None),
        ("paddle", call("full", [None, 7], "i64", named={"dtype": None}), None),
        ("torch_npu", call("sum", ["u8"], "i64"), None),
    ],
)  # fmt: skip
def test_what_is_said(to: str, calls: Calls, said: str | None) -> None:
    found = [f"{one.code} {one.verdict.text}" for one in judge(calls, [to])]
    assert found == ([said] if said else [])


def test_the_fix_is_tried_with_the_table() -> None:
    (one,) = judge(call("prod", ["i32"], "i64"), ["paddle"])
    assert one.verdict.fix is not None
    assert one.verdict.fix.text == "cast the int32 operand to int64 first: int64, as in torch"
    (one,) = judge(call("bincount", ["i64"], "i64"), ["mindspore"])
    assert one.verdict.fix is not None
    assert one.verdict.fix.text == "cast the result to int64, as in torch"
    (one,) = judge(call("full", [None, 7], "i64"), ["paddle"])
    assert one.verdict.fix is not None
    assert one.verdict.fix.code == "dtype=torch.int64"


def test_what_was_summed_follows_the_sum() -> None:
    scale, product = {"dtype": "float32", "zero_dim": True}, {"dtype": "float16", "from": 0}
    records = [
        {"call": 0, "op": "mul", "arguments": [{"dtype": "float16"}, scale], "result": "float16"},
        {"call": 1, "op": "sum", "arguments": [product], "result": "float16"},
        {"call": 2, "op": "argmax", "arguments": [product], "result": "int64"},
    ]
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0"}
    (one,) = judge(from_records([head, *records, {"end": True, "raised": None}]), ["jax"])
    assert [c.operator for c in one.followers] == ["sum"]


def test_names_of_other_frameworks() -> None:
    (found,) = rows(call("clip", ["i64", 3.5], "f32").calls[0], "paddle")
    assert (found.name, found.column) == ("clamp float", sz.int64)


@pytest.mark.parametrize(
    "text", ["", "target x", "target x\nversion 1\nsource y\n[tensors]\n f32\n"]
)
def test_what_is_not_a_table_is_refused(text: str) -> None:
    with pytest.raises(sz.InvalidArgument, match="not a table of results"):
        tables.read_results(text)


def chain(*calls: tuple[str, list[Any], str]) -> Calls:
    """Return calls on one tensor each: ``"f32@0"`` was made by call 0, ``"0d:f32"`` is 0-d."""
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0"}

    def argument(x: Any) -> Any:
        if not isinstance(x, str):
            return x if x is None else {"number": type(x).__name__}
        name, _, made = x.partition("@")
        found: dict[str, Any] = {"dtype": sz.dtype(name.removeprefix("0d:")).name}
        found |= {"zero_dim": True} if name.startswith("0d:") else {}
        return found | ({"from": int(made)} if made else {})

    records = [
        {"call": i, "op": op, "arguments": [argument(x) for x in given],
         "result": sz.dtype(result).name, "where": ["m.py", i + 1, "f", "m"],
         "named": {"dtype": None} if op == "typed" else {}}
        for i, (op, given, result) in enumerate(calls)
    ]  # fmt: skip
    for one in records:
        one["op"] = "tensor" if one["op"] == "typed" else one["op"]
    return from_records([head, *records, {"end": True, "raised": None}])


@pytest.mark.parametrize(
    ("made", "weak"),
    [
        ([("tensor", [2.0], "f32")], True),
        ([("full", [None, 2.0], "f32")], True),
        ([("where", ["bool", 1.0, 2.0], "f32")], True),
        ([("tensor", [2.0], "f32"), ("neg", ["0d:f32@0"], "f32")], True),
        ([("tensor", [2.0], "f32"), ("mul", ["0d:f32@0", 3.0], "f32")], True),
        ([("tensor", [2.0], "f32"), ("sum", ["0d:f32@0"], "f32")], False),
        ([("typed", [2.0], "f32")], False),
        ([("tensor", [None], "f32")], False),
        ([("where", ["bool", 1.0, "0d:f32"], "f32")], False),
        ([("ones", [None], "f32")], False),
    ],
)
def test_what_is_made_of_numbers_is_weak_in_jax(made: Any, weak: bool) -> None:
    """As JAX 0.10.2 says of jnp.array(2.0), jnp.full, jnp.where and what is computed from them."""
    last = f"0d:f32@{len(made) - 1}"
    calls = chain(*made, ("mul", ["f16", last], "f16"), ("mul", ["f16", last], "f16"))
    assert bool(judge(calls, ["jax"]).findings) is not weak
    assert judge(calls, ["numpy"]).findings


def test_a_number_of_64_bits_widens_nothing() -> None:
    calls = chain(("tensor", [2.0], "f32"), ("mul", ["f16", "0d:f32@0"], "f16"))
    (one,) = judge(calls, ["jax_x64"])
    assert (one.call.operator, one.followers) == ("tensor", [])


def test_a_weak_tensor_leaves_no_trace_in_the_native_table() -> None:
    judge(chain(("tensor", [2.0], "f32"), ("mul", ["f16", "0d:f32@0"], "f16")), ["jax_x64"])
    assert sz.result_type("f16", sz.ZeroDim("f32"), rules="jax", op="mul") is sz.float32


@pytest.mark.parametrize(
    ("values", "later", "many"),
    [
        ("f32", ["f32"], 0),  # x.topk(2)[0] + 1
        ("f32", ["i64"], 1),
        ("f32", ["f32", "i64"], 1),
        ("f32", [], 1),  # a recording without origins
        ("i64", ["i64"], 1),  # values or indices: not known
    ],
)
def test_indices_that_nothing_uses_are_no_finding(values: str, later: list[str], many: int) -> None:
    def record(number: int, op: str, dt: str, **more: Any) -> dict[str, Any]:
        name = sz.dtype(dt).name
        where = ["m.py", number + 1, "f", "m"]
        return {"call": number, "op": op, "arguments": [{"dtype": name, **more}, {"number": "int"}],
                "result": name, "where": where}  # fmt: skip

    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0"}
    calls = [record(i + 1, "add", dt, **{"from": 0}) for i, dt in enumerate(later)]
    read = from_records([head, record(0, "topk", values), *calls, {"end": True, "raised": None}])
    assert [one.call.operator for one in judge(read, ["mindspore"])] == ["topk"] * many
