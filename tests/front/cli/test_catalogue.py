"""suanzi ops and suanzi op: what the standard has, and what is there of it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import suanzi as sz
from suanzi.front.cli import main
from suanzi.front.cli.catalogue import entries, entry, in_words
from suanzi.promote.registry import REGISTRY
from suanzi.standard import interface, interfaces

CATEGORIES = {one.category for one in interfaces().values()}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def data(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


class TestOps:
    def test_all(self, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, err = run(capsys, "ops")
        assert (status, err) == (0, "")
        lines = out.splitlines()
        assert lines[0].split() == "clause name category direction minimal implemented".split()
        assert len(lines) == 1 + len(interfaces()) + 2
        assert re.search(r"^7\.2\.4\.1 +add +arithmetic +forward +yes +yes$", out, re.MULTILINE)
        assert re.search(r"^7\.2\.4\.\S+ +trace_backward +arithmetic +backward", out, re.MULTILINE)
        there = sum(name in REGISTRY for name in interfaces())
        assert lines[-1] == (
            f"{len(interfaces())} interfaces: 135 forward, 16 backward; 77 in the minimal set; "
            f"{there} implemented."
        )

    def test_as_data(self, capsys: pytest.CaptureFixture[str]) -> None:
        found = data(capsys, "ops")
        assert [one["name"] for one in found["interfaces"]] == list(interfaces())
        assert {one["name"] for one in found["interfaces"] if one["implemented"]} == set(
            interfaces()
        ) & set(REGISTRY)
        assert found["counts"]["minimal"] == sum(one["minimal"] for one in found["interfaces"])

    @pytest.mark.parametrize("category", sorted(CATEGORIES))
    def test_of_a_category(self, capsys: pytest.CaptureFixture[str], category: str) -> None:
        found = data(capsys, "ops", "--category", category)
        assert {one["category"] for one in found["interfaces"]} == {category}
        expected = [i.name for i in interfaces().values() if i.category == category]
        assert [one["name"] for one in found["interfaces"]] == expected
        clause = ".".join(found["interfaces"][0]["clause"].split(".")[:3])
        assert data(capsys, "ops", "--category", clause) == found
        assert data(capsys, "ops", "--category", category.upper().replace(" ", "-")) == found

    def test_minimal_and_missing(self, capsys: pytest.CaptureFixture[str]) -> None:
        minimal = data(capsys, "ops", "--minimal")
        assert minimal["counts"]["interfaces"] == minimal["counts"]["minimal"] == 77
        missing = data(capsys, "ops", "--missing")
        assert missing["counts"]["implemented"] == 0
        assert not {one["name"] for one in missing["interfaces"]} & set(REGISTRY)

    def test_nothing_to_list(self, capsys: pytest.CaptureFixture[str]) -> None:
        status, out, _ = run(capsys, "ops", "--category", "arithmetic", "--missing")
        assert status == 0
        assert out == (
            "0 interfaces: 0 forward, 0 backward; 0 in the minimal set; 0 implemented.\n"
        )

    def test_an_operator_that_is_declared_is_listed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nothing is written down twice: taken out of the registry, it is missing."""
        monkeypatch.delitem(REGISTRY, "add")
        assert "add" in [one.interface.name for one in entries(missing=True)]
        assert entry("add").call is None


class TestOp:
    @pytest.mark.parametrize(
        "key", ["floordiv", "op_floordiv", "7.2.4.6", "sz.floordiv", "FLOORDIV", " op_floordiv "]
    )
    def test_by_any_name(self, capsys: pytest.CaptureFixture[str], key: str) -> None:
        status, out, _ = run(capsys, "op", key)
        assert status == 0
        for line in (
            "clause                  7.2.4.6",
            "C name                  op_floordiv",
            "Python                  sz.floordiv(x, y)",
            "standard                op_floordiv(x, y) -> status, z",
            "promotion               arithmetic",
        ):
            assert line in out.splitlines()
        assert "\nReturn the floor of x / y." in out
        assert ">>> " in out

    @pytest.mark.parametrize(
        ("printed", "name"),
        [(p, one.name) for one in interfaces().values() for p in one.printed],
    )
    def test_by_a_misprint(
        self, capsys: pytest.CaptureFixture[str], printed: str, name: str
    ) -> None:
        for key in (printed, printed.removeprefix("op_")):
            assert data(capsys, "op", key)["name"] == name

    def test_accuracy_and_domain(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert data(capsys, "op", "log")["domain"].startswith("x >= 0; outside NaN, INVALID")
        assert data(capsys, "op", "log")["accuracy"] == "at most 3 ULP"
        assert data(capsys, "op", "sqrt")["accuracy"] == "correctly rounded, 0.5 ULP"
        assert data(capsys, "op", "shape")["accuracy"] is None

    def test_partners(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert data(capsys, "op", "clip")["backward"] == ["clip_backward"]
        assert data(capsys, "op", "clip_backward")["forward"] == ["clip"]
        assert data(capsys, "op", "add")["backward"] == []
        assert len(data(capsys, "op", "bilinear")["backward"]) == 3

    def test_one_that_is_not_there(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delitem(REGISTRY, "add")
        status, out, _ = run(capsys, "op", "add")
        assert status == 0
        assert re.search(r"^implemented +no$", out, re.MULTILINE)
        assert "Python" not in out

    @pytest.mark.parametrize("name", interfaces())
    def test_every_interface_has_a_page(self, name: str) -> None:
        found = entry(name)
        lines = dict(found.lines())
        assert lines["standard"].startswith(f"{interface(name).c_name}(")
        if found.operator is not None:
            assert hasattr(sz, name)
            assert lines["Python"].startswith(f"sz.{name}(")
            description, example = found.documentation()
            assert description
            assert example is not None
            assert example.startswith(">>>")


@pytest.mark.parametrize("dtypes", sorted({one.dtypes for one in interfaces().values()}))
def test_dtypes_in_words_have_no_codes(dtypes: str) -> None:
    assert not re.search(r"\b(I|FR|FC|FP|B|ns)\b", in_words(dtypes))


def test_an_operator_of_a_catalogue_shows_its_bounds() -> None:
    found = entry("nn:softmax").to_dict(bounds=True)
    assert found["catalogue"] == "nn"
    assert "minimal" not in dict(entry("softmax").lines())
    bounds = found["bounds in ULP"]
    assert any(
        one.startswith("rows of 7: bfloat16 0.50") or "bfloat16 0.5 " in one for one in bounds
    )
    assert all(name in bounds[0] for name in ("float16", "float32", "float64"))
    assert "bounds in ULP" in dict(entry("softmax").lines())
    assert "bounds in ULP" not in entry("add").to_dict(bounds=True)
    assert entries("softmaxes", of="nn")[0].interface.key == "nn:softmax"
    assert main(["ops", "--catalogue", "nn"]) == 0
