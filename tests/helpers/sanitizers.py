"""Whether the core is watched by AddressSanitizer (.ci/sanitize)."""

import os

import pytest

ADDRESS = "libasan" in os.environ.get("LD_PRELOAD", "")
needs_a_limit = pytest.mark.skipif(
    ADDRESS, reason="AddressSanitizer ends a process in which it gets no memory for itself"
)
"""For tests that limit the addresses of a process."""
