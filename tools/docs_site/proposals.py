"""The errata as proposals to the working group: one short Chinese page each, from their data.

The texts are in ``docs/zh/proposals/proposals.toml``; clauses come from the errata.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suanzi._toml import tomllib
from suanzi.errata import Erratum, errata

FOLDER = Path(__file__).parents[2] / "docs" / "zh" / "proposals"
KINDS = {"gap": "缺漏", "contradiction": "矛盾", "example": "示例有误", "misprint": "印刷错误"}
_INDEX = """\
# 对标准的修改建议

T/AI 131.1-2025 中，有些条款互相矛盾、没有写明，或示例有误，而实现的结果取决于如何理解。
下面每一条单独成页：条款号、问题、可选方案、现有框架的做法、建议措辞。措辞均为自拟，供工作组讨论。
不影响结果的印刷问题见[勘误](../../errata.md)（英文）。

在工作组作出决定之前，`suanzi check` 对这些条款接受各种合理的解释；没有列出备选解释的，
只报告、不计入结论（tentative）。

| 编号 | 条款 | 标题 | 类别 |
|---|---|---|---|
"""


def read() -> dict[str, dict[str, Any]]:
    """Return the texts of the proposals by the ids of their errata."""
    return tomllib.loads((FOLDER / "proposals.toml").read_text("utf-8"))


def page(erratum: Erratum, said: dict[str, Any]) -> str:
    """Return the page of one proposal."""
    options = "\n".join(f"{i}. {one}。" for i, one in enumerate(said["options"], 1))
    kinds = "、".join(KINDS[kind] for kind in erratum.kinds)
    return (
        f"# {erratum.id} {said['title']}\n\n"
        f"**条款**：{'、'.join(erratum.clauses)}　**类别**：{kinds}\n\n"
        f"## 问题\n\n{said['problem']}\n\n## 可选方案\n\n{options}\n\n"
        f"## 现有框架与规范\n\n{said['elsewhere']}\n\n## 建议措辞\n\n> {said['wording']}\n\n"
        f"[suanzi 目前的做法（英文）](../../errata.md#{erratum.id.lower()})"
        " · [全部建议](index.md)\n"
    )


def pages() -> dict[Path, str]:
    """Return the index and every page, by its file."""
    texts, known = read(), {one.id: one for one in errata()}
    rows = [
        f"| [{name}]({name}.md) | {'、'.join(known[name].clauses[:3])}"
        f"{' 等' if len(known[name].clauses) > 3 else ''} | {said['title']} | "
        f"{'、'.join(KINDS[kind] for kind in known[name].kinds)} |"
        for name, said in texts.items()
    ]
    made = {FOLDER / "index.md": _INDEX + "\n".join(rows) + "\n"}
    return made | {FOLDER / f"{name}.md": page(known[name], said) for name, said in texts.items()}
