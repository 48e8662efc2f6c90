"""The process of a subject that is measured: calls with operands from files, results to a file.

    python sweep.py frameworks.torch_adapter:Adapter '{"device": "cuda"}'

A question is a line of JSON: the interface, the dtype, file and shape of each operand, and the
file of the result. Large tensors travel as bytes, not as text. Of all arguments on a device, only
what was counted travels.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

if __package__ in (None, ""):  # run as a script, by an interpreter that need not have suanzi
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import device_sweep
    import more_functions
    import wire
    import worker
else:
    from suanzi.conformance.subjects import device_sweep, more_functions, wire, worker


def main(spec: str, options: dict[str, Any]) -> int:
    """Serve calls until the input ends."""
    questions, answers = worker._streams()
    worker._die_with_the_kit()
    try:
        adapter = more_functions.added(worker.load(spec, options))
        hello = worker.facts(adapter)
    except ImportError as error:
        worker._say(answers, {"failed": worker._said(error)})
        return worker.NOT_INSTALLED
    except Exception as error:
        worker._say(answers, {"failed": worker._said(error)})
        return worker.BAD_ADAPTER
    worker._say(answers, {"hello": hello})
    for line in questions:
        worker._say(answers, answer(adapter, json.loads(line)))
    return 0


def answer(adapter: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Make a call, write the result, and return its dtype; or why there is none."""
    try:
        if why := more_functions.missing(adapter, question["op"]):
            return {"missing": why}
        if "start" in question:
            return device_sweep.swept(adapter, question)
        made = {}
        for name, (dtype, path, shape) in question["operands"].items():
            with open(path, "rb") as file:
                raw = file.read()
            made[name] = adapter.create(wire.Data(dtype, tuple(shape), raw))
        status, outputs = worker._called(adapter, question["op"], {**made, **question["more"]})
        if status != "SUCCESS":
            return {"refused": str(outputs)[:400]}
        found = adapter.read(outputs[0])
        with open(question["result"], "wb") as file:
            file.write(found.raw)
        return {"dtype": found.dtype, "bytes": len(found.raw)}
    except wire.Unsupported as error:
        return {"missing": str(error)[:400]}
    except Exception as error:
        return {"refused": worker._said(error)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}))
