"""Records the calls that a PyTorch program makes, for `suanzi port`; needs torch and nothing else.

As a script it runs a program under the recorder: ``record_torch.py CALLS PROGRAM ARGUMENTS``.
"""

import functools
import os
import sys
import threading

try:
    from . import inputs, private_parts, processes, recording, values
except ImportError:  # as a script, where suanzi need not be
    import inputs
    import private_parts
    import processes
    import recording
    import values


_NEEDED = (
    "torch.utils._python_dispatch.TorchDispatchMode", "torch._C.DisableTorchFunction",
    "torch._C.ScriptFunction", "torch._C.ScriptMethod", "torch._C._get_tracing_state",
    "torch.ops.aten.add.Tensor._schema", "torch.Tensor._version",
)  # fmt: skip
_NO_NUMBER = ("_local_scalar_dense", "_to_copy", "clone", "detach", "eq", "expand", "view")


def _takes_no_number(func):
    """Whether a function needs a tensor where a script's constant has become a number."""
    return func._schema.name.partition("::")[2] in _NO_NUMBER


def make_recorder(write, options):
    """Return a recorder, a context; it calls `write(record)` once for each different call.

    `options` are those of processes.options. Made in a function, so that this file can be read
    where torch is not installed.
    """
    import torch

    private_parts.need(*_NEEDED)
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    known = recording.Names("torch")
    home = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
    exactly = frozenset([torch.Tensor, torch.nn.Parameter])
    notes = recording.make_notes(
        torch.Tensor, exactly, home, dtype_name, write, known.chosen, autocast=autocast,
        spans=options["hashes"],
        values=values.of_torch(options["values"]), keep=inputs.of_torch(options, recording.UNSET),
    )  # fmt: skip
    # function: its name and whether it is known; None: not recorded. `grad` is an attribute, too.
    names = {torch.autograd.grad: ("grad", None, False)}

    def name_of(func):
        name = getattr(func, "__name__", None) or str(func)
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", name)
        elif name in ("__set__", "__delete__"):
            return None
        packet = getattr(func, "overloadpacket", None)
        return known.of(name if packet is None else packet.__name__)

    # torch.export with strict=True traces modes too, before PyTorch 2.13, and cannot trace notes.
    is_traced = getattr(torch.compiler, "is_dynamo_compiling", bool)

    class Functions(TorchFunctionMode):
        """Sees what a thread of the program calls, numbers as numbers."""

        def __init__(self):
            super().__init__()
            self.inside = Inside()

        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            found = names.get(func, 0)
            if found == 0:
                found = names[func] = name_of(func)
            if found is None or is_traced():
                return func(*args, **kwargs)
            name, way, is_known = found
            if is_known:
                result = func(*args, **kwargs)
                notes.note(name, way, args, kwargs, result)
                return result
            # What is not known may be made of what is: look inside.
            before = self.inside.noted
            result = self.inside.call(func, args, kwargs, name in ("backward", "grad"))
            if self.inside.noted == before:
                notes.note(name, way, args, kwargs, result)
            return result

    class Inside(TorchDispatchMode):
        """Sees what a composite function, a script, or backward, is made of."""

        noted = 0

        def call(self, func, args, kwargs, backward=False):
            """Call a function and note what it is made of."""
            here = notes.here
            outer, here.backward = here.backward, backward
            try:
                with self:
                    return func(*args, **kwargs)
            finally:
                here.backward = outer

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if args and isinstance(args[0], (bool, int, float)) and _takes_no_number(func):
                with torch._C.DisableTorchFunction():
                    args = (torch.tensor(args[0]), *args[1:])
            result = func(*args, **kwargs)
            found = names.get(func, 0)
            if found == 0:
                found = names[func] = name_of(func)
            if found is not None:
                self.noted += 1
                notes.note(found[0], found[1], args, kwargs, result)
            return result

    return Recorder(torch, Functions, Inside, notes)


class Recorder:
    """A context in which the calls of all threads are noted, those of scripts as well.

    What is compiled runs as it is written: a graph calls nothing that could be seen.
    """

    def __init__(self, torch, Functions, Inside, notes):
        self.torch, self.Functions, self.Inside, self.notes = torch, Functions, Inside, notes
        self.mode = None
        self.undo = []

    def end(self):
        """Return how often each call was made, and the extremes of its numbers."""
        return self.notes.end()

    def __enter__(self):
        torch, self.mode = self.torch, self.Functions()
        self.put(threading.Thread, "_bootstrap_inner", self.in_thread)
        for script in (torch._C.ScriptFunction, torch._C.ScriptMethod):
            self.put(script, "__call__", self.in_script)
        self.put(torch.nn.Module, "__call__", self.in_module)
        self.put(torch.Tensor, "__reduce_ex__", unmarked)
        if "torch._dynamo" in sys.modules:
            self.run_eagerly()
        else:
            self.put(torch, "compile", self.compiling)
        self.mode.__enter__()
        return self

    def __exit__(self, *problem):
        self.mode.__exit__(*problem)
        while self.undo:
            self.undo.pop()()

    def put(self, owner, name, make):
        """Put what `make` makes of a function in its place, until the end."""
        before, found = vars(owner).get(name), getattr(owner, name, None)
        if found is None:
            return

        def back():
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

        try:
            setattr(owner, name, make(found))
        except (AttributeError, TypeError):  # another PyTorch: this is not seen there
            return
        self.undo.append(back)

    def in_thread(self, original):
        """Return how a thread runs: under a mode of its own, since modes are of a thread."""

        def _bootstrap_inner(thread):
            with self.Functions():
                original(thread)

        return _bootstrap_inner

    def in_module(self, original):
        """Return how a module is called: what it calls is of its forward, as the outermost runs."""
        here, is_grad_enabled = self.notes.here, self.torch.is_grad_enabled

        def __call__(module, *args, **kwargs):
            if here.forward:
                return original(module, *args, **kwargs)
            here.forward = "train" if module.training and is_grad_enabled() else "eval"
            try:
                return original(module, *args, **kwargs)
            finally:
                here.forward = ""

        return __call__

    def in_script(self, original):
        """Return how a script is called: what it is made of is noted, at the line that calls it."""

        def suanzi_script(script, *args, **kwargs):
            with self.torch._C.DisableTorchFunction():  # what it is made of calls the mode again
                return self.Inside().call(original, (script, *args), kwargs)

        return suanzi_script

    def compiling(self, original):
        """Return what stands for `torch.compile`."""

        @functools.wraps(original)
        def suanzi_compile(*args, **kwargs):
            found = original(*args, **kwargs)
            self.run_eagerly()
            return found

        return suanzi_compile

    def run_eagerly(self):
        """Have compiled functions run as they are written."""
        set_stance = getattr(self.torch.compiler, "set_stance", None)
        if set_stance is not None:
            set_stance("force_eager")
            self.undo.append(lambda: set_stance("default"))


def unmarked(original):
    """Return how a tensor is pickled: without what the recorder has put on it."""

    def __reduce_ex__(tensor, protocol):
        marks = tensor.__dict__
        ours = {name: marks.pop(name) for name in [*marks] if name.startswith("_suanzi_")}
        try:
            found = original(tensor, protocol)
            if not ours or not marks:
                return found
            # The attributes are written later: a copy of them, as they are now.
            return copied(found, marks)
        finally:
            marks.update(ours)

    def copied(found, marks):
        function, args, *rest = found
        args = tuple(dict(x) if x is marks else x for x in args)
        return (function, args, *(dict(x) if x is marks else x for x in rest))

    return __reduce_ex__


def autocast(x):
    """Return the device of a tensor and the dtype that autocast lowers to there; None if off."""
    import torch

    device = x.device.type
    try:
        if not torch.is_autocast_enabled(device):
            return None
        return [device, str(torch.get_autocast_dtype(device)).replace("torch.", "")]
    except (RuntimeError, TypeError, AttributeError):  # no autocast there, or an older PyTorch
        return None


def dtype_name(x):
    """Return the name of the dtype of a tensor."""
    return str(x.dtype).replace("torch.", "")


def header():
    """Return the first line of a file of calls."""
    import torch

    return {
        "format": recording.FORMAT, "framework": "torch", "version": str(torch.__version__)
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(processes.run("torch", make_recorder, header, *sys.argv[1:3], sys.argv[3:]))
