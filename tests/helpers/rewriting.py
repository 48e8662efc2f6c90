"""A plugin of pytest: each process of a run of all tests rewrites the asserts of some files.

Else each of them rewrites all, in the same order: most of what a first collection takes.

It takes from pytest what pytest does not promise: the import hook that rewrites, which stands in
`sys.meta_path` and has `mark_rewrite`, and which writes what it rewrote before it executes it. It
was tried with the versions that `looping.TRIED` lists. With a pytest that has no such hook, or
whose hook refuses, each process rewrites what it imports, as without the plugin.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader
from pathlib import Path
from typing import Any

import pytest


def pytest_sessionstart(session: pytest.Session) -> None:
    """Rewrite this process's part, where all tests of the folder run."""
    worker: dict[str, Any] = getattr(session.config, "workerinput", {})
    here = Path(__file__).parents[1]
    rewriters: list[Any] = [x for x in sys.meta_path if hasattr(x, "mark_rewrite")]
    if worker and rewriters and str(here) in map(os.path.abspath, session.config.args):
        at, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
        files = sorted(here.rglob("test_*.py"))
        rewrite(files[len(files) * at // count : len(files) * (at + 1) // count], rewriters[0])


def rewrite(files: Sequence[Path], rewriter: Loader) -> list[Path]:
    """Write the rewritten bytecode of files, and execute none of them; return those rewritten.

    A module without built-in names ends at its first import. The first file that ends in another
    way ends the attempt: this pytest works otherwise.
    """
    done = []
    for path in files:
        spec = importlib.util.spec_from_file_location(path.stem, path, loader=rewriter)
        if spec is None or spec.loader is None:
            return done
        module = importlib.util.module_from_spec(spec)
        vars(module)["__builtins__"] = {}
        try:
            spec.loader.exec_module(module)
        except (ImportError, NameError):
            pass
        except SyntaxError:
            continue  # the collection reports it
        except Exception:
            return done
        done.append(path)
    return done
