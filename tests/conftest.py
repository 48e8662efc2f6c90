"""Settings of the test run."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path

import ml_dtypes
import pytest
from hypothesis import HealthCheck, settings

import suanzi as sz
from suanzi.promote import library

# Without bytecode, pytest rewrites the asserts of all files in each process, and every program that
# a test starts compiles all that it imports: most of the time of both.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix

# Shared machines are slow at times; a test is judged by what it finds, never by the clock.
# The same examples each time, so that a change is judged by what it changes; SUANZI_EXPLORE=1 looks
# for new ones.
settings.register_profile(
    "suanzi",
    derandomize="SUANZI_EXPLORE" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("quick", settings.get_profile("suanzi"), max_examples=10)


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("quick" if config.option.markexpr == "quick" else "suanzi")


# Tests call operators in the standard's sense; tests/together/test_first_hour.py turns it on.
sz.difference_warnings(False)

# In the background of a shell Ctrl-C is ignored, also by the programs that tests send it to.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What the oldest NumPy and ml_dtypes that are allowed cannot do, and later ones can.
LACKING = [rf"\b{name}\b" for name in ("uint1", "complex32") if not hasattr(ml_dtypes, name)]
LACKING += ["Cannot export readonly array", "maximum supported dimension for an ndarray is 32"]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call() -> Generator[None, object, object]:
    """Skip where a dependency is too old for the test, as it says itself."""
    try:
        return (yield)
    except (BufferError, TypeError, ValueError) as refused:
        if re.search("|".join(LACKING), str(refused)):
            pytest.skip(str(refused))
        raise


SLOW = {
    ".": "layers new_operator",
    "cli": "check check_files terminal watch",
    "cluster": "kit workers",
    "conformance": """backends basis breaches breaches_c c_adapter c_round_trip cluster crashes
        docs_adapter frameworks frozen independence packaged_deviations plugin processes report_json
        reproduction results rude_subjects shards vendor_c""",
    "interface": "memory",
    "native": "build",
    "port": "exported",
    "promote": "float8_overflow",
    "together": "exit fuzz_program limits",
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
    yield
    assert sz.get_promotion() is before, "a test left another rule set in force"
    for name in library.registered[len(own) :]:
        del library.loaded[name]
    library.registered[:] = own
