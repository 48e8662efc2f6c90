"""Records the calls that a MindSpore program makes, for `suanzi port`; needs mindspore alone.

As a script it runs a program under the recorder: ``record_mindspore.py CALLS PROGRAM ARGUMENTS``.
It runs in PyNative mode, whatever mode it asks for: a graph calls nothing that could be seen. What
is differentiated is not seen: MindSpore does that behind its functions.
"""

import os
import re
import sys

try:
    from . import patching, processes, recording, values
except ImportError:  # as a script, where suanzi need not be
    import patching
    import processes
    import recording
    import values


def make_recorder(write, options):
    """Return a recorder, a context; it calls `write(record)` once for each different call."""
    import mindspore

    home = os.path.dirname(os.path.abspath(mindspore.__file__)) + os.sep
    Tensor = mindspore.Tensor
    exactly = frozenset([Tensor, mindspore.Parameter])
    names = recording.Names("mindspore")
    notes = recording.make_notes(
        Tensor, exactly, home, dtype_name, write, names.chosen, True,
        values=values.of_numpy(options["values"], Tensor, dtype_name, lambda x: x.asnumpy()),
    )  # fmt: skip
    return make_patches(notes, names)


def make_patches(notes, names, kind=patching.Patches):
    """Return a context in which the functions, methods and primitives of MindSpore are noted."""
    import mindspore
    from mindspore import mint, ops
    from mindspore.ops.primitive import Primitive

    def more(patches):
        """Wrap the primitives, which are called as objects, and keep the program out of graphs."""
        for primitive in (Primitive, *below(Primitive)):
            call = vars(primitive).get("__call__")
            if call is not None:
                patches.put(primitive, "__call__", calling(call, patches))
        set_context = mindspore.set_context

        def in_pynative_mode(*args, **kwargs):
            kwargs.pop("mode", None)
            if args or kwargs:
                set_context(*args, **kwargs)

        mode, jit = mindspore.get_context("mode"), os.environ.get("MS_JIT")
        patches.after.append(lambda: set_context(mode=mode))
        patches.after.append(lambda: os.environ.pop("MS_JIT"))
        if jit is not None:
            patches.after[-1] = lambda: os.environ.update(MS_JIT=jit)
        set_context(mode=mindspore.PYNATIVE_MODE)
        mindspore.runtime.launch_blocking()  # an error would come up in a later line
        patches.put(mindspore, "set_context", in_pynative_mode)
        patches.put(mindspore.context, "set_context", in_pynative_mode)
        os.environ["MS_JIT"] = "0"  # what mindspore.jit decorates runs as Python runs it

    def calling(call, patches):
        noted = {}  # by the name of a primitive; one class has many

        def suanzi_noting(self, *args, **kwargs):
            name = self.name
            if name not in noted:
                found = names.of(snake(name))
                noted[name] = found and patches.noting(call, *found, skip=1)
            function = noted[name] or call
            return function(self, *args, **kwargs)

        return suanzi_noting

    modules = [mint, mint.nn.functional, mint.linalg, mint.special, ops]
    return kind(notes, names, modules, [mindspore.Tensor], more)


def below(kind, found=None):
    """Return all subclasses of a class, direct and indirect."""
    found = {} if found is None else found
    for one in kind.__subclasses__():
        if one not in found:
            found[one] = True
            below(one, found)
    return list(found)


def snake(name):
    """Return the name of a primitive as functions are named: BatchMatMul is batch_mat_mul."""
    found = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return found[:-4] if found.endswith("_ext") else found


def dtype_name(x):
    """Return the name of the dtype of a tensor: Float32 is float32, Bool is bool."""
    return str(x.dtype).lower()


def header():
    """Return the first line of a file of calls."""
    os.environ.setdefault("GLOG_v", "4")
    import mindspore

    return {
        "format": recording.FORMAT, "framework": "mindspore", "version": mindspore.__version__
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(processes.run("mindspore", make_recorder, header, *sys.argv[1:3], sys.argv[3:]))
