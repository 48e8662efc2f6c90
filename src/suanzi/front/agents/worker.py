"""The process of a tool's call: arguments on standard input, the answer on standard output.

    python -m suanzi.front.agents.worker judge

A call that is cancelled, or whose server ends, ends everything that it has started.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from typing import Any

from suanzi.base.status import StatusError
from suanzi.front.agents.tools import tools

_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG


def main(name: str) -> int:
    """Make one call."""
    signal.signal(signal.SIGTERM, _interrupt)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    arguments = json.loads(sys.stdin.buffer.read())
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what else is printed is not an answer
    tool = next(one for one in tools() if one.name == name)
    answers.write(json.dumps(_called(tool.call, arguments), allow_nan=False))
    answers.close()
    return 0


def _called(call: Any, arguments: Any) -> dict[str, Any]:
    try:
        data, text = call(arguments)
        return {"data": data, "text": text}
    except StatusError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "not enough memory; give smaller tensors or shapes."}


def _interrupt(number: int, frame: Any) -> None:
    signal.signal(number, signal.SIG_IGN)  # once is enough: what follows cleans up
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except KeyboardInterrupt:
        sys.exit(3)
