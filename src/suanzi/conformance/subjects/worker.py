"""The process of a subject: reads a call from standard input, makes it, answers on standard output.

    python worker.py numpy_adapter:Adapter
    python worker.py package.module:Adapter

What the subject itself prints goes to the error stream, so that no word of it is taken for an
answer. A call that ends the process, or never ends, is for the kit to notice.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import traceback
from typing import Any, TextIO

if __package__ in (None, ""):  # run as a script, by an interpreter that need not have suanzi
    import wire

    # An adapter that imports the kit's own must get this very module.
    sys.modules["suanzi.conformance.subjects.wire"] = wire
else:
    from suanzi.conformance.subjects import wire

NOT_INSTALLED = 3
BAD_ADAPTER = 4


def main(spec: str, options: dict[str, Any]) -> int:
    """Serve calls until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, os.getcwd())
    try:
        adapter = load(spec, options)
    except ImportError as error:
        _say(answers, {"failed": f"{type(error).__name__}: {error}"})
        return NOT_INSTALLED
    except Exception as error:
        _say(answers, {"failed": f"{type(error).__name__}: {error}", "trace": _trace()})
        return BAD_ADAPTER
    _say(answers, {"hello": facts(adapter)})
    for line in sys.stdin:
        question = json.loads(line)
        _say(answers, {"id": question["id"], **answer(adapter, question)})
    return 0


def load(spec: str, options: dict[str, Any]) -> Any:
    """Return the adapter that ``module:name`` names; a class is called with the options."""
    module, _, name = spec.partition(":")
    made = getattr(importlib.import_module(module), name or "Adapter")
    return made(**options) if isinstance(made, type) or callable(made) else made


def facts(adapter: Any) -> dict[str, Any]:
    """Return what an adapter says of itself."""
    return {
        "name": adapter.name,
        "version": str(getattr(adapter, "version", "")),
        "rules": getattr(adapter, "rules", "strict"),
        "statuses": bool(getattr(adapter, "statuses", False)),
        "mapping": dict(getattr(adapter, "mapping", {})),
        "missing": dict(getattr(adapter, "missing", {})),
        "notes": list(getattr(adapter, "notes", [])),
        "python": sys.version.split()[0],
        "literals": dict(getattr(adapter, "literals", {})),
    }


def answer(adapter: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Make one call and return the answer as JSON has it."""
    try:
        given = wire.from_json(question["arguments"])
        made = {name: _made(adapter, value) for name, value in given.items()}
    except wire.Unsupported as error:
        return {"unsupported": str(error)}
    except Exception as error:
        return {"broken": f"create: {type(error).__name__}: {error}", "trace": _trace()}
    try:
        if question.get("rules") and hasattr(adapter, "use_rules"):
            adapter.use_rules(question["rules"])
        status, outputs = _called(adapter, question["op"], made)
    except wire.NoKernel as error:
        return {"unsupported": str(error), "refused": True}
    except wire.Unsupported as error:
        return {"unsupported": str(error)}
    except wire.Broken as error:
        return {"broken": str(error)}
    try:
        if status != "SUCCESS":
            return {"status": status, "error": str(outputs)}
        return {"status": status, "outputs": [wire.to_json(_read(adapter, x)) for x in outputs]}
    except wire.Unsupported as error:
        return {"unsupported": str(error)}
    except Exception as error:
        return {"broken": f"read: {type(error).__name__}: {error}", "trace": _trace()}


def _called(adapter: Any, op: str, made: dict[str, Any]) -> tuple[str | None, Any]:
    """Return the status and the outputs; or what `status` makes of an error, and its words."""
    try:
        found = adapter.call(op, made)
    except (wire.Unsupported, wire.Broken):
        raise
    except Exception as error:
        return adapter.status(error), f"{type(error).__name__}: {error}"
    if isinstance(found, tuple) and found and isinstance(found[0], str):
        return found[0], found[1:] if found[0] == "SUCCESS" else " ".join(map(str, found[1:]))
    return "SUCCESS", found if isinstance(found, tuple) else (found,)


def _made(adapter: Any, value: Any) -> Any:
    if hasattr(value, "raw"):
        return adapter.create(value)
    return [_made(adapter, v) for v in value] if isinstance(value, list) else value


def _read(adapter: Any, value: Any) -> Any:
    """Return an output as data: tensors by the adapter, all else as it is."""
    if value is None or isinstance(value, (bool, int, float, complex, str, wire.Data)):
        return value
    if type(value) in (list, tuple):
        return [_read(adapter, v) for v in value]
    return adapter.read(value)


def _trace() -> str:
    return traceback.format_exc(limit=-4)


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}))
