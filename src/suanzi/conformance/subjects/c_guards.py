"""Memory between pages that nobody may touch, and the words for a call that touches one.

An input of a C library lies next to such a page: a read past its end, or before its start, ends
the process at once instead of finding whatever lies there. Inputs keep an alignment of 64 bytes, as
allocators of vector libraries give it, so that loads of whole aligned vectors remain possible: up
to 63 bytes may lie between an input and the page behind it.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
from typing import Any

PAGE = mmap.PAGESIZE
ALIGNMENT = 64
PATTERN = 0xA5
_LINUX = sys.platform == "linux"
_ANONYMOUS = 0x20 if _LINUX else 0x1000
_PRIVATE, _READ_WRITE = 2, 3
_KEPT = 64
"""How many free regions are kept for the next calls."""
_free: dict[int, list[Region]] = {}
_alive: dict[int, Region] = {}


class Region:
    """Some pages of memory between two that cannot be accessed."""

    def __init__(self, pages: int) -> None:
        self.pages, self.label = pages, ""
        self.begin = _mapped((pages + 2) * PAGE) + PAGE
        self.end = self.begin + pages * PAGE
        if _libc().mprotect(self.begin, pages * PAGE, _READ_WRITE):
            raise MemoryError("mprotect")
        self.first = self.last = self.begin
        _alive[self.begin] = self

    def lend(self, label: str, content: bytes, at_start: bool) -> int:
        """Return the address of a copy: right behind the first page, or as near to the last."""
        ctypes.memset(self.begin, PATTERN, self.pages * PAGE)
        room = -(-len(content) // ALIGNMENT) * ALIGNMENT
        self.label = label
        self.first = self.begin if at_start else self.end - room
        self.last = self.first + len(content)
        ctypes.memmove(self.first, content, len(content))
        return self.first

    def around(self) -> bytes:
        """Return what lies before and behind the copy, in the same pages."""
        before = ctypes.string_at(self.begin, self.first - self.begin)
        return before + ctypes.string_at(self.last, self.end - self.last)

    def words(self, address: int) -> str | None:
        """Return what an access is, if it is one of the pages next to this memory."""
        if self.end <= address < self.end + PAGE:
            return f"the call accessed memory {address - self.last} bytes behind {self.label}"
        if self.begin - PAGE <= address < self.begin:
            return f"the call accessed memory {self.first - address} bytes before {self.label}"
        return None

    def release(self) -> None:
        """Keep the pages for another call, or give them back."""
        self.label = "the input of an earlier call"
        free = _free.setdefault(self.pages, [])
        if self.pages <= _KEPT and len(free) < _KEPT:
            free.append(self)
        else:
            _alive.pop(self.begin, None)
            _libc().munmap(self.begin - PAGE, (self.pages + 2) * PAGE)


def region(size: int) -> Region:
    """Return memory of a size at least, which somebody else may have used before."""
    pages = max(-(-size // PAGE), 1)
    free = _free.get(pages)
    return free.pop() if free else Region(pages)


def _libc() -> Any:
    return _functions[0] if _functions else _load()


_functions: list[Any] = []


def _load() -> Any:
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    library.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    _functions.append(library)
    return library


def _mapped(size: int) -> int:
    at: int | None = _libc().mmap(None, size, 0, _PRIVATE | _ANONYMOUS, -1, 0)
    if at is None or at == ctypes.c_void_p(-1).value:
        raise MemoryError(f"mmap of {size} bytes")
    return at


class _Action(ctypes.Structure):
    """The struct sigaction of glibc and musl on 64-bit Linux."""

    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ubyte * 128),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


_SIGINFO, _ADDRESS = 4, 16
"""SA_SIGINFO, and where the address stands in a siginfo_t."""
_kept: list[Any] = []


def explain_faults() -> None:
    """Write which input a call read past, before the process ends of it; Linux only.

    All other faults, and this one after the words, go to the handler that was there before: that of
    a sanitizer, or the end of the process.
    """
    if not _LINUX or _kept or sys.maxsize < 1 << 32:
        return
    before, own = _Action(), _Action()
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    def handler(number: int, info: int, context: int) -> None:
        address = ctypes.c_void_p.from_address(info + _ADDRESS).value or 0
        for one in _alive.values():
            words = one.words(address)
            if words is not None:
                os.write(2, f"SUMMARY: {words}\n".encode())
                break
        _libc().sigaction(number, ctypes.byref(before), None)

    function = kind(handler)
    own.handler, own.flags = ctypes.cast(function, ctypes.c_void_p).value, _SIGINFO
    _kept.extend((function, before))
    for number in (signal.SIGSEGV,):
        _libc().sigaction(int(number), ctypes.byref(own), ctypes.byref(before))
