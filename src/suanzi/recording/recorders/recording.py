"""What the recorders share: which calls count as different, and how they are written.

Calls are written as they are met, one line of JSON for each different one, so that what a program
did before it failed is kept. Different are calls of other lines, dtypes or trails of operands. The
trail of a tensor is the set of calls before it that another framework may give another dtype: those
of several dtypes, of floats and Python's floats, of integers. A loop, over steps or over layers,
soon has no new ones. Nothing here imports suanzi or a framework.
"""

import dis
import itertools
import os
import sys
import threading
import types
import weakref

try:
    from ...standard import other_names
except ImportError:  # as a script, where suanzi need not be
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../standard"))
    import other_names

    sys.path.pop()

HERE = os.path.dirname(os.path.abspath(__file__))
FORMAT = "suanzi-calls/1"
ARGUMENTS = 4
"""How many arguments of a call are looked at; no operator that is known promotes more."""
VARIANTS = 256
"""How many calls are recorded that differ only in the trails of their operands."""
SYMBOLS = "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split()
KINDS = (bool, int, float, complex)
OF_NUMBERS = ("tensor", "as_tensor", "to_tensor", "full", "where")
"""What makes tensors of Python numbers."""

UNSET = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""What makes tensors whose values mean nothing yet."""


def kinds(framework: str) -> dict[str, str]:
    """Return how the dtype of a result is found, by the names of a framework's operators.

    It is an operator that promotes with the positions of its operands, ``add 0,1``, or ``follows``,
    ``chosen`` or ``quiet``: see standard/other-names.txt, and others.txt for more names.
    """
    found = {name: one.dtype for name, one in other_names.by_name(framework).items()}
    found = {name: dtype for name, dtype in found.items() if dtype != "-"}
    section = ""
    with open(os.path.join(HERE, "others.txt"), encoding="utf-8") as lines:
        for line in lines:
            who, _, words = line.partition("#")[0].strip().partition(": ")
            if who.startswith("["):
                section = who.strip("[]")
            elif framework in who.split(", "):
                for word in words.split():
                    found.setdefault(word, section)
    return found


def plain(name: str) -> "tuple[str, str | None]":
    """Return a name without the underscores of symbols and methods in place, and how it writes.

    >>> plain("__radd__"), plain("__iadd__"), plain("add_")
    (('radd', None), ('iadd', 'in-place'), ('add', 'in-place method'))
    """
    if name.startswith("__") and name.endswith("__"):
        inside = name[2:-2]
        writes = inside[:1] == "i" and inside[1:] in SYMBOLS
        return inside, "in-place" if writes else None
    if name.endswith("_") and not name.endswith("__"):
        return name[:-1], "in-place method"
    return name, None


class Names:
    """What is known of a framework's names."""

    def __init__(self, framework):
        found = kinds(framework)
        self.known = {name for name, kind in found.items() if kind != "quiet"}
        self.chosen = {name for name, kind in found.items() if kind == "chosen"}
        self.quiet = found.keys() - self.known

    def of(self, name):
        """Return the name as it is noted, how it writes and if it is known; None: not noted."""
        base, way = plain(name)
        if name in self.quiet or (base in self.quiet and base not in self.known):
            return None
        is_known = name in self.known or base in self.known
        return (name if name in self.known else base), way, is_known


def is_symbol(frame):
    """Tell whether the instruction of a frame is a symbol such as ``+`` or ``+=``."""
    name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    return name == "BINARY_OP" or name.startswith("INPLACE_")


_FIRST_IN_PLACE = 13
"""Of the numbers that ``BINARY_OP`` is given, the first of those that write: ``+=``."""


def is_symbol_in_place(frame: types.FrameType) -> bool:
    """Tell whether the instruction of a frame is ``+=`` or one of its kind."""
    code, at = frame.f_code.co_code, frame.f_lasti
    name = dis.opname[code[at]]
    return (name == "BINARY_OP" and code[at + 1] >= _FIRST_IN_PLACE) or name.startswith("INPLACE_")


def kind_of(x):
    """Return the type of Python number that `x` is; NumPy's float64 is a float, too."""
    return next((kind for kind in KINDS if isinstance(x, kind)), None)


class Here(threading.local):
    """Where a thread of the program is."""

    backward = False
    """Inside of backward."""
    forward = ""
    """Inside of the forward of a module: "train", or "eval" as for inference."""


_FACTS = 5
"""How many entries of the key of a call come before those of its arguments."""

_RECORDERS = itertools.count()
_ROOM = 1 << 40
"""Tensors keep the number of a call, those of each recorder so far from those of another."""


def is_installed(file):
    """Tell whether a file belongs to an installed package."""
    return "site-packages" in file or "dist-packages" in file


def called_from(frame, is_own):
    """Return the line of the program that called a library, and the layer that was running."""
    found, layers = {}, []
    while frame is not None:
        file = frame.f_code.co_filename
        if "by" not in found and is_own(file) and not is_installed(file):
            found["by"] = [file, frame.f_lineno]
        one = frame.f_locals.get("self")
        # Of the type: an object may compute its attributes, or refuse to.
        if hasattr(type(one), "forward") or hasattr(type(one), "construct"):
            layers.append(one)
        frame = frame.f_back
    path = layer_path(layers)
    if path:
        found["layer"] = path
    return found


_PATHS = weakref.WeakKeyDictionary()
"""The paths of layers in a model, by the layer's identity: a model is listed once."""


def layer_path(layers):
    """Return the path of the first of some layers in the last, the model, which has the others."""
    if len(layers) < 2 or layers[0] is layers[-1]:
        return ""
    inner, model = layers[0], layers[-1]
    try:
        found = _PATHS.get(model) or {}
        if id(inner) not in found:
            found = _PATHS[model] = {id(one): path for path, one in listed(model)}
    except TypeError:  # it has no hash, or cannot be referred to
        return ""
    path = found.get(id(inner))
    return "{}.{}".format(type(model).__name__, path) if path else ""


def listed(model):
    """Return the layers of a model with their paths, as its framework lists them."""
    for name in ("named_modules", "named_sublayers", "cells_and_names"):
        if hasattr(type(model), name):
            return getattr(model, name)()
    return ()


def make_notes(
    Tensor, exactly, home, dtype_name, write, chosen=(), rebinds=False, autocast=None,
    values=None, keep=None, spans=False,
):  # fmt: skip
    """Return the notes of a program; `write(record)` is called once for each different call.

    `exactly` are the types that most tensors have, `home` is the folder of the framework, whose
    lines are not the program's, `dtype_name(tensor)` names a dtype, and `chosen` are the operators
    whose dtype the program decides. With `rebinds` ``x += y`` is ``x + y``, whose result gets the
    name of x. `autocast(tensor)` returns the device and the dtype of autocast, or None. `values`
    measures tensors, see values.py; `keep` keeps them, see inputs.py. With `spans` the position
    of a call in its line is recorded. Made in a function, so that what every call needs is near.
    """
    outside = {}  # file: whether it is the program's own
    folders = (home, HERE, os.path.dirname(os.path.abspath(os.__file__)) + os.sep)
    first_number = next(_RECORDERS) * _ROOM

    def is_own(file):
        """Tell whether code is the program's: not the framework's, a recorder's or Python's."""
        path = os.path.abspath(file)
        others = folders[: 2 if is_installed(path) else 3]
        own = outside[file] = not (path.startswith(others) or file.startswith("<frozen"))
        return own

    class Notes:
        """All that is known so far."""

        def __init__(self):
            # Of each call, how often it was made, its number, the extremes of its numbers, and what
            # is known of the values of its tensors.
            self.kept = []
            self.calls = {}  # what is called with what, and its trails: what is kept of it
            self.variants = {}  # what is called with what: what is kept of its calls
            self.trails = {}  # number of a call: the number of its trail
            self.sets = [frozenset()]  # the calls that each trail has
            self.numbers = {frozenset(): 0}  # their numbers
            self.codes = []  # code objects, compared by address: they must stay alive
            self.here = Here()
            self.lock = threading.Lock()
            self.noted = self.missed = 0
            self.why = ""

        def known(self):
            """Return how many different calls there are."""
            return len(self.kept)

        def after_fork(self):
            """Count from nothing: what was counted so far is another process's."""
            self.lock = threading.Lock()
            self.noted = self.missed = 0
            for seen in self.kept:
                seen[0] = 0
                seen[2] = [None] * len(seen[2])
                seen[3] = None

        def end(self):
            """Return how often each call was made, and the extremes of its numbers."""
            found = {str(i): n for n, i, *_ in self.kept if n != 1}
            extremes = {str(i): e for n, i, e, _ in self.kept if e and n}
            measured = {str(i): v["seen"] for *_, i, _, v in self.kept if v and any(v["seen"])}
            end = {"counts": found, "numbers": extremes, "values": measured}
            if keep is not None:
                end.update(keep.end() or {})
            return {**end, "missed": self.missed, "why": self.why} if self.missed else end

        def note(self, name, way, args, kwargs, result):
            """Note one call; what cannot be noted must not stop the program.

            All of it is in one function: it runs at every call.
            """
            try:
                many = False
                first = result
                if type(result) is not Tensor:
                    many = isinstance(result, (tuple, list))  # topk's is a kind of tuple
                    first = result[0] if many and result else result
                    if not isinstance(first, Tensor):
                        return
                # The innermost frame of the program itself.
                frame = caller = sys._getframe(2)
                while frame is not None:
                    file = frame.f_code.co_filename
                    own = outside.get(file)
                    if own or (own is None and is_own(file)):
                        break
                    frame = frame.f_back
                # Where in its code, not the line: that is looked for when a call is new. Code is
                # compared by address: hashing it is slow.
                key = [name, first.dtype, frame and id(frame.f_code), frame and frame.f_lasti]
                key.append(self.here.forward)
                numbers, trails, known = [], [], self.trails
                for x in args if len(args) <= ARGUMENTS else args[:ARGUMENTS]:
                    kind = type(x)
                    if kind in exactly:  # what most are
                        key.append(x.dtype if x.ndim else (x.dtype,))
                        trails.append(known.get(getattr(x, "_suanzi_call", None), 0))
                    elif kind is int or kind is float:
                        key.append(kind)
                        numbers.append(x)
                    elif x is None:
                        key.append(None)
                    else:
                        self.see(x, key, numbers, trails)
                for word in kwargs:
                    if kwargs[word] is not None:
                        key.append(word)
                        self.see(kwargs[word], key, numbers, trails)
                key = tuple(key), tuple(trails)
                seen = self.calls.get(key)
                if seen is None:
                    with self.lock:
                        seen = self.calls.get(key) or self.new(
                            key, name, way, args, kwargs, first, numbers, frame, caller
                        )
                seen[0] += 1
                self.noted += 1
                number = first_number + seen[1]
                if numbers:
                    for i, x in enumerate(numbers):
                        pair = seen[2][i]
                        if x is None:
                            continue
                        if pair is None:
                            seen[2][i] = [x, x]
                        elif x < pair[0]:
                            pair[0] = x
                        elif x > pair[1]:
                            pair[1] = x
                kept, count = seen[3], seen[0]
                # Most calls of a loop have nothing to be measured.
                is_due = kept is None or kept["cheap"] or not count & (count - 1)
                if values is not None and (is_due or values.whole) and name not in UNSET:
                    seen[3] = values.see(seen[3], seen[0], args[:ARGUMENTS], kwargs, first)
                if keep is not None:
                    keep.note(seen[1], name, way, args, kwargs, result, self.place(frame, caller))
                if not many:
                    result._suanzi_call = number
                else:
                    for one in result:
                        if isinstance(one, Tensor):
                            one._suanzi_call = number
            except Exception as error:
                self.missed += 1
                self.why = "{}: {}".format(type(error).__name__, error)

        def place(self, frame, caller):
            """Return the line and the layer of a call that is kept."""
            if frame is None:
                return {}
            line = [frame.f_code.co_filename, frame.f_lineno]
            back = getattr(self.here, "backward", False)
            return {"where": line, "backward": back, **called_from(caller, is_own)}

        def new(self, key, name, way, args, kwargs, first, numbers, frame, caller):
            """Return what is kept of a call that was not made before: how often, and so on."""
            alike = self.variants.setdefault(key[0], [])
            if len(alike) == VARIANTS:
                # In a loop, x = x + y would be a new call each time.
                seen = self.calls[key] = alike[-1]
                return seen
            seen = [0, len(self.kept), [[x, x] for x in numbers], None]
            self.codes.append(frame and frame.f_code)
            if frame is not None and frame is caller:
                way = written(name, way, frame, rebinds)
            write(self.record(seen[1], name, way, args, kwargs, first, frame, caller))
            self.trails[first_number + seen[1]] = self.trail(key, name, kwargs, first)
            alike.append(seen)
            self.kept.append(seen)
            self.calls[key] = seen
            return seen

        def trail(self, key, name, kwargs, first):
            """Return the number of the trail of what a call returns."""
            is_bool = dtype_name(first) == "bool"  # as comparisons are everywhere
            is_chosen = is_bool or name in chosen or kwargs.get("dtype") is not None
            before = () if is_chosen else (self.sets[one] for one in key[1])
            found = frozenset().union(*before)
            if not is_chosen and may_differ(key[0], first.dtype, dtype_name(first)):
                found |= {hash(key[0])}
            is_typed = name not in OF_NUMBERS or kwargs.get("dtype") is not None
            if not is_typed and any(kind in (int, float) for kind in key[0][_FACTS:]):
                found |= {"weak"}  # in JAX it counts as a number
            if found not in self.numbers:
                self.numbers[found] = len(self.sets)
                self.sets.append(found)
            return self.numbers[found]

        def see(self, x, key, numbers, trails):
            """Add to the key of a call what matters about one argument."""
            if isinstance(x, Tensor):
                key.append(x.dtype if x.ndim else (x.dtype,))
                trails.append(self.trails.get(getattr(x, "_suanzi_call", None), 0))
            elif isinstance(x, KINDS):
                kind = kind_of(x)
                key.append(kind)
                # JSON has no complex numbers, and they have no order.
                numbers.append(kind(x) if kind is not complex else None)
            elif isinstance(x, (tuple, list)) and x and isinstance(x[0], Tensor):
                key.append("(")
                for one in x:
                    self.see(one, key, numbers, trails)
            else:
                key.append(None)

        def record(self, number, name, way, args, kwargs, first, frame, caller):
            found = {
                "call": number,
                "op": name,
                "arguments": [self.as_data(x) for x in args[:ARGUMENTS]],
                "named": {word: self.as_data(x) for word, x in kwargs.items() if x is not None},
                "result": dtype_name(first),
                "zero_dim": first.ndim == 0,
            }
            if isinstance(kwargs.get("out"), Tensor):
                # What the framework does so by itself is not the program's to change.
                found["way"] = "out" if frame is caller else None
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
                if is_installed(code.co_filename):
                    found.update(called_from(frame, is_own))
                if spans:
                    found["span"] = span_of(frame)
            if self.here.backward:
                found["backward"] = True
            if self.here.forward:
                found["forward"] = self.here.forward
            if name == "pow" and frame is not None:
                found["symbol"] = is_symbol(frame)
            if autocast is not None:
                casts = autocast(first)
                if casts is not None:
                    found["autocast"] = casts
            return found

        def as_data(self, x):
            """Return an argument as data; null for what neither is nor holds an operand."""
            if isinstance(x, Tensor):
                found = {"dtype": dtype_name(x)}
                if x.ndim == 0:
                    found["zero_dim"] = True
                made = getattr(x, "_suanzi_call", None)
                if made in self.trails:  # not one of a recording before this
                    found["from"] = made - first_number
                return found
            if isinstance(x, KINDS):
                return {"number": kind_of(x).__name__}
            if isinstance(x, (tuple, list)) and x and isinstance(x[0], Tensor):
                return [self.as_data(one) for one in x]
            return None

    return Notes()


def span_of(frame):
    """Return where the expression that a frame is at begins and ends; None before Python 3.11."""
    positions = getattr(frame.f_code, "co_positions", None)
    if positions is None:
        return None
    line, last, column, end = next(itertools.islice(positions(), frame.f_lasti // 2, None))
    return None if None in (line, last, column, end) else [line, column, last, end]


def written(name, way, frame, rebinds):
    """Return how a call writes that the program itself made: ``x += y`` is many things.

    PyTorch's is a method in place, and its ``0.5 += y`` is ``y + 0.5``, which writes nothing; that
    of others is ``x + y``, and its result gets the name of x.
    """
    if way == "in-place method" and is_symbol(frame):
        return "in-place"
    if rebinds and way is None and name in SYMBOLS and is_symbol_in_place(frame):
        return "in-place"
    return way


def may_differ(key, result, name):
    """Tell whether another framework may give a call another dtype, by what it is called with.

    Of one floating-point dtype, with integers or without, comes that dtype everywhere.
    """
    if not name.startswith(("float", "bfloat")):
        return True
    given = [x[0] if type(x) is tuple else x for x in key[_FACTS:]]
    return any(x not in (result, None, int, bool) and type(x) is not str for x in given)
