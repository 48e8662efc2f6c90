"""The fix that keeps the result of the framework a program comes from: cast as told, ask again."""

from __future__ import annotations

import itertools
import json
import re

import pytest

import suanzi as sz
from suanzi.promote.fixes import Fix
from suanzi.promote.values import convert

SOME = (sz.bool, sz.uint8, sz.int8, sz.int32, sz.int64, sz.uint16, sz.float16, sz.bfloat16,
        sz.float32, sz.float64, sz.complex64)  # fmt: skip
NUMBERS = (True, 3, 2.5, 2j)
TARGETS = ("cann", "mindspore", "paddle", "openvino", "jax", "numpy")


def cast_as_told(operands: tuple[object, ...], fix: Fix) -> list[object]:
    """Return the operands as a reader of the sentence would cast them."""
    told, _, _ = fix.text.partition(": ")
    done = []
    for one in operands:
        name = f"0-d {one.dtype}" if isinstance(one, sz.ZeroDim) else str(one)
        meant = re.search(rf"(?:cast the|and) {re.escape(name)}\b.* to (\w+)", told)
        given = re.search(rf"give (?:.* and )?{re.escape(name)} .*of (\w+)", told)
        every = re.search(r"cast (?:both|all) operands to (\w+)", told)
        if given and not isinstance(one, sz.DType | sz.ZeroDim):
            done.append(sz.ZeroDim(given[1]))
        elif every or meant:
            target = (every or meant)[1]  # type: ignore[index]
            done.append(sz.ZeroDim(target) if isinstance(one, sz.ZeroDim) else sz.dtype(target))
        else:
            done.append(one)
    return done


@pytest.mark.parametrize("rules", TARGETS)
@pytest.mark.parametrize("op", ["mul", "true_divide", "=="])
def test_every_fix_gives_what_torch_gives(rules: str, op: str) -> None:
    seconds = (*SOME, *map(sz.ZeroDim, SOME), *NUMBERS)
    fixed = 0
    for operands in itertools.product(SOME, seconds):
        found = sz.explain(*operands, rules=rules, op=op, like="torch")
        torch = sz.explain(*operands, rules="torch", op=op)
        assert found.differs == (found.dtype is not torch.dtype)
        first = found.fixes[0] if found.fixes and "as in torch" in found.fixes[0].text else None
        if torch.refused or not found.differs:
            assert first is None
            continue
        assert torch.dtype is not None
        if torch.dtype not in sz.rule_set(rules).dtypes:
            assert first is None
            assert "lacks" in str(found)
            continue
        assert first is not None, found
        cast = cast_as_told(operands, first)
        assert cast != list(operands), first
        assert sz.explain(*cast, rules=rules, op=op).dtype is torch.dtype, found
        fixed += 1
    assert fixed > 0


def test_a_0d_operand_is_cast_before_a_tensor() -> None:
    found = sz.explain(sz.bfloat16, sz.ZeroDim("f32"), rules="cann", op="mul", like="torch")
    assert [fix.code for fix in found.fixes] == ["aclnnCast(x, ACL_BF16)"]
    assert found.fix is not None
    assert found.fix.text == (
        "cast the 0-d float32 operand to bfloat16: bfloat16, as in torch; "
        "257 becomes 256, 3.396e+38 becomes inf there, too"
    )


def test_what_loses_nothing_is_the_second_offer() -> None:
    found = sz.explain(sz.int64, sz.float32, rules="paddle", op="mul", like="torch")
    assert [fix.code for fix in found.fixes] == ['x.astype("float32")', 'x.astype("float64")']
    plain = sz.explain(sz.int64, sz.float32, rules="paddle", op="mul")
    assert plain.fixes == found.fixes[1:]
    assert plain.wanted is None
    assert not plain.differs


def test_the_same_casts_are_offered_once() -> None:
    assert len(sz.explain(sz.int8, sz.uint8, rules="paddle", like="torch").fixes) == 1


def test_where_both_agree_there_is_nothing_to_keep() -> None:
    found = sz.explain(sz.int32, sz.float32, rules="cann", like="torch")
    assert ("torch", "the same") in found.lines()
    assert [fix.text for fix in found.fixes] == ["cast the int32 operand to float64"]


def test_plain_data_has_it_only_if_asked() -> None:
    plain = sz.explain(sz.int8, sz.float16, rules="paddle").to_dict()
    asked = sz.explain(sz.int8, sz.float16, rules="paddle", like="torch").to_dict()
    assert asked["like"]["dtype"] == "float16"
    assert asked["differs"] is True
    assert set(asked) - set(plain) == {"like", "differs", "fixes"}
    assert json.loads(json.dumps(asked)) == asked


def test_an_unknown_rule_set_is_refused() -> None:
    with pytest.raises(sz.InvalidArgument, match="not a rule set"):
        sz.explain(sz.int8, sz.float16, like="tensorflow")


@pytest.mark.parametrize("rules", ["paddle", "torch", "cann", "mindspore"])
def test_a_fix_loses_what_it_says_and_no_sooner(rules: str) -> None:
    """A cast by way of a wide dtype back into a narrow one mends nothing, and is not offered."""
    for a, b in itertools.product(SOME, map(sz.ZeroDim, SOME)):
        for operands in ((a, b), (b, a)):
            found = sz.explain(*operands, rules=rules)
            fix = found.fix
            if found.refused or fix is None or not fix.text.startswith("cast"):
                continue
            text = fix.text.split(",")[0] + ": "
            cast = cast_as_told(operands, Fix(text, ""))
            after = sz.explain(*cast, rules=rules).dtype
            assert after is not None
            lost = found.losses[0]
            assert lost.source is not None
            assert convert(lost.value, after) == lost.value, (found, after)
