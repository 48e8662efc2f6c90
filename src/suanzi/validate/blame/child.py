"""Runs a program under `suanzi blame`, or a saved call again, in the interpreter that has torch.

A script: ``python child.py``, with what is asked for in a variable of the environment. The folders
of suanzi and of what it needs are looked at last, so that the interpreter's own packages are used.
"""

import faulthandler
import json
import os
import runpy
import sys
import threading
import traceback
from contextlib import ExitStack
from importlib.util import spec_from_file_location
from typing import Any

REQUEST = "SUANZI_BLAME"
CANNOT_IMPORT, NOT_INSTALLED, REFUSED = 4, 3, 5
_EVERY = 0.2


class Core:
    """Finds the native module where an editable installation has it, in another folder."""

    def __init__(self, file: str) -> None:
        self.file = file

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return where a module is; None if it is not the native one."""
        return spec_from_file_location(name, self.file) if name == "suanzi._core" else None


def main() -> int:
    """Do what is asked for, and write the report to a file."""
    asked = json.loads(os.environ.pop(REQUEST))
    sys.path[:] = [p for p in sys.path if p != os.path.dirname(os.path.abspath(__file__))]
    sys.path += [p for p in asked["paths"] if p not in sys.path]
    core, python = asked["core"]
    if python == sys.implementation.cache_tag:
        sys.meta_path.append(Core(core))
    try:
        from suanzi.base.status import InvalidArgument
        from suanzi.promote.live import NotInstalled
        from suanzi.validate import blame
        from suanzi.validate.blame.options import options
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return CANNOT_IMPORT
    from dataclasses import replace

    report = blame.Report()
    framework = asked.get("options", {}).get("framework", "torch")
    try:
        if asked["replay"]:
            report = blame.replay(asked["replay"], asked["device"])
        else:
            wanted = replace(options(**asked["options"]), progress=_progress(asked["progress"]))
            _run(blame, wanted, report, asked["program"], asked["arguments"])
    except (NotInstalled, ModuleNotFoundError) as error:
        if not isinstance(error, NotInstalled) and error.name != framework:
            raise
        return NOT_INSTALLED
    except InvalidArgument as error:
        with open(asked["output"], "w", encoding="utf-8") as file:
            json.dump({"refused": str(error)}, file)
        return REFUSED
    with open(asked["output"], "w", encoding="utf-8") as file:
        file.write(report.to_json())
    return 0


def _run(blame: Any, wanted: Any, report: Any, program: str, arguments: list[str]) -> None:
    """Run a program, or with ``-m`` a module; its errors are printed, and end it alone."""
    is_module = program == "-m"
    if is_module:
        program, *arguments = arguments
        sys.path.insert(0, os.getcwd())
    else:
        sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    sys.argv = [program, *arguments]
    faulthandler.enable()  # where it was, if an operator ends the process
    watching = ExitStack()
    watching.enter_context(blame.watch(wanted, report))  # its errors are none of the program
    try:
        with watching:
            try:
                if is_module:
                    runpy.run_module(program, run_name="__main__", alter_sys=True)
                else:
                    runpy.run_path(program, run_name="__main__")
            except SystemExit:
                _wait_for_threads()
                raise
            _wait_for_threads()
    except SystemExit as end:
        status = end.code in (None, 0)
        report.raised = None if status else f"it exited with status {end.code}"
    except Exception:
        traceback.print_exc()
    except KeyboardInterrupt:
        report.raised = "interrupted"


def _wait_for_threads() -> None:
    """Wait for the program's threads, as an interpreter does where it ends.

    It first ends pools of `concurrent.futures`, whose threads wait for work for ever.
    """
    for end in reversed(getattr(threading, "_threading_atexits", ())):
        end()
    this = threading.current_thread()
    while threads := [x for x in threading.enumerate() if x is not this and not x.daemon]:
        for thread in threads:
            thread.join()


def _progress(wanted: bool) -> Any:
    """Return what shows on the error stream how far a program is; None where nobody looks."""
    if not wanted:
        return None
    from time import monotonic

    last = [0.0]

    def show(report: Any, sites: Any) -> None:
        now = monotonic()
        if now - last[0] >= _EVERY:
            last[0] = now
            wrong = {site.operator for site in sites.values() if site.wrong}
            said = f"{report.calls} calls" + f", WRONG: {', '.join(sorted(wrong))}" * bool(wrong)
            sys.stderr.write(f"\r\033[K{said[:100]}\r")
            sys.stderr.flush()

    return show


if __name__ == "__main__":
    sys.exit(main())
