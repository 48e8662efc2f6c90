"""Judge a framework's own operators on a CPU; results go to results/judge-jax.json or -torch.json.

    python benchmarks/judge_frameworks.py jax --python ~/envs/jax/bin/python
    python benchmarks/judge_frameworks.py jax --table          # the file as a table

The functions of judge_jax_kernels.py and of tests/validate/judge/torch_kernels.py have the names of
operators. `--backward` judges gradients too; those that are judged have "gradient" in their names.
"""

from __future__ import annotations

import argparse
import ast
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import records

HERE = Path(__file__).parent
FILES = {
    "jax": HERE / "judge_jax_kernels.py",
    "torch": HERE.parent / "tests" / "validate" / "judge" / "torch_kernels.py",
}


def names_of(file: Path) -> list[str]:
    """Return the operators of a file of kernels: its functions, and those that its tables name."""
    found = []
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            found.append(node.name)
        if isinstance(node, ast.For):
            found += [str(n.value) for n in ast.walk(node.iter) if isinstance(n, ast.Constant)]
    return found


def judge_one(framework: str, name: str, python: str, seconds: float, backward: bool) -> Any:
    """Return what the verdict on an operator is, as the results have it."""
    from suanzi.validate.judge.arguments import request
    from suanzi.validate.judge.child import judge_in_child, kernel_backend

    of = kernel_backend(f"{FILES[framework]}::{name}", framework=framework, python=python)
    wanted = request(name, backward=backward)
    found = judge_in_child(of, name, wanted, timeout=60, seconds=seconds)
    dtypes: dict[str, list[int]] = {}
    for case in found.cases:
        if case.outcome in ("right", "wrong"):
            counted = dtypes.setdefault(case.id.split("/")[2], [0, 0])
            counted[0] += case.outcome == "right"
            counted[1] += 1
    codes = [(*found.findings, *found.notes)]
    return {
        "operator": found.operator, "answer": found.answer,
        "cases": {dtype: f"{good} of {count}" for dtype, (good, count) in dtypes.items()},
        "findings": [{"code": f.code, "words": f.words[:400], "case": f.case} for f in codes[0]],
        "script": found.script if len(found.script) < 3000 else "",
    }  # fmt: skip


def machine(framework: str, python: str) -> dict[str, str]:
    """Return what runs the operators."""
    code = f"import {framework}; print({framework}.__version__)"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    cpu = next((x.partition(": ")[2] for x in lines if x.startswith("model name")), "")
    return {framework: done.stdout.strip(), "cpu": cpu or platform.machine()}


def table(results: dict[str, Any]) -> str:
    """Return what is not right as a table in Markdown."""
    lines = ["| operator | cases | findings |", "|---|---|---|"]
    for name, one in results["operators"].items():
        if one["answer"] == "right":
            continue
        cases = ", ".join(f"{dtype} {count}" for dtype, count in one.get("cases", {}).items())
        words = "; ".join(f"{f['code']} {f['words']}" for f in one.get("findings", ()))
        lines.append(f"| {name} | {cases} | {(words or one.get('error', ''))[:400]} |")
    return "\n".join(lines)


def main() -> None:
    """Judge operators."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("framework", choices=FILES)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", nargs="*", default=None, help="names of operators")
    parser.add_argument("--seconds", type=float, default=10.0, help="for the cases of an operator")
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--table", action="store_true")
    arguments = parser.parse_args()
    path = records.HOME / f"judge-{arguments.framework}.json"
    results: dict[str, Any] = {"operators": {}}
    if path.is_file():
        results = records.read(path)
    if arguments.table:
        print(table(results))
        return
    from suanzi.base.status import StatusError

    results["machine"] = machine(arguments.framework, arguments.python)
    for name in arguments.only or names_of(FILES[arguments.framework]):
        shown = name + " gradient" * arguments.backward
        try:
            found = judge_one(
                arguments.framework, name, arguments.python, arguments.seconds, arguments.backward
            )
        except StatusError as error:
            found = {"operator": name, "answer": "not judged", "error": str(error)}
        results["operators"][shown] = found
        records.write(path, results)
        print(
            f"{shown}: {found['answer']} {found.get('cases') or found.get('error', '')}", flush=True
        )


if __name__ == "__main__":
    main()
