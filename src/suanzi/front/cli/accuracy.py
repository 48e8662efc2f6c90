"""The command ``accuracy``: how accurate are the functions of a backend?"""

from __future__ import annotations

import sys

from suanzi.base.files import write_file
from suanzi.front.cli.typed import Flag, Html, JsonFile, Python, Words


def accuracy(
    *,
    backend: str = "suanzi",
    op: Words = None,
    dtype: Words = None,
    exhaustive: Flag = False,
    device: str | None = None,
    level: str | None = None,
    rounding: str | None = None,
    python: Python = None,
    jobs: int | None = None,
    seed: int = 0,
    timeout: float = 120.0,
    resume: str | None = None,
    shard: str | None = None,
    cluster: str | None = None,
    html: Html = None,
    json: JsonFile = None,
) -> int:
    """Measure how accurate the functions of a backend are, in units of the last place (ULP).

    Every argument of float8, float16 and bfloat16 is tried. Of float32, all 2^32 with
    `--exhaustive`, else a search: all exponents, the neighbours of hard points, and those of the
    worst that was found. Functions of two numbers, reductions, softmax and norms are measured by
    samples. Results are compared with float64, and what that decides narrowly with mpmath. A result
    up to 0.5 ULP off is correctly rounded.

    ```
    suanzi accuracy
    suanzi accuracy --backend torch --python ~/envs/torch/bin/python --op exp,sin --dtype f16,bf16
    suanzi accuracy --backend torch --device cuda --op exp --dtype f32 --exhaustive
    suanzi accuracy --dtype f32 --exhaustive --resume f32.state --html f32.html
    suanzi accuracy --dtype f32 --exhaustive --shard 2/5 --json f32-2.json
    suanzi accuracy --level baseline --dtype f32 --json baseline.json
    suanzi accuracy --rounding correct --op exp,pow --dtype f32 --exhaustive
    suanzi compare baseline.json avx512.json
    ```

    Parameters
    ----------
    backend
        What is measured: suanzi, numpy, torch, jax, paddle, mindspore, openvino, a C library or
        a Python class (`package.module:Adapter`).
    op
        Only these functions, with commas, or repeated.
    dtype
        Only these dtypes; f16, bf16 and f32 by default.
    exhaustive
        All 2^32 arguments of float32; on a device, errors are computed there.
    device
        Where tensors are: `cuda`, `cuda:1`, `npu` and so on for torch, `cuda` for jax.
    level
        The instruction set of suanzi's own kernels: baseline, avx2, avx512, neon.
    rounding
        How suanzi rounds functions of float32: `default` or `correct`.
    jobs
        How many processes; one for each core by default.
    seed
        Of the search and of the samples.
    timeout
        Seconds after which a call counts as hung.
    resume
        Write what is measured to this file, and continue from it if it exists.
    shard
        Measure one part of several: `2/5` is the second of five. `suanzi merge` joins their
        reports.
    cluster
        Run on Dask: the address of a scheduler (`tcp://host:8786`), or `local:4` for four processes
        of this machine. Needs `suanzi[cluster]`.
    """
    from suanzi.front.cli import render
    from suanzi.front.cli.outputs import check_paths, one_json
    from suanzi.validate.accuracy import accuracy as measured

    file = one_json("accuracy", json)
    check_paths("accuracy", [("--html", html), ("--json", file)])
    with render.counting() as count:
        found = measured(
            backend, functions=_split(op), dtypes=_split(dtype), exhaustive=exhaustive,
            device=device, level=level, rounding=rounding, python=python, jobs=jobs, seed=seed,
            timeout=timeout, resume=resume, shard=shard, cluster=cluster, progress=count,
        )  # fmt: skip
    found.settings["command"] = " ".join(["suanzi", *sys.argv[1:]])
    if html is not None:
        write_file(html, found.to_html())
    if file is not None:
        write_file(file, found.to_json())
    if json == []:
        sys.stdout.write(found.to_json())
    else:
        print(found)
    return 0


def _split(words: Words) -> list[str]:
    return [one.strip() for word in words or () for one in word.split(",") if one.strip()]
