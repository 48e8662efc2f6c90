"""Run programs plain and under `suanzi port`, and print calls, CPU seconds and findings.

    python benchmarks/port/run.py OUT --torch PYTHON --paddle PYTHON --mindspore PYTHON

Recordings and reports are written to the folder OUT.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
FROM = {"paddle_net": "paddle", "mindspore_net": "mindspore"}
PROGRAMS = {
    "llama": [], "llama_longer": ["--steps", "42"], "gpt2": [], "bert": [], "t5": [], "whisper": [],
    "vit": [], "mixtral": [], "qwen3": [], "clip": [], "unet": [], "swin": [], "resnet": [],
    "timm_models": [], "trainer": [], "paddle_net": [], "mindspore_net": [], "mlp": [],
}  # fmt: skip


def seconds(command: list[str], log: Path) -> tuple[float, int]:
    """Return the CPU seconds of a command with its children, and its status."""
    before = os.times()
    with log.open("w") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.STDOUT, check=False)
    after = os.times()
    used = after.children_user + after.children_system
    return used - before.children_user - before.children_system, done.returncode


def main() -> None:
    """Run what was named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", default=list(PROGRAMS))
    for framework in ("torch", "paddle", "mindspore"):
        parser.add_argument(f"--{framework}", default=sys.executable)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.only:
        framework = FROM.get(name, "torch")
        python = getattr(given, framework)
        program = HERE / f"{name.removesuffix('_longer')}.py"
        saved, report = given.out / f"{name}.jsonl", given.out / f"{name}.json"
        rest = PROGRAMS[name]
        plain, status = seconds([python, str(program), *rest], given.out / f"{name}.plain.log")
        recorded, _ = seconds(
            ["suanzi", "port", str(program), "--from", framework, "--python", python,
             "--save", str(saved), "--", *rest],
            given.out / f"{name}.port.log",
        )  # fmt: skip
        done = subprocess.run(
            ["suanzi", "port", str(saved), "--json"], capture_output=True, text=True, check=False
        )
        report.write_text(done.stdout)
        data = json.loads(done.stdout)
        found = Counter(one["rules"] for one in data["findings"])
        print(f"{name} | {status} | {data['calls']} | {plain:.1f} | {recorded:.1f} | {dict(found)}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
