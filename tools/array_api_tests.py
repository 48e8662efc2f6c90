"""Run array-api-tests, the test suite of the array API standard, on suanzi.array_api.

python tools/array_api_tests.py CHECKOUT [--max-examples 100] [--rules torch] [--device torch:cpu]
                                [pytest's arguments]

CHECKOUT is a clone of https://github.com/data-apis/array-api-tests with its submodule; the suite
needs pytest, pytest-json-report, hypothesis and ndindex. Nothing is fetched, configured or skipped.
With --rules, the tests run under a rule set that is in force for the whole process: it must not
change a result. With --device, arrays are made on a device: the suite is given a namespace whose
creation functions have that device by default, and the functions of suanzi.array_api otherwise.
"""

from __future__ import annotations

import argparse
import os
import sys
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import suanzi as sz

CREATED = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")
FREQUENCIES = ("fftfreq", "rfftfreq")


def on_device(device: str) -> str:
    """Make a module whose creation functions have a device by default; return its name."""
    if device.startswith("torch:"):
        from suanzi.runtimes.torch.provider import register

        register()

    def made(module: Any, name: str, wrapped: tuple[str, ...]) -> ModuleType:
        copy = ModuleType(name)
        copy.__dict__.update({k: v for k, v in vars(module).items() if not k.startswith("__name")})
        for one in wrapped:
            function = getattr(module, one)

            def placed(*args: Any, _function: Any = function, **kwargs: Any) -> Any:
                return _function(*args, **({"device": device} | kwargs))

            setattr(copy, one, wraps(function)(placed))
        sys.modules[name] = copy
        return copy

    space = made(sz.array_api, "suanzi_on_device", CREATED)
    space.fft = made(sz.array_api.fft, "suanzi_on_device.fft", FREQUENCIES)
    return space.__name__


def run(checkout: Path, arguments: list[str], module: str = "suanzi.array_api") -> int:
    """Run pytest in a checkout of the suite; return its exit status."""
    os.environ["ARRAY_API_TESTS_MODULE"] = module
    os.environ["ARRAY_API_TESTS_VERSION"] = sz.array_api.__array_api_version__
    os.chdir(checkout)
    sys.path.insert(0, str(checkout))
    given = [one for one in arguments if (checkout / one.partition("::")[0]).exists()]
    return int(
        pytest.main(
            [
                *([] if given else ["array_api_tests"]),
                *("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--disable-deadline"),
                *arguments,
            ]
        )
    )


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--max-examples", type=int, default=100)
    parser.add_argument("--rules")
    parser.add_argument("--device", help="where arrays are made, for example torch:cpu")
    options, rest = parser.parse_known_args()
    checkout = options.checkout.resolve()
    if not (checkout / "array_api_tests").is_dir() or not any((checkout / "array-api").iterdir()):
        parser.error(f"{checkout} is not a checkout of array-api-tests with its submodule")
    if options.rules:
        sz.set_promotion(options.rules, everywhere=True)
    rest += ["--max-examples", str(options.max_examples)]
    return run(checkout, rest, on_device(options.device) if options.device else "suanzi.array_api")


if __name__ == "__main__":
    sys.exit(main())
