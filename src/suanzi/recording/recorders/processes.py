"""Runs a program under a recorder, with the processes that it starts.

Each process writes a file of its own, ``calls.jsonl`` and ``calls.jsonl.4711``: one that was forked
(the workers of a DataLoader) knows the calls of its parent and says how many; another interpreter
(``spawn``, ``torchrun``) starts a recorder by ``child/sitecustomize.py`` when it imports the
framework. Nothing here imports suanzi or a framework.
"""

import _io
import atexit
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import runpy
import sys
import traceback

try:
    from . import private_parts
    from .appending import Appended
except ImportError:  # as a script, where suanzi need not be
    import private_parts
    from appending import Appended

HERE = os.path.dirname(os.path.abspath(__file__))
NOT_INSTALLED, LACKING = 3, 4
FILE = "SUANZI_PORT_CALLS"
FRAMEWORK = "SUANZI_PORT_FRAMEWORK"
OPTIONS = "SUANZI_PORT_OPTIONS"
"""The variables of the environment that tell another interpreter what to record, and where to."""
DEFAULTS = {"values": "sampled", "replay": None, "hashes": False, "texts": {}}


def options():
    """Return what the recorder was asked for.

    "values" are those that are measured, one of values.MODES; "replay" is None, or has a "folder"
    for the calls with their tensors, and how many "bytes" of them are kept; with "hashes" those of
    results are noted; "texts" are the files that are read instead of others.
    """
    return {**DEFAULTS, **json.loads(os.environ.get(OPTIONS, "{}"))}


class File:
    """What a process writes: a first line, then records; after a fork, into another file."""

    def __init__(self, path, header):
        self.path, self.root, self.header = path, path, header
        self.parent, self.known = None, 0  # whose first calls are known here, and how many
        self.file = None
        self.closed = False

    def open(self):
        """Begin the file."""
        about = {"parent": self.parent and os.path.basename(self.parent), "known": self.known}
        self.file = Appended(self.path)
        self._put({**self.header, "process": about})

    def _put(self, record):
        self.file.write(json.dumps(record).encode() + b"\n")

    def write(self, record):
        """Write a record; an error of the disk is the recorder's to tell, never the program's."""
        if self.closed:
            return
        if self.file is None:
            self.open()
        self._put(record)

    def after_fork(self, known):
        """Write to a file of this process from now on."""
        if self.file is not None:
            self.parent, self.known = self.path, known
        self.path = "{}.{}".format(self.root, os.getpid())
        self.file, self.closed = None, False

    def end(self, recorder, raised=None):
        """Write how often each call was made, once; a child that called nothing has no file."""
        is_silent = self.path != self.root and self.file is None and not recorder.notes.noted
        if not self.closed and not is_silent:
            with contextlib.suppress(OSError, ValueError):
                self.write({"end": True, "raised": raised, **recorder.end()})
        self.closed = True


def follow_forks(file, recorder):
    """Have forked processes write files of their own, and end them."""

    def after():
        if file.closed:
            return  # the program is over
        file.after_fork(recorder.notes.known())
        recorder.notes.after_fork()
        atexit.register(file.end, recorder)
        finalize(file, recorder)

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after)


def finalize(file, recorder):
    """End the file of a process of multiprocessing, which leaves without the handlers of atexit."""
    if "multiprocessing" not in sys.modules:
        return
    from multiprocessing import util

    def later(_):
        util.Finalize(None, file.end, (recorder,), exitpriority=-100)

    util.register_after_fork(file, later)  # it clears what was to be done at the end
    util.Finalize(None, file.end, (recorder,), exitpriority=-100)


def start(framework, make_recorder, header, path, **more):
    """Return a recorder and the file it writes to, and have the processes it starts do the same."""
    file = File(path, header())
    recorder = make_recorder(file.write, {**options(), **more})
    follow_forks(file, recorder)
    return recorder, file


def start_in_child(framework):
    """Record what this interpreter does from now on; called when it has imported the framework."""
    sys.path.append(HERE)
    try:
        module = importlib.import_module("record_" + framework)
    finally:
        sys.path.remove(HERE)
    path = "{}.{}".format(os.environ[FILE], os.getpid())
    try:
        recorder, file = start(
            framework, module.make_recorder, module.header, path, replay=None, hashes=False
        )
    except private_parts.Lacking:  # the process that starts this one says so
        return
    file.root = os.environ[FILE]
    recorder.__enter__()
    atexit.register(file.end, recorder)
    finalize(file, recorder)


def read_others(texts):
    """Have Python read other files instead of some that are imported or run."""
    if not texts:
        return
    original, stats = io.open_code, importlib.machinery.SourceFileLoader.path_stats

    def open_code(path):
        return original(texts.get(os.path.abspath(path), path))

    def path_stats(loader, path):
        if os.path.abspath(path) in texts:
            raise OSError("what was compiled before is not asked for")
        return stats(loader, path)

    io.open_code = _io.open_code = open_code
    importlib.machinery.SourceFileLoader.path_stats = path_stats


def run(framework, make_recorder, header, path, program, arguments):
    """Run a program, or with ``-m`` a module, under a recorder; its calls go to the file `path`."""
    if importlib.util.find_spec(framework) is None:
        sys.stderr.write("{} is not installed in {}\n".format(framework, sys.executable))
        return NOT_INSTALLED
    read_others(options()["texts"])
    os.environ.update({FILE: os.path.abspath(path), FRAMEWORK: framework})
    folders = [os.path.join(HERE, "child"), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders)
    is_module = program == "-m"
    if is_module:
        program, *arguments = arguments
        sys.path[0] = os.getcwd()
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(program))
    sys.argv = [program, *arguments]
    try:
        recorder, file = start(framework, make_recorder, header, path)
    except private_parts.Lacking as error:
        sys.stderr.write("suanzi port: {}\n".format(error))
        return LACKING
    file.open()
    raised = None
    try:
        with recorder:
            if is_module:
                runpy.run_module(program, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            raised = "it exited with status {}".format(end.code)
    except BaseException as error:
        print_error(error)
        said = str(error).strip().splitlines() or [""]
        raised = "{}: {}".format(type(error).__name__, said[0])
    file.end(recorder, raised)
    return 0


def print_error(error):
    """Print a traceback without the lines of the recorder."""
    frames = error.__traceback__
    while frames is not None and is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    traceback.print_exception(type(error), error, frames or error.__traceback__)


def is_ours(file):
    """Tell whether a file is the recorder's, or what runs the program."""
    return file.startswith((HERE, "<frozen runpy")) or os.path.basename(file) == "runpy.py"
