"""Records the calls that a PyTorch program makes, for `suanzi port`; needs torch and nothing else.

As a script it runs a program under the recorder: ``record_torch.py CALLS PROGRAM ARGUMENTS``.
"""

import os
import sys

try:
    from . import recording
except ImportError:  # as a script, where suanzi need not be
    import recording


def make_recorder(write):
    """Return a recorder, a context; it calls `write(record)` once for each different call.

    Made in a function, so that this file can be read where torch is not installed.
    """
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    known = recording.Names("torch")
    home = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
    exactly = frozenset([torch.Tensor, torch.nn.Parameter])
    notes = recording.make_notes(torch.Tensor, exactly, home, dtype_name, write)
    names = {}  # function: its name and whether it is known; None: not recorded

    def name_of(func):
        name = getattr(func, "__name__", None) or str(func)
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", name)
        elif name in ("__set__", "__delete__"):
            return None
        packet = getattr(func, "overloadpacket", None)
        return known.of(name if packet is None else packet.__name__)

    class Functions(TorchFunctionMode):
        """Sees what the program calls, numbers as numbers."""

        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            found = names.get(func, 0)
            if found == 0:
                found = names[func] = name_of(func)
            if found is None:
                return func(*args, **kwargs)
            name, way, is_known = found
            if is_known:
                result = func(*args, **kwargs)
                notes.note(name, way, args, kwargs, result)
                return result
            # What is not known may be made of what is: look inside.
            before = notes.noted
            outer, notes.backward = notes.backward, name in ("backward", "grad")
            try:
                with inside:
                    result = func(*args, **kwargs)
            finally:
                notes.backward = outer
            if notes.noted == before:
                notes.note(name, way, args, kwargs, result)
            return result

        def end(self):
            """Return how often each call was made, and the extremes of its numbers."""
            return notes.end()

    class Inside(TorchDispatchMode):
        """Sees what a composite function, or backward, is made of."""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            found = names.get(func, 0)
            if found == 0:
                found = names[func] = name_of(func)
            if found is not None:
                notes.note(found[0], found[1], args, kwargs, result)
            return result

    inside = Inside()
    return Functions()


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
    sys.exit(recording.run("torch", make_recorder, header, *sys.argv[1:3], sys.argv[3:]))
