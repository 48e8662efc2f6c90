"""Judge Triton kernels of Liger-Kernel and FlagGems on a GPU; results go to
results/judge-triton.json.

    python benchmarks/judge_triton.py                    # what is not yet in the file
    python benchmarks/judge_triton.py --only liger_softmax --again
    python benchmarks/judge_triton.py --table            # the file as a table

Each kernel is judged in a process of its own, several at once. No more cases are put to a kernel
after `--seconds`; one that has not ended long after is ended. Kernels that tune themselves use
their smallest configuration. `--python` names the interpreter that has PyTorch, Triton and the
packages; it needs no suanzi. judge_triton_by_hand.py shows the same kernels without the judge.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).parents[1] / "tools"))
import records

HERE = Path(__file__).parent
KERNELS = HERE / "judge_triton_kernels.py"
RESULTS = records.HOME / "judge-triton.json"
ROWS = [(4, 7), (3, 129), (2, 1025)]
CLASSES = [(5, 7), (3, 1025)]


class Row(NamedTuple):
    """A kernel, and what it is judged as."""

    kernel: str
    op: str
    params: Mapping[str, Any] = MappingProxyType({})
    shapes: list[Any] | None = ROWS
    backward: bool = False

    @property
    def name(self) -> str:
        """The name in the results."""
        return self.kernel + "_gradient" * self.backward


_LIGER = [
    Row("liger_softmax", "softmax"),
    Row("liger_layer_norm", "layer_norm"),
    Row("liger_rms_norm", "rms_norm"),
    Row("liger_rms_norm_gemma", "rms_norm", {"offset": 1.0}),
    Row("liger_group_norm", "group_norm", shapes=None),
    Row("liger_swiglu", "swiglu"),
    Row("liger_geglu", "geglu", {"approximate": "tanh"}),
    Row("liger_relu_squared", "relu_squared"),
    Row("liger_cross_entropy", "cross_entropy", shapes=CLASSES),
    Row("liger_kl_div", "kl_div"),
    Row("liger_embedding", "embedding", shapes=None),
]
_GEMS = [
    Row("gems_softmax", "softmax"),
    Row("gems_log_softmax", "log_softmax"),
    Row("gems_layer_norm", "layer_norm"),
    Row("gems_rms_norm", "rms_norm"),
    Row("gems_group_norm", "group_norm", shapes=None),
    Row("gems_instance_norm", "instance_norm", shapes=None),
    Row("gems_gelu", "gelu"),
    Row("gems_gelu_tanh", "gelu", {"approximate": "tanh"}),
    *(Row(f"gems_{op}", op) for op in ("silu", "relu", "sigmoid", "log_sigmoid", "elu", "celu",
                                       "softplus", "erf", "hardsigmoid", "mse_loss")),
    Row("gems_glu", "glu", shapes=[(4, 8), (3, 130), (2, 1026)]),
    Row("gems_silu_and_mul", "swiglu"),
    Row("gems_gelu_and_mul", "geglu"),
    Row("gems_mm", "linear"),
    Row("gems_addmm", "linear"),
    Row("gems_attention", "scaled_dot_product_attention", shapes=[
        {"q": (1, 2, 9, 64), "k": (1, 2, 17, 64), "v": (1, 2, 17, 64)},
        {"q": (1, 2, 130, 64), "k": (1, 2, 130, 64), "v": (1, 2, 130, 64)},
    ]),
    Row("gems_cross_entropy", "cross_entropy", shapes=CLASSES),
    Row("gems_embedding", "embedding", shapes=None),
    Row("gems_conv1d", "conv1d", shapes=None),
    Row("gems_conv2d", "conv2d", shapes=None),
    Row("gems_pixel_unshuffle", "pixel_unshuffle", shapes=None),
    *(Row(f"gems_{op}", op, shapes=None) for op in ("add", "mul", "exp", "tanh", "rsqrt")),
]  # fmt: skip
_WITH_GRADIENTS = (
    "softmax", "layer_norm", "rms_norm", "group_norm", "swiglu", "geglu", "relu_squared",
    "cross_entropy",
)  # fmt: skip
EVERY = [
    *_LIGER,
    *(row._replace(backward=True) for row in _LIGER
      if row.kernel.removeprefix("liger_") in _WITH_GRADIENTS),
    *_GEMS,
    *(Row(f"gems_{name}", op, backward=True)
      for name, op in (("silu_and_mul", "swiglu"), ("rms_norm", "rms_norm"))),
    Row("torch_softmax", "softmax"),
]  # fmt: skip


def judge_one(row: Row, python: str, device: str, seconds: float) -> dict[str, Any]:
    """Return what the verdict on a kernel is, as the results have it."""
    from suanzi.conformance.running.process import Backend, Subject
    from suanzi.validate.judge.arguments import gradients_of, operator_key
    from suanzi.validate.judge.child import COMPILING
    from suanzi.validate.judge.engine import judge_with

    options: dict[str, Any] = {
        "file": str(KERNELS), "function": row.kernel, "framework": "torch", "device": device,
    }  # fmt: skip
    if row.backward:
        options["gradients"] = gradients_of(operator_key(row.op))
    backend = Backend(row.kernel, "kernel_adapter:Adapter", python, options)
    with Subject(backend, max(15.0, seconds), compiling=COMPILING) as asked:
        found = judge_with(
            asked, row.kernel, row.op, shapes=row.shapes, params=row.params,
            backward=row.backward, seconds=seconds,
        )  # fmt: skip
    said = json.loads(found.to_json())
    judged = [c for c in said["cases"] if c["outcome"] in ("right", "wrong")]
    dtypes: dict[str, list[int]] = {}
    for case in judged:
        counted = dtypes.setdefault(case["id"].split("/")[2], [0, 0])
        counted[0] += case["outcome"] == "right"
        counted[1] += 1
    missing = [f["words"] for f in said["findings"] if "ModuleNotFoundError" in f["words"]]
    if missing or not judged:
        words = missing[0] if missing else "no case fits the kernel"
        return {"operator": said["operator"], "right": None, "error": words}
    return {
        "operator": said["operator"],
        "right": {"right": True, "wrong": False}.get(said["answer"]),
        "cases": {dtype: f"{good} of {count}" for dtype, (good, count) in dtypes.items()},
        "findings": said["findings"],
        "script": said["script"] if len(said["script"]) < 4000 else "",
    }  # fmt: skip


def in_a_process(row: Row, arguments: argparse.Namespace) -> dict[str, Any]:
    """Judge a kernel in another process, and end it if it takes too long."""
    command = [
        sys.executable, __file__, "--one", row.name, "--python", arguments.python,
        "--device", arguments.device, "--seconds", str(arguments.seconds),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=5 * arguments.seconds + 30
        )
    except subprocess.TimeoutExpired:
        return {"operator": row.op, "right": None, "error": "it did not end in time"}
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        words = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        return {"operator": row.op, "right": None, "error": words[-500:]}
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def versions(python: str) -> dict[str, str]:
    """Return what runs the kernels."""
    code = (
        "import importlib.metadata as m, torch, json, platform\n"
        "names = ['torch', 'triton', 'liger_kernel', 'flag_gems']\n"
        "def of(n):\n"
        "    try: return m.version(n)\n"
        "    except m.PackageNotFoundError: return 'not installed'\n"
        "gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else 'none'\n"
        "print(json.dumps({**{n: of(n) for n in names}, 'gpu': gpu, "
        "'python': platform.python_version()}))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{python} cannot import PyTorch: {done.stderr.strip()[-300:]}")
    found: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def table(results: dict[str, Any]) -> str:
    """Return the results as a table in Markdown."""
    lines = ["| kernel | operator | verdict | cases | findings |", "|---|---|---|---|---|"]
    for name, one in results["kernels"].items():
        words = {True: "right", False: "wrong", None: "not judged"}[one["right"]]
        cases = ", ".join(f"{dtype} {count}" for dtype, count in one.get("cases", {}).items())
        found = [f["code"] + " " + f["words"] for f in one.get("findings", ())]
        said = "; ".join(found)[:300] or one.get("error", "")
        lines.append(f"| {name} | {one['operator']} | {words} | {cases} | {said} |")
    return "\n".join(lines)


def main() -> None:
    """Judge kernels."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", nargs="*", default=None, help="names of kernels")
    parser.add_argument("--again", action="store_true", help="also those that have a result")
    parser.add_argument("--seconds", type=float, default=20.0, help="for the cases of a kernel")
    parser.add_argument("--jobs", type=int, default=min(12, os.cpu_count() or 1))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = {row.name: row for row in EVERY}
    if arguments.one:
        row = rows[arguments.one]
        print(json.dumps(judge_one(row, arguments.python, arguments.device, arguments.seconds)))
        return
    results: dict[str, Any] = {"kernels": {}}
    if arguments.results.is_file():
        results = records.read(arguments.results)
    if arguments.table:
        print(table(results))
        return
    results["machine"] = {**versions(arguments.python), "cpu": platform.machine()}
    wanted = [
        row for name, row in rows.items()
        if (arguments.only is None or name in arguments.only)
        and (arguments.again or results["kernels"].get(name, {}).get("right") is None)
    ]  # fmt: skip
    with ThreadPoolExecutor(arguments.jobs) as pool:
        due = {pool.submit(in_a_process, row, arguments): row for row in wanted}
        for future, row in due.items():
            found = results["kernels"][row.name] = future.result()
            records.write(arguments.results, results)
            words = {True: "right", False: "WRONG", None: "not judged"}[found["right"]]
            print(f"{row.name}: {words} {found.get('cases') or found.get('error', '')}", flush=True)


if __name__ == "__main__":
    main()
