"""A plugin of pytest: one test loops over many sets of parameters.

Each test costs some milliseconds more than what it does, and there are 30,000 sets of parameters:
where no fixture is needed, one test loops over 50 of them, or as many as `TOGETHER` of its module
says. All sets run, also after one that fails; each has its outcome in `report.each`. `--apart`
makes each set a test again; so does a selection by name, by mark or by node id.

It takes from pytest what pytest does not promise: the list `_calls` of a `Metafunc`, and `id`,
`params` and `marks` of what it holds. `TRIED` lists the versions it was tried with. Where these
are not as expected, one line after the tests says so, and each set of parameters is a test.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Sequence
from typing import Any

import pytest

from helpers.lacking import lacks
from helpers.recording import reason_of

TRIED = ("8.0.0", "8.4.2", "9.0.0", "9.2.0")
CALLS = "_calls"
TOGETHER = 50
SHARED = pytest.StashKey[frozenset[str]]()
"""Fixtures that all tests have, and that sets of parameters may share: conftest.py names them."""
PARTS = pytest.StashKey[dict[int, tuple[int, list[Any]]]]()
"""The sets that one of them stands for, and the position of the first, by the id of that one."""
UNEXPECTED = pytest.StashKey[str]()
"""What this pytest does not have."""
_SENT = "looping_unexpected"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--apart", action="store_true", help="each set of parameters is a test")


# ---- which sets one test loops over --------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None, object, object]:
    """Leave one set of parameters of as many as one test loops over, unless some are selected.

    A test that is made only to be looped over takes longer than most of them run.
    """
    found = yield
    config = metafunc.config
    options = config.option
    selects = options.keyword or options.markexpr or options.deselect
    if options.apart or selects or any("::" in arg for arg in config.args):
        return found
    calls = getattr(metafunc, CALLS, None)
    lacking = missing(calls)
    if lacking:
        config.stash[UNEXPECTED] = lacking
        return found
    if calls and _loops(config, metafunc.function, calls, metafunc.fixturenames):
        count = _together(metafunc.module)
        parts = [calls[at : at + count] for at in range(0, len(calls), count)]
        known = config.stash.setdefault(PARTS, {})
        known.update({id(part[0]): (i * count, part) for i, part in enumerate(parts)})
        calls[:] = [part[0] for part in parts]
    return found


def missing(calls: object) -> str:
    """Return what this pytest lacks of what the plugin needs; nothing if it has all of it."""
    if not isinstance(calls, list):
        return f"list `{CALLS}` of a Metafunc"
    names = [n for n in ("id", "marks", "params") if any(not hasattr(call, n) for call in calls)]
    return f"{', '.join(f'`{n}`' for n in names)} of a call of a Metafunc" if names else ""


def _loops(
    config: pytest.Config, function: object, calls: Sequence[Any], fixtures: Sequence[str]
) -> bool:
    plain = not any(call.marks for call in calls) and not hasattr(function, "hypothesis")
    return plain and {*fixtures} - config.stash.get(SHARED, frozenset()) == {*calls[0].params}


def _together(module: object) -> int:
    count = getattr(module, "TOGETHER", TOGETHER)
    assert isinstance(count, int)
    return count


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Make one test of neighbours of one function."""
    parts = config.stash.get(PARTS, {})

    def alike(item: pytest.Item) -> object:
        function, call = getattr(item, "function", None), getattr(item, "callspec", None)
        if call is None or id(call) in parts or missing([call]):
            return item
        fixtures = item.fixturenames  # type: ignore[attr-defined]
        return (item.parent, function) if _loops(config, function, [call], fixtures) else item

    if not config.option.apart and UNEXPECTED not in config.stash:
        groups = [list(group) for _, group in itertools.groupby(items, alike)]
        items[:] = [
            _looped(group[at : at + count], at, parts)
            for group in groups
            for count in [_together(getattr(group[0], "module", None))]
            for at in range(0, len(group), count)
        ]


# ---- the loop ------------------------------------------------------------------------------------


def _looped(
    group: list[pytest.Item], at: int, parts: dict[int, tuple[int, list[Any]]]
) -> pytest.Item:
    """Return one test that does what several of one function do."""
    first = group[0]
    specs = [item.callspec for item in group if hasattr(item, "callspec")]
    if specs and id(specs[0]) in parts:
        at, specs = parts[id(specs[0])]
    if len(specs) <= 1 or not isinstance(first, pytest.Function):
        return first
    calls = [(call.id, call.params) for call in specs]
    every = loop(first.obj, calls, stops=bool(first.config.option.maxfail))
    marks = getattr(first.function, "pytestmark", [])
    vars(every)["pytestmark"] = [mark for mark in marks if mark.name != "parametrize"]
    name = f"{first.originalname}[{at}: {calls[0][0]} to {calls[-1][0]}]"
    return pytest.Function.from_parent(first.parent, name=name, callobj=every)


def loop(
    function: Callable[..., object], calls: Sequence[tuple[str, dict[str, Any]]], stops: bool
) -> Callable[[], None]:
    """Return a function that calls another with each set of parameters, by the names of the sets.

    It raises the first failure. What others raise is printed, for pytest to show: it does not hide
    them. With `stops`, as with -x, the first failure is the last.
    """
    outcomes: list[tuple[str, str, str]] = []

    def every() -> None:
        __tracebackhide__ = True
        outcomes.clear()
        first: BaseException | None = None
        for name, parameters in calls:
            outcome, reason, error = _outcome(function, parameters)
            outcomes.append((name, outcome, reason))
            if error is None:
                continue
            print(f"with the parameters [{name}]")
            if first is None:
                first = _named(error, name)
            else:
                info = pytest.ExceptionInfo.from_exception(error)
                print(info.getrepr(style="short"))
            if stops:
                break
        if first is not None:
            raise first
        if all(outcome == "skipped" for _, outcome, _ in outcomes):
            pytest.skip(outcomes[0][2])

    vars(every).update(outcomes=outcomes, names=[name for name, _ in calls])
    return every


def _outcome(
    function: Callable[..., object], parameters: dict[str, Any]
) -> tuple[str, str, BaseException | None]:
    """Call a test; return what became of it, why it was skipped, and its failure."""
    __tracebackhide__ = True
    try:
        function(**parameters)
    except (pytest.skip.Exception, pytest.xfail.Exception) as reason:
        return "skipped", str(reason), None
    except (Exception, pytest.fail.Exception) as error:
        return ("skipped", str(error), None) if lacks(error) else ("failed", "", error)
    return "passed", "", None


def _named(error: BaseException, name: str) -> BaseException:
    """Return a failure that says with which parameters, where its text is the test's."""
    if type(error) is AssertionError:
        error.args = (f"[{name}] {error}",)
    return error


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what became of each set of parameters that a test loops over."""
    report = yield
    every = getattr(item, "obj", None)
    if call.when == "call":
        report.each = getattr(every, "outcomes", [])
    elif report.skipped:
        report.each = [(name, "skipped", reason_of(report)) for name in getattr(every, "names", ())]
    return report


# ---- a pytest that differs -----------------------------------------------------------------------


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a process found to the one that prints."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_SENT] = session.config.stash.get(UNEXPECTED, "")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what a process of pytest-xdist found."""
    lacking = getattr(node, "workeroutput", {}).get(_SENT)
    if lacking:
        node.config.stash[UNEXPECTED] = lacking


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say once why the run has more tests than it needs."""
    if UNEXPECTED in config.stash:
        terminalreporter.section("warning of tests/helpers/looping.py", yellow=True)
        terminalreporter.line(
            f"pytest {pytest.__version__} has no {config.stash[UNEXPECTED]}: each set of "
            f"parameters is a test of its own. The plugin was tried with {', '.join(TRIED)}."
        )
