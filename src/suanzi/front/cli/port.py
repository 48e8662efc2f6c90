"""``suanzi port``: runs a program in its framework and compares it with other rule sets."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from suanzi.base.lang import say
from suanzi.front.cli.typed import Json, Python

if TYPE_CHECKING:
    from suanzi.port.replay import Replayed
    from suanzi.promote.rules import RuleSet
    from suanzi.recording.calls import Calls

_SAME, _CHANGES, _NOTHING_KNOWN = 0, 1, 2
_STANDARD_ERROR = 2
"""Where the program's own output goes: standard output has the report."""


def port(
    program: str,
    *arguments: Annotated[str, Parameter(allow_leading_hyphen=True)],
    from_: Annotated[str, Parameter(name="--from")] = "torch",
    to: Annotated[str | None, Parameter(name=["--to", "--rules"])] = None,
    on: str = "",
    dtypes: str = "",
    autocast: str = "",
    python: Python = None,
    json: Json = False,
    sarif: str | None = None,
    html: str | None = None,
    baseline: str | None = None,
    fix: str | None = None,
    save: str | None = None,
    values: str = "sampled",
    replay: Annotated[bool, Parameter(negative="")] = False,
    replay_bytes: int = 1 << 28,
    python_to: str | None = None,
    patch: str | None = None,
    explain_unjudged: Annotated[bool, Parameter(negative="")] = False,
    module: Annotated[bool, Parameter(name=["-m", "--module"], negative="")] = False,
) -> int:
    """Run a program and list the lines that other frameworks compute differently or refuse.

    The program runs in another process, in any interpreter you name; suanzi need not be installed
    there. An exported program (`.pt2`), a model of ONNX (`.onnx`) or OpenVINO (`.xml`), a
    file of calls that was recorded before (`.jsonl`), a text log as those of torch's
    operator_inp_logs or PaddleAPITest (`.txt`) or a dump of msprobe (`dump.json`) is read instead.
    The threads of the program and the processes it starts are recorded, too. The exit status is 0
    if nothing changes, 1 if something does, 2 for bad usage, for a program that failed before
    anything was found, and where no call was seen at all.

    ```
    suanzi port model.py --to torch_npu
    suanzi port train.py --to torch_npu,paddle --python ~/envs/torch/bin/python -- --epochs 1
    suanzi port net.py --from paddle --to cann,torch --python ~/envs/paddle/bin/python
    suanzi port -m torch.distributed.run -- --nproc-per-node 2 train.py
    suanzi port train.py --save calls.jsonl && suanzi port calls.jsonl --to paddle
    suanzi port model.onnx --to cann --on 910b --fix fixed.onnx
    suanzi port model.py --to jax --replay --python-to ~/envs/jax/bin/python
    suanzi port model.py --to jax --patch port.diff && git apply port.diff
    suanzi port model.py --to torch_npu --json > known.json
    suanzi port model.py --to torch_npu --baseline known.json --sarif port.sarif
    ```

    Parameters
    ----------
    program
        A Python program, an exported one (`model.pt2`), a model (`model.onnx`, `model.xml`), a file
        of recorded calls (`calls.jsonl`), an operator log (`log.txt`) or a dump of msprobe
        (`dump.json`).
    arguments
        What the program is given, after `--`.
    from_
        The framework that the program is written in: torch, paddle or mindspore.
    to
        The rule sets to compare it with, by name or as files, joined by commas. By default those of
        the other frameworks.
    on
        The chips that matter, joined by commas: 910, 310p, 910b, 950 of cann, cpu of the others.
    dtypes
        Lists that `suanzi live paddle --dtypes --write FILE` wrote, joined by commas; they replace
        suanzi's lists of the dtypes that operators take.
    autocast
        The level of autocast at the targets: O1 or O2 of paddle, auto, O1, O2 or O3 of mindspore.
    sarif
        Write the findings to this file as SARIF, which GitHub shows at the line.
    html
        Write the report to this file as HTML.
    fix
        Write the ONNX model to this file with the Casts that its operators need.
    baseline
        A report that `--json` wrote; findings in it are not reported again.
    save
        Write the recorded calls to this file (`calls.jsonl`), to be read again.
    values
        Which values of tensors are measured while the program runs: none, sampled or all. Sampled
        are all integers and 0-d tensors, and of others some calls and elements.
    replay
        Keep what calls are given, make them again under the rules of each target with suanzi's
        operators, and report the error by line and layer. For PyTorch programs.
    replay_bytes
        How many bytes of tensors are kept for it; 268435456 by default.
    python_to
        An interpreter that has the target: the calls are made there, and compared with the
        program's own results. It includes `--replay`, for one target.
    patch
        Write the fixes of findings to this file, as a diff of the program's own files. Each is
        tried by running the program again, with a copy: the finding is gone, results and output
        are the same. Random numbers are seeded. For PyTorch programs.
    explain_unjudged
        Say one by one what was not checked, and why.
    module
        Run a module, as `python -m` does: PROGRAM is its name.
    """
    from suanzi.base.status import InvalidArgument
    from suanzi.front.cli.render import waiting
    from suanzi.port.autocast import check_level
    from suanzi.port.findings import read_baseline
    from suanzi.port.opening import fix_file, judge_file, read_file
    from suanzi.port.patch import Runs, check_patch, make_patch
    from suanzi.port.replay.asking import check_replay
    from suanzi.port.report import targets, to_sarif, usual_targets
    from suanzi.port.running import check_framework, check_values, run_program
    from suanzi.port.support import check_chips, use_list
    from suanzi.recording.calls import Calls

    check_framework(from_)
    check_values(values)
    for file in filter(None, map(str.strip, dtypes.split(","))):
        use_list(file)
    known = None if baseline is None else read_baseline(baseline)
    calls = None if module else read_file(program, python)
    source = from_ if calls is None else calls.framework
    names = usual_targets(source) if to is None else to.split(",")
    asked = targets([name.strip() for name in names if name.strip()], source)
    chips = check_chips(on.split(","), asked)
    check_level(autocast, [rules.name for rules in asked])
    replays: list[Replayed] = []
    runs: Callable[..., Calls] | None = None
    if calls is None:
        wanted = (replay_bytes, python_to) if replay or python_to is not None else None
        if wanted is not None:
            check_replay(source, asked, *wanted)
        check_patch(patch, source)
        run: Callable[..., Calls] = partial(
            run_program, "-m" if module else program,
            [program, *arguments] if module else arguments, framework=from_, python=python,
            stdout=_STANDARD_ERROR, save=save, values=values,
        )  # fmt: skip
        with waiting(say(f"running {program}")) as shown:
            runs = run if patch is None else Runs(run)
            calls, replays = _run(runs, asked, wanted, shown)
        if isinstance(runs, Runs):
            sys.stderr.buffer.write(runs.output)
            sys.stderr.flush()
    elif save is not None or replay or python_to is not None or patch is not None:
        option = "--save" if save is not None else "--replay" if patch is None else "--patch"
        raise InvalidArgument(
            f"port: {option} is for a program that is run; {program!r} is a file."
        )
    if isinstance(calls, Calls):
        calls = replace(calls, level=autocast)
    report = judge_file(calls, asked, known, chips)
    report.explain = explain_unjudged
    from suanzi.base.files import write_file

    if sarif is not None:
        write_file(sarif, json_module.dumps(to_sarif(report), indent=1) + "\n")
    if html is not None:
        write_file(html, report.to_html())
    if json:
        also = {"replay": [one.to_dict() for one in replays]} if replays else {}
        print(json_module.dumps({**report.to_dict(), **also}, indent=1))
    else:
        print("\n\n".join(map(str, (report, *replays))))
    if patch is not None and isinstance(runs, Runs):
        with waiting(say("trying fixes")) as shown:
            found = make_patch(
                report, runs.output,
                lambda again: judge_file(replace(again, level=autocast), asked, known, chips),
                runs.again, shown,
            )  # fmt: skip
        if found.changes:
            write_file(patch, found.diff())
        lines = map(say, found.summary(patch).split("\n"))
        print("\n" + "\n".join(lines), file=sys.stderr if json else sys.stdout)
    if fix is not None:
        print(say(fix_file(program, fix)), file=sys.stderr if json else sys.stdout)
    if report:
        return _CHANGES
    seen = report.calls is not None and bool(report.calls.calls)
    return _SAME if report.raised is None and seen else _NOTHING_KNOWN


def _run(
    run: Callable[..., Calls],
    targets: Sequence[RuleSet],
    wanted: tuple[int, str | None] | None,
    shown: Callable[[str], None],
) -> tuple[Calls, list[Replayed]]:
    """Run a program; if bytes and an interpreter are given, make its calls again."""
    if wanted is None:
        return run(), []
    from suanzi.port.replay.asking import replay_all

    size, python_to = wanted
    with TemporaryDirectory(prefix="suanzi-replay-") as folder:
        calls = run(replay=(folder, size))
        return calls, replay_all(calls, Path(folder), targets, python_to, shown)
