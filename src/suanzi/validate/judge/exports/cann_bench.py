"""Cases for cann-bench: a folder `levelN/NAME` with its five files.

cann-bench fills tensors with random numbers of a range, so each case is a call: shapes, dtype and
attributes. Its reference, `golden.py`, calls `suanzi.truth.NAME`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping
from typing import Any

from suanzi.validate.judge.exports.model import Exported, Files, Task

COLUMNS = ("operator", "case_id", "input_shape", "dtype", "attrs", "value_range", "note")
_CATEGORIES = {
    "elementwise": "Elementwise", "along": "Reduction", "reduction": "Reduction",
    "matrix": "Contraction",
}  # fmt: skip
_LEVELS = {"elementwise": 1, "along": 2, "reduction": 2, "copy": 2, "matrix": 3, "transform": 3}
_TYPES = {bool: "bool", int: "int", float: "float", str: "str"}


def files(task: Task) -> Files:
    """Return the files by their names."""
    level = 4 if "attention" in task.name else _LEVELS.get(task.facts.form, 2)
    cases = [_case(task, i + 1, one) for i, one in enumerate(_random(task))]
    at, golden = f"level{level}/{task.name}", _golden(task)
    made = {
        f"{at}/proto.yaml": _proto(task, level),
        f"{at}/golden.py": golden,
        f"{at}/desc.md": _description(task, level, golden),
        f"{at}/cases.yaml": _yaml_cases(cases),
        f"{at}/cases.csv": _csv_cases(cases),
    }
    return Files(made, len(cases))


def _random(task: Task) -> list[Exported]:
    """Return one case of each call: those with random numbers, whatever their other contents."""
    found: dict[str, Exported] = {}
    for one in task.cases:
        shapes = {n: x.shape for n, x in one.tensors.items()}
        found.setdefault(f"{one.case.dtype} {shapes} {one.attributes}", one)
    return list(found.values())


def _case(task: Task, number: int, one: Exported) -> dict[str, Any]:
    given = [one.tensors.get(name) for name in task.operands]
    ranges = [one.ranges.get(name, (0.0, 0.0)) for name in task.operands]
    return {
        "operator": task.class_name,
        "case_id": number,
        "input_shape": [None if x is None else list(x.shape) for x in given],
        "dtype": [None if x is None else x.dtype.name for x in given],
        "attrs": one.attributes,
        "value_range": [list(pair) for pair in ranges],
        "note": one.case.id,
    }


# ---- cases ---------------------------------------------------------------------------------------


def _yaml_cases(cases: list[dict[str, Any]]) -> str:
    lines = ["cases:"]
    for case in cases:
        for i, (key, value) in enumerate(case.items()):
            lines.append(f"{'- ' if i == 0 else '  '}{key}: {_yaml(value)}")
    return "\n".join(lines) + "\n"


def _csv_cases(cases: list[dict[str, Any]]) -> str:
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for case in cases:
        plain = ("operator", "case_id", "note")
        table.writerow({k: v if k in plain else json.dumps(v) for k, v in case.items()})
    return text.getvalue()


def _yaml(x: Any) -> str:
    """Return a value in a line of YAML."""
    if isinstance(x, Mapping):
        return "{" + ", ".join(f"{key}: {_yaml(value)}" for key, value in x.items()) + "}"
    if isinstance(x, list | tuple):
        return "[" + ", ".join(map(_yaml, x)) + "]"
    if isinstance(x, float) and not math.isfinite(x):
        return ".nan" if math.isnan(x) else ".inf" if x > 0 else "-.inf"
    if isinstance(x, float):
        mantissa, mark, exponent = repr(x).partition("e")
        # YAML 1.1 reads 1e-05 as text: a number with an exponent has a point.
        return repr(x) if not mark or "." in mantissa else f"{mantissa}.0e{exponent}"
    return json.dumps(x)


# ---- the operator --------------------------------------------------------------------------------


def _attribute_type(task: Task, name: str) -> str:
    values = [task.signature[name].default, *(one.attributes.get(name) for one in task.cases)]
    for x in values:
        if isinstance(x, list | tuple):
            floats = any(isinstance(n, float) for n in x)
            return "ListFloat" if floats else "ListInt"
        if type(x) in _TYPES:
            return _TYPES[type(x)]
    return "float"


def _default(task: Task, name: str) -> Any:
    default = task.signature[name].default
    return default if default is None or isinstance(default, bool | int | float | str) else None


def _schema(task: Task) -> str:
    parts = [f"Tensor {name}" for name in task.operands]
    for name in task.attributes:
        kind = {"ListInt": "int[]", "ListFloat": "float[]"}.get(
            known := _attribute_type(task, name), known
        )
        required = task.signature[name].default is task.signature[name].empty
        parts.append(f"{kind} {name}" + ("" if required else f"={_default(task, name)}"))
    made = ", ".join(f"Tensor {name}" for name in task.facts.outputs)
    made = made if len(task.facts.outputs) == 1 else f"({made})"
    return f"{task.name}({', '.join(parts)}) -> {made}"


def _proto(task: Task, level: int) -> str:
    lines = [
        "operator:",
        f"  name: {task.class_name}",
        f"  category: {_CATEGORIES.get(task.facts.form, 'Transform')}",
        f"  difficulty: L{level}",
        f"  formula: {_yaml(task.formula)}",
        f"  description: {_yaml(task.description)}",
        f"  shape_support: {_yaml('as in cases.yaml')}",
        f"  attrs:{'' if task.attributes else ' []'}",
    ]
    for name in task.attributes:
        required = task.signature[name].default is task.signature[name].empty
        lines += [f"  - name: {name}", f"    type: {_attribute_type(task, name)}"]
        lines += [] if required else [f"    default: {_yaml(_default(task, name))}"]
        lines += [f"    description: {_yaml(name)}", f"    required: {_yaml(required)}"]
    first = task.cases[0]
    for kind, names in (("inputs", task.operands), ("outputs", list(task.facts.outputs))):
        lines.append(f"  {kind}:")
        for i, name in enumerate(names):
            x = first.tensors.get(name) if kind == "inputs" else first.answers[i]
            fixed = x is not None and x.dtype.name != first.case.dtype
            dtypes = [x.dtype.name] if fixed and x is not None else task.dtypes
            lines += [f"  - name: {name}", f"    description: {_yaml(name)}", "    dtype:"]
            lines += [f"    - {dtype}" for dtype in dtypes]
    return "\n".join([*lines, f"  schema: {_yaml(_schema(task))}"]) + "\n"


def _parameters(task: Task) -> str:
    """Return the parameters of the function: tensors first, as cann-bench passes them."""
    parts = []
    for name in (*task.operands, *task.attributes):
        default = task.signature[name].default
        is_optional = default is not task.signature[name].empty
        parts.append(f"{name}={_default(task, name)!r}" if is_optional else name)
    return ", ".join(sorted(parts, key=lambda part: "=" in part))


def _golden(task: Task) -> str:
    names = [*task.operands, *task.attributes]
    passed = ", ".join(f"{name}={name}" for name in names)
    first = task.operands[0]
    return f'''import torch

import suanzi.truth

"""
{task.class_name}: {task.description}

{task.formula}

The answer is exact, and rounded once to the dtype of the inputs.
"""


def {task.name}({_parameters(task)}):
    """{task.formula}"""
    made = suanzi.truth.{task.name}({passed})
    several = made if isinstance(made, tuple) else (made,)
    found = tuple(_tensor(one, {first}) for one in several)
    return found if isinstance(made, tuple) else found[0]


def _tensor(x, like):
    if x.dtype.kind in "biu":
        return torch.from_numpy(x)
    return torch.from_numpy(x.astype("float64")).to(like.dtype)
'''


def _description(task: Task, level: int, golden: str) -> str:
    rows = [f"| {name} | Tensor | required |" for name in task.operands]
    rows += [
        f"| {name} | {_attribute_type(task, name)} | {_default(task, name)} |"
        for name in task.attributes
    ]
    dtypes = "\n".join(f"| {dtype} | {dtype} |" for dtype in task.dtypes)
    call = ", ".join([*task.operands, *(f"{n}={n}" for n in task.attributes)])
    return f"""# {task.class_name}

## 1. Summary

{task.description}

- Level: L{level} ({_CATEGORIES.get(task.facts.form, "Transform")})

## 2. Definition

{task.formula}

## 3. Interface

```python
cann_bench.{_schema(task)}
```

| parameter | type | default |
|---|---|---|
{chr(10).join(rows)}

| dtype of the input | dtype of the output |
|---|---|
{dtypes}

## 4. Reference

```python
{golden}```

## 5. Example

```python
import cann_bench

y = cann_bench.{task.name}({call})
```
"""
