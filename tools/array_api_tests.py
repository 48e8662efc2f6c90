"""Run array-api-tests, the test suite of the array API standard, on suanzi.array_api.

python tools/array_api_tests.py CHECKOUT [--max-examples 100] [--rules torch] [pytest's arguments]

CHECKOUT is a clone of https://github.com/data-apis/array-api-tests with its submodule; the suite
needs pytest, pytest-json-report, hypothesis and ndindex. Nothing is fetched, configured or skipped.
With --rules, the tests run under a rule set that is in force for the whole process: it must not
change a result.
"""

from __future__ import annotations

import argparse
import os
import sys
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
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--max-examples", type=int, default=100)
    parser.add_argument("--rules")
    options, rest = parser.parse_known_args()
    checkout = options.checkout.resolve()
    if not (checkout / "array_api_tests").is_dir() or not any((checkout / "array-api").iterdir()):
        parser.error(f"{checkout} is not a checkout of array-api-tests with its submodule")
    if options.rules:
        sz.set_promotion(options.rules, everywhere=True)
    rest += ["--max-examples", str(options.max_examples)]
    return run(checkout, rest)


if __name__ == "__main__":
    sys.exit(main())
