"""Settings of the test run."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

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
