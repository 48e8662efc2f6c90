"""Fourteen outputs whose worth is known, and what every accuracy standard says of them.

    python benchmarks/judge_criteria.py                  # the table, made by running all of them
    python benchmarks/judge_criteria.py --write          # renew what the explorer shows as well,
                                                         # from which a page of docs/ is made

An output is written as a kernel would compute it, wrong ones with the mistake in their name. The
row `suanzi` accepts what is within the bound that follows from the operator's definition
(`suanzi.truth`) for float32 arithmetic, plus half an ULP of the output.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suanzi.base.text import columns
from suanzi.front.site import DATA
from suanzi.truth import definition
from suanzi.truth.tracked import Tracked, arithmetic, tracked
from suanzi.validate.criteria import accepts, every, holes
from suanzi.validate.criteria.formulas import EPSILON, Arithmetic, Operator, gelu_by_tanh
from suanzi.validate.criteria.formulas import OPERATORS as FORMULAS
from suanzi.validate.criteria.numbers import TF32, rounded, ulp

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import records

Reals = NDArray[np.float64]
FILE = DATA / "judge.json"
WIDE, FLOAT32 = Arithmetic(), Arithmetic("float32")


# ---- the problems -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """An operator with its inputs."""

    op: str
    dtype: str
    n: int
    """The length of the reduction."""
    inputs: tuple[Reals, ...]
    operator: Operator
    truth: Callable[..., Tracked]
    """The definition that brings the bound."""

    def compute(self, r: Arithmetic, *inputs: Reals) -> Reals:
        """Compute the operator and round to its dtype."""
        return rounded(self.operator.formula(r, *(inputs or self.inputs)), self.dtype)

    @cached_property
    def exact(self) -> Reals:
        """The answer in float64."""
        return self.operator.formula(WIDE, *self.inputs)

    @cached_property
    def right(self) -> Reals:
        """What a right kernel gives."""
        return self.compute(FLOAT32)

    @cached_property
    def more(self) -> dict[str, Any]:
        """What some standards need."""
        magnitude = None
        if self.op == "matmul":
            magnitude = np.abs(self.inputs[0]) @ np.abs(self.inputs[1])
        eager = self.compute(Arithmetic("float32", self.dtype))
        return {"op": self.op, "n": self.n, "eager": eager, "magnitude": magnitude}

    @cached_property
    def bound(self) -> tuple[Reals, Reals]:
        """The truth and how far a float32 computation may be off, and half an ULP."""
        with arithmetic("float32", exact=False):
            y = self.truth(*map(tracked, self.inputs))
        value, error = (x.astype(np.float64).reshape(self.exact.shape) for x in (y.value, y.error))
        return value, error + ulp(np.abs(value) + error, self.dtype) / 2


def _normal(seed: int, *shapes: tuple[int, ...], dtype: str = "bfloat16") -> tuple[Reals, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rounded(rng.standard_normal(shape), dtype) for shape in shapes)


def causal_attention(r: Arithmetic, q: Reals, k: Reals, v: Reals, missing: Any = ()) -> Reals:
    """Attention of the past alone; some rows may miss their own position."""
    scores = r.store(r(r.store(r.dot(q, k.T)) / math.sqrt(q.shape[-1])))
    seen = np.tri(len(q), dtype=bool)
    seen[list(missing), list(missing)] = False
    return r.dot(r.store(FORMULAS["softmax"].formula(r, np.where(seen, scores, -np.inf))), v)


def _product(x: Tracked, y: Tracked) -> Tracked:
    """The product of matrices, some rows at a time: it is a sum of all products."""
    parts = [x[i : i + 4] @ y for i in range(0, x.shape[0], 4)]
    return Tracked(np.vstack([p.value for p in parts]), np.vstack([p.error for p in parts]))


def _matrices(uniform: bool) -> tuple[Reals, Reals]:
    rng = np.random.default_rng(4)
    draw = rng.random if uniform else rng.standard_normal
    return rounded(draw((64, 4096)), "float32"), rounded(draw((4096, 64)), "float32")


def problems() -> dict[str, Problem]:
    """Return the problems by name."""
    softmax, rms_norm = definition("nn:softmax"), definition("nn:rms_norm")
    gelu, attention = definition("nn:gelu"), definition("nn:scaled_dot_product_attention")
    (wide,) = _normal(1, (256, 4096))
    (norm,) = _normal(2, (512, 1000))
    (flat,) = _normal(3, (256, 1024), dtype="float32")
    heads = _normal(5, (256, 64), (256, 64), (256, 64))
    causal = Operator(causal_attention, lambda n: ())
    return {
        "softmax": Problem("softmax", "bfloat16", 4096, (wide,), FORMULAS["softmax"], softmax),
        "mean": Problem(
            "mean", "bfloat16", 4096, (wide,), FORMULAS["mean"], lambda x: x.mean(-1)
        ),
        "rms_norm": Problem(
            "rms_norm", "bfloat16", 1000, (norm,), FORMULAS["rms_norm"],
            lambda x: rms_norm(x, 1000, eps=EPSILON),
        ),
        "gelu": Problem("gelu", "float32", 1, (flat,), FORMULAS["gelu"], gelu),
        "product": Problem(
            "matmul", "float32", 4096, _matrices(True), FORMULAS["matmul"], _product
        ),
        "normal product": Problem(
            "matmul", "float32", 4096, _matrices(False), FORMULAS["matmul"], _product
        ),
        "attention": Problem(
            "attention", "bfloat16", 256, heads, causal,
            lambda q, k, v: attention(q, k, v, causal=True),
        ),
    }  # fmt: skip


# ---- the outputs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Output:
    """What a kernel returned, and whether that is right."""

    name: str
    problem: Problem
    right: bool
    kernel: Callable[[], Reals]

    @cached_property
    def y(self) -> Reals:
        """The output, rounded to its dtype."""
        return rounded(self.kernel(), self.problem.dtype)


def _in_bfloat16(x: Reals) -> Reals:
    """rms_norm whose squares are added one by one in bfloat16."""
    r = Arithmetic("bfloat16")
    total = np.zeros(len(x))
    for column in r(x * x).T:
        total = r(total + column)
    return x / np.sqrt(total / x.shape[-1] + EPSILON)[:, None]


def _but(y: Reals, columns: slice, value: Any) -> Reals:
    changed = y.copy()
    changed[:, columns] = value
    return changed


def outputs() -> list[Output]:
    """Return the fourteen outputs; each is computed when it is first looked at."""
    p = problems()
    s, m, n, g, t, a = (
        p[name] for name in ("softmax", "mean", "rms_norm", "gelu", "product", "attention")
    )
    x, w = t.inputs
    last, first = slice(-9, None), slice(None, 9)

    def coarse(dtype: str) -> Reals:
        return t.compute(FLOAT32, rounded(x, dtype), rounded(w, dtype))

    wrong: list[tuple[str, Problem, Callable[[], Reals]]] = [
        ("softmax: zeros", s, lambda: 0 * s.right),
        ("softmax: 1/n everywhere", s, lambda: np.full_like(s.right, 1 / 4096)),
        ("softmax: the last 38 columns are not written", s,
         lambda: _but(s.right, slice(-38, None), 0)),
        ("mean of 4096, bfloat16: zeros", m, lambda: 0 * m.exact),
        ("rms_norm 512 x 1000, bfloat16: the last 9 columns are 0", n,
         lambda: _but(n.right, last, 0)),
        ("rms_norm: the last 9 columns are the first 9", n,
         lambda: _but(n.right, last, n.right[:, first])),
        ("rms_norm: squares summed in bfloat16", n, lambda: _in_bfloat16(n.inputs[0])),
        ("gelu, float32: by tanh instead of erf", g, lambda: gelu_by_tanh(g.inputs[0])),
        ("product, float32, k = 4096: operands in TF32", t, lambda: coarse(TF32)),
        ("product: operands in bfloat16", t, lambda: coarse("bfloat16")),
        ("product: the loop over k ends 16 early", t,
         lambda: t.compute(FLOAT32, x[:, :-16], w[:-16])),
        ("attention 256, bfloat16: two rows miss their diagonal", a,
         lambda: causal_attention(FLOAT32, *a.inputs, missing=(191, 255))),
    ]  # fmt: skip
    found = [Output(name, problem, False, kernel) for name, problem, kernel in wrong]
    normal = p["normal product"]
    found.insert(0, Output("softmax 256 x 4096, bfloat16", s, True, lambda: s.right))
    found.insert(
        12, Output("product of normal numbers by BLAS", normal, True, lambda: normal.right)
    )
    return found


def suanzi_accepts(output: Output) -> bool:
    """Return whether every element is within the derived bound."""
    value, allowed = output.problem.bound
    return bool((np.abs(output.y - value) <= allowed).all())


def table(cases: list[Output]) -> list[dict[str, Any]]:
    """Return a row for each standard: its verdicts, and how many are wrong."""
    rows = []
    for one in every():
        said = [
            accepts(one, c.y, c.problem.exact, dtype=c.problem.dtype, **c.problem.more).accepted
            for c in cases
        ]
        rows.append(_row(one.name, said, cases))
    rows.sort(key=lambda row: (row["mistakes"] / row["of"] if row["of"] else 1.0, row["name"]))
    return [_row("suanzi", [suanzi_accepts(c) for c in cases], cases), *rows]


def _row(name: str, said: list[bool | None], cases: list[Output]) -> dict[str, Any]:
    judged = [(v, c.right) for v, c in zip(said, cases, strict=True) if v is not None]
    return {
        "name": name,
        "said": said,
        "mistakes": sum(v != right for v, right in judged),
        "of": len(judged),
    }


# ---- what is written ----------------------------------------------------------------------------


def holes_of_softmax() -> dict[str, dict[str, list[str]]]:
    """Return from which n on each standard accepts wrong outputs of a softmax in bfloat16."""
    found = {}
    for one in every():
        seen = holes(one.name, "softmax", "bfloat16")
        if not seen.reason:
            rows: dict[str, list[str]] = {}
            for hole in (*seen.accepted, *seen.refused):
                rows.setdefault(hole.output, []).append(f"{_sizes(hole.text)} ({hole.data})")
            found[one.name] = rows
    return found


def _sizes(words: str) -> str:
    """Return the sizes of a hole alone: "from 98 on", "up to 733", "512 to 4,096"."""
    every_size = r"at every size where it is (wrong|right): "
    return re.sub(rf"passes |is refused |{every_size}|n = ", "", words)


def text(found: dict[str, Any]) -> str:
    """Return the outputs as a list, and the table."""
    cases, rows = found["outputs"], found["rows"]
    lines = [
        f"{i:2} {'right' if c['right'] else 'wrong'}: {c['name']}" for i, c in enumerate(cases, 1)
    ]
    head = ["", *map(str, range(1, len(cases) + 1)), "mistakes"]
    body = [
        [row["name"], *(_word(v, c["right"]) for v, c in zip(row["said"], cases, strict=True)),
         f"{row['mistakes']} of {row['of']}"]
        for row in rows
    ]  # fmt: skip
    return "\n".join([*lines, "", columns([head, *body])])


def _word(accepted: bool | None, right: bool) -> str:
    if accepted is None:
        return "-"
    return ("yes" if accepted else "no") + ("" if accepted == right else "!")


def run() -> dict[str, Any]:
    """Return the outputs and what every standard says of them."""
    cases = outputs()
    return {
        "outputs": [{"name": c.name, "right": c.right} for c in cases],
        "rows": table(cases),
    }


if __name__ == "__main__":
    results = run()
    if "--write" in sys.argv:
        results["softmax"] = holes_of_softmax()
        records.write(FILE, results)
    print(text(results))
