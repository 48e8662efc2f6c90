"""Records a framework that has no hook for it: its functions and methods are wrapped while it runs.

What is known is noted as it is called, and nothing inside of it. What is not known may be made of
what is: it is noted itself where nothing inside of it was.
"""

import contextlib
import functools
import inspect
import threading
import types

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, functools.partial)
_METHODS = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType)
_SAID = ("dtype", "out", "rounding_mode")
"""What is looked for by its name."""


class Patches:
    """A context in which the functions of some modules and the methods of some classes are noted.

    `notes` and `names` are those of ``recording``. `more` wraps what is of another kind: it is
    given this and calls `put`.
    """

    def __init__(self, notes, names, modules, tensors, more=None):
        self.notes, self.names = notes, names
        self.modules, self.tensors, self.more = modules, tensors, more
        self.here = threading.local()  # .silent inside known functions
        self.before = []  # owner, name, what was there; None where it was inherited
        self.made = {}  # function: what stands for it
        self.after = []  # what else is to be undone

    def __enter__(self):
        try:
            self.put_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def put_all(self):
        """Wrap what is to be noted; what was put is taken back by leaving."""
        for module in self.modules:
            for name, found in list(vars(module).items()):
                if isinstance(found, _FUNCTIONS) and not name.startswith("_"):
                    self.put(module, name, self.wrapped(found, name))
        for tensor in self.tensors:
            for name in dir(tensor):
                found = inspect.getattr_static(tensor, name)
                said = self.names.of(name)
                if name.startswith("_") and (said is None or not said[2]):
                    continue
                if isinstance(found, _METHODS):
                    self.put(tensor, name, self.wrapped(found, name))
        if self.more is not None:
            self.more(self)

    def __exit__(self, *problem):
        for owner, name, found in reversed(self.before):
            if found is None:
                delattr(owner, name)
            else:
                setattr(owner, name, found)
        self.before.clear()
        while self.after:
            self.after.pop()()

    def end(self):
        """Return how often each call was made, and the extremes of its numbers."""
        return self.notes.end()

    def put(self, owner, name, found):
        """Put something where something else was, until the end."""
        if found is not None:
            self.before.append((owner, name, vars(owner).get(name)))
            setattr(owner, name, found)

    def wrapped(self, original, name):
        """Return what notes the calls of a function; None for one that is not noted."""
        found = self.names.of(name)
        if found is None:
            return None
        key = original, found
        if key not in self.made:
            self.made[key] = self.noting(original, *found)
        return self.made[key]

    def noting(self, original, name, way, is_known, skip=0):
        """Return a function that calls another one and notes it, but for its first arguments."""
        here, notes, words = self.here, self.notes, Words(original)

        def suanzi_noting(*args, **kwargs):
            if getattr(here, "silent", False):
                return original(*args, **kwargs)
            before = notes.noted
            given = self.as_it_is(args) if way is not None and is_known else args
            here.silent = is_known
            try:
                result = original(*args, **kwargs)
            finally:
                here.silent = False
            args = given
            if is_known or notes.noted == before:
                if kwargs:
                    args, kwargs = words.by_place(args, kwargs)
                notes.note(name, way, args[skip:], kwargs, result)
            return result

        with contextlib.suppress(AttributeError, TypeError):  # a name is all that is lost
            functools.update_wrapper(suanzi_noting, original)
        return suanzi_noting

    def as_it_is(self, args):
        """Return the arguments of what writes, with what is written to as it is before that.

        Paddle gives a tensor another dtype there.
        """
        self.here.silent = True
        try:
            first = args[0].detach()
            first._suanzi_call = getattr(args[0], "_suanzi_call", None)
            return (first, *args[1:])
        except Exception:
            return args
        finally:
            self.here.silent = False


class Words:
    """The names of a function's arguments."""

    def __init__(self, function):
        self.function, self.words = function, None

    def by_place(self, args, kwargs):
        """Return arguments by their places, as far as there is no gap."""
        if self.words is None:
            try:
                self.words = list(inspect.signature(self.function).parameters)
            except (TypeError, ValueError):
                self.words = []
        args, kwargs = list(args), dict(kwargs)
        for word in self.words[len(args) :]:
            if word not in kwargs or word in _SAID:
                break
            args.append(kwargs.pop(word))
        return args, kwargs
