"""Which dtypes an aclnn operator takes according to its page, for what its code does not show.

A page has the prototype, a table of parameters with all dtypes, and below it, by product, what
differs there. A chip about which the page says something that is not understood is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

Facts = dict[str, dict[str, frozenset[str]]]
"""By chip, then by parameter."""

_PRODUCTS = {
    "Ascend 950": "950", "Atlas A3": "910_93", "Atlas A2": "910b", "Atlas 200I": "310b",
    "Atlas 推理系列产品": "310p", "Atlas 训练系列产品": "910",
}  # fmt: skip
_DTYPES = {
    "FLOAT32": "DT_FLOAT", "FP32": "DT_FLOAT", "FP16": "DT_FLOAT16", "BFLOAT16": "DT_BF16",
    "FLOAT64": "DT_DOUBLE",
} | {
    word: f"DT_{word}"
    for word in (
        "FLOAT", "FLOAT16", "BF16", "DOUBLE", "INT4", "INT8", "INT16", "INT32", "INT64", "UINT8",
        "UINT16", "UINT32", "UINT64", "BOOL", "COMPLEX32", "COMPLEX64", "COMPLEX128", "STRING",
        "FLOAT8_E4M3FN", "FLOAT8_E5M2", "FLOAT8_E8M0", "HIFLOAT8", "FLOAT4_E2M1", "FLOAT4_E1M2",
        "QINT8", "QINT32", "QUINT8",
    )
}  # fmt: skip
_LIST = r"[A-Z][A-Z0-9_]*(?:[、，,和/ ]+(?:和)?[A-Z][A-Z0-9_]*)*"
_NAMES = r"(?P<names>[a-z][A-Za-z0-9_]*(?:[、和/ ]+[a-z][A-Za-z0-9_]*)*)?的?(?:数据类型)?"
_SAYS = re.compile(
    rf"{_NAMES}(?P<how>支持|仅支持|只支持|额外支持|不支持|暂不支持)(?P<list>{_LIST})(?:数据)?(?:类型)?"
)
_OTHER = re.compile("cubeMathType|推导|转换|一致|格式|KEEP_DTYPE")
"""Words of sentences that concern modes, relations and layouts, not the dtypes of an argument."""


def documented(path: Path) -> Iterator[tuple[str, list[str], Facts]]:
    """Yield each operator of a page, its parameters, and the dtypes they take, by chip."""
    text = re.sub(r"<!--.*?-->", "", path.read_text("utf-8", "replace"), flags=re.S)
    supported = _supported(text)
    for name, parameters in _prototypes(text):
        section = _section(text, name)
        if section is None:
            continue
        table, _, below = section.partition("</table>")
        rows = _rows(table, parameters)
        if not rows:
            continue
        facts: Facts = {chip: dict(rows) for chip in supported}
        if re.search("不支持[^。]*BFLOAT16", text.partition("## 约束说明")[2]):
            facts = {chip: x for chip, x in facts.items() if chip not in ("910", "310p")}
        for chips, said in _by_product(below.partition("返回值")[0]):
            for chip in sorted(chips & facts.keys()):
                changed = _changed(facts[chip], said, [p for p in parameters if p in rows])
                if changed is None:
                    del facts[chip]
                else:
                    facts[chip] = changed
        # 910b stands for A2 and A3, whose code has one list; pages often name one of them.
        for parameter, dtypes in facts.pop("910_93", {}).items() if "910b" in facts else ():
            facts["910b"][parameter] = facts["910b"].get(parameter, frozenset()) | dtypes
        yield name, parameters, facts


def _supported(text: str) -> set[str]:
    head = text.partition("## 功能说明")[0]
    found = set()
    for line in head.splitlines():
        yes = re.search(r"[：:]\s*支持", line) or "√" in line
        found |= _chips(line) if yes else set()
    return found


def _chips(line: str) -> set[str]:
    terms = re.findall(r"<term>(.*?)</term>", line)
    return {chip for term in terms for name, chip in _PRODUCTS.items() if term.startswith(name)}


def _prototypes(text: str) -> Iterator[tuple[str, list[str]]]:
    for name, inside in re.findall(r"aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\s*\(([^)]*)\)", text):
        parts = [part.split() for part in inside.replace("*", " * ").split(",")]
        yield (
            name,
            [
                part[-1] if any(word.startswith("aclTensor") for word in part) else ""
                for part in parts
                if part
            ],
        )


def _section(text: str, name: str) -> str | None:
    found = re.search(
        rf"^#+\s*{name}GetWorkspaceSize\s*$(.*?)(?=^#+\s*aclnn|\Z)", text, re.S | re.M
    )
    return found[1] if found else None


def _rows(table: str, parameters: list[str]) -> dict[str, frozenset[str]]:
    heads = [_plain(cell) for cell in re.findall(r"<th[^>]*>(.*?)</th>", table, re.S)]
    if "数据类型" not in heads:
        return {}
    at, found = heads.index("数据类型"), {}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table, re.S):
        cells = [_plain(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
        if len(cells) != len(heads):
            continue
        name = re.split(r"[（(]", cells[0])[0].strip()
        if cells[1] in ("输出", "出参"):
            continue
        dtypes = _dtypes(cells[at])
        if name in parameters and dtypes:
            found[name] = dtypes
    return found


def _plain(cell: str) -> str:
    return re.sub(r"<sup>.*?</sup>|<[^>]+>", "", cell).strip()


def _dtypes(listed: str) -> frozenset[str]:
    """Return the dtypes of a list; none where a word of it is unknown."""
    words = [word for word in re.split(r"[、，,和/;；。\s]+", listed) if word]
    return (
        frozenset(_DTYPES[word] for word in words)
        if all(w in _DTYPES for w in words)
        else frozenset()
    )


def _by_product(text: str) -> list[tuple[set[str], str]]:
    """Return what the page says of products: each with the lines that stand below it."""
    found: list[tuple[int, set[str], list[str]]] = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        chips = _chips(line)
        if chips:
            rest = re.sub(r"<term>.*?</term>", "", line)
            found.append((indent, chips, [re.sub(r"^[\s\-*、，：:/]+", "", rest)]))
        elif line.strip() and found and indent > found[-1][0]:
            found[-1][2].append(line.strip().lstrip("-* "))
    return [(chips, "。".join(lines)) for _, chips, lines in found]


def _changed(
    facts: dict[str, frozenset[str]], said: str, parameters: list[str]
) -> dict[str, frozenset[str]] | None:
    """Return the dtypes with what differs; None where that is not understood."""
    changed = dict(facts)
    words = re.sub(r"`|入参|出参|参数", "", _plain(said))
    for sentence in re.split(r"[。；;]|，(?=[a-z][A-Za-z0-9_]*额外)", words):
        about = any(re.search(rf"(?<![A-Z0-9]){word}(?![A-Z0-9])", sentence) for word in _DTYPES)
        if _OTHER.search(sentence) or (not about and "数据类型" not in sentence):
            continue
        found = _SAYS.fullmatch(sentence.strip().removeprefix("数据类型：").strip())
        dtypes = _dtypes(found["list"]) if found else frozenset()
        if not found or not dtypes:
            return None
        for name in re.split(r"[、和/ ]+", found["names"]) if found["names"] else parameters:
            if name in changed:
                changed[name] = _combined(changed[name], found["how"], dtypes)
    return changed


def _combined(before: frozenset[str], how: str, dtypes: frozenset[str]) -> frozenset[str]:
    if "不" in how:
        return before - dtypes
    # A short list after a plain "supports" adds to the table; a long one replaces it.
    replaces = "额外" not in how and (how != "支持" or len(dtypes) > 2) and dtypes <= before
    return dtypes if replaces else before | dtypes
