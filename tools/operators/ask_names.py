"""Runs in the interpreter of Paddle, MindSpore or JAX: prints which of the names it has."""

import importlib
import json
import sys


def exists(name):
    """Tell whether a name with its module leads to something."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for i, part in enumerate(parts[1:], 1):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join(parts[: i + 1]))
            except ImportError:
                return False
        found = getattr(found, part, None)
        if found is None:
            return False
    return True


with open(sys.argv[1]) as file:
    asked = json.load(file)
framework = importlib.import_module(asked["framework"])
for module in asked["modules"]:
    importlib.import_module(module)
print(
    json.dumps(
        {"version": framework.__version__, "names": [n for n in asked["names"] if exists(n)]}
    )
)
