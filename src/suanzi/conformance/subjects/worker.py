"""The process of a subject: reads a call from standard input, makes it, answers on standard output.

    python worker.py numpy_adapter:Adapter
    python worker.py package.module:Adapter

What the subject itself prints goes to the error stream, so that no word of it is taken for an
answer. A call that ends the process, or never ends, is for the kit to notice.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.machinery
import json
import operator
import os
import sys
import traceback
from collections.abc import Callable
from types import ModuleType
from typing import Any, TextIO

HERE = os.path.dirname(os.path.abspath(__file__))

if __package__ in (None, ""):  # run as a script, by an interpreter that need not have suanzi
    if HERE not in sys.path:  # PYTHONSAFEPATH leaves it out
        sys.path.insert(0, HERE)
    import observing
    import wire

    # An adapter that imports the kit's own must get this very module.
    sys.modules["suanzi.conformance.subjects.wire"] = wire
else:
    from suanzi.conformance.subjects import observing, wire

NOT_INSTALLED = 3
BAD_ADAPTER = 4
Call = Callable[[], Any]
LONGEST = 2000
"""How many characters of a subject's words are passed on."""


def main(spec: str, options: dict[str, Any]) -> int:
    """Serve calls until the input ends."""
    questions, answers = _streams()
    _die_with_the_kit()
    own = os.getpid()
    try:
        adapter = load(spec, options)
        hello = facts(adapter)
    except ImportError as error:
        _say(answers, {"failed": _said(error)})
        return NOT_INSTALLED
    except Exception as error:
        _say(answers, {"failed": _said(error), "trace": _trace()})
        return BAD_ADAPTER
    _say(answers, {"hello": hello})
    for line in questions:
        question = json.loads(line)
        found = {"id": question["id"], **answer(adapter, question)}
        if os.getpid() != own:
            os._exit(0)  # a call forked, and this is the other one
        _say(answers, found)
    return 0


def _streams() -> tuple[TextIO, TextIO]:
    """Return the streams of the kit, and give the subject others: it may read and print."""
    questions = os.fdopen(_apart(0), "r", encoding="utf-8")
    answers = os.fdopen(_apart(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return questions, answers


def _apart(descriptor: int) -> int:
    """Return a copy of a descriptor that nobody meets by chance: a subject may write to 3 or 19."""
    try:
        from fcntl import F_DUPFD_CLOEXEC, fcntl
    except ImportError:
        return os.dup(descriptor)
    for least in (900, 200, 60):
        try:
            return fcntl(descriptor, F_DUPFD_CLOEXEC, least)
        except OSError:  # fewer are allowed
            continue
    return os.dup(descriptor)


def _die_with_the_kit() -> None:
    """End when the kit does, even if it is killed in the middle of a call that never ends."""
    if sys.platform == "linux":
        import ctypes

        kill = 9
        ctypes.CDLL(None).prctl(1, kill)  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(
            36, 1
        )  # PR_SET_CHILD_SUBREAPER: what a call leaves behind stays below


class Lent:
    """Finds `suanzi.conformance` where suanzi is not: an adapter needs no more of it than this."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return how the modules are created; this finder comes after an installed suanzi."""
        if name not in ("suanzi", "suanzi.conformance"):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: Any) -> None:
        """Let an empty module be made."""

    def exec_module(self, module: ModuleType) -> None:
        """Fill a module."""
        if module.__name__ == "suanzi.conformance":
            module.Data = wire.Data  # type: ignore[attr-defined]
            module.Unsupported = wire.Unsupported  # type: ignore[attr-defined]


def load(spec: str, options: dict[str, Any]) -> Any:
    """Return the adapter that ``module:name`` names; a class is called with the options."""
    module, _, name = spec.partition(":")
    if not os.path.exists(os.path.join(HERE, *module.split(".")) + ".py"):
        # The kit's own adapters must not be hidden by a folder of the same name.
        sys.path.insert(0, os.getcwd())
    sys.meta_path.append(Lent())  # type: ignore[arg-type]
    made = getattr(importlib.import_module(module), name or "Adapter")
    return made(**options) if isinstance(made, type) or callable(made) else made


def facts(adapter: Any) -> dict[str, Any]:
    """Return an adapter's description of itself."""
    without = [name for name in ("create", "read", "call") if not _has(adapter, name)]
    if without:
        raise TypeError(f"the adapter has no {', '.join(without)}")
    return {
        "name": str(getattr(adapter, "name", type(adapter).__name__)),
        "version": str(getattr(adapter, "version", "")),
        "rules": str(getattr(adapter, "rules", "strict")),
        "statuses": bool(getattr(adapter, "statuses", False)),
        "mapping": _words(adapter, "mapping"),
        "missing": _words(adapter, "missing"),
        "notes": [str(note) for note in getattr(adapter, "notes", [])],
        "python": sys.version.split()[0],
        "literals": dict(getattr(adapter, "literals", {})),
        "dtypes": _dtypes(adapter),
        "device": str(getattr(adapter, "device", "") or ""),
        "defaults": getattr(adapter, "defaults", False) is True,
        "files": files_of(adapter),
    }


def files_of(adapter: Any) -> dict[str, str]:
    """Return the SHA-256 of the adapter's file, of its library, and of what was installed."""
    module = sys.modules.get(type(adapter).__module__)
    found = {}
    for path in (getattr(module, "__file__", None), getattr(adapter, "path", None)):
        if isinstance(path, (str, os.PathLike)) and os.path.isfile(path):
            with open(path, "rb") as file:
                found[os.path.basename(path)] = hashlib.sha256(file.read()).hexdigest()
    name = str(getattr(adapter, "name", ""))
    installed = _record(name)
    if installed:  # it lists the hash of every file of the package
        found[f"{name}: RECORD"] = hashlib.sha256(installed.encode()).hexdigest()
    return found


def _record(name: str) -> str:
    """Return pip's list of the files of a package, or nothing.

    importlib.metadata reads it as well, but its import takes as long as half of NumPy's.
    """
    for folder in sys.path:
        try:
            for entry in os.listdir(folder or os.curdir):
                stem, _, kind = entry.rpartition(".")
                if kind == "dist-info" and _plain(stem.rpartition("-")[0]) == _plain(name):
                    with open(os.path.join(folder, entry, "RECORD"), encoding="utf-8") as file:
                        return file.read()
        except OSError:  # no folder, or no package that pip installed
            continue
    return ""


def _plain(name: str) -> str:
    return name.lower().replace("-", "_").replace(".", "_")


def _dtypes(adapter: Any) -> list[str] | None:
    """Return the dtypes that an adapter declares; None if it leaves that to be found out."""
    given = getattr(adapter, "dtypes", None)
    return (
        [str(name) for name in given] if isinstance(given, (list, tuple, set, frozenset)) else None
    )


def _has(adapter: Any, name: str) -> bool:
    return callable(getattr(adapter, name, None))


def _words(adapter: Any, name: str) -> dict[str, str]:
    """Return a table of an adapter's: interfaces, and words about each."""
    given = getattr(adapter, name, {})
    if not isinstance(given, dict):
        raise TypeError(f"`{name}` is a {type(given).__name__}, not a dict of interface to words")
    return {str(op): str(words) for op, words in given.items()}


def answer(adapter: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Make one call, or several steps, and return the answer as JSON has it."""
    if "steps" in question:
        return _kept(adapter, lambda live: _steps(live, question))
    try:
        given = wire.from_json(question["arguments"])
    except Exception as error:
        return {"broken": f"create: {_said(error)}", "trace": _trace()}
    if any(getattr(x, "sparse", None) for x in given.values()):
        return _kept(adapter, lambda live: _one_call(live, question, given))
    return _one_call(adapter, question, given)


def _kept(adapter: Any, calls: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Make calls that share tensors, if the adapter supports keeping them."""
    if not _has(adapter, "keeping"):
        return calls(adapter)
    live = adapter.keeping()
    try:
        return calls(live)
    finally:
        live.close()


def _one_call(adapter: Any, question: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    try:
        made = {name: _made(adapter, value) for name, value in given.items()}
    except wire.Unsupported as error:
        return _unsupported(error)
    except wire.Broken as error:
        return {"broken": str(error)}
    except Exception as error:
        return {"broken": f"create: {_said(error)}", "trace": _trace()}
    try:
        _use_rules(adapter, question)
        status, outputs = _called(adapter, question["op"], made)
    except wire.Unsupported as error:
        return _unsupported(error)
    except wire.Broken as error:
        return {"broken": str(error)}
    if status is not None and not isinstance(status, str):
        return {"broken": f"status: {status!r}, which is no name of a status"[:LONGEST]}
    try:
        if status != "SUCCESS":
            said = {"status": status, "error": str(outputs)[:LONGEST]}
            return {**said, "outputs": outputs.names} if isinstance(outputs, wire.Set) else said
        found = [wire.to_json(_read(adapter, x)) for x in outputs]
        if question.get("watch") and (name := _changed(adapter, given, made)) is not None:
            return {"broken": f"the call changed its input {name}"}
        return {"status": status, "outputs": found}
    except wire.Unsupported as error:
        return _unsupported(error)
    except Exception as error:
        return {"broken": f"read: {_said(error)}", "trace": _trace()}


def _use_rules(adapter: Any, question: dict[str, Any]) -> None:
    """Say which rule set a call is made under, with its text where it is not built in."""
    if question.get("rules_text") and hasattr(adapter, "learn_rules"):
        adapter.learn_rules(question["rules_text"])
    if question.get("rules") and hasattr(adapter, "use_rules"):
        adapter.use_rules(question["rules"])


def _changed(adapter: Any, given: dict[str, Any], made: dict[str, Any]) -> str | None:
    """Return the name of a tensor that is no longer what it was made of."""
    for name, data in given.items():
        if not isinstance(data, wire.Data):
            continue
        try:
            now = _read(adapter, made[name]).raw
        except wire.Unsaid:  # as C of a sparse tensor
            continue
        if now != data.raw:
            return name
    return None


def _steps(adapter: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Go through the steps of a case, and return what was read; a call that fails ends them."""
    tensors: dict[str, Any] = {}
    given: list[Any] = []
    try:
        _use_rules(adapter, question)
        for word, name, *more in wire.from_json(question["steps"]):
            if word == "make":
                tensors[name] = adapter.create(more[0])
            elif word == "write":
                if not _has(adapter, "write"):
                    raise wire.Unsaid("the adapter has no `write`, into the memory of a tensor")
                adapter.write(tensors[name], more[0])
            elif word == "read":
                given.append(wire.to_json(_read(adapter, tensors[name])))
            elif word in ("live", "threads", "memory"):
                found = _observed(adapter, word, name, more)
                if found is not None:
                    return found
            else:
                arguments, results = more
                status, outputs = _called(adapter, name, _referred(adapter, tensors, arguments))
                if status != "SUCCESS":
                    return {"status": status, "error": f"{name}: {outputs}"[:LONGEST]}
                for result, output in zip(results, outputs):  # noqa: B905
                    tensors[result] = output
    except wire.Unsupported as error:
        return _unsupported(error)
    except wire.Broken as error:
        return {"broken": str(error)}
    except Exception as error:
        return {"broken": f"{word} {name}: {_said(error)}", "trace": _trace()}
    return {"status": "SUCCESS", "outputs": given}


def _observed(adapter: Any, word: str, op: str, calls: list[Any]) -> dict[str, Any] | None:
    """Make a call often, and return what is wrong with it, or its status if it does not succeed."""
    if word != "live" and _has(adapter, "prepared"):
        makes = [adapter.prepared(op, given) for given in calls]
    else:
        some = [_maker(adapter, op, _referred(adapter, {}, given)) for given in calls]
        makes = [_reader(adapter, make) for make in some] if word == "threads" else some
    status, words = makes[0]()
    if status != "SUCCESS":
        return {"status": status, "error": f"{op}: {words}"[:LONGEST]}
    made = [lambda make=make: make()[1] for make in makes]
    if word == "live":
        problem = observing.live(made[0], made[1], lambda outputs: _sent(adapter, outputs))
    elif word == "threads":
        problem = observing.threads(made[0], made[1])
    else:
        problem = observing.memory(made[0])
    return None if problem is None else {"broken": problem}


def _maker(adapter: Any, op: str, made: dict[str, Any]) -> Call:
    return lambda: _called(adapter, op, made)


def _reader(adapter: Any, make: Call) -> Call:
    """Return what makes a call and reads its outputs."""

    def read() -> tuple[str | None, Any]:
        status, outputs = make()
        return status, outputs if status != "SUCCESS" else _sent(adapter, outputs)

    return read


def _sent(adapter: Any, outputs: Any) -> Any:
    """Return outputs as they are sent, which can be compared."""
    if isinstance(outputs, str):  # the words of a refusal
        return None
    return [wire.to_json(_read(adapter, x)) for x in outputs]


def _referred(adapter: Any, tensors: dict[str, Any], value: Any) -> Any:
    """Return arguments with the tensors that they name, and all others made."""
    if isinstance(value, wire.Ref):
        return tensors[value.name]
    if isinstance(value, dict):
        return {name: _referred(adapter, tensors, v) for name, v in value.items()}
    if isinstance(value, list):
        return [_referred(adapter, tensors, v) for v in value]
    return _made(adapter, value)


def _unsupported(error: wire.Unsupported) -> dict[str, Any]:
    """Return what a subject has not: for want of a kernel, of words, or of all of it."""
    kinds = {"refused": wire.NoKernel, "unsaid": wire.Unsaid}
    more = {name: True for name, kind in kinds.items() if isinstance(error, kind)}
    return {"unsupported": str(error), **more}


def _called(adapter: Any, op: str, made: dict[str, Any]) -> tuple[str | None, Any]:
    """Return the status and the outputs; or what `status` makes of an error, and its words."""
    try:
        found = adapter.call(op, made)
    except (wire.Unsupported, wire.Broken):
        raise
    except Exception as error:
        return _status(adapter, error), _said(error)
    if isinstance(found, tuple) and found and isinstance(found[0], str):
        if len(found) == 2 and isinstance(found[1], wire.Set):
            return found
        return found[0], found[1:] if found[0] == "SUCCESS" else " ".join(map(str, found[1:]))
    return "SUCCESS", found if isinstance(found, tuple) else (found,)


def _made(adapter: Any, value: Any) -> Any:
    if hasattr(value, "raw"):
        return _tensor(adapter, value)
    if isinstance(value, wire.Bytes):
        if not _has(adapter, "memory"):
            raise wire.Unsaid("the adapter has no `memory`, for values that are bytes")
        return adapter.memory(value.content)
    if isinstance(value, wire.Shaped):
        if not _has(adapter, "shape"):
            raise wire.Unsaid("the adapter has no `shape`, for a shape with the order of its axes")
        return adapter.shape(value.dims, value.min2maj)
    return [_made(adapter, v) for v in value] if isinstance(value, list) else value


def _tensor(adapter: Any, data: wire.Data) -> Any:
    """Return a tensor; an adapter without sparse tensors cannot express the case."""
    try:
        return adapter.create(data)
    except wire.Unsupported as error:
        if data.sparse is None:
            raise
        raise wire.Unsaid(str(error)) from None


def _read(adapter: Any, value: Any) -> Any:
    """Return an output as data: tensors by the adapter, all else as it is."""
    if value is None or isinstance(value, (bool, int, float, complex, str, wire.Data)):
        return value
    if type(value) in (list, tuple):
        return [_read(adapter, v) for v in value]
    return _checked(adapter.read(value))


def _checked(data: Any) -> Any:
    """Return the result of `read` as it can be sent, or raise an error that says what is wrong."""
    if data is None or isinstance(data, (bool, int, float, complex, str)):
        return data
    if not hasattr(data, "raw"):
        raise TypeError(f"{type(data).__name__} is no Data")
    if not isinstance(data.dtype, str):
        raise TypeError(f"the dtype {data.dtype!r} of the Data is no name")
    shape = tuple(map(operator.index, data.shape))
    facts = (data.layout, data.scale, data.zero_point, data.sparse)
    order = getattr(data, "min2maj", None)
    device = getattr(data, "device", None)
    return wire.Data(data.dtype, shape, bytes(data.raw), *facts, min2maj=order, device=device)


def _status(adapter: Any, error: Exception) -> Any:
    """Return the status of an error; None if the adapter does not map errors."""
    if not _has(adapter, "status"):
        return None
    try:
        return adapter.status(error)
    except Exception as failed:
        raise wire.Broken(f"status: {_said(failed)}, of {_said(error)}") from error


def _said(error: Exception) -> str:
    """Return an error in words, and not in too many."""
    if isinstance(error, wire.Unsuitable):
        return str(error)[:LONGEST]
    return f"{type(error).__name__}: {error}"[:LONGEST]


def _trace() -> str:
    return traceback.format_exc(limit=-4)


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    answers.write(json.dumps(what) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}))
