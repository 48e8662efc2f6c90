"""HTML for notebooks: well-formed, escaped, without scripts, and showing what the text shows."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.base import html
from suanzi.promote.live import Live

CHIP = """
name    chip
title   <b>My & "chip"</b>
version <1>
source  a note's <i>page</i>
[tensors]
      i8   f16
i8    i8   -
f16   -    f16
"""


class Reader(HTMLParser):
    """What a browser sees: tags in balance, the text of cells, and hover titles."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.cells: list[list[str]] = []
        self.titles: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)
        self.titles += [value for name, value in attrs if name == "title" and value]
        assert {name for name, _ in attrs} <= {"class", "title"}
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            return
        self.text += data
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1][-1] += data


def read(x: Any) -> Reader:
    html = x if isinstance(x, str) else x._repr_html_()
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    assert set(reader.tags) <= {
        *("div", "style", "p", "pre"),
        *("table", "caption", "thead", "tbody", "tr", "th", "td"),
    }
    assert "script" not in html.lower() or "&lt;script" in html
    assert "http" not in html or "http" in reader.text
    return reader


class TestTensor:
    def test_one_axis(self) -> None:
        found = read(sz.tensor([1.5, -2], sz.bfloat16))
        assert found.text.startswith("Tensor of bfloat16 · shape (2,) · layout dense · on cpu")
        assert found.cells == [["0", "1"], ["1.5", "-2"]]

    def test_two_axes(self) -> None:
        found = read(sz.tensor([[1, 2, 3], [4, 5, 6]]))
        assert found.cells == [["", "0", "1", "2"], ["0", "1", "2", "3"], ["1", "4", "5", "6"]]

    def test_three_axes_are_nested(self) -> None:
        found = read(sz.tensor(np.arange(8).reshape(2, 2, 2)))
        assert found.tags.count("table") == 3
        rows = [row for row in found.cells if len(row) == 3]
        assert rows[1:3] == [["0", "0", "1"], ["1", "2", "3"]]

    def test_large_ones_show_their_edges(self) -> None:
        found = read(sz.tensor(np.arange(10**4).reshape(100, 100)))
        assert found.cells[0] == ["", "0", "1", "2", "…", "97", "98", "99"]
        assert found.cells[1] == ["0", "0", "1", "2", "…", "97", "98", "99"]
        assert found.cells[4] == ["…"] * 8
        assert found.cells[-1] == ["99", "9900", "9901", "9902", "…", "9997", "9998", "9999"]

    def test_options_hold_here_too(self) -> None:
        with sz.printoptions(precision=2, threshold=3, edgeitems=1):
            found = read(sz.tensor([1 / 3, 0.5, 2, 2 / 3]))
        assert found.cells == [["0", "…", "3"], ["0.33", "…", "0.67"]]

    @pytest.mark.parametrize(
        ("x", "said"),
        [
            (sz.transpose(sz.zeros((2, 3))), "layout dense, min2maj (0, 1)"),
            (sz.zeros((4, 4))[:, ::2], "layout dense with gaps, strides (4, 2)"),
            (
                sz.create_quant_tensor((2,), 0.5, sz.QT_SYM_INT8, values=[1, 3]),
                "on cpu · scale=0.5 · zero_point=0",
            ),
            (sz.zeros((0, 3)), "shape (0, 3)"),
            (sz.tensor(2.5), "2.5"),
            (sz.tensor("<b>&"), "b'<b>&'"),
            (sz.tensor("<")[0], "b'<'"),
            (sz.tensor([True]), "True"),
            (sz.tensor([1 + 2j]), "1+2j"),
            (sz.tensor([float("nan")]), "nan"),
        ],
        ids=repr,
    )
    def test_what_it_says(self, x: sz.Tensor, said: str) -> None:
        assert said in read(x).text

    def test_text_is_escaped(self) -> None:
        html = sz.tensor("<script>alert(1)</script>")._repr_html_()
        assert html is not None
        assert "<script" not in html
        assert read(html).text.endswith("b'<script>alert(1)</script>'")


def test_sparse() -> None:
    found = read(sz.create_sparse_tensor((9, 9, 9), [[i, 0, i] for i in range(9)], range(9)))
    assert "SparseTensor of float32 · shape (9, 9, 9) · layout coo · 9 stored" in found.text
    assert found.cells[0] == ["axis 0", "axis 1", "axis 2", "value"]
    assert found.cells[4] == ["…"] * 4
    assert found.cells[-1] == ["8", "0", "8", "8"]
    found = read(sz.to_sparse(sz.tensor([[0, 2], [3, 0]]), "csr"))
    assert found.cells == [["row", "column", "value"], ["0", "1", "2"], ["1", "0", "3"]]
    assert "table" not in read(sz.to_sparse(sz.zeros((3,)))).tags


class TestPromotion:
    def test_explanation(self) -> None:
        found = read(sz.explain("i32", "bf16", rules="torch"))
        assert found.text.startswith("int32, bfloat16 -> bfloat16")
        assert ["lost", "int32 in bfloat16: 257 becomes 256"] in found.cells

    def test_explanations(self) -> None:
        found = read(sz.explain_all("i32", "bf16"))
        assert found.cells[0] == ["rules", "dtype", "lost", "why"]
        assert len(found.cells) == 1 + len(sz.rule_sets())

    @pytest.mark.parametrize("name", sz.rule_sets())
    def test_tables_show_what_the_text_shows(self, name: str) -> None:
        table = sz.table(name)
        found = read(table)
        assert found.cells == [*table.tensor_rows(), *table.number_rows()]
        assert len(found.titles) == len(table.tensors) + len(table.numbers)
        html = table._repr_html_()
        answers = [*table.tensors.values(), *table.numbers.values()]
        assert html.count('class="refused"') == answers.count(None)

    def test_titles_say_why(self) -> None:
        titles = read(sz.table("cann")).titles
        assert "int32, bfloat16: row s32, column bf16; bfloat16 does not hold every int32" in titles
        assert "uint16, float32: row u16, column f32 refuses" in titles

    def test_a_table_for_a_class_of_operators(self) -> None:
        table = sz.table("paddle_compare_fix", op="comparison")
        assert read(table).cells[: len(table.dtypes) + 1] == table.tensor_rows()

    def test_diff_and_laws(self) -> None:
        found = read(sz.diff("torch", "cann"))
        assert found.text.startswith("torch and cann, over 16 common dtypes")
        assert "refused" in found.text
        assert read(sz.diff("cann", "cann")).tags.count("table") == 1
        found = read(sz.laws("cann"))
        assert ["commutative", "yes", ""] in found.cells

    def test_rule_sets(self) -> None:
        for name in sz.rule_sets():
            found = read(sz.rule_set(name))
            assert ["name", name] in found.cells

    def test_live(self) -> None:
        found = read(Live("torch", "<2>", (), ()))
        assert found.text.startswith("torch <2>: 0 cells asked")

    def test_what_a_user_writes_is_escaped(self) -> None:
        chip = sz.RuleSet.from_text(CHIP)
        for shown in (
            chip,
            sz.table(chip),
            sz.laws(chip),
            sz.explain("i8", "f16", rules=chip),
            sz.explain_all("i8", "f16", rules=[chip]),
            sz.diff(chip, "cann"),
        ):
            found = read(shown)
            assert "b" not in found.tags
            assert "i" not in found.tags
        assert '<b>My & "chip"</b>' in read(chip).text


def test_cells_escape_their_titles() -> None:
    page = html.table([], [[html.Cell('"<', "refused", '">&')]])
    found = read(page)
    assert found.cells == [['"<']]
    assert found.titles == ['">&']
