"""Operators on a GPU against PyTorch (eager and compiled), CuPy and JAX, all in one run.

    python benchmarks/accelerators.py --out accelerators.json      # cuda, 64M elements

Each row is one operator: the bytes that it must read and write, by the time of the fastest of
several runs, in TB/s; a copy of PyTorch is the bound. Calls of 10 elements are timed without
waiting, in microseconds. What a library lacks is left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from typing import Any

import torch

import suanzi as sz
from suanzi import nn
from suanzi.torch.provider import register
from suanzi.torch.tensor import from_torch

Make = Callable[[], Any]


def timed(call: Make, wait: Callable[[Any], None], runs: int) -> float:
    """Return the seconds of the fastest run, each waited for."""
    for _ in range(3):
        wait(call())
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        wait(call())
        best = min(best, time.perf_counter() - start)
    return best


def overhead(call: Make, wait: Callable[[Any], None], runs: int) -> float:
    """Return the seconds of a call that nothing waits for."""
    for _ in range(10):
        wait(call())
    start = time.perf_counter()
    for _ in range(runs):
        made = call()
    spent = (time.perf_counter() - start) / runs
    wait(made)
    return spent


def rows(n: int, device: str) -> dict[str, tuple[list[torch.Tensor], int, dict[str, Any]]]:
    """Return for each row the operands, the bytes that move, and the call in each library."""
    make = torch.Generator(device).manual_seed(1)

    def normal(dtype: torch.dtype, *shape: int) -> torch.Tensor:
        return torch.randn(shape or (n,), generator=make, device=device).to(dtype)

    f32, f16, bf16, i8, i32 = torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.int32
    wide, side = 4096, 4096 if n >= 1 << 24 else 256
    pair = {"suanzi": sz.add, **dict.fromkeys(("torch", "cupy", "jax"), lambda x, y: x + y)}
    found: dict[str, tuple[list[torch.Tensor], int, dict[str, Any]]] = {}
    for a, b, c in ((f32, f32, 4), (bf16, bf16, 2), (i8, f16, 2), (f16, bf16, 4), (i32, f32, 4)):
        name = f"add {str(a)[6:]} + {str(b)[6:]}"
        found[name] = ([normal(a), normal(b)], n * (a.itemsize + b.itemsize + c), pair)
    for name, dtype in (("exp", f32), ("sqrt", f32), ("exp", bf16), ("tanh", f16), ("tan", f32)):
        found[f"{name} {str(dtype)[6:]}"] = (
            [normal(dtype).abs()],
            2 * dtype.itemsize * n,
            {
                "suanzi": getattr(sz, name),
                "torch": getattr(torch, name),
                "cupy": lambda x, name=name: _cupy(name)(x),
                "jax": lambda x, name=name: _jax(name)(x),
            },
        )
    names = {"pow": ("pow", "power"), "less": ("less", "less"), "mod": ("remainder", "remainder")}
    for name, (own, peers) in names.items():
        found[f"{name} float32"] = (
            [normal(f32).abs(), normal(f32)],
            (9 if name == "less" else 12) * n,
            {
                "suanzi": getattr(sz, name),
                "torch": getattr(torch, own),
                "cupy": lambda x, y, name=peers: _cupy(name)(x, y),
                "jax": lambda x, y, name=peers: _jax(name)(x, y),
            },
        )
    whole = normal(f32, n // wide, wide)
    found["add a row float32"] = ([whole, normal(f32, wide)], 8 * n, pair)
    if n == wide * wide * 4:
        whole = whole.reshape(2 * wide, 2 * wide)
        found["add transposed float32"] = ([whole, whole.T], 12 * n, pair)
    for dtype in (f32, bf16):
        x, size = normal(dtype, n // wide, wide), 2 * n * dtype.itemsize
        kind = str(dtype)[6:]
        found[f"softmax {kind}"] = (
            [x],
            size,
            {
                "suanzi": nn.softmax,
                "torch": lambda x: torch.softmax(x, -1),
                "jax": lambda x: __import__("jax").nn.softmax(x),
            },
        )
        found[f"layer_norm {kind}"] = (
            [x],
            size,
            {
                "suanzi": lambda x: nn.layer_norm(x, wide),
                "torch": lambda x: torch.nn.functional.layer_norm(x, (wide,)),
            },
        )
        found[f"sum along 0 {kind}"] = (
            [x],
            n * dtype.itemsize,
            {
                "suanzi": lambda x: sz.reduce(x, "SUM", 0),
                "torch": lambda x: x.sum(0),
                "cupy": lambda x: x.sum(0),
                "jax": lambda x: x.sum(0),
            },
        )
        found[f"cumsum {kind}"] = (
            [x],
            size,
            {
                "suanzi": lambda x: sz.cumsum(x, 1),
                "torch": lambda x: torch.cumsum(x, 1),
                "cupy": lambda x: x.cumsum(1),
                "jax": lambda x: x.cumsum(1),
            },
        )
    square = [normal(bf16, side, side) for _ in range(2)]
    found[f"matmul bfloat16 {side}"] = (
        square,
        3 * 2 * side**2,
        {"suanzi": sz.matmul, "torch": torch.matmul, "jax": lambda x, y: x @ y},
    )
    return found  # fmt: skip


def _cupy(name: str) -> Any:
    return getattr(__import__("cupy"), name)


def _jax(name: str) -> Any:
    return getattr(__import__("jax").numpy, name)


def libraries(device: str) -> dict[str, tuple[Callable[..., Any], Callable[[Any], None], Any]]:
    """Return for each library how operands come to it, how it waits, and how calls are compiled."""

    def wait(_: Any) -> None:
        torch.accelerator.synchronize() if device != "cpu" else None

    found: dict[str, Any] = {
        "suanzi": (from_torch, wait, None),
        "torch": (lambda x: x, wait, None),
        "torch.compile": (lambda x: x, wait, torch.compile),
    }
    try:
        import cupy

        found["cupy"] = (cupy.from_dlpack, lambda _: cupy.cuda.Device().synchronize(), None)
    except ImportError:
        pass
    try:
        import jax

        found["jax"] = (jax.dlpack.from_dlpack, lambda x: x.block_until_ready(), jax.jit)
    except ImportError:
        pass
    return found


def measure(n: int, device: str, runs: int, asked: str, limit: float) -> dict[str, Any]:
    """Return the table: rows by name, each with the results of the libraries.

    After `limit` seconds nothing more is compiled by torch.compile.
    """
    end = time.monotonic() + limit
    known = {k: one for k, one in libraries(device).items() if not asked or k in asked.split(",")}
    source = torch.randn(n, device=device)
    wait = libraries(device)["torch"][1]
    table: dict[str, Any] = {"copy": {"torch": 8 * n / timed(source.clone, wait, runs) / 1e12}}
    for name, (operands, size, calls) in rows(n, device).items():
        table[name] = {}
        for library, (take, waits, compiled) in known.items():
            call = calls.get(library.partition(".")[0])
            if call is None or (compiled is torch.compile and time.monotonic() > end):
                continue
            try:
                given = [take(x) for x in operands]
                ready = compiled(call) if compiled else call
                made = timed(lambda: ready(*given), waits, runs)  # noqa: B023
                table[name][library] = size / made / 1e12
            except Exception as error:
                table[name][library] = f"{type(error).__name__}: {str(error)[:80]}"
    few = [torch.ones(10, device=device) for _ in range(2)]
    table["call of 10 elements, us"] = {
        library: 1e6 * overhead(lambda: calls(*given), waits, 2000)  # noqa: B023
        for library, (take, waits, _) in known.items() if library != "torch.compile"
        for given in [[take(x) for x in few]]
        for calls in [sz.add if library == "suanzi" else lambda x, y: x + y]
    }  # fmt: skip
    return table


def described(device: str) -> str:
    """Return device, driver and versions."""
    facts = [f"PyTorch {torch.__version__}", f"Python {platform.python_version()}"]
    if device.startswith("cuda"):
        facts.insert(0, f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}")
        try:
            with open("/proc/driver/nvidia/version") as file:
                facts.insert(1, "driver " + file.readline().split("  ")[1].split()[0])
        except (OSError, IndexError):
            pass
    for name in ("triton", "cupy", "jax"):
        try:
            facts.append(f"{name} {__import__(name).__version__}")
        except ImportError:
            continue
    return ", ".join(facts)


def main() -> None:
    """Print the table in Markdown, and write it as JSON."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--device", default="cuda")
    asked.add_argument("--elements", type=int, default=1 << 26)
    asked.add_argument("--runs", type=int, default=10)
    asked.add_argument("--libraries", default="", help="suanzi,torch,torch.compile,cupy,jax")
    asked.add_argument("--compile-seconds", type=float, default=600)
    asked.add_argument("--out")
    options = asked.parse_args()
    register()
    table = measure(options.elements, options.device, options.runs, options.libraries,
                    options.compile_seconds)  # fmt: skip
    names = list(libraries(options.device))
    print(described(options.device))
    print(f"| {options.elements} elements | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for name, found in table.items():
        cells = [found.get(one, "") for one in names]
        shown = [f"{x:.2f}" if isinstance(x, float) else x for x in cells]
        print(f"| {name} | " + " | ".join(shown) + " |")
    if options.out:
        with open(options.out, "w") as file:
            json.dump({"machine": described(options.device), "table": table}, file, indent=1)


if __name__ == "__main__":
    main()
