"""Which operators of PyTorch OpenVINO, Paddle, MindSpore and JAX have, by their public tables."""

from __future__ import annotations

import json
import re
from pathlib import Path

PLACES = {
    "torch.": "", "torch.Tensor.": "", "torch.nn.functional.": "", "torch.linalg.": "linalg_",
    "torch.special.": "special_", "torch.fft.": "fft_",
}  # fmt: skip
"""Modules of PyTorch's documentation, and how the names of their operators begin."""
DIRECT = ("ChangePrefixMatcher", "ChangeAPIMatcher", "GenericMatcher")
"""PaConvert's rules that rename a function and its arguments; the others rewrite the call."""


def base(name: str) -> str:
    """Return the name under which a recording has an operator: `__iand__.Scalar` is `iand`."""
    name = name.partition(".")[0]
    if name.startswith("__") and name.endswith("__"):
        return name[2:-2]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def plain(name: str) -> str | None:
    """Return the operator that a name of PyTorch's documentation stands for."""
    for place in sorted(PLACES, key=len, reverse=True):
        if name.startswith(place) and "." not in name[len(place) :]:
            return PLACES[place] + base(name[len(place) :])
    return None


def openvino(table: Path) -> set[str]:
    """Return the operators of the PyTorch frontend's table, as TorchScript names them."""
    text = table.read_text("utf-8")
    start = text.index("get_supported_ops_ts() {")
    inside = text[start : text.index("get_supported_ops_fx() {", start)]
    return {base(name) for name in re.findall(r'\{"aten::(\w+)"', inside)}


def paddle(mapping: Path, document: Path) -> tuple[dict[str, str], set[str], set[str]]:
    """Return what PaConvert renames, what it rewrites, and what Paddle's document calls missing."""
    renamed: dict[str, str] = {}
    rewritten: set[str] = set()
    for name, rule in json.loads(mapping.read_text("utf-8")).items():
        operator = plain(name)
        if operator is None or not name.startswith("torch.") or "Matcher" not in rule:
            continue
        if rule["Matcher"] in DIRECT:
            there = rule.get("paddle_api", "paddle." + name[len("torch.") :])
            renamed.setdefault(operator, there)
        else:
            rewritten.add(operator)
    items = re.findall(r"NOT-IMPLEMENTED-ITEM\(`([\w.]+)`", document.read_text("utf-8"))
    missing = {operator for name in items if (operator := plain(name))}
    return renamed, rewritten, missing


def mindspore(document: Path) -> dict[str, str]:
    """Return MindSpore's names of the operators in its table."""
    found: dict[str, str] = {}
    for line in document.read_text("utf-8").splitlines():
        names = re.match(r"\| *\[(torch\.[\w.]+)\]\([^|]*\) *\| *\[(mindspore\.[\w.]+)\]", line)
        operator = plain(names[1]) if names else None
        if names and operator:
            found.setdefault(operator, names[2])
    return found


def torchax(*files: Path) -> set[str]:
    """Return the operators that torchax writes in JAX."""
    found: set[str] = set()
    for file in files:
        text = file.read_text("utf-8")
        for decorators in re.findall(r"@(?:op|register_function)\((.*?)\)\n(?=def|@)", text, re.S):
            names = re.findall(
                r"torch\.(?:ops\.aten\.|Tensor\.|nn\.functional\.)?(\w+)", decorators
            )
            found |= {base(name) for name in names}
    return found
