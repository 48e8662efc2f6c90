"""Settings of the test run."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import ml_dtypes
import pytest
from hypothesis import HealthCheck, settings

import suanzi as sz
from helpers.recording import Recorder, reason_of
from suanzi import _core
from suanzi.promote import library

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
    settings.load_profile("quick" if config.option.markexpr == "quick" else "suanzi")
    if config.option.record and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(Path(config.option.record).resolve()))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Rewrite the asserts of a part of the files in each process of a run of all tests.

    Else each of them rewrites all, in the same order: most of what a first collection takes.
    """
    worker: dict[str, Any] = getattr(session.config, "workerinput", {})
    here = Path(__file__).parent
    rewriters = [finder for finder in sys.meta_path if hasattr(finder, "mark_rewrite")]
    if worker and rewriters and str(here) in map(os.path.abspath, session.config.args):
        at, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        files = sorted(here.rglob("test_*.py"))
        for path in files[len(files) * at // count : len(files) * (at + 1) // count]:
            spec = importlib.util.spec_from_file_location(path.stem, path, loader=rewriters[0])
            if spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                vars(module)["__builtins__"] = {}  # so that it ends at its first import
                with suppress(ImportError, NameError):
                    spec.loader.exec_module(module)


# Tests call operators in the standard's sense; tests/together/test_first_hour.py turns it on.
sz.difference_warnings(False)

# In the background of a shell Ctrl-C is ignored, also by the programs that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What the oldest NumPy and ml_dtypes that are allowed cannot do, and later ones can.
LACKING = [rf"\b{name}\b" for name in ("uint1", "complex32") if not hasattr(ml_dtypes, name)]
LACKING += ["Cannot export readonly array", "maximum supported dimension for an ndarray is 32"]


def lacks(refused: Exception) -> bool:
    """Tell whether a dependency is too old for a test, as it says itself."""
    kinds = (BufferError, TypeError, ValueError)
    return isinstance(refused, kinds) and bool(re.search("|".join(LACKING), str(refused)))


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Skip where a dependency is too old."""
    try:
        return (yield)
    except Exception as refused:
        if lacks(refused):
            pytest.skip(str(refused))
        raise


# Each test costs some milliseconds more than what it does, and there are 30,000 sets of parameters:
# where no fixture is needed, one test loops over 50 of them, or as many as its module says.
# `--apart` makes each a test again.
TOGETHER = 50
AUTOUSED = {"_same_rules_before_and_after"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--apart", action="store_true", help="each set of parameters is a test")
    parser.addoption("--record", help="write what became of each test to this file")


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Leave one set of parameters of as many as one test loops over, unless some are selected.

    A test that is made only to be looped over takes longer than most of them run.
    """
    found = yield
    config, calls = metafunc.config, metafunc._calls
    selects = config.option.keyword or config.option.markexpr or config.option.deselect
    if config.option.apart or selects or any("::" in arg for arg in config.args):
        return found
    loops = not any(call.marks for call in calls) and not hasattr(metafunc.function, "hypothesis")
    if loops and calls and {*metafunc.fixturenames} - AUTOUSED == {*calls[0].params}:
        count = getattr(metafunc.module, "TOGETHER", TOGETHER)
        parts = [calls[at : at + count] for at in range(0, len(calls), count)]
        LEFT.update({id(part[0]): (i * count, part) for i, part in enumerate(parts)})
        calls[:] = [part[0] for part in parts]
    return found


LEFT: dict[int, tuple[int, list[Any]]] = {}
"""Which sets of parameters, and from which on, one of them stands for, by its id."""


@pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
def pytest_loop_over_parameters(config: pytest.Config, items: list[pytest.Item]) -> None:
    def alike(item: pytest.Item) -> object:
        function = getattr(item, "function", None)
        call = getattr(item, "callspec", None)
        if call is None or call.marks or hasattr(function, "hypothesis") or id(call) in LEFT:
            return item
        plain = {*item.fixturenames} - AUTOUSED == {*call.params}  # type: ignore[attr-defined]
        return (item.parent, function) if plain else item

    if not config.option.apart:
        groups = [list(group) for _, group in itertools.groupby(items, alike)]
        items[:] = [
            looped(group[at : at + count], at)
            for group in groups
            for count in [getattr(getattr(group[0], "module", None), "TOGETHER", TOGETHER)]
            for at in range(0, len(group), count)
        ]


def looped(group: list[pytest.Item], at: int) -> pytest.Item:
    """Return one test that does what several of one function do."""
    first = group[0]
    specs = [item.callspec for item in group if hasattr(item, "callspec")]
    if specs and id(specs[0]) in LEFT:
        at, specs = LEFT[id(specs[0])]
    if len(specs) <= 1 or not isinstance(first, pytest.Function):
        return first
    function = first.obj
    calls = [(call.id, call.params) for call in specs]
    outcomes: list[tuple[str, str, str]] = []

    def every() -> None:
        outcomes.clear()
        for name, parameters in calls:
            try:
                function(**parameters)
                outcomes.append((name, "passed", ""))
            except pytest.skip.Exception as reason:
                outcomes.append((name, "skipped", str(reason)))
            except Exception as error:
                if not lacks(error):
                    outcomes.append((name, "failed", ""))
                    print(f"with the parameters [{name}]")
                    if type(error) is AssertionError:
                        error.args = (f"[{name}] {error}",)
                    raise
                outcomes.append((name, "skipped", str(error)))
        if all(outcome == "skipped" for _, outcome, _ in outcomes):
            pytest.skip(outcomes[0][2])

    marks = getattr(first.function, "pytestmark", [])
    vars(every).update(outcomes=outcomes, names=[name for name, _ in calls])
    every.pytestmark = [m for m in marks if m.name != "parametrize"]  # type: ignore[attr-defined]
    name = f"{first.originalname}[{at}: {calls[0][0]} to {calls[-1][0]}]"
    return pytest.Function.from_parent(first.parent, name=name, callobj=every)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what became of each set of parameters that a test loops over."""
    report = yield
    every = getattr(item, "obj", None)
    if call.when == "call":
        report.each = getattr(every, "outcomes", [])
    elif report.skipped:
        report.each = [(name, "skipped", reason_of(report)) for name in getattr(every, "names", ())]
    return report


SLOW = {
    ".": "layers new_operator",
    "cli": "check check_files terminal watch",
    "cluster": "kit workers",
    "conformance": """backends basis breaches breaches_c c_adapter c_mutants c_round_trip
        case_loading cluster crashes docs_adapter frameworks frozen independence observed
        packaged_deviations plugin processes report_json report_junit reproduction results
        rude_subjects shards sizes vendor_c""",
    "interface": "memory",
    "judgement": "front_ends lost",
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
        folder = str(path.parent.relative_to(Path(__file__).parent))
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
