"""The command ``judge``: is this kernel right?"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from suanzi.base.files import write_file
from suanzi.base.lang import say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import printable
from suanzi.front.cli.typed import Flag, Html, Json, Python, Words


def judge(
    kernel: str = "",
    *,
    op: str,
    command: str | None = None,
    dtype: Words = None,
    shape: Words = None,
    param: Words = None,
    device: str | None = None,
    framework: str | None = None,
    accumulate: str | None = None,
    standard: Words = None,
    backward: Flag = False,
    python: Python = None,
    timeout: float = 30.0,
    seconds: float | None = None,
    script: str | None = None,
    html: Html = None,
    export: Annotated[tuple[str, str] | None, Parameter(negative="")] = None,
    json: Json = False,
) -> int:
    """Judge a kernel: call it in a process of its own, and compare it with the exact answer.

    The exit status is 0 if it is right, 1 if it is wrong or has no answer in time, 2 for a wrong
    call of this command.

    ```
    suanzi judge kernels.py::my_softmax --op softmax
    suanzi judge kernels.py::my_rms_norm --op rms_norm --dtype bf16,f16 --param eps=1e-6
    suanzi judge kernels.py::my_softmax --op softmax --standard ttk,assert-close --html verdict.html
    suanzi judge ./libvendor.so --op add
    suanzi judge --command './my_kernel {inputs} {output}' --op softmax --dtype f32
    suanzi judge --op softmax --export ttk cases
    ```

    Parameters
    ----------
    kernel
        A function of a Python file, `FILE::NAME`, or a C library with the standard's interface.
    op
        The operator that it is meant to be: `softmax`, `add`, `nn:rms_norm`.
    command
        A program instead: it reads the .npy files that `{inputs}` stands for and writes `{output}`;
        bfloat16 and float8 are there as the unsigned integers of their bits.
    dtype
        The dtypes that it must take; without it, those of f32, f16 and bf16 that it takes.
    shape
        Shapes of the first operand, `4096x1000`, instead of the usual ones.
    param
        What the kernel does where it has no parameter: `eps=1e-6`.
    device
        Where the tensors are: `cuda`, `cuda:1`, `npu`.
    framework
        The framework of its tensors, if the file does not show it: torch, jax, numpy and so on.
    accumulate
        The arithmetic that the kernel declares: float32 (the default), float16, bfloat16, tfloat32.
    standard
        Accuracy standards of others, joined by commas, whose verdicts are added: `ttk`,
        `assert-close`, `all`; `suanzi standards` lists them.
    backward
        Judge the gradients that the framework (torch, jax) derives from the kernel, too.
    python
        The interpreter that has the framework; this one by default.
    timeout
        Seconds after which a call has no answer, and its case is not judged; four times as many
        for the first call of each shape and dtype, which may compile or tune itself.
    seconds
        Put no more cases to the kernel after so many seconds; those before are of all dtypes, data
        and sizes.
    script
        Write a program that shows the first failure to this file.
    export
        Write the cases for another kit instead: a format, `ttk` or `cann-bench`, and a folder.
    """
    from suanzi.conformance.running.children import children_ended
    from suanzi.validate.judge.arguments import request
    from suanzi.validate.judge.child import judge_in_child, kernel_backend

    shapes = [_shape(one) for one in shape] if shape else None
    asked: dict[str, Any] = {
        "dtypes": _several(dtype) if dtype else None,
        "shapes": shapes,
        "params": dict(map(_param, param or ())),
    }
    if export is not None:
        _export(export, op, bool(kernel or command), **asked)
        return 0
    # Whatever is wrong with the call is reported before anything is started.
    wanted = request(
        op, accumulate=accumulate, standards=_several(standard), backward=backward, **asked
    )
    of = kernel_backend(kernel, command=command, framework=framework, device=device, python=python)
    for option, file in (("--script", script), ("--html", html)):
        if file is not None and not Path(file).absolute().parent.is_dir():
            raise InvalidArgument(f"judge: {option}: the folder of {file!r} does not exist.")
    progress = _dots if sys.stderr.isatty() and not json else None
    with children_ended():
        found = judge_in_child(
            of, kernel or str(command), wanted, timeout=timeout, seconds=seconds,
            progress=progress,
        )  # fmt: skip
    for line in (found.to_json() if json else str(found)).splitlines():
        print(line if json else printable(line))
    if html is not None:
        write_file(html, found.to_html())
    if script is not None and found.script:
        write_file(script, found.script)
        said = say(f"Written to {script}: a program that shows the first failure.")
        print(said, file=sys.stderr)
    return 0 if found else 1


def _export(given: tuple[str, str], op: str, has_kernel: bool, **more: Any) -> None:
    from suanzi.validate.judge.exports import export

    if has_kernel:
        raise InvalidArgument(
            "judge: --export writes cases and judges nothing; leave the kernel out."
        )
    print(printable(say(str(export(*given, op, **more)))))


def _several(words: list[str] | None) -> list[str]:
    """Return what was given in one option, joined by commas, or in several."""
    return [one.strip() for word in words or () for one in word.split(",") if one.strip()]


def _dots(result: Any) -> None:
    print("F" if result.outcome == "wrong" else ".", end="", file=sys.stderr, flush=True)


def _shape(text: str) -> tuple[int, ...]:
    sizes = text.strip().lower().split("x")
    if not all(n.isascii() and n.isdigit() for n in sizes):
        raise InvalidArgument(f"judge: --shape is {text!r}; give sizes joined by x: 4096x1000.")
    return tuple(map(int, sizes))


def _param(text: str) -> tuple[str, Any]:
    name, mark, value = text.partition("=")
    if not mark:
        raise InvalidArgument(f"judge: {text!r} is not NAME=VALUE, as eps=1e-6.")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()
