"""Settings of the test run."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import suanzi as sz
from helpers.lacking import lacks
from helpers.recording import Recorder
from suanzi import _core
from suanzi.promote import library

pytest_plugins = ["helpers.looping", "helpers.rewriting"]

# Without bytecode, pytest rewrites the asserts of all files in each process, and every program that
# a test starts compiles all that it imports: most of the time of both.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

os.environ["SUANZI_LANG"] = "en"  # whatever the locale of who runs the tests

# Shared machines are slow at times; a test is judged by what it finds, never by the clock.
# The same examples each time, so that a change is judged by what it changes; SUANZI_EXPLORE=1 looks
# for new ones.
settings.register_profile(
    "suanzi",
    derandomize="SUANZI_EXPLORE" not in os.environ,
    max_examples=100 if "SUANZI_EXPLORE" in os.environ else 50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("quick", settings.get_profile("suanzi"), max_examples=10)


def pytest_configure(config: pytest.Config) -> None:
    from helpers.looping import SHARED  # not earlier: pytest rewrites the asserts of its plugins

    config.stash[SHARED] = frozenset({"_same_rules_before_and_after"})
    settings.load_profile("quick" if config.option.markexpr == "quick" else "suanzi")
    if config.option.record and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(config.option.record).resolve()))


# Tests call operators in the standard's sense; tests/together/test_first_hour.py turns it on.
sz.difference_warnings(False)

# In the background of a shell Ctrl-C is ignored, also by the programs that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Skip where a dependency is too old."""
    try:
        return (yield)
    except Exception as refused:
        if lacks(refused):
            pytest.skip(str(refused))
        raise


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", help="write what became of each test to this file")


SLOW = {
    ".": "layers new_operator",
    "front/cli": "check check_files terminal watch",
    "runtimes/cluster": "kit workers",
    "conformance": """backends basis breaches breaches_c c_adapter c_mutants c_round_trip
        case_loading cluster crashes docs_adapter frameworks frozen independence observed
        packaged_deviations plugin processes report_json report_junit reproduction results
        rude_subjects shards sizes vendor_c""",
    "faces/interface": "memory",
    "validate/judge": "front_ends lost",
    "native": "build",
    "port": "exported",
    "promote": "float8_overflow",
    "together": "exit first_hour fuzz_program limits",
}
"""Files, by folder, that start programs or make all cases of the kit for most of their tests."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every third test function of a file `quick`, with its first parameters.

    In tests/live, and in the files of SLOW, only functions that carry the mark themselves.
    """
    seen: Counter[Path] = Counter()
    last: dict[Path, object] = {}
    for item in items:
        function, path = getattr(item, "function", None), item.path
        if last.get(path) is function:
            continue
        last[path] = function
        seen[path] += 1
        folder = path.parent.relative_to(Path(__file__).parent).as_posix()
        slow = folder == "live" or path.stem[5:] in SLOW.get(folder, "").split()
        if seen[path] % 3 == 1 and not slow:
            item.add_marker("quick")


def pytest_collection_finish() -> None:
    """Keep the tests themselves, of which there are many, out of every collection of garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _same_rules_before_and_after() -> Iterator[None]:
    before, own = sz.get_promotion(), list(library.registered)
    level, threads = _core.level(), sz.get_num_threads()
    yield
    if (_core.level(), sz.get_num_threads()) != (level, threads):
        _core.use_level(level)
        sz.set_num_threads(threads)
    assert sz.get_promotion() is before, "a test left another rule set in force"
    for name in library.registered[len(own) :]:
        del library.loaded[name]
    library.registered[:] = own
