"""Settings of the test run."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections.abc import Generator, Iterator

import ml_dtypes
import pytest
from hypothesis import HealthCheck, settings

import suanzi as sz
from suanzi.promote import library

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
settings.load_profile("suanzi")

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
