"""What ran and what was asked, by hashes, so that a report is about one library and one kit."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from suanzi import _core
from suanzi.conformance import mustpass
from suanzi.conformance.model.results import Result

_PACKAGE = Path(__file__).parents[1]
_DRIVERS = {
    "NVIDIA driver": Path("/proc/driver/nvidia/version"),
    "Ascend driver": Path("/usr/local/Ascend/driver/version.info"),
    "Ascend CANN": Path("/usr/local/Ascend/ascend-toolkit/latest/version.cfg"),
    "AMD driver": Path("/sys/module/amdgpu/version"),
}
_COMPILER = re.compile(
    rb"(?:GCC: \([^)\0]{1,80}\) [0-9.]+|[\w .-]{0,40}clang version [^\0\n]{1,80})"
)


def sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@cache
def kit() -> dict[str, str]:
    """Return the version, the commit and the hash of all files of the installed kit.

    >>> sorted(kit())
    ['commit', 'sha256', 'version']
    """
    paths = (os.path.join(at, name) for at, _, names in os.walk(_PACKAGE) for name in names)
    kept = (path for path in paths if path.endswith((".py", ".toml", ".txt", ".json")))
    files = {path[len(str(_PACKAGE)) + 1 :].replace(os.sep, "/"): path for path in kept}
    files["_core"] = _core.__file__  # an editable installation has it elsewhere
    lines = (f"{sha256(path)}  {name}\n" for name, path in files.items())
    return {"version": _core.VERSION, "commit": _commit(), "sha256": digest(lines)}


def _commit() -> str:
    """Return the commit that was built, or that is checked out; a mark shows that files changed."""
    built = _PACKAGE / "_commit.txt"
    if built.is_file():
        return built.read_text("utf-8").strip() or "unknown"
    if not (_PACKAGE.parents[1] / ".git").exists():
        return "unknown"
    try:
        return subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            cwd=_PACKAGE, capture_output=True, text=True, timeout=10, check=True,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def backend(files: Mapping[str, str], library: str | None = None) -> dict[str, str]:
    """Return the hashes of the files of a backend, and how its C library was compiled."""
    said = None if library is None else compiler(library)
    return {**files, **({} if said is None else {"compiler": said})}


def compiler(library: str | os.PathLike[str]) -> str | None:
    """Return the compilers that a library names, in the note that they leave in it."""
    try:
        found = _COMPILER.findall(Path(library).read_bytes())
    except OSError:
        return None
    return "; ".join(sorted({one.decode("ascii", "replace").strip() for one in found})) or None


@cache
def host() -> dict[str, str]:
    """Return the machine, its system and its drivers; nothing that names its owner.

    >>> host()["machine"] == platform.machine()
    True
    """
    said = {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count() or 1),
        "system": f"{platform.system()} {platform.release()}",
        "libc": " ".join(platform.libc_ver()).strip() or "unknown",
        "python": platform.python_version(),
    }
    for name, path in _DRIVERS.items():
        try:
            said[name] = path.read_text("utf-8", "replace").splitlines()[0].strip()[:200]
        except (OSError, IndexError):
            continue
    return said


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return platform.processor() or "unknown"
    found = re.search(r"^(?:model name|Hardware|CPU part)\s*:\s*(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else platform.processor() or "unknown"


def contents(results: Iterable[Result]) -> dict[str, dict[str, Any]]:
    """Return a hash of the required cases of each interface, with arguments and results.

    Cases of the promotion table are left out: they follow from the rule set.
    """
    lines: dict[str, list[str]] = {}
    for r in results:
        if r.kept is not None and r.group != "promotion":
            lines.setdefault(r.op, []).append(f"{r.kept.content}  {r.id}\n")
    return {op: {"cases": len(some), "sha256": digest(some)} for op, some in lines.items()}


def digest(lines: Iterable[str]) -> str:
    """Return a hash of lines, whatever their order."""
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


def evidence(
    files: Mapping[str, str], library: str | None, results: Iterable[Result]
) -> dict[str, Any]:
    """Return the evidence of a run."""
    found = contents(results)
    return {
        "kit": kit(),
        "backend": backend(files, library),
        "host": host(),
        "contents": found,
        "mustpass": mustpass.compared(found),
    }
