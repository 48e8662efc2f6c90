"""The page of a report: one file with all findings and their lines; what others wrote is text."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from helpers.pages import Page
from suanzi.base.dtypes import bfloat16, float16, float32, int64
from suanzi.port import Call, Calls, Report, judge, read_calls
from suanzi.promote.operands import Operand, Role
from suanzi.recording.calls import Taken, Where

ROOT = Path(__file__).parents[2]
VECTOR, SCALE = Operand(Role.TENSOR, float16), Operand(Role.ZERO_DIM, float32)
EVIL = "</script><script>alert('x')</script><img src=x onerror=alert(1)>\"'&"


def call(number: int, where: Where | None, *operands: Operand, **also: Any) -> Call:
    given = tuple(map(Taken, operands or (VECTOR, SCALE)))
    return Call(number, **{"operator": "mul", "arguments": given, "result": float16, "where": where,
                           **also})  # fmt: skip


def page(*calls: Call, to: str = "jax,paddle", on: str = "") -> Page:
    return Page(report(*calls, to=to, on=on).to_html())


def report(*calls: Call, to: str, on: str = "") -> Report:
    return judge(Calls("torch", "2", calls), to.split(","), on=[on] if on else [])


def test_a_finding_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "net.py"
    source.write_text("def f(x, s):\n    a = 1\n    if a < 2:\n        y = x * s\n\n    return y\n")
    by = (str(tmp_path / "train.py"), 7)
    found = page(call(0, Where(str(source), 4, by=by, layer="Net.head"), count=3))
    ((attributes, text),) = found.cases()
    assert (attributes["data-targets"], attributes["data-code"]) == ("jax_x32", "SZ005")
    assert attributes["data-files"] == "net.py"
    for words in (
        "net.py:4", "called by train.py:7, in Net.head", "mul(float16, 0-d float32), 3 calls",
        "silently wider", "Fix: cast the 0-d float32 operand", "x.to(torch.float16)",
    ):  # fmt: skip
        assert words in text
    rows = [text for attributes, text in found.all("span") if "row" in attributes["class"].split()]
    assert rows == ["2a = 1\n", "3if a < 2:\n", "4    y = x * s\n", "5\n", "6return y\n"]
    ((_, this),) = found.all("span", class_="row this")
    assert this.startswith("4")
    assert (tmp_path / "net.py").as_uri() in {a["href"] for a, _ in found.all("a")}


def test_every_finding_is_in_it() -> None:
    one = judge(read_calls(ROOT / "examples/port/results.jsonl"), ["paddle", "mindspore", "jax"])
    found = Page(one.to_html())
    shown = [a["data-targets"].split() for a, _ in found.cases()]
    assert sum(map(len, shown)) == len(one.findings) > 10
    totals = {text for a, text in found.all("td") if a.get("class", "").startswith("n")}
    assert totals >= {str(sum(f.rules == name for f in one)) for name in ("paddle", "mindspore")}


def test_refusals_come_first_and_one_fact_is_one_entry() -> None:
    rows = [
        call(i, Where("net.py", i), Operand(Role.TENSOR, bfloat16), operator=name, result=bfloat16)
        for i, name in enumerate(("exp", "sin", "cos", "tanh", "sqrt"))
    ]
    both = call(5, Where("net.py", 9), Operand(Role.TENSOR, int64), VECTOR)
    found = page(*rows, both, call(6, Where("net.py", 10)), to="paddle,jax", on="cpu")
    assert [a["id"] for a, _ in found.all("section", class_="part")] == ["refused", "changed"]
    fact, *rest = found.cases()
    assert "no bfloat16 on cpu" in fact[1]
    assert "every place" in fact[1]
    assert "net.py:3  tanh(bfloat16)" in fact[1]
    assert [a["data-code"] for a, _ in rest] == ["SZ002", "SZ005"]


def test_what_others_wrote_is_only_text() -> None:
    where = Where(EVIL, 3, EVIL, EVIL, (EVIL, 3), EVIL)
    found = page(call(0, where), call(1, where, operator=EVIL, result=None))
    assert len(found.all("script")) == 1
    assert not found.all("img")
    assert all(not name.startswith("on") for _, attributes, _ in found.found for name in attributes)
    assert EVIL in found.cases()[0][1]
    assert "\x1b" not in report(call(0, Where("a\x1bb", 1)), to="jax").to_html()


def test_nothing_is_fetched_and_every_link_leads_somewhere() -> None:
    text = judge(read_calls(ROOT / "examples/port/block.jsonl"), ["jax"]).to_html()
    assert "default-src 'none'" in text
    assert not re.findall(r"\bsrc\s*=", text)
    assert "@import" not in text
    assert "url(" not in text
    found = Page(text)
    inside = {a["href"][1:] for a, _ in found.all("a") if a["href"].startswith("#")}
    assert inside
    assert inside <= {a["id"] for _, a, _ in found.found if "id" in a}
    assert all(a["href"].startswith(("#", "file:///")) for a, _ in found.all("a"))


def test_the_filter_offers_what_was_found() -> None:
    found = page(call(0, Where("b.py", 1)), call(1, Where("a.py", 2)))
    options = [text for _, text in found.all("option")]
    assert options == ["all", "jax_x32", "all", "SZ005", "all", "a.py", "b.py"]
    names = {attributes["name"] for attributes, _ in [*found.all("select"), *found.all("input")]}
    assert names == {"target", "code", "file", "text"}
    assert all("tabindex" in attributes for attributes, _ in found.all("pre"))


def test_a_program_without_findings_and_one_that_failed() -> None:
    assert "Nothing changes." in judge(Calls("torch", "2", ()), ["jax"]).to_html()
    failed = judge(Calls("torch", "2", (), raised="ValueError: <no>"), ["jax"]).to_html()
    assert "The program failed: ValueError: &lt;no&gt;" in failed
    assert "nothing recorded yet" in Report().to_html()
