"""Runs array-api-tests, the test suite of the array API standard, on suanzi.array_api.

python tools/array_api_tests.py CHECKOUT [--max-examples 100] [--in-thread] [pytest's arguments]

CHECKOUT is a clone of https://github.com/data-apis/array-api-tests with its submodule; the suite
needs pytest, hypothesis and ndindex. Nothing is fetched, and no test is skipped or expected to
fail. The one thing that is switched on is what a program that computes with symbols switches on,
too: ``sz.set_promotion("array_api", everywhere=True)``, so that ``x + y`` means what ``xp.add``
does. With --in-thread, it all runs in a thread that was not told so.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from pathlib import Path

import pytest

import suanzi as sz


def run(checkout: Path, arguments: list[str]) -> int:
    """Run pytest in a checkout of the suite; return its exit status."""
    os.environ["ARRAY_API_TESTS_MODULE"] = "suanzi.array_api"
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
    """Read the command line, switch the rules on, and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--max-examples", type=int, default=100)
    parser.add_argument("--in-thread", action="store_true")
    options, rest = parser.parse_known_args()
    checkout = options.checkout.resolve()
    if not (checkout / "array_api_tests").is_dir() or not any((checkout / "array-api").iterdir()):
        parser.error(f"{checkout} is not a checkout of array-api-tests with its submodule")
    sz.set_promotion("array_api", everywhere=True)
    rest += ["--max-examples", str(options.max_examples)]
    status = [1]
    if options.in_thread:
        worker = threading.Thread(target=lambda: status.__setitem__(0, run(checkout, rest)))
        worker.start()
        worker.join()
        return status[0]
    return run(checkout, rest)


if __name__ == "__main__":
    sys.exit(main())
