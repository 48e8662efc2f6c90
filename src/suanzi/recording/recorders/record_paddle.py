"""Records the calls that a Paddle program makes, for `suanzi port`; needs paddle and nothing else.

As a script it runs a program under the recorder: ``record_paddle.py CALLS PROGRAM ARGUMENTS``. What
is differentiated is not seen: Paddle does that behind its functions.
"""

import os
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
    import paddle

    home = os.path.dirname(os.path.abspath(paddle.__file__)) + os.sep
    Tensor, names = paddle.Tensor, recording.Names("paddle")
    exactly = frozenset([Tensor])
    notes = recording.make_notes(
        Tensor, exactly, home, dtype_name, write, names.chosen, True,
        values=values.of_numpy(options["values"], Tensor, dtype_name, lambda x: x.numpy()),
    )  # fmt: skip
    return make_patches(notes, names)


def make_patches(notes, names, kind=patching.Patches):
    """Return a context in which the functions and methods of Paddle are noted."""
    import paddle

    modules = [
        paddle, paddle.nn.functional, paddle.linalg, paddle.fft, paddle.signal, paddle._C_ops,
    ]  # fmt: skip
    return kind(notes, names, modules, [paddle.Tensor])


def dtype_name(x):
    """Return the name of the dtype of a tensor."""
    return str(x.dtype).rpartition(".")[2]


def header():
    """Return the first line of a file of calls."""
    os.environ.setdefault("GLOG_minloglevel", "3")
    import paddle

    return {
        "format": recording.FORMAT, "framework": "paddle", "version": str(paddle.__version__)
    }  # fmt: skip


if __name__ == "__main__":
    sys.exit(processes.run("paddle", make_recorder, header, *sys.argv[1:3], sys.argv[3:]))
