"""The command ``blame``: which operator of a running model is wrong?"""

from __future__ import annotations

import os
import sys
from typing import Annotated, Literal

from cyclopts import Parameter

from suanzi.base.files import write_file
from suanzi.base.status import InvalidArgument
from suanzi.base.text import printable
from suanzi.front.cli.typed import Flag, Html, Json, Python

_RIGHT, _WRONG, _NOTHING_KNOWN = 0, 1, 2


def blame(
    program: str = "",
    *arguments: Annotated[str, Parameter(allow_leading_hyphen=True)],
    ops: str | None = None,
    share: float = 1.0,
    every: int = 1,
    overhead: str = "10x",
    unusual: Flag = False,
    memory: int = 1 << 30,
    twice: Flag = False,
    seed: int = 0,
    save: str | None = None,
    record: str | None = None,
    against: str | None = None,
    samples: int = 16,
    record_size: int = 256 << 20,
    replay: str | None = None,
    device: str = "cpu",
    framework: Literal["torch", "jax", "paddle", "mindspore"] = "torch",
    python: Python = None,
    json: Json = False,
    html: Html = None,
    module: Annotated[bool, Parameter(name=["-m", "--module"], negative="")] = False,
) -> int:
    """Run a program, judge the operators that it calls, and name those that are wrong.

    Every operator that is dispatched, forward and backward, is judged on its own inputs: a sample
    of its result against the exact answer. The report has the operator, the line and the layer. The
    exit status is 0 if no operator is wrong, 1 if one is, here or in the run of --against, 2 for
    bad usage, where nothing was judged, and where the program failed or was interrupted; the report
    has its calls until then.

    ```
    suanzi blame train.py --python ~/envs/torch/bin/python -- --epochs 1
    suanzi blame train.py --overhead 2x --html blame.html
    suanzi blame train.py --ops native_layer_norm,addmm --save bad-call.safetensors
    suanzi blame --replay bad-call-0.safetensors --device cuda
    suanzi blame train.py --record run.sz
    suanzi blame train.py --against run.sz
    suanzi blame train.py --framework jax
    ```

    Parameters
    ----------
    program
        A Python program.
    arguments
        What the program is given, after `--`.
    ops
        Only these operators of PyTorch, joined by commas: `addmm,native_layer_norm`.
    share
        The share of calls that is judged, up to 1.
    every
        Judge only the first of so many steps; a step begins where the outermost module is called.
    overhead
        How many times as long the program may take: `2x`, `10x`, or `none` to judge every call.
        From `10x` on, the first call of each line, dtype and size is judged at once. Steps are
        left out to time the program, and where watching takes too long; the report counts them.
    unusual
        Judge only calls whose inputs have NaN, infinities or outliers.
    memory
        The largest size of copies of what a call writes to, and of a saved call, in bytes.
    twice
        Make every judged call again, and report where the bits differ.
    seed
        Chooses the elements that are sampled.
    save
        Write the first wrong call of each line to files: `bad-call-0.safetensors` and so on.
    record
        Write the run to this file, to compare another run with it: of each result of each call and
        layer a hash, its size and some elements.
    against
        Compare the run with one that was recorded, on another device or with another version: where
        they part, which call explains it, and which side is beyond the bound.
    samples
        How many elements of each result are recorded.
    record_size
        The largest size of what is recorded in bytes, before it is compressed; later calls are left
        out.
    replay
        Make a saved call again, and judge it; no program is run.
    device
        Where a saved call is made: `cpu`, `cuda`, `npu`.
    framework
        That of the program. Of JAX the primitives are judged, of Paddle and MindSpore the functions
        and methods that it calls, without gradients.
    html
        Write the report to this file as HTML.
    module
        Run a module, as `python -m` does: PROGRAM is its name.
    """
    from suanzi.validate.blame.comparing import blamed
    from suanzi.validate.blame.options import options
    from suanzi.validate.blame.running import replay_file, run_program

    if bool(program) == (replay is not None):
        raise InvalidArgument("blame: give a program to run, or a file with --replay; one of them.")
    if html is not None and not os.path.isdir(os.path.dirname(html) or "."):
        raise InvalidArgument(f"blame: html: the folder of {html!r} does not exist.")
    if replay is not None:
        report = replay_file(replay, device=device, python=python)
    else:
        asked = {
            "ops": ops, "share": share, "every": every, "overhead": overhead, "unusual": unusual,
            "memory": memory, "twice": twice, "seed": seed, "save": save,
            "record": record, "against": against, "samples": samples, "record_size": record_size,
            "framework": framework,
        }  # fmt: skip
        options(**asked)  # type: ignore[arg-type]  # whatever is wrong is reported before it runs
        report = run_program(
            "-m" if module else program, [program, *arguments] if module else arguments,
            python=python, options=asked, progress=sys.stderr.isatty() and not json,
        )  # fmt: skip
    if html is not None:
        write_file(html, report.to_html())
    for line in (report.to_json() if json else str(report)).splitlines():
        print(line if json else printable(line))
    if report.answer == "wrong" or blamed(report.comparison):
        return _WRONG
    return _RIGHT if report.judged and report.raised is None else _NOTHING_KNOWN
