"""The tables of speed, made from the files that benchmarks/all.py writes: one for each machine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import records
from docs_site.markdown import table
from docs_site.words import language as language_now
from docs_site.words import say
from suanzi.base.toml import tomllib

REASONS = Path(__file__).parents[2] / "benchmarks" / "reasons.toml"

Row = dict[str, Any]

CATEGORIES: dict[str, tuple[str, str]] = {
    "elementwise/(small|mixed|same|half)": ("element-wise arithmetic", "逐元素算术"),
    "elementwise/functions": ("functions", "函数"),
    "elementwise/casts": ("casts", "类型转换"),
    "reduction/": ("reductions, cumulative sums", "规约、累加和"),
    "indexing/": ("indices, sorting, complex numbers", "索引、排序、复数"),
    "transformation/": ("views, copies, movement", "视图、拷贝、搬移"),
    "creation/(small|large|queries|ranges)": ("creation, queries", "创建、查询"),
    "creation/random": ("random numbers", "随机数"),
    "quantized/": ("quantised tensors", "量化张量"),
    "sparse/": ("sparse tensors", "稀疏张量"),
    "signal_interpolation/fourier": ("Fourier transforms", "傅里叶变换"),
    "signal_interpolation/interpolation": ("interpolation", "插值"),
    "linear_algebra_products/": ("products", "矩阵乘积"),
    "linear_algebra_decompositions/": ("decompositions, norms", "矩阵分解、范数"),
    "nn/rows": ("softmaxes, norms", "softmax、归一化"),
    "nn/activations": ("activations", "激活函数"),
    "nn/attention": ("attention, linear layers", "注意力、线性层"),
    "nn/convolutions": ("convolutions", "卷积"),
    "nn/pooling": ("pooling, sampling", "池化、采样"),
    "nn/losses": ("losses", "损失函数"),
    "nn/quantised": ("quantised layers", "量化的层"),
    "nn/experts": ("mixtures of experts", "混合专家"),
    "nn/recurrent": (
        "causal convolutions, gated delta rule, AdamW",
        "因果卷积、门控 delta 规则、AdamW",
    ),
    "promotion/": ("promotion", "类型提升"),
    "array_api(_along)?/": ("the array API", "数组 API"),
}
"""What the rows of a table are called, in English and Chinese, by file and group."""

BRIEF = (
    "elementwise/(small|mixed|same|half)",
    "elementwise/functions",
    "reduction/",
    "transformation/",
    "linear_algebra_products/",
    "linear_algebra_decompositions/",
    "nn/rows",
    "nn/attention",
    "nn/convolutions",
)
"""The categories of the README's table."""

OWN_LOOPS = (
    "elementwise/(small|mixed|same|half|casts)",
    "reduction/",
    "indexing/",
    "transformation/",
)
"""What suanzi's own loops compute."""

WORDS = {
    "en": ("rows", "threads", "1 thread", "the fastest peer", "below 1.0"),
    "zh": ("项数", "线程", "1 线程", "最快的同类", "低于 1.0"),
}


def results() -> list[dict[str, Any]]:
    """Return the speed of operators, machine by machine; other results have no rows."""
    found = map(records.read, records.names())
    return [one for one in found if "rows" in one]


def ratio(row: Row, peer: str | None = None) -> float | None:
    """Return how many times as fast as a peer suanzi is, or as the fastest of them."""
    times = {name: t for name, t in row["ns"].items() if name != "suanzi"}
    found = times.get(peer) if peer else min(times.values(), default=None)
    return None if found is None else float(found / row["ns"]["suanzi"])


def of(rows: Iterable[Row], pattern: str) -> list[Row]:
    """Return the rows of files and groups that a pattern finds."""
    return [row for row in rows if re.match(pattern, f"{row['file']}/{row['group']}")]


def mean(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def cell(rows: list[Row], peer: str | None) -> str:
    """Return the mean, and what it is the mean of, of the rows that a peer has."""
    found = [r for r in (ratio(row, peer) for row in rows) if r is not None]
    if not found:
        return "-"
    low, middle, high = (
        f"{x:.0f}" if x >= 100 else f"{x:.2g}" for x in (min(found), mean(found), max(found))
    )
    return say("{} ({} to {})", middle, low, high)


def machine(found: dict[str, Any]) -> str:
    """Return a machine, its level and all versions in words, one list for the same peers."""
    facts = found["machine"]
    commits: dict[str, list[str]] = {}
    for run in found["runs"]:
        names = {"numpy": "NumPy", "scipy": "SciPy", "torch": "PyTorch"}
        peers = ", ".join(f"{names[k]} {v}" for k, v in run["versions"].items() if k in names)
        clock = "" if run["clock"] == "wall" else ", the processor's time"
        beside = commits.setdefault(f"{run['date']}{clock}: {peers}", [])
        if run["versions"]["suanzi"] not in beside:
            beside.append(run["versions"]["suanzi"])
    said = [f"{peers}; suanzi {', '.join(its)}" for peers, its in commits.items()]
    cores = say("{} cores", facts["cores"])
    return (
        f"**{facts['name']}**, {cores}, {facts['architecture']}, level `{facts['level']}` "
        f"({'; '.join(said)})"
    )


def summary() -> str:
    """Return a table of categories for each machine: times as fast as each peer, and where not."""
    return "\n\n".join(
        f"{machine(found)}{say(':')}\n\n{_categories(found['rows'], language_now())}"
        f"\n\n{_total(found['rows'])}"
        for found in results()
    )


def brief(of_page: str = "") -> str:
    """Return one table for the README: the mean against the fastest peer, nine categories.

    A page outside docs/ names its language.

    >>> brief().splitlines()[0].count("|") >= 3
    True
    """
    language = of_page or language_now()
    words, columns = WORDS[language], []
    for found in results():
        for count in sorted({row["threads"] for row in found["rows"]}):
            threads = words[2] if count == 1 else f"{count} {words[1]}"
            rows = [row for row in found["rows"] if row["threads"] == count]
            columns.append((f"{found['machine']['name']}, {threads}", rows))
    lines = [
        (titles[language == "zh"], *cells)
        for pattern, titles in CATEGORIES.items()
        if pattern in BRIEF and any(cells := [_fastest(of(rows, pattern)) for _, rows in columns])
    ]
    return table(("", *(title for title, _ in columns)), lines)


def _fastest(rows: list[Row]) -> str:
    ratios = [r for r in map(ratio, rows) if r is not None]
    return f"{mean(ratios):.2g}" if ratios else ""


def _categories(rows: list[Row], language: str) -> str:
    words = WORDS[language]
    counts = sorted({row["threads"] for row in rows})
    head = ["", words[0]]
    for count in counts:
        threads = words[2] if count == 1 else f"{count} {words[1]}"
        head += [f"NumPy, {threads}", f"PyTorch, {threads}", f"{words[4]}, {threads}"]
    lines = []
    for pattern, titles in CATEGORIES.items():
        found = of(rows, pattern)
        if not found:
            continue
        line = [titles[language == "zh"], str(max(_at(found, c) for c in counts))]
        for count in counts:
            here = [row for row in found if row["threads"] == count]
            below = sum((ratio(row) or 1) < 1 for row in here)
            line += [cell(here, "NumPy"), cell(here, "PyTorch"), str(below) if here else "-"]
        lines.append(tuple(line))
    return table(tuple(head), lines)


def _at(rows: list[Row], count: int) -> int:
    return sum(row["threads"] == count for row in rows)


def _total(rows: list[Row]) -> str:
    own = [row for pattern in OWN_LOOPS for row in of(rows, pattern)]
    said = []
    for count in sorted({row["threads"] for row in own}):
        here = [r for r in (ratio(row) for row in own if row["threads"] == count) if r is not None]
        text = "{} on {} thread ({} rows)" if count == 1 else "{} on {} threads ({} rows)"
        said.append(say(text, f"{mean(here):.2f}", count, len(here)))
    total = (
        "Against the faster of the two, element-wise arithmetic, casts, reductions, indices and "
        "movement together: {}."
    )
    return say(total, say(", ").join(said)) if said else ""


def slower() -> str:
    """Return the rows that are slower than the fastest peer, on each machine, grouped by reason."""
    parts = []
    for found in results():
        reasons: dict[str, list[tuple[str, ...]]] = {}
        for row in found["rows"]:
            r = ratio(row)
            if r is None or r >= 1:
                continue
            time, peer = min((t, name) for name, t in row["ns"].items() if name != "suanzi")
            case = (f"`{row['file']}/{row['group']}`", row["case"], str(row["threads"]))
            times = (_time(row["ns"]["suanzi"]), f"{_time(time)}, {peer}", f"{r:.2f}")
            reason = why(row, found["machine"]["architecture"])
            reasons.setdefault(reason, []).append((*case, *times))
        head = ("benchmark", "case", "threads", "suanzi", "fastest peer", "speed")
        parts.append(f"### {found['machine']['name']}\n\n{machine(found)}.")
        parts += [f"{reason}:\n\n{table(head, lines)}" for reason, lines in reasons.items()]
    return "\n\n".join(parts)


def why(row: Row, architecture: str) -> str:
    """Return the reason that reasons.toml has for a row."""
    for reason in _reasons():
        where = f"{row['file']}/{row['group']}: {row['case']}"
        if architecture in reason.get("on", architecture) and re.search(reason["rows"], where):
            return str(reason["why"])
    return "Not investigated"


@cache
def _reasons() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(REASONS.read_text("utf-8"))["reason"]
    return found


def _time(ns: float) -> str:
    for unit, size in (("ms", 1e6), ("µs", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.3g} ns"
