"""A C library as a subject: a shared object that exports functions of Appendix A.

The header is that of :mod:`suanzi.conformance.header`. Tensors are built in memory of this process
and lent to the library; what it returns is read, and given back to its `op_destroy`.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any

from suanzi.base.status import Status, StatusError
from suanzi.conformance.subjects.c_arguments import Arguments, Home, c_type
from suanzi.conformance.subjects.c_devices import Elsewhere, first_device
from suanzi.conformance.subjects.c_guards import explain_faults
from suanzi.conformance.subjects.c_keeping import Keeping
from suanzi.conformance.subjects.c_memory import (
    DataType,
    Device,
    Held,
    TensorImpl,
    c_dtype,
    check_layout,
    handles_of,
    read_tensor,
)
from suanzi.conformance.subjects.wire import (
    Broken,
    Bytes,
    Data,
    NoKernel,
    Set,
    Shaped,
    Unsaid,
    Unsupported,
)
from suanzi.standard.prototypes import Prototype, as_printed, prototype, prototypes


class Adapter:
    """A C library.

    `rules` is the rule set it promotes dtypes by: the standard's own words, "strict", promote none.
    """

    statuses = True

    def __init__(self, path: str, rules: str = "strict") -> None:
        self.rules, self.path = rules, os.path.abspath(path)
        self.name = os.path.basename(path)
        # Without a directory, the loader would look elsewhere.
        self._library = ctypes.CDLL(self.path)
        explain_faults()
        self.version = self._version()
        self._has = self._function("op_library_has", [ctypes.c_char_p, DataType], ctypes.c_int)
        self._takes = self._function("op_library_takes", [ctypes.c_char_p, ctypes.c_void_p],
                                     ctypes.c_int)  # fmt: skip
        self._on = self._function("op_library_has_device", [ctypes.c_char_p, Device], ctypes.c_int)
        self._prints = self._function("op_library_printed", [ctypes.c_char_p], ctypes.c_int)
        both = [ctypes.c_void_p, ctypes.c_void_p]
        self._hooks = [self._function(f"op_library_{name}", both, ctypes.c_int)
                       for name in ("write", "read")]  # fmt: skip
        self._default = first_device(self._on)
        self._functions: dict[str, Any] = {}
        self._forms: dict[str, Prototype] = {}
        self.mapping: dict[str, str] = {}
        self.missing: dict[str, str] = {}
        self.notes: list[str] = []
        for function in prototypes():
            self._find(function)
        self._destroy = self._functions.get("destroy")

    def _version(self) -> str:
        found = self._function("op_library_version", [], ctypes.c_char_p)
        return (found() or b"").decode(errors="replace") if found is not None else ""

    def _function(self, name: str, takes: list[Any], gives: Any) -> Any:
        found = getattr(self._library, name, None)
        if found is not None:
            found.argtypes, found.restype = takes, gives
        return found

    def _find(self, function: Prototype) -> None:
        """Find a function, by its name or as Appendix A misprints it."""
        facts = function.interface
        function = self._form(function)
        takes = [c_type(item) for item in function.items]
        for name in (facts.c_name, *facts.printed):
            found = self._function(name, takes, ctypes.c_int)
            if found is None:
                continue
            if name != facts.c_name:
                self.notes.append(f"{facts.c_name} is exported as {name}, a misprint")
            self._functions[facts.name], self._forms[facts.name] = found, function
            self.mapping[facts.name] = str(function)
            return
        self.missing[facts.name] = f"the library does not export {facts.c_name}"

    def _form(self, function: Prototype) -> Prototype:
        """Return the prototype that a function of the library has: ours, or the printed one."""
        facts = function.interface
        printed = as_printed(facts.name)
        if printed is None or self._prints is None or not self._prints(facts.c_name.encode()):
            return function
        self.notes.append(f"{facts.c_name} is called as Appendix A prints it")
        return printed

    def home(self) -> Home:
        """Return where the tensors of one call are, or of the steps of a case."""
        write, read = self._hooks
        if write is None or read is None or self._destroy is None:
            return Home()
        return Elsewhere(write, read, self._default)

    def create(self, data: Data) -> Data:
        """Return the data; they become a tensor in the memory of the call."""
        check_layout(data)
        return data

    def memory(self, content: bytes) -> Bytes:
        """Return values that are bytes, as all are in C."""
        return Bytes(content, len(content))

    def shape(self, dims: tuple[int, ...], min2maj: tuple[int, ...]) -> Shaped:
        """Return a shape with the order of its axes."""
        return Shaped(dims, min2maj)

    def read(self, x: Any) -> Any:
        """Return an output; a call has read it already."""
        return x

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """Call a function, and return its status and what it gave."""
        if op == "destroy":
            return self._destroyed(arguments)
        made, status = self.called(op, arguments)
        if status == "SUCCESS":
            outputs = list(self._outputs(made))
            made.home.close(self._destroy)
            return status, *outputs
        made.home.close(self._destroy)
        some = [n for n, (at, _) in made.cells.items() if ctypes.c_void_p.from_address(at).value]
        return (status, Set(some)) if some else (status,)

    def prepared(self, op: str, arguments: dict[str, Any]) -> Callable[[], tuple[str, Any]]:
        """Return a function that makes one call again and again, and reads its outputs."""
        made, status = self.called(op, arguments)
        if status == "SUCCESS":
            list(self._outputs(made))
        function = self._functions[op]

        def again() -> tuple[str, Any]:
            made.clear()
            status = _status(function(*made.c))
            return status, list(self._outputs(made)) if status == "SUCCESS" else ""

        return again

    def called(self, op: str, arguments: dict[str, Any]) -> tuple[Arguments, str]:
        """Call a function, and return what it was given and its status."""
        if op not in self._functions:
            raise Unsupported(self.missing[op])
        self._check_dtypes(op, arguments)
        made = Arguments(self._forms[op], arguments, self.home())
        self._check_taken(made)
        code = self._functions[op](*made.c)
        if op == "dot_bwd2" and self._took_vec2_for_an_output(made):
            return self.called(op, arguments)
        made.memory.check()
        made.home.check()
        return made, _status(code)

    def destroyed(self, cell: int) -> str:
        """Destroy the tensor of the library whose handle lies in a cell."""
        if self._destroy is None:
            raise Unsupported(self.missing["destroy"])
        return _status(self._destroy(cell))

    def keeping(self) -> Keeping:
        """Return what makes the steps of a case: its tensors live through several calls."""
        return Keeping(self)

    def _took_vec2_for_an_output(self, made: Arguments) -> bool:
        """Tell whether a library wrote its output where vec2 lies, as it does when printed so.

        What it wrote to was memory of ours; it is called in its own form from then on.
        """
        at = next(c for item, c in zip(made.function.items, made.c, strict=True)
                  if item.name in ("vec2", "in_grad2"))  # fmt: skip
        printed = as_printed("dot_bwd2")
        if printed is None or made.function is printed or at is None:
            return False
        cell = ctypes.c_void_p.from_address(made.cells["in_grad2"][0]).value
        if cell is not None or not made.memory.changed(at):
            return False
        self._forms["dot_bwd2"] = printed
        self._functions["dot_bwd2"].argtypes = [c_type(item) for item in printed.items]
        return True

    def status(self, error: Exception) -> str:
        """Return the status of an error: one of this adapter, which is none of the library's."""
        raise Broken(f"{type(error).__name__}: {error}")

    def _check_dtypes(self, op: str, arguments: dict[str, Any]) -> None:
        """Raise Unsupported if the library says that it has not an interface for a dtype."""
        if self._has is None:
            return
        for dtype in _dtypes(arguments):
            name = prototype(op).interface.c_name
            if not self._has(name.encode(), c_dtype(dtype)):
                raise Unsupported(f"the library says that it has no {name} for {dtype}")

    def _check_taken(self, made: Arguments) -> None:
        """Raise Unsupported if the library says that it does not take a tensor, or a device."""
        name = made.function.interface.c_name
        for value in made.c if self._on is not None else ():
            if isinstance(value, Device) and not self._on(name.encode(), value):
                raise NoKernel(f"the library says that it has no {name} on this device")
        if self._takes is not None:
            for label, handle in made.tensors:
                if not self._takes(name.encode(), handle):
                    raise Unsupported(f"the library says that {name} takes no {label} like this")

    def _outputs(self, made: Arguments) -> Iterator[Any]:
        """Give the outputs, and give their tensors back to the library."""
        handles: list[int] = []
        no_q = made.function.interface.name == "qr" and made.given.get("mode") == "r"
        for item in made.function.outputs:
            at, count = made.cells[item.name]
            if item.base == "bool":
                yield _bool(item.name, at)
            elif item.base == "int":
                yield ctypes.c_int.from_address(at).value
            elif count is not None:
                some = handles_of(item.name, at, count, item.twice)
                yield [_read(made, f"{item.name}[{i}]", h) for i, h in enumerate(some)]
                handles += [h for h in some if h is not None]
            else:
                handle = ctypes.c_void_p.from_address(at).value
                if handle is None and no_q and item.name == "Q":
                    yield None
                    continue
                yield _read(made, item.name, handle)
                handles += [handle] if handle is not None else []
        self._give_back(made, handles)

    def _give_back(self, made: Arguments, handles: list[int]) -> None:
        """Destroy tensors of the library; those on memory of ours stay."""
        if self._destroy is None:
            return
        for handle in dict.fromkeys(handles):
            if made.memory.owns(handle) or made.home.is_lent(handle):
                continue
            if made.memory.owns(TensorImpl.from_address(handle).storage):
                continue
            cell = ctypes.c_void_p(handle)
            self._destroy(ctypes.addressof(cell))

    def _destroyed(self, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """Destroy a tensor of the library's own: ours it could not free."""
        if self._destroy is None:
            raise Unsupported(self.missing["destroy"])
        self._check_dtypes("destroy", arguments)
        given = arguments.get("input")
        handle: int | None = None
        if isinstance(given, Data) and given.layout != "destroyed":
            handle = self._own(given)
        elif given is not None and not isinstance(given, Data):
            raise Unsaid("in C, input is a tensor")
        cell = ctypes.c_void_p(handle)
        return (self.destroyed(ctypes.addressof(cell)),)

    def _own(self, like: Data) -> int | None:
        """Return a tensor that the library made itself."""
        maker = next((op for op in _MAKERS if op in self._functions), None)
        if maker is None:
            raise Unsaid("op_destroy takes a tensor of the library, which has no op_create_tensor")
        more: dict[str, Any] = {}
        if maker == "create_tensor":
            more = {"values": Data(like.dtype, like.shape, like.raw)}
        shape = {"dtype": like.dtype, "shape": list(like.shape)}
        own = Arguments(prototype(maker), {**shape, **more}, self.home())
        code = self._functions[maker](*own.c)
        if _status(code) != "SUCCESS":
            raise Broken(f"op_{maker} for op_destroy: {_status(code)}")
        return ctypes.c_void_p.from_address(own.cells["output"][0]).value


_MAKERS = ("create_tensor", "zeros", "empty")
"""What makes a tensor of a given shape from nothing, for op_destroy to end."""


def _read(made: Arguments, label: str, handle: int | None) -> Data:
    """Return an output; from tensors that are all dense, only one function makes a sparse one."""
    try:
        return read_tensor(label, handle, made.home.fetch)
    except Unsaid:
        if made.function.interface.name == "create_sparse_tensor":
            raise
        raise Broken(f"{label} is no dense tensor, and all of the inputs are") from None


def _status(code: int) -> str:
    try:
        return Status(code).name
    except ValueError:
        return f"status {code}"


def _bool(name: str, at: int) -> bool:
    found = ctypes.c_uint8.from_address(at).value
    if found > 1:
        raise Broken(f"{name} is {found}, no bool")
    return found == 1


def _dtypes(arguments: dict[str, Any]) -> Iterator[str]:
    """Give the dtypes of the arguments, and those they name."""
    for name, value in arguments.items():
        for x in value if isinstance(value, list) else [value]:
            if isinstance(x, Data | Held):
                yield x.dtype
        if name in ("dtype", "type") and isinstance(value, str):
            try:
                c_dtype(value)
            except StatusError:
                continue  # no dtype at all: for the library to say
            yield value
