"""Records the calls that a PyTorch program makes, for `suanzi port`; needs torch and nothing else.

As a script it runs a program under the recorder: ``record_torch.py CALLS PROGRAM ARGUMENTS``. Calls
are written as they are met, one line of JSON for each different one, so that what a program did
before it failed is kept. Different are calls of other lines, dtypes or origins of operands; a loop
makes few.
"""

import dis
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FORMAT = "suanzi-calls/1"
NOT_INSTALLED = 3
ARGUMENTS = 4
"""How many arguments of a call are looked at; no operator that is known promotes more."""
VARIANTS = 8
"""How many calls are told apart that differ in nothing but where their operands came from."""


def known_names():
    """Return the names that are known, and those that are not recorded."""
    path = os.path.join(HERE, "torch.txt")
    known, quiet, section = set(), set(), ""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words = line.partition("#")[0].split()
            if words and words[0].startswith("["):
                section = words[0]
            elif section == "[promotes]" and words:
                at = next(i for i, word in enumerate(words) if word[0].isdigit() or word == "*")
                known.update(words[at + 1 :])
            else:
                (quiet if section == "[quiet]" else known).update(words)
    return known, quiet


def plain(name):
    """Return a name without the underscores of symbols and methods in place, and how it writes."""
    if name.startswith("__") and name.endswith("__"):
        inside = name[2:-2]
        writes = inside[:1] == "i" and inside[1:] in SYMBOLS
        return inside, "in-place" if writes else None
    if name.endswith("_") and not name.endswith("__"):
        return name[:-1], "in-place method"
    return name, None


SYMBOLS = "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split()


def make_recorder(write):
    """Return a recorder, a context; `write(record)` is told each different call once.

    Made in a function, so that this file can be read where torch is not installed.
    """
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    Tensor = torch.Tensor
    known, quiet = known_names()
    torch_home = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
    outside = {}  # code object: whether it is the program's own
    names = {}  # function: its name and whether it is known; None: not recorded
    kinds = (bool, int, float, complex)

    def kind_of(x):
        """Return the type of Python number that `x` is; NumPy's float64 is a float, too."""
        return next((kind for kind in kinds if isinstance(x, kind)), None)

    def name_of(func):
        name = getattr(func, "__name__", None) or str(func)
        if name == "__get__":
            name = getattr(getattr(func, "__self__", None), "__name__", name)
        elif name in ("__set__", "__delete__"):
            return None
        packet = getattr(func, "overloadpacket", None)
        if packet is not None:
            name = packet.__name__
        base, way = plain(name)
        if name in quiet or (base in quiet and base not in known):
            return None
        return (name if name in known else base), way, name in known or base in known

    def is_own(code):
        """Tell whether code is the program's, and neither torch's nor this file's."""
        file = os.path.abspath(code.co_filename)
        frozen = code.co_filename.startswith("<frozen")
        own = outside[code] = not (file.startswith((torch_home, HERE)) or frozen)
        return own

    def written_by_symbol(frame):
        """Tell whether the instruction of a frame is a symbol such as ``+=``."""
        name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
        return name == "BINARY_OP" or name.startswith("INPLACE_")

    class Recorder:
        """All that is known so far, and the two modes that see the calls."""

        def __init__(self):
            self.calls = {}  # what is called with what, from where: number of the call
            self.variants = {}  # what is called with what: numbers of its calls
            self.counts = []
            self.extremes = []  # of each call, the least and the greatest of its numbers
            self.function = Functions()
            self.inside = Inside()
            self.backward = False
            self.noted = self.missed = 0
            self.why = ""

        def __enter__(self):
            self.function.__enter__()
            return self

        def __exit__(self, *problem):
            return self.function.__exit__(*problem)

        def end(self):
            """Return how often each call was made, and the extremes of its numbers."""
            found = {str(i): n for i, n in enumerate(self.counts) if n > 1}
            extremes = {str(i): e for i, e in enumerate(self.extremes) if e}
            end = {"counts": found, "numbers": extremes}
            return {**end, "missed": self.missed, "why": self.why} if self.missed else end

        def note(self, name, way, args, kwargs, result):
            """Note one call; what cannot be noted must not stop the program."""
            try:
                self.take(name, way, args, kwargs, result)
            except Exception as error:
                self.missed += 1
                self.why = "{}: {}".format(type(error).__name__, error)

        def take(self, name, way, args, kwargs, result):
            many = False
            first = result
            if type(result) is not Tensor:
                many = type(result) in (tuple, list)
                first = result[0] if many and result else result
                if not isinstance(first, Tensor):
                    return
            # The innermost frame of the program itself.
            frame = caller = sys._getframe(3)
            while frame is not None:
                code = frame.f_code
                own = outside.get(code)
                if own or (own is None and is_own(code)):
                    break
                frame = frame.f_back
            # Where in its code, not the line: that is looked for when a call is new.
            key = [name, first.dtype, frame and frame.f_code, frame and frame.f_lasti]
            numbers, origins = [], []
            for x in args if len(args) <= ARGUMENTS else args[:ARGUMENTS]:
                kind = type(x)
                if kind is Tensor:  # what most are
                    key += (x.dtype, x.ndim == 0)
                    origins.append(getattr(x, "_suanzi_call", None))
                elif kind is int or kind is float:
                    key.append(kind)
                    numbers.append(x)
                else:
                    self.see(x, key, numbers, origins)
            for word in kwargs:
                if kwargs[word] is not None:
                    key.append(word)
                    self.see(kwargs[word], key, numbers, origins)
            key = tuple(key), tuple(origins)
            number = self.calls.get(key)
            if number is None and len(self.variants.setdefault(key[0], [])) == VARIANTS:
                # What goes round in a loop, x = x + y, would be another call each time.
                number = self.calls[key] = self.variants[key[0]][-1]
            elif number is None:
                number = self.calls[key] = len(self.counts)
                self.variants[key[0]].append(number)
                self.counts.append(0)
                self.extremes.append([[x, x] for x in numbers])
                direct = frame is caller
                if way == "in-place method" and direct and frame and written_by_symbol(frame):
                    way = "in-place"
                write(self.record(number, name, way, args, kwargs, first, frame))
            self.counts[number] += 1
            self.noted += 1
            if numbers:
                for pair, x in zip(self.extremes[number], numbers):
                    if x is None:
                        continue
                    if x < pair[0]:
                        pair[0] = x
                    elif x > pair[1]:
                        pair[1] = x
            if not many:
                result._suanzi_call = number
            else:
                for one in result:
                    if isinstance(one, Tensor):
                        one._suanzi_call = number

        def see(self, x, key, numbers, origins):
            """Add to the key of a call what matters about one argument."""
            if isinstance(x, Tensor):
                key += (x.dtype, x.ndim == 0)
                origins.append(getattr(x, "_suanzi_call", None))
            elif isinstance(x, kinds):
                kind = kind_of(x)
                key.append(kind)
                # JSON has no complex numbers, and they have no order.
                numbers.append(kind(x) if kind is not complex else None)
            elif type(x) in (tuple, list) and x and isinstance(x[0], Tensor):
                key.append("(")
                for one in x:
                    self.see(one, key, numbers, origins)
            else:
                key.append(None)

        def record(self, number, name, way, args, kwargs, first, frame):
            found = {
                "call": number,
                "op": name,
                "arguments": [self.told(x) for x in args[:ARGUMENTS]],
                "named": {word: self.told(x) for word, x in kwargs.items() if x is not None},
                "result": _dtype(first),
                "zero_dim": first.ndim == 0,
            }
            if isinstance(kwargs.get("out"), Tensor):
                found["way"] = "out"
            elif way is not None:
                found["way"] = way
            if frame is not None:
                code = frame.f_code
                found["where"] = [
                    code.co_filename,
                    frame.f_lineno,
                    getattr(code, "co_qualname", code.co_name),
                    frame.f_globals.get("__name__", ""),
                ]
            if self.backward:
                found["backward"] = True
            return found

        def told(self, x):
            """Return an argument as data; null for what neither is nor holds an operand."""
            if isinstance(x, Tensor):
                found = {"dtype": _dtype(x)}
                if x.ndim == 0:
                    found["zero_dim"] = True
                made = getattr(x, "_suanzi_call", None)
                if made is not None:
                    found["from"] = made
                return found
            if isinstance(x, kinds):
                return {"number": kind_of(x).__name__}
            if type(x) in (tuple, list) and x and isinstance(x[0], Tensor):
                return [self.told(one) for one in x]
            return None

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
                recorder.note(name, way, args, kwargs, result)
                return result
            # What is not known may be made of what is: look inside.
            before = recorder.noted
            outer, recorder.backward = recorder.backward, name in ("backward", "grad")
            try:
                with recorder.inside:
                    result = func(*args, **kwargs)
            finally:
                recorder.backward = outer
            if recorder.noted == before:
                recorder.note(name, way, args, kwargs, result)
            return result

    class Inside(TorchDispatchMode):
        """Sees what a composite function, or backward, is made of."""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            result = func(*args, **kwargs)
            found = names.get(func, 0)
            if found == 0:
                found = names[func] = name_of(func)
            if found is not None:
                recorder.note(found[0], found[1], args, kwargs, result)
            return result

    def _dtype(x):
        return str(x.dtype).replace("torch.", "")

    recorder = Recorder()
    return recorder


def header():
    """Return the first line of a file of calls."""
    import torch

    return {"format": FORMAT, "framework": "torch", "version": str(torch.__version__)}


def main(path, program, arguments):
    """Run a program under the recorder; its calls go to the file `path`."""
    import importlib.util
    import runpy
    import traceback

    if importlib.util.find_spec("torch") is None:
        sys.stderr.write("torch is not installed in {}\n".format(sys.executable))
        return NOT_INSTALLED
    with open(path, "w", encoding="utf-8") as file:

        def write(record):
            file.write(json.dumps(record) + "\n")
            file.flush()

        sys.argv = [program, *arguments]
        sys.path[0] = os.path.dirname(os.path.abspath(program))
        write(header())
        recorder, raised = make_recorder(write), None
        try:
            with recorder:
                runpy.run_path(program, run_name="__main__")
        except SystemExit as end:
            if end.code not in (None, 0):
                raised = "it exited with status {}".format(end.code)
        except BaseException as error:
            traceback.print_exc()
            raised = "{}: {}".format(type(error).__name__, error)
        write({"end": True, "raised": raised, **recorder.end()})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
