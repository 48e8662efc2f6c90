"""Settings of the test run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

import suanzi as sz
from suanzi.promote import library

# Shared machines are slow at times; a test is judged by what it finds, never by the clock.
settings.register_profile(
    "suanzi", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("suanzi")


@pytest.fixture(autouse=True)
def _same_rules_before_and_after() -> Iterator[None]:
    before, own = sz.get_promotion(), list(library.registered)
    yield
    assert sz.get_promotion() is before, "a test left another rule set in force"
    for name in library.registered[len(own) :]:
        del library.loaded[name]
    library.registered[:] = own
