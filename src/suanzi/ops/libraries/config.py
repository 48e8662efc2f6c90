"""What suanzi computes with: processor, level, threads, and the libraries with their files."""

from __future__ import annotations

import os
import platform
from typing import Any, Literal, overload

from suanzi import _core
from suanzi.base.lang import say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import columns

Config = dict[str, dict[str, Any]]


@overload
def show_config(mode: Literal["text"] = "text") -> None: ...
@overload
def show_config(mode: Literal["dicts"]) -> Config: ...
def show_config(mode: str = "text") -> Config | None:
    """Print what suanzi computes with; with mode="dicts", return it as data.

    This loads the provider of BLAS and LAPACK.

    >>> found = sz.show_config("dicts")
    >>> list(found)
    ['suanzi', 'python', 'processor', 'blas', 'lapack', 'fft', 'providers']
    >>> found["blas"]["provider"] == sz.get_provider()
    True
    """
    if mode not in ("text", "dicts"):
        raise InvalidArgument(f"mode is {mode!r}; use 'text' or 'dicts'.")
    found = config()
    if mode == "dicts":
        return found
    print(text(found))
    return None


def config() -> Config:
    """Return what suanzi computes with."""
    from importlib.metadata import version

    library = _library()
    return {
        "suanzi": {"version": _core.VERSION, "file": _core.__file__},
        "python": {
            "version": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy")},
        },
        "processor": {
            "name": processor(),
            "architecture": platform.machine(),
            "cores": os.cpu_count() or 1,
            "level": _core.level(),
            "levels": _core.levels(),
            "threads": _core.get_num_threads(),
            "products": _core.products_by_instruction(),
            "tiles": _core.products_in_tiles() and library["provider"] == "scipy",
        },
        "blas": library,
        "lapack": dict(library),
        "fft": {"provider": "suanzi"},
        "providers": _providers(),
    }


def text(found: Config) -> str:
    """Return the result of `config` as lines of text."""
    return columns(lines(found))


def lines(found: Config) -> list[tuple[str, str]]:
    """Return the result of `config` as labelled lines."""
    python, machine = found["python"], found["processor"]
    return [
        ("suanzi", f"{found['suanzi']['version']}, {found['suanzi']['file']}"),
        ("Python", f"{python['version']}, NumPy {python['numpy']}, SciPy {python['scipy']}"),
        ("processor", f"{machine['name']}, {machine['architecture']}, {machine['cores']} cores"),
        ("level", f"{machine['level']}{say(' of ')}{', '.join(machine['levels'])}"),
        ("threads", str(machine["threads"])),
        ("products", f"with special instructions: {', '.join(machine['products']) or 'none'}"),
        ("large floats", f"multiplied by {'suanzi' if machine['tiles'] else 'BLAS'}"),
        *((name.upper(), _described(found[name])) for name in ("blas", "lapack")),
        ("FFT", found["fft"]["provider"]),
        *((f"provider {name}", said) for name, said in found["providers"].items()),
    ]


def _described(library: dict[str, Any]) -> str:
    if "file" not in library:
        return f"{library['provider']}: an unknown library"
    return (
        f"{library['provider']}: {library['library']} {library['version']}, "
        f"{library['threads']} threads, {library['file']}"
    )


def _library() -> dict[str, Any]:
    """Return what is known about the library of the active provider."""
    from suanzi.ops.libraries import blas, providers

    if _core.provider() is None:
        providers.load()
    name = providers.get_provider()
    known = providers.WITH_FILES.get(name)
    found = blas.libraries(str(known.file()) if known else None)
    if len(found) != 1:
        return {"provider": name}
    one = found[0]
    return {
        "provider": name,
        "library": {"openblas": "OpenBLAS", "mkl": "MKL"}.get(one.internal_api, one.internal_api),
        "version": str(one.version),
        "threads": one.num_threads,
        "file": str(one.filepath),
    }


def _providers() -> dict[str, str]:
    from suanzi.ops.libraries import providers

    return {name: providers.what_is_missing(name) or "installed" for name in providers.NAMES}


def processor() -> str:
    """Return the name of this processor."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return " ".join(line.partition(":")[2].split())
    except OSError:  # not on this system
        pass
    return _said_by_lscpu() or platform.processor() or platform.machine()


def _said_by_lscpu() -> str | None:
    """Return the name that belongs to ARM's processor number, which the kernel does not know."""
    import subprocess

    try:
        ran = subprocess.run(["lscpu"], capture_output=True, text=True, env={"LC_ALL": "C"})
    except OSError:
        return None
    for line in ran.stdout.splitlines():
        if line.startswith("Model name"):
            return " ".join(line.partition(":")[2].split())
    return None
