"""Draw the pictures of the documentation: ``python tools/draw.py [NAME ...]``.

Each is a small SVG in docs/en/img and in docs/zh/img, on a ground of its own, so that it can be
read on dark pages. Terminal pictures run their command; the others are made from the project's data.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from html import escape, unescape
from io import StringIO
from pathlib import Path

import suanzi as sz

ROOT = Path(__file__).parent.parent
INK, PALE, GROUND = "#1f2937", "#6b7280", "#ffffff"
BLUE, TEAL, AMBER, RED, VIOLET = "#2f5fd0", "#0f8a7e", "#b45309", "#c02633", "#7a3fc0"
FONT = 'font-family="system-ui, Noto Sans, PingFang SC, Microsoft YaHei, sans-serif"'


class Picture:
    """An SVG that grows by shapes."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.size, self.title, self.parts = (width, height), title, [""]

    def text(self, x: float, y: float, said: str, size: int = 14, colour: str = INK,
             anchor: str = "start", bold: bool = False) -> None:  # fmt: skip
        """Write a text."""
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}>{escape(said)}</text>'
        )

    def box(self, x: float, y: float, w: float, h: float, fill: str, line: str = "none") -> None:
        """Draw a box."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="6" '
            f'fill="{fill}" stroke="{line}"/>'
        )

    def line(self, points: list[tuple[float, float]], colour: str, width: float = 1.5,
             dashes: str = "") -> None:  # fmt: skip
        """Draw a line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" '
            f'stroke-width="{width:g}"{dashed}/>'
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw an arrow."""
        self.line([(x1, y1), (x2, y2)], PALE)
        angle = math.atan2(y2 - y1, x2 - x1)
        ends = [(x2 - 8 * math.cos(angle + a), y2 - 8 * math.sin(angle + a)) for a in (0.4, -0.4)]
        self.line([ends[0], (x2, y2), ends[1]], PALE)

    def svg(self) -> str:
        """Return the file."""
        w, h = self.size
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" '
            f'height="{h}" role="img" {FONT}><title>{escape(self.title)}</title>'
            f'<rect width="{w}" height="{h}" rx="8" fill="{GROUND}"/>'
            + "\n".join(self.parts)
            + "\n</svg>\n"
        )


def architecture(zh: bool) -> str:
    """Draw what the project consists of, lowest layer at the bottom."""
    rows = [
        (BLUE, [("suanzi promote, explain, port", "类型提升与移植"), ("suanzi check", "一致性检验"),
                ("suanzi judge, blame", "检验内核与模型"), ("sz.nn, sz.array_api, op_*", "算子的三种形式")]),
        (TEAL, [("promotion engine", "类型提升引擎"), ("cases and judging", "用例与判定"),
                ("exact truth", "精确的真值"), ("operators and tensors", "算子与张量")]),
        (VIOLET, [("17 rule sets", "17 套规则集"), ("records of 151 interfaces", "151 个接口的记录"),
                  ("definitions, error bounds", "定义与误差界"), ("C++ core: kernels, threads", "C++ 核心：内核与线程")]),
    ]  # fmt: skip
    ends = [("your program", "您的程序"), ("your backend or C library", "您的后端或 C 语言库"),
            ("your kernel", "您的内核"), ("your code", "您的代码")]  # fmt: skip
    p = Picture(880, 380, "suanzi 的组成" if zh else "The parts of suanzi")
    names = ("命令与接口", "引擎", "数据与核心") if zh else ("commands", "engines", "data")
    for column, said in enumerate(ends):
        x = 120 + column * 188
        p.text(x + 88, 36, said[zh], 14, PALE, "middle")
        p.arrow(x + 88, 44, x + 88, 72)
    for row, (colour, boxes) in enumerate(rows):
        y = 76 + row * 100
        p.text(12, y + 36, names[row], 13, PALE)
        for column, said in enumerate(boxes):
            x = 120 + column * 188
            p.box(x, y, 176, 62, f"{colour}14", colour)
            p.text(x + 88, y + 36, said[zh], 13 if len(said[zh]) < 25 else 11, INK, "middle")
            if row < 2:
                p.arrow(x + 88, y + 62, x + 88, y + 98)
    p.text(440, 362, "标准 T/AI 131.1-2025 与各框架的文档、实测" if zh else
           "the standard T/AI 131.1-2025; documents and measurements of frameworks", 13, PALE, "middle")  # fmt: skip
    return p.svg()


def decision(zh: bool) -> str:
    """Draw how a promotion is decided."""
    steps = [
        ("all dtypes equal?", "数据类型全部相同？", "that dtype", "就是该类型"),
        ("does the gate of the operator refuse?", "算子的限制拒绝？", "TYPE_MISMATCH", "TYPE_MISMATCH"),
        ("a 0-d tensor or Python number among them?", "其中有零维张量或 Python 数？", "its own rule", "按其专门规则"),
        ("a cell of the table for every pair?", "表中有各对的格子？", "the dtype of the cell", "取格子中的类型"),
        ("real function or true division of integers?", "整数的实函数或真除法？", "integers to float", "整数转为浮点"),
    ]  # fmt: skip
    p = Picture(760, 420, "类型提升如何决定" if zh else "How a promotion is decided")
    p.text(24, 34, "操作数、规则集、算子" if zh else "operands, rule set, operator", 14, PALE)
    for i, (question, asked, answer, said) in enumerate(steps):
        y = 52 + i * 66
        p.box(24, y, 380, 46, f"{BLUE}14", BLUE)
        p.text(40, y + 28, asked if zh else question, 14)
        p.arrow(404, y + 23, 492, y + 23)
        p.text(446, y + 16, "是" if zh else "yes", 12, PALE, "middle")
        p.box(496, y, 240, 46, f"{RED if i == 1 else TEAL}14", RED if i == 1 else TEAL)
        p.text(512, y + 28, said if zh else answer, 14)
        p.arrow(214, y + 46, 214, y + 64)
    p.text(24, 400, "否则拒绝；每个结果都带有层次、来源和损失" if zh else
           "otherwise refused; every result names its layer, its source and the loss", 14, PALE)  # fmt: skip
    return p.svg()


_COLOURS = {"bool": "#9ca3af", "uint": "#86b6f2", "int": "#2f5fd0", "bfloat": "#f2b263",
            "float": "#e07b39", "complex": "#8e5bd0"}  # fmt: skip


def _colour(dtype: sz.DType | None) -> str:
    return "#111827" if dtype is None else _COLOURS[re.sub(r"\d.*", "", dtype.name)]


def tables(zh: bool) -> str:
    """Draw the promotion tables of seven rule sets, a colour for each kind of result."""
    names = ("cann", "mindspore", "paddle", "openvino", "torch", "numpy", "jax", "lossless")
    cell, across = 13, 4
    squares: dict[str, list[str]] = {}
    p = Picture(960, 620, "各规则集的提升表" if zh else "Promotion tables by rule set")
    for i, name in enumerate(names):
        found = sz.table(name)
        left, top = 20 + i % across * 236, 44 + i // across * 262
        p.text(left, top - 12, name, 15, bold=True)
        shown = [d for d in map(sz.dtype, SHOWN) if d in found.dtypes]
        for r, a in enumerate(shown):
            for c, b in enumerate(shown):
                square = f"M{left + c * cell} {top + r * cell}h12v12h-12z"
                squares.setdefault(_colour(found.tensors[a, b]), []).append(square)
    p.parts += [f'<path fill="{one}" d="{"".join(some)}"/>' for one, some in squares.items()]
    words = [("bool", "bool"), ("uint", "uint"), ("int", "int"), ("bfloat", "bfloat16"),
             ("float", "float"), ("complex", "complex")]  # fmt: skip
    for i, (kind, said) in enumerate(words):
        p.box(24 + i * 120, 580, 16, 16, _COLOURS[kind])
        p.text(46 + i * 120, 593, said, 13)
    p.box(24 + 6 * 120, 580, 16, 16, _colour(None))
    p.text(46 + 6 * 120, 593, "拒绝" if zh else "refused", 13)
    return p.svg()


SHOWN = """bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 float64
complex64 complex128""".split()
"""The dtypes of the tables, in one order for all."""
NARROW = ("bfloat16", "float16", "float8_e4m3fn", "float8_e5m2")


def sums(zh: bool) -> str:
    """Draw what one gets who adds ones in a narrow dtype, one after another."""
    p = Picture(760, 400, "逐个累加 1" if zh else "Adding ones, one after another")
    colours = dict(zip(NARROW, (RED, BLUE, AMBER, VIOLET), strict=True))

    def at(n: float, total: float) -> tuple[float, float]:
        return 70 + math.log2(n) / 13 * 560, 340 - math.log2(total) / 13 * 290

    for k in range(0, 14, 2):
        p.line([at(2**k, 1), at(2**k, 2**13)], "#e5e7eb", 1)
        p.line([at(1, 2**k), at(2**13, 2**k)], "#e5e7eb", 1)
        p.text(at(2**k, 1)[0], 360, f"{2**k:,}", 12, PALE, "middle")
        p.text(60, at(1, 2**k)[1] + 4, f"{2**k:,}", 12, PALE, "end")
    p.line([at(1, 1), at(2**13, 2**13)], PALE, 1.5, "5 4")
    p.text(*at(2**13, 2**13.1), "精确" if zh else "exact", 13, PALE)
    for name in NARROW:
        dtype = sz.dtype(name)
        total, one, points = sz.tensor(1, dtype), sz.tensor(1, dtype), [at(1, 1)]
        stop = 2**13
        for n in range(2, 2**13 + 1):
            after = total + one
            if after.item() == total.item():
                stop = n
                break
            total = after
            points.append(at(n, total.item()))
        end = total.item()
        p.line([*points[:: max(1, len(points) // 60)], at(stop, end), at(2**13, end)],
               colours[name], 2.5)  # fmt: skip
        p.text(at(2**13, end)[0] + 6, at(1, end)[1] + 4, f"{name} {end:g}", 13, colours[name])
    p.text(350, 388, "累加的个数" if zh else "how many ones", 13, PALE, "middle")
    p.text(16, 26, "和" if zh else "sum", 13, PALE)
    return p.svg()


def spacing(zh: bool) -> str:
    """Draw which numbers narrow dtypes have between 0 and 4."""
    p = Picture(760, 260, "0 到 4 之间有哪些数" if zh else "The numbers between 0 and 4")
    colours = dict(zip(NARROW, (RED, BLUE, AMBER, VIOLET), strict=True))
    for row, name in enumerate(("float8_e5m2", "float8_e4m3fn", "bfloat16")):
        dtype = sz.dtype(name)
        bits = {"bfloat16": 7, "float8_e4m3fn": 3, "float8_e5m2": 2}[name]
        y = 60 + row * 62
        p.text(16, y + 4, name, 14, colours[name])
        found = sorted({
            sz.tensor(m * 2.0**e / 2**bits, dtype).item()
            for e in range(-3, 2) for m in range(2**bits, 2 ** (bits + 1) + 1)
        })  # fmt: skip
        marks = "".join(f"M{150 + value * 145:.1f} {y - 14}v28" for value in found)
        width = 0.6 if bits == 7 else 1.5
        p.parts.append(f'<path d="{marks}" stroke="{colours[name]}" stroke-width="{width}"/>')
        p.text(740, y + 34, f"{len(found)}", 12, PALE, "end")
    for value in range(5):
        p.text(150 + value * 145, 30, str(value), 12, PALE, "middle")
    p.text(16, 246, "从 1/8 到 4 的可表示的数，右侧为个数" if zh else
           "representable numbers from 1/8 to 4, and how many there are", 13, PALE)  # fmt: skip
    return p.svg()


def terminal(title: str, *commands: list[str], zh: bool, folder: Path, most: int = 40) -> str:
    """Return commands and what they print in a language, as a picture of a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=100, file=StringIO(), force_terminal=True)
    own = os.path.dirname(
        sys.executable
    )  # an environment's commands, also where it is not activated
    there = os.environ | {"PATH": os.pathsep.join((own, os.environ.get("PATH", "")))}
    for command in commands:
        if zh and command[0] == "suanzi":
            command = [*command, "--lang", "zh"]
        console.print(Text(f"$ {' '.join(command)}", style="bold"))
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=there)
        lines = re.sub(r"[;；] ?[\d.]+ [s秒]$", "", done.stdout, flags=re.M).splitlines()
        for line in lines[:most]:
            console.print(Text(line, style=_style(line)))
    svg = console.export_svg(title=title, unique_id="t")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    svg = re.sub(r'<text class="(t-r\d+)" x="([\d.]+)"(.*?) textLength="[\d.]+"(.*?)>(.*?)</text>',
                 _runs, svg)  # fmt: skip
    return svg.replace("Fira Code", "ui-monospace, DejaVu Sans Mono, Noto Sans Mono CJK SC")


def _runs(match: re.Match[str]) -> str:
    """Return a text of the terminal in runs of narrow and of wide characters, each in its columns."""
    from rich.cells import cell_len

    kind, x, before, after, text = match.groups()
    at, parts, cell = float(x), [], 12.2  # the width of a column in Rich's pictures
    for run in re.findall(r"[\u2e80-\uffef]+|[^\u2e80-\uffef]+", unescape(text)):
        width = cell * cell_len(run)
        parts.append(
            f'<text class="{kind}" x="{at:g}"{before} textLength="{width:g}"{after}>'
            f"{escape(run).replace(chr(160), '&#160;')}</text>"
        )
        at += width
    return "".join(parts)


_BAD = r"WRONG|fails$|not reached|crashed:|SZ0\d\d|JD\d{3}|错误。|不符合$|未达到|  - |^-"
_GOOD = r"conforms$|: reached|no findings|is right|符合$|没有发现|^\+"
"""What is red or green, in both languages."""


def _style(line: str) -> str:
    return "red" if re.search(_BAD, line) else "green" if re.search(_GOOD, line) else ""


def port(zh: bool) -> str:
    """Draw a finding of `suanzi port` on a program, and the program after its fix."""
    with tempfile.TemporaryDirectory() as folder:
        name, changed = "scaled_paddle", Path(folder) / "fixed.jsonl"
        calls = (ROOT / "examples" / "port" / f"{name}.jsonl").read_text()
        (Path(folder) / f"{name}.jsonl").write_text(calls)
        fixed = calls.replace(', "way": "in-place"', "")
        changed.write_text(fixed)
        return terminal(
            "suanzi port",
            ["suanzi", "port", f"{name}.jsonl", "--to", "torch"],
            ["suanzi", "port", "fixed.jsonl", "--to", "torch"],
            zh=zh,
            folder=Path(folder),
        )


def check(zh: bool) -> str:
    """Draw a report of `suanzi check` on the C library of examples/."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["make", "-s", f"BUILD={folder}/build"], cwd=ROOT / "examples" / "vendor_c",
                       check=True)  # fmt: skip
        return terminal(
            "suanzi check",
            ["suanzi", "check", "--backend", "build/libvendor.so", "--op", "add", "--op", "mul",
             "--op", "ceil", "--dtype", "float32", "--quick"],
            zh=zh, folder=Path(folder), most=35,
        )  # fmt: skip


KERNEL = """\
import numpy as np

def softmax(x):
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)
"""


def judge(zh: bool) -> str:
    """Draw the verdict on a softmax that does not subtract the largest element."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kernels.py").write_text(KERNEL)
        return terminal(
            "suanzi judge", ["cat", "kernels.py"],
            ["suanzi", "judge", "kernels.py::softmax", "--op", "softmax", "--dtype", "float32"],
            zh=zh, folder=Path(folder),
        )  # fmt: skip


PICTURES: dict[str, Callable[[bool], str]] = {
    one.__name__: one for one in (architecture, decision, tables, sums, spacing, port, check, judge)
}
FROM_DATA = ("architecture", "decision", "tables", "sums", "spacing")
"""Those that are the same each time."""


def main(names: list[str]) -> None:
    """Draw pictures in both languages."""
    for name in names or PICTURES:
        for language in ("en", "zh"):
            file = ROOT / "docs" / language / "img" / f"{name}.svg"
            file.parent.mkdir(exist_ok=True)
            file.write_text(PICTURES[name](language == "zh"), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
