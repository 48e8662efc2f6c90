"""Python shuts down while threads are inside operators; a second interpreter is refused."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import suanzi as sz

PARTS = 4


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_exit_while_threads_are_inside_operators(part: int) -> None:
    ended = run("-m", "helpers.exit_calls", str(part), str(PARTS))
    assert ended.returncode == 0, f"{ended.stdout}{ended.stderr}"


def test_every_function_is_among_the_calls() -> None:
    from helpers.exit_calls import of_namespace, of_operators

    assert len(of_operators()) >= 120
    spaces = (sz.array_api, sz.array_api.linalg, sz.array_api.fft)
    names = {
        f"{space.__name__}.{name}"
        for space in spaces
        for name in space.__all__
        if callable(getattr(space, name)) and not isinstance(getattr(space, name), type)
    }
    home = sz.array_api.__name__
    no_arithmetic = {f"{home}.{name}" for name in ("__array_namespace_info__", "isdtype")}
    assert names - set(of_namespace()) <= no_arithmetic


IN_A_SECOND_INTERPRETER = """
import suanzi as sz
try:
    from concurrent import interpreters
    run = interpreters.create().exec
except ImportError:
    try:
        import _interpreters as interpreters
    except ImportError:
        import _xxsubinterpreters as interpreters
    second = interpreters.create()
    def run(program):
        failed = interpreters.run_string(second, program)
        if failed:
            raise RuntimeError(str(failed))
for attempt in range(2):
    try:
        run("import suanzi")
    except Exception as error:
        said = "subinterpreter", "the tensor type exists already"  # the latter with nanobind 2.4
        assert any(words in str(error) for words in said), error
    else:
        raise AssertionError("it was imported")
    assert sz.promote_types(sz.int32, sz.float16) == sz.float16
    assert (sz.tensor([1, 2]) + 1.5).tolist() == [2.5, 3.5]
"""


@pytest.mark.skipif(
    not any(map(find_spec, ("_interpreters", "_xxsubinterpreters"))), reason="no subinterpreters"
)
def test_a_second_interpreter_is_refused_and_changes_nothing() -> None:
    ended = run("-c", IN_A_SECOND_INTERPRETER)
    assert ended.returncode == 0, ended.stderr
