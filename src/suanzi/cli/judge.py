"""The command ``judge``: is this kernel right?"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from suanzi._text import printable
from suanzi.cli.typed import Json, Python, Words
from suanzi.status import InvalidArgument


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
    backward: bool = False,
    python: Python = None,
    timeout: float = 30.0,
    script: str | None = None,
    export: Annotated[tuple[str, str] | None, Parameter(negative="")] = None,
    json: Json = False,
) -> int:
    """Judge a kernel: call it in a process of its own, and compare it with the exact answer.

    The exit status is 0 if it is right, 1 if it is wrong, 2 for a wrong call of this command.

    ```
    suanzi judge kernels.py::my_softmax --op softmax
    suanzi judge kernels.py::my_rms_norm --op rms_norm --dtype bf16,f16 --param eps=1e-6
    suanzi judge kernels.py::my_softmax --op softmax --standard ttk,assert-close
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
        Seconds after which a call counts as hung.
    script
        Write a program that shows the first failure to this file.
    export
        Write the cases for another kit instead: a format, `ttk` or `cann-bench`, and a folder.
    """
    from suanzi.cli.terminal import progress_bar  # noqa: F401 - the terminal is set up
    from suanzi.conformance.running.process import Subject
    from suanzi.judgement.engine import gradients_of, judge_with, operator_key
    from suanzi.judgement.standards import criteria_named

    key = operator_key(op)  # unknown names are reported before anything is started
    standards = criteria_named(_several(standard))
    shapes = [_shape(one) for one in shape] if shape else None
    params = dict(map(_param, param or ()))
    if export is not None:
        _export(export, op, bool(kernel or command), dtypes=_several(dtype) or None, shapes=shapes,
                params=params)  # fmt: skip
        return 0
    backend = _backend(kernel, command, framework, device, python)
    if backward and backend.adapter.endswith("kernel_adapter:Adapter"):
        backend.options["gradients"] = gradients_of(key)
    with Subject(backend, timeout) as asked:
        found = judge_with(
            asked,
            kernel or str(command),
            op,
            dtypes=_several(dtype) or None,
            shapes=shapes,
            accumulate=accumulate,
            params=params,
            standards=[one.name for one in standards],
            backward=backward,
            progress=_dots if sys.stderr.isatty() and not json else None,
        )
    for line in (found.to_json() if json else str(found)).splitlines():
        print(line if json else printable(line))
    if script is not None and found.script:
        Path(script).write_text(found.script, "utf-8")
        print(f"Written to {script}: a program that shows the first failure.", file=sys.stderr)
    return 0 if found else 1


def _export(given: tuple[str, str], op: str, has_kernel: bool, **more: Any) -> None:
    from suanzi.judgement.exports import export

    if has_kernel:
        raise InvalidArgument(
            "judge: --export writes cases and judges nothing; leave the kernel out."
        )
    print(printable(str(export(*given, op, **more))))


def _several(words: list[str] | None) -> list[str]:
    """Return what was given in one option, joined by commas, or in several."""
    return [one.strip() for word in words or () for one in word.split(",") if one.strip()]


def _dots(result: Any) -> None:
    print("F" if result.outcome == "wrong" else ".", end="", file=sys.stderr, flush=True)


def _backend(
    kernel: str, command: str | None, framework: str | None, device: str | None, python: str | None
) -> Any:
    from suanzi.conformance.running.backends import LIBRARIES, backend
    from suanzi.conformance.running.process import Backend

    if bool(kernel) == bool(command):
        raise InvalidArgument("judge: give a kernel, FILE::NAME, or a --command, and not both.")
    if kernel.lower().endswith(LIBRARIES):
        return backend(kernel, python)
    options: dict[str, Any] = {"framework": framework, "device": device}
    if command is not None:
        if "{output}" not in command:
            raise InvalidArgument("judge: --command must have {inputs} and {output} in it.")
        options |= {"command": command}
    else:
        file, mark, name = kernel.rpartition("::")
        if not mark:
            raise InvalidArgument(
                f"judge: {kernel!r} is not FILE::NAME, as kernels.py::my_softmax, nor a C library."
            )
        if not Path(file).is_file():
            raise InvalidArgument(f"judge: the file {file!r} does not exist.")
        options |= {"file": str(Path(file).absolute()), "function": name}
    return Backend(
        kernel or "the command", "kernel_adapter:Adapter", python or sys.executable, options
    )


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(n) for n in text.lower().split("x") if n)
    except ValueError:
        raise InvalidArgument(f"judge: {text!r} is not a shape, as 4096x1000.") from None


def _param(text: str) -> tuple[str, Any]:
    name, mark, value = text.partition("=")
    if not mark:
        raise InvalidArgument(f"judge: {text!r} is not NAME=VALUE, as eps=1e-6.")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()
