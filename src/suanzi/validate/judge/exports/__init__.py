"""The judge's cases in the formats of other test kits: CANN's TTK and cann-bench.

Each format is a file here, written from the kit's public documentation;
docs/en/guides/kernels/export.md says which version was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

import suanzi.truth as truth
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.conformance.model.case import Case
from suanzi.conformance.model.numbers import FORMATS as REALS
from suanzi.conformance.subjects.wire import Data
from suanzi.standard import record
from suanzi.truth import definitions
from suanzi.validate.judge.arguments import (
    defaults_of,
    dtype_names,
    operator_key,
    params_of,
    shapes_of,
)
from suanzi.validate.judge.cases import chosen, unnoticed
from suanzi.validate.judge.exports import cann_bench, ttk
from suanzi.validate.judge.exports.model import Exported, Files, Task
from suanzi.validate.judge.filling import dtype_of

FORMATS: Mapping[str, Callable[[Task], Files]] = {
    "ttk": ttk.files, "cann-bench": cann_bench.files,
}  # fmt: skip


@dataclass(frozen=True)
class Written:
    """What was written."""

    folder: Path
    files: tuple[str, ...]
    cases: int

    def __str__(self) -> str:
        return f"{self.cases} cases in {len(self.files)} files, written to {self.folder}"


def export(
    kind: str,
    folder: str | PathLike[str],
    op: str,
    *,
    dtypes: Sequence[Any] | str | None = None,
    shapes: Sequence[Any] | None = None,
    params: Mapping[str, Any] | None = None,
) -> Written:
    """Write the cases of an operator in the format of another kit.

    Only cases that can fail are written, as for the judge. Answers are those of `suanzi.truth`,
    correctly rounded.
    """
    if kind not in FORMATS:
        raise InvalidArgument(
            f"judge: {kind!r} is not a format; --export takes {' or '.join(FORMATS)}."
            + nearest(kind, FORMATS)
        )
    key = operator_key(op)
    names = [name for name in dtype_names(dtypes, key) if name in REALS]
    if not names:
        raise InvalidArgument(
            f"judge: --export writes cases of {', '.join(REALS)}; {op} has none of them."
        )
    sizes, fixed = shapes_of(key, shapes), params_of(key, params)
    root = Path(fspath(folder))
    with _writing(root):
        root.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=root).close()
    made = FORMATS[kind](_task(key, names, sizes, fixed))
    there = [name for name in made.files if (root / name).exists()]
    if there:
        raise InvalidArgument(
            f"judge: --export: {str(root / there[0])!r} exists already; remove it, or give another "
            "folder."
        )
    with _writing(root):
        for name, content in made.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Written(root, tuple(made.files), made.cases)


@contextmanager
def _writing(root: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InvalidArgument(
            f"judge: --export cannot write to {str(root)!r}: {error.strerror or error}. "
            "Give a folder that can be written to."
        ) from None


def _task(
    key: str, dtypes: Sequence[str], shapes: Sequence[Any] | None, params: Mapping[str, Any]
) -> Task:
    facts = None if key.startswith("own:") else record(key)
    if key not in definitions() or facts is None:
        raise InvalidArgument(
            f"judge: --export needs suanzi.truth.{key.rpartition(':')[2]}, which does not exist; "
            "the operators of the catalogue nn have one (`suanzi ops --catalogue nn`)."
        )
    found: dict[str, Exported] = {}
    for trial in chosen(key, dtypes, shapes, None, params):
        try:
            expected = trial.expect() if _is_dense(trial.case) else None
        except (ValueError, IndexError, ArithmeticError):  # a size that the operator does not take
            continue
        if not isinstance(expected, list) or trial.case.id in found:
            continue
        if expected and unnoticed(trial.case, expected) is None:
            found[trial.case.id] = _exported(facts.name, trial.case)
    if not found:
        raise InvalidArgument(
            f"judge: no case of {facts.name} fits; check --dtype, --shape and --param."
        )
    return Task(facts, list(found.values()))


def _is_dense(case: Case) -> bool:
    return not any(isinstance(x, list) and x and isinstance(x[0], Data)
                   for x in case.arguments.values())  # fmt: skip


def _exported(name: str, case: Case) -> Exported:
    given = {n: _array(x) if isinstance(x, Data) else x for n, x in case.arguments.items()}
    defaults = {n: x for n, x in defaults_of(case.op).items() if x is not None}
    arguments = {**defaults, **given}
    made = getattr(truth, name)(**arguments)
    return Exported(case, arguments, made if isinstance(made, tuple) else (made,))


def _array(x: Data) -> NDArray[Any]:
    return np.frombuffer(x.raw, dtype_of(x.dtype)).reshape(x.shape)
