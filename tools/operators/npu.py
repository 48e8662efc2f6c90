"""Which operators of PyTorch torch_npu has kernels for, and which aclnn functions these call."""

from __future__ import annotations

import re
from pathlib import Path

FUNC = re.compile(r"^  - func: ([\w.]+)(\([^\n]*?\)) ->", re.M)
_EXEC = re.compile(r"\bEXEC_NPU(?:_NO_FORMAT_CHECK)?_CMD\w*\(\s*(aclnn\w+)\s*,([^;]*?)\)\s*;")


def kernels(plugin: Path, native: Path, version: str) -> dict[str, str]:
    """Return the overloads with an NPU kernel for a version of PyTorch, with their arguments."""
    text = (plugin / "op_plugin/config/op_plugin_functions.yaml").read_text()
    versions = re.findall(r"v[\d.]+", text.partition("\n")[0])
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=  - func: )", text, flags=re.M)[1:]:
        func = FUNC.match(entry)
        given = re.findall(r"^    (?:acl_op|op_api): (.*)$", entry, re.M)
        if func and any(_has(one, version, versions) for one in given):
            found.setdefault(func[1], func[2])
    own = native.read_text().partition("\ncustom:")[0]
    for name in re.findall(r"^  - (?:func: )?([\w.]+)", own, re.M):
        found.setdefault(name, "")
    return found


def _has(given: str, version: str, versions: list[str]) -> bool:
    listed = re.findall(r"v[\d.]+|newest|all_version", given)
    if "all_version" in listed:
        return True
    if given.startswith("["):
        first, last = listed
        end = versions[-1] if last == "newest" else last
        return versions.index(first) <= versions.index(version) <= versions.index(end)
    return version in listed


def aclnn(plugin: Path) -> dict[str, list[tuple[str, list[str]]]]:
    """Return the aclnn functions that the kernels of an operator call, with their arguments."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    text = (plugin / "op_plugin/config/op_plugin_functions.yaml").read_text()
    for entry in re.split(r"^(?=  - func: )", text, flags=re.M)[1:]:
        func, given = FUNC.match(entry), re.search(r"^      exec: (\w+)(?:, (.*))?$", entry, re.M)
        if func and given:
            names = re.findall(r"(\w+)(?:=[^,]*)?(?:,|$)", re.sub(r"\)$", "", func[2][1:]))
            called = re.split(r",\s*", given[2]) if given[2] else [n for n in names if n]
            found.setdefault(func[1].partition(".")[0], []).append((given[1], called))
    body = re.compile(r"^[\w:<>,& ]+?\b(\w+)\(([^;{]*?)\)\s*\{(.*?)^\}", re.S | re.M)
    for path in sorted((plugin / "op_plugin/ops/opapi").rglob("*.cpp")):
        for name, _, inside in body.findall(path.read_text("utf-8", "replace")):
            for function, arguments in _EXEC.findall(inside):
                called = [part.strip() for part in arguments.split(",")]
                found.setdefault(name, []).append((function, called))
    return found


def places(schema: str, called: list[str]) -> dict[int, int]:
    """Return where the tensors of an operator stand among the arguments of an aclnn function."""
    names = [part.split("=")[0].split()[-1] for part in schema.strip("()").split(", ") if part]
    tensors = {
        name: i
        for i, (name, part) in enumerate(zip(names, schema.strip("()").split(", "), strict=False))
        if part.startswith("Tensor")
    }
    return {tensors[name]: i for i, name in enumerate(called) if name in tensors}
