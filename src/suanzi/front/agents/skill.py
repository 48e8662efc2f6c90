"""SKILL.md: how an agent uses judge, explain, port and blame, made of the facts of this version.

The format is that of Agent Skills (https://agentskills.io/specification): a folder with the name of
the skill, and in it a SKILL.md with a name and a description at its head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from suanzi._core import VERSION
from suanzi.base.files import write_file
from suanzi.base.status import InvalidArgument
from suanzi.front.agents.schemas import schema
from suanzi.port.findings import CODES as PORT_CODES
from suanzi.promote.library import rule_sets
from suanzi.validate.judge.findings import CODES as JUDGE_CODES

NAME = "suanzi"
FILE = "SKILL.md"
DESCRIPTION = (
    "Decides whether a numerical kernel (CUDA, Triton, PyTorch, JAX, NumPy, C) computes an "
    "operator such as softmax, rms_norm or matmul correctly, without a tolerance to choose; "
    "explains which dtype operands are promoted to in CANN, MindSpore, Paddle, OpenVINO, PyTorch, "
    "NumPy and JAX; lists the lines of a program that change when it moves to another "
    "framework; and names the operator and the line that compute wrong numbers in a PyTorch model "
    "that runs. Use it when you write, optimise, review, test or port kernels and models, or when "
    "dtypes or accuracy (bfloat16, float16, float8, accumulation, NaN) are in doubt."
)
STATUSES: Mapping[str, Mapping[int, str]] = {
    "judge": {
        0: "right", 1: "wrong, or not judged", 2: "called wrongly",
        3: "interrupted, or failed",
    },
    "explain": {
        0: "a dtype", 1: "refused, or differs from `--like`", 2: "called wrongly",
        3: "interrupted, or failed",
    },
    "port": {
        0: "nothing changes", 1: "there are findings",
        2: "called wrongly, or the program failed before any finding", 3: "interrupted, or failed",
    },
    "blame": {
        0: "no operator is wrong", 1: "an operator is wrong",
        2: "called wrongly, or nothing was judged", 3: "interrupted, or failed",
    },
}  # fmt: skip


class Option(NamedTuple):
    """An option of a command, as its help has it."""

    names: str
    help: str


def text(options: Mapping[str, Sequence[Option]]) -> str:
    """Return SKILL.md; `options` are those of each command."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    template = environment.from_string(Path(__file__).with_suffix(".md").read_text("utf-8"))
    return template.render(
        name=NAME, description=json.dumps(DESCRIPTION), version=VERSION, statuses=STATUSES,
        judge_codes=JUDGE_CODES, port_codes=PORT_CODES,
        rules=", ".join(f"`{one}`" for one in rule_sets()), schema=_shown,
        options=lambda command: _table(options[command]),
    )  # fmt: skip


def _table(options: Sequence[Option]) -> str:
    rows = [f"| {o.names} | {' '.join(o.help.split())} |" for o in options]
    return "\n".join(["| option | meaning |", "|---|---|", *rows])


def _shown(name: str) -> str:
    """Return a schema with one line for each property."""
    whole = schema(name)
    lines = []
    for key, value in whole.items():
        if key in ("properties", "$defs"):
            inner = ",\n".join(f"  {json.dumps(k)}: {_line(v)}" for k, v in value.items())
            lines.append(f"{json.dumps(key)}: {{\n{inner}\n}}")
        else:
            lines.append(f"{json.dumps(key)}: {_line(value)}")
    return "```json\n{" + ",\n".join(lines) + "}\n```"


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def place(target: str) -> Path:
    """Return the file that is meant: FILE.md itself, or the skill in a folder of skills.

    >>> place("notes/AGENT.md").as_posix(), place(".claude/skills").as_posix()
    ('notes/AGENT.md', '.claude/skills/suanzi/SKILL.md')
    >>> place("skills/suanzi").as_posix()
    'skills/suanzi/SKILL.md'
    """
    path = Path(target).expanduser()
    if path.suffix.lower() == ".md" and not path.is_dir():
        return path
    return path / FILE if path.name == NAME else path / NAME / FILE


def write(target: str, content: str) -> Path:
    """Write SKILL.md to a file, or into a folder of skills; return where it is.

    A file that is not this skill is not overwritten.
    """
    path = place(target)
    try:
        if path.exists() and f"\nname: {NAME}\n" not in path.read_text("utf-8", "replace")[:200]:
            raise InvalidArgument(
                f"skill: {str(path)!r} exists and is not the skill of suanzi; give another file or "
                "folder, or delete it."
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content)
    except OSError as error:
        raise InvalidArgument(
            f"skill: cannot write to {str(path)!r}: {error.strerror}. Give a folder of skills, "
            "such as .claude/skills, or a file that ends in .md."
        ) from None
    return path
