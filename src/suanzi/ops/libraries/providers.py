"""7.2.17: the provider of BLAS and LAPACK, chosen by name.

`scipy` is the library that SciPy brings, usually OpenBLAS, through the capsules that SciPy
documents for other compiled code. The others are separate packages, whose shared library the core
opens itself: suanzi is its only user, and controls its threads. They are found without importing
anything, and loaded when the first operator needs them.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from suanzi import _core
from suanzi.base.status import InvalidArgument
from suanzi.ops.libraries import mkl


@dataclass(frozen=True)
class Provider:
    """A package that has BLAS and LAPACK in one file, with 32-bit integers.

    Its name is also that of the extra. Functions are called `prefix` + Fortran's name + `suffix`.
    The file is `library` in the folder of a module, or the result of `find`. The functions of
    `choices` are called first, with a number each.
    """

    name: str
    module: str
    library: str
    prefix: str
    suffix: str
    get_threads: str
    set_threads: str
    choices: tuple[tuple[str, int], ...] = ()
    find: Callable[[], Path | None] | None = None
    machines: tuple[str, ...] = ()
    """The architectures it supports; empty for all."""

    def suits(self) -> bool:
        """Return whether it supports this machine."""
        return not self.machines or platform.machine() in self.machines

    def file(self) -> Path | None:
        """Return the path of its library, or None if the package is not installed."""
        if not self.suits():
            return None
        if self.find is not None:
            return self.find()
        from importlib.util import find_spec

        found = find_spec(self.module)
        if found is None or found.origin is None:
            return None
        return next(iter(sorted(Path(found.origin).parent.glob(self.library))), None)


_WITH_FILES = (
    Provider(
        name="openblas",
        module="scipy_openblas32",
        library="lib/libscipy_openblas.*",
        prefix="scipy_",
        suffix="_",
        get_threads="scipy_openblas_get_num_threads",
        set_threads="scipy_openblas_set_num_threads",
    ),
    Provider(
        name="mkl",
        module="mkl",
        library="libmkl_rt.so.*",
        prefix="",
        suffix="_",
        get_threads="MKL_Get_Max_Threads",
        set_threads="MKL_Set_Num_Threads",
        choices=mkl.CHOICES,
        find=mkl.file,
        machines=mkl.MACHINES,
    ),
)
WITH_FILES = {one.name: one for one in _WITH_FILES}
SCIPY = "scipy"
NAMES = (SCIPY, *WITH_FILES)
VARIABLE = "SUANZI_PROVIDER"


def get_provider() -> str:
    """Return the name of the provider of BLAS and LAPACK, which is loaded on first use.

    >>> sz.get_provider() in ("scipy", "openblas", "mkl")
    True
    """
    return _core.provider() or _chosen


def set_provider(name: str) -> None:
    """Choose the provider of BLAS and LAPACK for all threads: `scipy`, or an installed one.

    Calculations running in other threads finish with the provider they started with. The
    environment variable SUANZI_PROVIDER chooses when suanzi is imported.

    >>> sz.set_provider("scipy")
    >>> sz.set_provider("cublas")
    Traceback (most recent call last):
        ...
    suanzi.status.InvalidArgument: unknown provider 'cublas' of BLAS and LAPACK; use one of scipy, \
openblas, mkl.
    """
    global _chosen
    check(name)
    _load(name)
    _chosen = name


def check(name: object) -> None:
    """Raise InvalidArgument unless a provider has that name and is installed."""
    if name not in NAMES:
        raise InvalidArgument(
            f"unknown provider {name!r} of BLAS and LAPACK; use one of {', '.join(NAMES)}."
        )
    if missing := what_is_missing(str(name)):
        raise InvalidArgument(f"the provider {name} is {missing}, or use scipy.")


def is_installed(name: str) -> bool:
    """Return whether a provider is installed."""
    return what_is_missing(name) is None


def what_is_missing(name: str) -> str | None:
    """Return why a provider is not available, and what to do; None if it is."""
    if name == SCIPY:
        return None
    one = WITH_FILES[name]
    if not one.suits():
        return f"for {' and '.join(one.machines)} alone, not for {platform.machine()}; use openblas"
    return None if one.file() else f"not installed; pip install 'suanzi[{name}]'"


def load() -> None:
    """Load the chosen provider; the core calls this when it first needs one."""
    _load(_chosen)


def _load(name: str) -> None:
    if _core.use_provider_again(name):
        return
    from suanzi.ops.libraries import room

    if name == SCIPY:
        from suanzi.ops.libraries import blas

        products = room.load("scipy.linalg.cython_blas").__pyx_capi__
        rest = room.load("scipy.linalg.cython_lapack").__pyx_capi__
        libraries = blas.libraries()
        limit = blas.OneThread(libraries) if libraries else None
        if not _core.use_provider_again(name):  # another thread may have been faster
            _core.use_capsules(name, products, rest, limit, blas.addresses(libraries))
        return
    one = WITH_FILES[name]
    file = str(one.file())
    try:
        with room.kept(file):
            names = (one.prefix, one.suffix, one.get_threads, one.set_threads)
            _core.use_file(name, file, *names, one.choices)
    except ImportError as error:
        raise InvalidArgument(f"the provider {name} could not be loaded: {error}.") from error


def _from_environment() -> str:
    wanted = os.environ.get(VARIABLE)
    if not wanted:
        return SCIPY
    try:
        check(wanted)
    except InvalidArgument as error:
        raise InvalidArgument(f"the environment variable {VARIABLE}: {error}") from None
    return wanted


_chosen = _from_environment()
