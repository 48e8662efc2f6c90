"""The process of a subject that is measured: calls with operands from files, results to a file.

    python sweep.py frameworks.torch_adapter:Adapter '{"device": "cuda"}'

A question is a line of JSON: the interface, the dtype and file of each operand, and the file of
the result. Large tensors travel as bytes, not as text.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

if __package__ in (None, ""):  # run as a script, by an interpreter that need not have suanzi
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import wire
    import worker
else:
    from suanzi.conformance.subjects import wire, worker


def main(spec: str, options: dict[str, Any]) -> int:
    """Serve calls until the input ends."""
    questions, answers = worker._streams()
    worker._die_with_the_kit()
    try:
        adapter = worker.load(spec, options)
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
        made = {}
        for name, (dtype, path) in question["operands"].items():
            with open(path, "rb") as file:
                raw = file.read()
            shape = (len(raw) // wire.ITEMSIZE[dtype],)
            made[name] = adapter.create(wire.Data(dtype, shape, raw))
        if hasattr(adapter, "use_rules") and question.get("rules"):
            adapter.use_rules(question["rules"])
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
