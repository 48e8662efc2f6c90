"""Calls to findings: what each code is given for, what follows what, and what is not judged."""

from __future__ import annotations

from typing import Any

import pytest

import suanzi as sz
from helpers.standard_operators import REGISTRY
from suanzi.port.judged import Judged
from suanzi.port.operators import known
from suanzi.port.passes import judge_calls
from suanzi.promote.operators import OPERATORS, OUTSIDE
from suanzi.recording.calls import Calls, from_records
from suanzi.recording.recorders import recording


def arg(text: Any) -> Any:
    """Read ``f16``, ``0d:f32``, ``f16@3`` (made by call 3); a list; a number stays one."""
    if isinstance(text, list):
        return [arg(one) for one in text]
    if not isinstance(text, str):
        return None if text is None else {"number": type(text).__name__}
    name, _, made = text.partition("@")
    found: dict[str, Any] = {"dtype": sz.dtype(name.removeprefix("0d:")).name}
    if name.startswith("0d:"):
        found["zero_dim"] = True
    return found | ({"from": int(made)} if made else {})


def program(*calls: tuple[Any, ...]) -> Calls:
    """Return calls given as (operator, arguments, result, what else), one on each line."""
    records: list[dict[str, Any]] = [
        {"format": "suanzi-calls/1", "framework": "torch", "version": "2.13.0"}
    ]
    numbers = {}
    for i, (op, arguments, result, *more) in enumerate(calls):
        said = dict(more[0]) if more else {}
        named = {name: arg(x) for name, x in said.pop("named", {}).items()}
        values = [x for x in arguments if isinstance(x, int | float)]
        if values:
            numbers[str(i)] = [said.pop("range", [x, x]) for x in values]
        records.append(
            {"call": i, "op": op, "arguments": [arg(x) for x in arguments], "named": named,
             "result": sz.dtype(result).name, "where": ["m.py", i + 1, "f", "m"], **said}
        )  # fmt: skip
    records.append({"end": True, "raised": None, "counts": {}, "numbers": numbers})
    return from_records(records)


def judged(rules: str | sz.RuleSet, *calls: tuple[Any, ...]) -> Judged:
    return judge_calls(program(*calls), sz.rule_set("torch"), sz.rule_set(rules))


def codes(rules: str | sz.RuleSet, *calls: tuple[Any, ...]) -> list[str]:
    return [one.code for one in judged(rules, *calls).findings]


@pytest.mark.parametrize(
    ("rules", "call", "code"),
    [
        ("cann", ("mul", ["bf16", "0d:f32"], "bf16"), "SZ005"),
        ("cann", ("add", ["u8", "0d:i64"], "u8"), "SZ005"),
        ("cann", ("add", ["u16", "f32"], "f32"), "SZ002"),
        ("cann", ("add", ["f32", "f32"], "f32"), None),
        ("cann", ("add", ["f16", 2.5], "f16"), None),
        ("torch_npu", ("mul", ["bf16", "0d:f32"], "bf16"), None),
        ("torch_npu", ("clamp", ["f16", "0d:f32"], "f16"), None),
        ("torch_npu", ("add", ["u16", "f32"], "f32"), "SZ002"),
        ("torch_npu", ("exp", ["i32"], "f32"), "SZ004"),
        ("torch_npu", ("double", ["f32"], "f64"), "SZ001"),
        ("torch_npu", ("to", ["i64", None], "f64"), "SZ003"),
        ("torch_npu", ("to", ["f64", None], "f64"), None),
        ("torch_npu", ("to", ["f32", None], "f16"), None),
        ("torch_npu", ("to", ["f32", None, None], "f64"), None),
        ("torch_npu", ("to", ["f32", "f64"], "f64"), None),
        ("paddle", ("mul", ["i64", "f32"], "f32"), "SZ002"),
        ("paddle", ("eq", ["i64", "i32"], "bool"), "SZ002"),
        ("paddle", ("mul", ["i64", 0.5], "f32"), None),
        ("paddle", ("cat", [["f16", "f32"]], "f32"), "SZ002"),
        ("paddle", ("where", ["bool", "i64", "f32"], "f32"), "SZ002"),
        ("mindspore", ("mul", ["f16", "0d:f32"], "f16"), None),
        ("mindspore", ("add", ["f16", "0d:f32"], "f16"), "SZ005"),
        ("numpy", ("div", ["i8", 2], "f32"), "SZ005"),
        ("jax", ("exp", ["i64"], "f32"), "SZ005"),
        ("jax_x32", ("exp", ["i64"], "f32"), None),
        ("jax_x32", ("add", ["i64", "i64"], "i64"), None),
        ("jax_x32", ("mul", ["i64", 2**40], "i64"), "SZ006"),
        ("jax_x32", ("mul", ["i64", 7], "i64"), None),
        ("cann", ("add", ["bf16", "c32"], "c64"), "SZ003 SZ004"),
        ("cann", ("expm1", ["f64"], "f64"), "SZ004"),
        ("cann", ("expm1", ["f32"], "f32"), None),
        ("cann", ("softmax", ["f64", -1], "f64"), None),
        ("paddle", ("relu", ["f16"], "f16"), None),
        ("jax", ("add", ["f16", "bf16"], "f32", {"way": "in-place"}), None),
    ],
)
def test_a_call_by_itself(rules: str, call: tuple[Any, ...], code: str | None) -> None:
    assert codes(rules, call) == (code.split() if code else [])


def test_every_value_of_a_loop_counts() -> None:
    loop = ("mul", ["i64", 5], "i64", {"range": [0, 2**35]})
    assert codes("jax_x32", loop) == ["SZ006"]


def test_the_fix_keeps_what_torch_gave() -> None:
    (one,) = judged("cann", ("mul", ["bf16", "0d:f32"], "bf16")).findings
    assert one.verdict.fix is not None
    assert one.verdict.fix.code == "x.to(torch.bfloat16)"
    assert one.verdict.question == "mul(bfloat16, 0-d float32)"


def test_aclnn_computes_in_its_dtype_and_nothing_follows() -> None:
    widens, later = ("mul", ["bf16", "0d:f32"], "bf16"), ("exp", ["bf16@0"], "bf16")
    (one,) = judged("cann", widens, later).findings
    assert one.verdict.text == (
        "computed in float32, bfloat16 in torch, and cast to the out that you allocate"
    )
    assert one.followers == []


def test_what_is_not_cast_to_float64_stays_float32_from_then_on() -> None:
    (one,) = judged("torch_npu", ("double", ["f16"], "f64"), ("mul", ["f64@0", 2], "f64")).findings
    assert one.verdict.text == "float32, float64 in torch"
    assert [call.operator for call in one.followers] == ["mul"]


class TestWriting:
    IN_PLACE = ("add", ["f16", "0d:f32"], "f16", {"way": "in-place"})

    def test_a_tensor_that_is_not_written_to_gets_another_dtype(self) -> None:
        (one,) = judged("jax_x32", self.IN_PLACE).findings
        assert (one.code, one.verdict.text) == (
            "SZ007", "float32 from then on, where torch keeps float16",
        )  # fmt: skip
        assert one.verdict.fix is not None
        assert one.verdict.fix.code == "x.to(torch.float16)"

    def test_where_it_keeps_its_dtype_nothing_is_said(self) -> None:
        assert codes("cann", self.IN_PLACE) == []
        assert codes("openvino+torch", self.IN_PLACE) == []

    def test_a_result_that_torch_narrows_is_cast_back(self) -> None:
        narrowed = ("mul", ["f16", "f32"], "f16", {"way": "in-place"})
        (one,) = judged("paddle", narrowed).findings
        assert one.verdict.fix is not None
        assert one.verdict.fix.text == "cast what comes out back to float16"

    def test_what_is_not_known_is_counted(self) -> None:
        found = judged("paddle", ("add", ["f16", "0d:f32"], "f16", {"way": "in-place method"}))
        assert found.findings == ()
        assert found.unwritten == {"in-place method": 1}

    def test_what_has_the_dtype_already_is_known(self) -> None:
        found = judged("paddle", ("add", ["f16", "f16"], "f16", {"way": "in-place method"}))
        assert (found.unwritten, found.judged) == ({}, 1)

    def test_out(self) -> None:
        into = {"way": "out", "named": {"out": "f64"}}
        assert codes("cann", ("add", ["f32", "f32"], "f64", into)) == []
        (one,) = judged("jax", ("add", ["f32", "f32"], "f64", into)).findings
        assert (one.code, one.verdict.text) == ("SZ002", "refused out=: it does not exist")


class TestCarried:
    WIDENS = ("mul", ["f16", "0d:f32"], "f16")

    def test_followers_are_told_apart_from_their_root(self) -> None:
        found = judged(
            "jax",
            self.WIDENS,
            ("view", ["f16@0", 3], "f16"),
            ("add", ["f16@1", 2], "f16"),
            ("exp", ["f16@2"], "f16"),
        )
        (root,) = found.findings
        assert [call.operator for call in root.followers] == ["view", "add", "exp"]

    def test_a_cast_ends_it(self) -> None:
        found = judged(
            "jax", self.WIDENS, ("to", ["f16@0"], "f16"), ("add", ["f16@1", "f16"], "f16")
        )
        assert found.findings[0].followers == []

    def test_a_wider_partner_ends_it(self) -> None:
        (root,) = judged("jax", self.WIDENS, ("add", ["f16@0", "f32"], "f32")).findings
        assert root.followers == []

    def test_what_is_refused_only_then(self) -> None:
        chip = sz.RuleSet.from_text(
            "name chip\ngate concat: equal\n[tensors]\n     f16  f32\nf16  f16  f32\nf32  f32  f32"
        )
        found = judged(chip, self.WIDENS, ("cat", [["f16@0", "f16"]], "f16"))
        (root,) = found.findings
        assert [call.operator for call, _ in root.stopped_at] == ["cat"]
        assert "stops at line 2, cat: float32 with float16" in "\n".join(root.lines())

    def test_where_operators_want_equal_dtypes_it_stops(self) -> None:
        """Not "6 calls follow": the port stops at the first of them."""
        found = judged(
            "mindspore",
            ("clamp", ["f16"], "f16", {"named": {"max": "0d:f32"}}),
            ("linear", ["f16@0", "f16", "f16"], "f16"),
            ("conv1d", ["f16@0", "f16", "f16"], "f16"),
            ("exp", ["f16@1"], "f16"),
        )
        (root,) = found.findings
        assert [call.operator for call, _ in root.stopped_at] == ["linear", "conv1d"]
        assert root.followers == []
        assert (
            "stops at line 2, linear: float32 with float16, where it takes equal dtypes only; "
            "1 more call is refused"
        ) in root.lines()

    def test_what_keeps_the_dtype_of_the_first_ends_it(self) -> None:
        widened = ("index_add", ["f16", 0, "i64", "f16@0"], "f16")
        (root,) = judged("jax", self.WIDENS, widened).findings
        assert (root.followers, root.stopped_at) == ([], [])
        (root,) = judged(
            "jax", self.WIDENS, ("index_add", ["f16@0", 0, "i64", "f16"], "f16")
        ).findings
        assert [call.operator for call in root.followers] == ["index_add"]

    def test_where_a_target_has_no_rule_it_follows(self) -> None:
        chip = sz.RuleSet.from_text(
            "name chip\n[tensors]\n     f16  f32\nf16  f16  f32\nf32  f32  f32"
        )
        (root,) = judged(chip, self.WIDENS, ("conv2d", ["f16@0", "f16"], "f16")).findings
        assert [call.operator for call in root.followers] == ["conv2d"]

    def test_nothing_follows_from_a_refusal(self) -> None:
        found = judged("paddle", ("mul", ["i64", "f32"], "f32"), ("add", ["f32@0", "f32"], "f32"))
        assert [one.code for one in found.findings] == ["SZ002"]
        assert found.findings[0].followers == []

    def test_a_tensor_with_other_data_since_carries_nothing(self) -> None:
        found = judged("jax", self.WIDENS, ("add", ["bf16@0", "bf16"], "bf16"))
        assert found.findings[0].followers == []

    def test_the_lines_of_one_finding_are_counted(self) -> None:
        again = ("mul", ["f16", "0d:f32@7"], "f16", {"where": ["m.py", 1, "f", "m"]})
        (one,) = judged("jax", self.WIDENS, again).findings
        assert one.count == 2


class TestNotJudged:
    def test_an_operator_that_is_not_known_is_listed(self) -> None:
        found = judged(
            "cann", ("frobnicate", ["f16", "f32"], "f32"), ("frobnicate", ["f16", 3], "f16")
        )
        assert found.findings == ()
        assert found.unknown == {"frobnicate": 1}
        assert found.uniform == 1

    def test_a_result_that_torch_would_not_give_is_no_ground(self) -> None:
        """Autocast, a subclass, an operator with rules of its own: silence."""
        found = judged("paddle", ("matmul", ["f32", "f32"], "bf16"), ("mul", ["i64", "f32"], "i64"))
        assert found.findings == ()
        assert found.unexplained == {"matmul": 1, "mul": 1}

    def test_a_dtype_that_the_program_says(self) -> None:
        assert codes("cann", ("add", ["f16", "0d:f32"], "f64", {"named": {"dtype": None}})) == []

    def test_backward_is_the_targets_own(self) -> None:
        call = ("mul", ["f16", "0d:f32"], "f16", {"backward": True})
        assert codes("cann", call) == ["SZ005"]
        assert codes("jax", call) == []


def test_every_operator_of_suanzi_is_known() -> None:
    ours = known("suanzi")
    quiet = {name for name, kind in recording.kinds("suanzi").items() if kind == "quiet"}
    every = {*ours.promotes, *ours.follows, *ours.chosen, *quiet}
    assert {name for name in every if ":" not in name} == set(REGISTRY)
    assert set(ours.promotes) == set(OPERATORS)
    assert not set(ours.promotes) & (ours.follows | ours.chosen)
    assert ours.promotes["cholesky"].places == (1,), "the flag comes first"
    assert ours.promotes["where"].places == (1, 2)
    assert ours.promotes["concat"].places == ()


def test_every_operator_of_the_list_is_one() -> None:
    for name, one in known().promotes.items():
        assert one.operator.name in (*OPERATORS, *OUTSIDE) or one.operator.title in (
            "arithmetic", "real function",
        ), name  # fmt: skip
    assert not known().follows & known().chosen
    assert not set(known().promotes) & (known().follows | known().chosen)


@pytest.mark.parametrize(
    "records",
    [
        [],
        [{"format": "other"}],
        [None],
        [{"format": "suanzi-calls/1", "framework": "torch", "version": "1"}, {"call": 0}],
        [{"format": "suanzi-calls/1", "framework": "torch", "version": "1"}, 7],
    ],
)
def test_what_is_not_a_record_is_refused_in_a_sentence(records: list[Any]) -> None:
    with pytest.raises(sz.InvalidArgument, match="."):
        from_records(records)


def test_a_file_that_ends_early_is_kept() -> None:
    whole = program(("mul", ["f16", "0d:f32"], "f16"))
    assert whole.raised is None
    head = {"format": "suanzi-calls/1", "framework": "torch", "version": "1"}
    call = {"call": 0, "op": "exp", "arguments": [{"dtype": "int64"}], "result": "float32"}
    cut = from_records([head, call])
    assert cut.raised == "it ended without a message"
    assert len(cut.calls) == 1
