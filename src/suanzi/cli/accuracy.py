"""The command ``accuracy``: how accurate are the functions of a backend?"""

from __future__ import annotations

import sys

from suanzi._files import write_file
from suanzi.cli.typed import Flag, JsonFile, Python, Words


def accuracy(
    *,
    backend: str = "suanzi",
    op: Words = None,
    dtype: Words = None,
    exhaustive: Flag = False,
    device: str | None = None,
    level: str | None = None,
    python: Python = None,
    jobs: int | None = None,
    seed: int = 0,
    timeout: float = 120.0,
    json: JsonFile = None,
) -> int:
    """Measure how accurate the functions of a backend are, in units of the last place (ULP).

    Every argument of float8, float16 and bfloat16 is tried. Of float32, all 2^32 with
    `--exhaustive`, else a search: all exponents, the neighbours of hard points, and those of the
    worst that was found. Results are compared with float64, and what that decides narrowly with
    mpmath. A result up to 0.5 ULP off is correctly rounded.

    ```
    suanzi accuracy
    suanzi accuracy --backend torch --python ~/envs/torch/bin/python --op exp,sin --dtype f16,bf16
    suanzi accuracy --backend torch --device cuda --op exp --dtype f32 --exhaustive
    suanzi accuracy --level baseline --dtype f32 --json baseline.json
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
        All 2^32 arguments of float32.
    device
        Where tensors are: `cuda`, `cuda:1`, `npu` and so on for torch, `cuda` for jax.
    level
        The instruction set of suanzi's own kernels: baseline, avx2, avx512, neon.
    jobs
        How many processes; one for each core by default.
    seed
        Of the search.
    timeout
        Seconds after which a call counts as hung.
    """
    from suanzi.accuracy import accuracy as measured
    from suanzi.cli import render

    with render.counting() as count:
        found = measured(
            backend, functions=_split(op), dtypes=_split(dtype), exhaustive=exhaustive,
            device=device, level=level, python=python, jobs=jobs, seed=seed, timeout=timeout,
            progress=count,
        )  # fmt: skip
    if json == []:
        sys.stdout.write(found.to_json())
        return 0
    for file in json or ():
        write_file(file, found.to_json())
    print(found)
    return 0


def _split(words: Words) -> list[str]:
    return [one for word in words or () for one in word.split(",") if one]
