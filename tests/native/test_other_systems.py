"""What only Linux, or its C library, has: native/ asks for it first, as macOS has wheels, too.

`.ci/macos` compiles for it and sees everything; this knows some names, and needs no compiler.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
NAMES = re.compile(
    r"<((?:linux|asm)/[\w/]+\.h|(?:malloc|sched|features|sys/(?:auxv|syscall|prctl|sysinfo))\.h)>"
    r"|\b(_SC_LEVEL\w+|MADV_HUGEPAGE|SYS_\w+|FUTEX_\w+|syscall|getauxval|sched_getaffinity|CPU_COUNT|gettid"
    r"|mincore|mremap|memfd_create|secure_getenv|malloc_(?:trim|usable_size)|pthread_getattr_np)\b"
)
DIRECTIVE = re.compile(r"\s*#\s*(if\w*|elif|else|endif)\b(.*)")


def asked_for(name: str, conditions: list[tuple[str, bool]]) -> bool:
    """Return whether one of the conditions around, true or false here, holds on Linux alone."""
    for text, holds in conditions:
        for known in ("__linux__", name):
            negated = f"!defined({known})" in text
            if f"defined({known})" in text and holds != negated:
                return True
    return False


def unguarded(text: str) -> list[str]:
    """Return the names of Linux that are compiled elsewhere, too."""
    conditions: list[tuple[str, bool]] = []
    found = []
    for line in text.splitlines():
        code = line.partition("//")[0]
        directive = DIRECTIVE.match(code)
        if not directive:
            names = [a or b for a, b in NAMES.findall(code)]
            found += [name for name in names if not asked_for(name, conditions)]
        elif directive[1].startswith("if"):
            conditions.append((directive[2], True))
        elif directive[1] == "endif":
            conditions.pop()
        else:
            before, _ = conditions.pop()
            conditions.append((before, False) if directive[1] == "else" else (directive[2], True))
    assert not conditions
    return found


def test_what_linux_alone_has_is_asked_for() -> None:
    files = [p for p in sorted(NATIVE.rglob("*")) if p.suffix in (".h", ".cpp", ".inc", ".def")]
    found = {str(p.relative_to(NATIVE)): unguarded(p.read_text("utf-8")) for p in files}
    assert len(files) > 100
    assert {name: names for name, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("#include <sched.h>", ["sched.h"]),
        ("long n = sysconf(_SC_LEVEL2_CACHE_SIZE);", ["_SC_LEVEL2_CACHE_SIZE"]),
        (
            "#if !defined(__SSE2__)\nreturn 0;\n#endif\nf(_SC_LEVEL2_CACHE_SIZE);",
            ["_SC_LEVEL2_CACHE_SIZE"],
        ),
        ("#if defined(_SC_LEVEL2_CACHE_SIZE)\nf(_SC_LEVEL2_CACHE_SIZE);\n#endif", []),
        ("#if defined(__aarch64__) && defined(__linux__)\n#include <asm/hwcap.h>\n#endif", []),
        ("#if defined(__linux__)\n#else\nsyscall(0);\n#endif", ["syscall"]),
        ("#if !defined(__linux__)\n#else\nsyscall(0);\n#endif", []),
        ("#if defined(__linux__)\n#elif defined(__APPLE__)\ngettid();\n#endif", ["gettid"]),
        ("f();  // not gettid()", []),
    ],
)
def test_a_planted_one_is_found(text: str, found: list[str]) -> None:
    assert unguarded(text) == found
