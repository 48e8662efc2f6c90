"""Cases for CANN's operator test kit (TTK): a table, a TestSpec, and data that it replays.

The table is that of `ttk kernel`. The TestSpec names `suanzi.truth.NAME` as the truth, so that any
inputs of TTK have an exact answer; `data` has the judge's own inputs and answers, bit for bit, in
the layout of `--manual-data-dirs`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from suanzi.validate.judge.exports.model import Array, Exported, Files, Task

COLUMNS = (
    "testcase_name", "op_name", "input_shapes", "input_dtypes", "output_shapes", "output_dtypes",
    "attributes", "input_data_ranges", "remark",
)  # fmt: skip
_LONGEST = 120
"""Characters of a name that TTK uses for a folder as it is."""


def files(task: Task) -> Files:
    """Return the files by their names."""
    named = _named(task)
    made: dict[str, str | bytes] = {
        f"{task.name}.csv": _table(task, named),
        f"{task.name}_spec.py": _spec(task),
    }
    for name, one in named.items():
        for i, slot in enumerate(task.operands):
            made |= {f"data/{name}/{k}": v for k, v in _input(i, one.tensors.get(slot)).items()}
        for i, answer in enumerate(one.answers):
            file = f"golden_{i}_{answer.dtype.name}__shape_{_token(answer.shape)}.bin"
            made[f"data/{name}/{file}"] = answer.tobytes()
    return Files(made, len(named))


def _named(task: Task) -> dict[str, Exported]:
    """Return the cases by names of letters, digits, `_`, `.` and `-`, each once."""
    found: dict[str, Exported] = {}
    for one in task.cases:
        words = re.sub(r"[^A-Za-z0-9.-]+", "_", one.case.id.partition(":")[2])
        name = words.replace("_-", "_").strip("._")[:_LONGEST].rstrip("._")
        if name in found:
            name = f"{name[: _LONGEST - 6]}_{len(found)}"
        found[name] = one
    return found


def _table(task: Task, named: Mapping[str, Exported]) -> str:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for name, one in named.items():
        given = [one.tensors.get(slot) for slot in task.operands]
        ranges = [one.ranges.get(slot, (None, None)) for slot in task.operands]
        table.writerow([
            name, task.name, _tuple(x if x is None else x.shape for x in given),
            _tuple(x if x is None else x.dtype.name for x in given),
            _tuple(x.shape for x in one.answers), _tuple(x.dtype.name for x in one.answers),
            repr(one.attributes), _tuple(ranges), one.case.id,
        ])  # fmt: skip
    return text.getvalue()


def _tuple(parts: Any) -> str:
    return repr(tuple(parts))


def _token(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "scalar"


def _input(index: int, x: Array | None) -> dict[str, bytes]:
    if x is None:
        return {f"input_{index}_none.bin": b""}
    return {f"input_{index}_{x.dtype.name}.bin": x.tobytes()}


def _spec(task: Task) -> str:
    name = f"{task.class_name}TestSpec"
    return (
        f'"""{task.name}: the exact answer, correctly rounded, as the truth; needs suanzi."""\n\n'
        f'__spec__ = {{"{task.name}": "{name}"}}\n\n\n'
        f"class {name}:\n"
        f'    """{task.formula}"""\n\n'
        f'    golden = "suanzi.truth.{task.name}"\n'
    )
