"""Writes the calls of an exported PyTorch program, for `suanzi port`; needs torch and nothing else.

As a script: ``export_torch.py CALLS FILE.pt2``. The graph says of every call which dtypes it had
and which came out, and at which line it was made; nothing is run.
"""

import json
import os
import re
import sys

try:
    from .processes import NOT_INSTALLED
    from .recording import ARGUMENTS, FORMAT, plain
except ImportError:  # as a script, where suanzi need not be
    from processes import NOT_INSTALLED
    from recording import ARGUMENTS, FORMAT, plain

NOT_EXPORTED = 4
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def records(program):
    """Return the records of an ExportedProgram: a head, its calls, an end."""
    import torch

    found = [{"format": FORMAT, "framework": "torch", "version": str(torch.__version__)}]
    writer = Writer(torch, found)
    writer.graph(program.graph_module, {})
    end = {"end": True, "raised": None, "counts": {}, "numbers": writer.numbers}
    if writer.missed:
        end["missed"] = writer.missed
    return [*found, end]


class Writer:
    """What is known of a program so far."""

    def __init__(self, torch, found):
        self.torch, self.found = torch, found
        self.home = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.numbers = {}  # of each call, its numbers as pairs of the least and the greatest
        self.count = self.missed = 0

    def graph(self, module, given):
        """Note the calls of a graph; `given` has the calls that made what is handed in."""
        made = dict(given)  # node: the number of the call
        for node in module.graph.nodes:
            if node.op != "call_function":
                continue
            value = node.meta.get("val")
            if getattr(node.target, "__name__", "") == "getitem":
                if node.args[0] in made:
                    made[node] = made[node.args[0]]
                continue
            inner = [a for a in node.args if self.is_graph(module, a)]
            if inner:
                for one in inner:
                    self.graph(getattr(module, one.target), {})
                continue
            first = value[0] if isinstance(value, tuple | list) and value else value
            if isinstance(first, self.torch.Tensor):
                made[node] = self.call(node, first, made)
            elif value is None and node.users:
                self.missed += 1

    def is_graph(self, module, argument):
        """Tell whether an argument is a graph, as those of torch.cond are."""
        if getattr(argument, "op", "") != "get_attr":
            return False
        return hasattr(getattr(module, argument.target, None), "graph")

    def call(self, node, first, made):
        """Note one call and return its number."""
        packet = getattr(node.target, "overloadpacket", node.target)
        name, way = plain(getattr(packet, "__name__", str(packet)))
        numbers = []
        number = self.count
        record = {
            "call": number,
            "op": name,
            "arguments": [self.as_data(x, made, numbers) for x in node.args[:ARGUMENTS]],
            "named": {
                word: self.as_data(x, made, numbers)
                for word, x in node.kwargs.items()
                if x is not None
            },
            "result": dtype_of(first),
            "zero_dim": first.ndim == 0,
        }
        if "out" in node.kwargs:
            way = "out"
        if way is not None:
            record["way"] = way
        where = self.where(node.meta.get("stack_trace"))
        if where is not None:
            record["where"] = where
        self.found.append(record)
        if numbers:
            self.numbers[str(number)] = numbers
        self.count += 1
        return number

    def as_data(self, x, made, numbers):
        """Return an argument as data; null for what neither is nor holds an operand."""
        value = x.meta.get("val") if hasattr(x, "meta") else x
        if isinstance(value, self.torch.Tensor):
            found = {"dtype": dtype_of(value)}
            if value.ndim == 0:
                found["zero_dim"] = True
            if x in made:
                found["from"] = made[x]
            return found
        symbols = {"SymInt": "int", "SymFloat": "float", "SymBool": "bool"}
        kind = type(value).__name__
        if kind in symbols:
            numbers.append([None, None])
            return {"number": symbols[kind]}
        if kind in ("bool", "int", "float", "complex"):
            numbers.append([None, None] if kind == "complex" else [value, value])
            return {"number": kind}
        if isinstance(x, tuple | list) and any(hasattr(one, "meta") for one in x):
            found = [self.as_data(one, made, []) for one in x if hasattr(one, "meta")]
            return [one for one in found if one is not None and "dtype" in one] or None
        return None

    def where(self, trace):
        """Return the innermost line that is not torch's own."""
        frames = _FRAME.findall(trace or "")
        own = [frame for frame in frames if not frame[0].startswith((self.home, "<"))]
        own = [frame for frame in own if "site-packages/torch/" not in frame[0]] or own
        return [own[-1][0], int(own[-1][1]), own[-1][2], ""] if own else None


def dtype_of(x):
    """Return the name of the dtype of a tensor."""
    return str(x.dtype).replace("torch.", "")


def main(path, file):
    """Write the calls of a file to the file `path`."""
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        return NOT_INSTALLED
    import torch

    try:
        program = torch.export.load(file)
        found = records(program)
    except Exception as error:
        said = str(error).strip() or type(error).__name__
        sys.stderr.write("{}\n".format(said.splitlines()[0]))
        return NOT_EXPORTED
    with open(path, "w", encoding="utf-8") as lines:
        for record in found:
            lines.write(json.dumps(record) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
