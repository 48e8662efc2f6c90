"""Starts the recorder of `suanzi port` in an interpreter that a recorded program starts.

Python imports this before the program, because its folder is in ``PYTHONPATH``. It waits until the
framework is imported: what never does costs nothing.
"""

import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_FRAMEWORK = os.environ.get("SUANZI_PORT_FRAMEWORK", "")


class _Waiting:
    """Finds the framework, once, and has the recorder started behind it."""

    def find_spec(self, name, path=None, target=None):
        if name != _FRAMEWORK:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            sys.path.append(os.path.dirname(_HERE))
            try:
                import processes
            finally:
                sys.path.pop()
            processes.start_in_child(_FRAMEWORK)

        spec.loader.exec_module = exec_module
        return spec


def _others():
    """Import the next sitecustomize, which this one hides."""
    sys.path[:] = [one for one in sys.path if os.path.abspath(one) != _HERE]
    own = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401
    except ImportError:
        if own is not None:
            sys.modules["sitecustomize"] = own


def _read_others():
    """Read other files instead of some, if that was asked for."""
    if '"texts": {"' in os.environ.get("SUANZI_PORT_OPTIONS", ""):
        sys.path.append(os.path.dirname(_HERE))
        try:
            import processes
        finally:
            sys.path.pop()
        processes.read_others(processes.options()["texts"])


if _FRAMEWORK and "SUANZI_PORT_CALLS" in os.environ:
    sys.meta_path.insert(0, _Waiting())
    _read_others()
_others()
