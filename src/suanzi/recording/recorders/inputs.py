"""Keeps what calls of a program were given and returned, so that they can be made again.

A folder has two files: ``calls.jsonl``, a line for each call in order, and ``tensors.bin``, the
bytes of tensors one after another. A tensor that was written since gets another number, so a number
always means the same values. Only the process that the program starts in is kept, and only so many
bytes. Nothing here imports suanzi or a framework.
"""

import ctypes
import json
import os

try:
    from . import hashes, values
    from .appending import Appended
except ImportError:  # as a script, where suanzi need not be
    import hashes
    import values
    from appending import Appended

BYTES = 1 << 28
"""How many bytes of tensors are kept, unless more are asked for."""


class Inputs:
    """The calls of a program with their tensors.

    `identity(tensor)` returns what changes when a tensor is written, None where that is not known;
    `content(tensor)` its bytes, row-major; `dtype_name(x)` the name of a tensor's dtype, and
    `named(x)` that of a dtype, None for what is none.
    """

    def __init__(self, folder, most, Tensor, identity, content, dtype_name, named):
        self.most, self.Tensor = most, Tensor
        self.identity, self.content = identity, content
        self.dtype_name, self.named = dtype_name, named
        # Nothing waits in a buffer, which a forked process would write once more.
        self.calls = Appended(os.path.join(folder, "calls.jsonl"))
        self.tensors = Appended(os.path.join(folder, "tensors.bin"))
        self.size = self.count = self.dropped = 0
        self.process = os.getpid()

    def note(self, number, name, way, args, kwargs, result, where):
        """Keep a call; `where` are the parts of a record that say where it was made."""
        if os.getpid() != self.process:
            return
        if self.size >= self.most:
            self.dropped += 1
            return
        written = result if way is not None else kwargs.get("out")
        call = {
            "call": number, "op": name, "way": way, **where,
            "args": [self.as_data(x, written) for x in args],
            "kwargs": {word: self.as_data(x, written) for word, x in kwargs.items()},
        }  # fmt: skip
        many = isinstance(result, (tuple, list))
        call["results"] = [self.saved(x) for x in (result if many else [result])]
        self.write(call)

    def write(self, line):
        """Write a line of data."""
        self.calls.write(json.dumps(line).encode() + b"\n")

    def end(self):
        """Write what is left, and how many calls were not kept."""
        if os.getpid() == self.process:
            self.write({"end": True, "dropped": self.dropped})

    def as_data(self, x, written):
        """Return an argument as data; a tensor by its number."""
        if isinstance(x, self.Tensor):
            if x is written:
                # Its values before the call are those that it had when it was last seen.
                mark = getattr(x, "_suanzi_kept", None)
                return {"tensor": mark[1]} if mark is not None else {"lost": "written in place"}
            return {"tensor": self.kept(x)}
        if x is None or isinstance(x, (bool, int, float, str)):
            return x
        name = self.named(x)
        if name is not None:
            return {"dtype": name}
        if isinstance(x, (tuple, list)):
            return [self.as_data(one, written) for one in x]
        if isinstance(x, slice):
            return {"slice": [self.as_data(one, written) for one in (x.start, x.stop, x.step)]}
        return {"other": "..." if x is Ellipsis else type(x).__name__}

    def kept(self, x):
        """Return the number of a tensor, which is saved unless its values already are."""
        mark = getattr(x, "_suanzi_kept", None)
        if mark is not None and mark[0] is not None and mark[0] == self.identity(x):
            return mark[1]
        return self.saved(x)

    def saved(self, x):
        """Save a tensor and return its number, with its dtype and shape for the first time."""
        if not isinstance(x, self.Tensor):
            return None
        content = self.content(x)
        if content is None:
            return None
        self.tensors.write(content)
        line = {"tensor": self.count, "dtype": self.dtype_name(x), "shape": list(x.shape)}
        self.write({**line, "at": self.size})
        self.size += len(content)
        self.count += 1
        x._suanzi_kept = self.identity(x), self.count - 1
        return self.count - 1


def of_torch(options, unset):
    """Return what keeps calls of PyTorch, or hashes of them; None where neither was asked for.

    `unset` are operators whose tensors have no values yet.
    """
    if options["replay"] is None and not options["hashes"]:
        return None
    import torch

    exactly = frozenset([torch.Tensor, torch.nn.Parameter])

    def identity(x):
        return None if x.is_inference() else (x._version, x.data_ptr())

    def content(x):
        if type(x) not in exactly or x.layout is not torch.strided or x.device.type == "meta":
            return None
        if x.is_quantized or not values.may_compute(torch):
            return None
        with torch._C.DisableTorchFunction(), torch.no_grad():
            x = x.detach().resolve_conj().resolve_neg().cpu().contiguous()
            size = x.numel() * x.element_size()
            return ctypes.string_at(x.data_ptr(), size) if size else b""

    def named(x):
        return str(x).replace("torch.", "") if isinstance(x, torch.dtype) else None

    def dtype_name(x):
        return named(x.dtype)

    found = []
    if options["replay"] is not None:
        kept = options["replay"]["folder"], options["replay"]["bytes"]
        found.append(Inputs(*kept, torch.Tensor, identity, content, dtype_name, named))
    if options["hashes"]:
        hashes.seed_all()
        torch.manual_seed(0)
        found.append(hashes.Hashes(torch.Tensor, content, dtype_name, unset))
    return found[0] if len(found) == 1 else hashes.Both(*found)
