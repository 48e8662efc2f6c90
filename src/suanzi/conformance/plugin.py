"""The pytest plugin: the kit's cases as tests in a vendor's suite, one test for each case.

One line in the ``conftest.py`` of the suite is enough::

    pytest_plugins = ["suanzi.conformance.plugin"]

with ``--suanzi-backend package.module:Adapter`` on the command line, or in the settings of pytest::

    [tool.pytest.ini_options]
    suanzi_backend = "package.module:Adapter"

or, without it, ``pytest -p suanzi.conformance.plugin --suanzi-backend torch``. The cases are
collected together with the other tests, unless some of these are named.

It does not register itself: pytest would import it in every run on the machine, and rewrite its
whole package for assertions.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from suanzi.conformance.model.case import Case
    from suanzi.conformance.reports.deviations import Deviation
    from suanzi.conformance.running.process import Backend, Subject

_Number = TypeVar("_Number", int, float)

_OPTIONS = {
    "backend": "what to test: suanzi, numpy, torch, ..., a C library, or package.module:Adapter",
    "python": "the interpreter that has the backend, if not this one",
    "op": "only these interfaces, by name, separated by commas",
    "category": "only these categories, separated by commas",
    "dtype": "only these dtypes, separated by commas",
    "group": "only these groups of cases, separated by commas",
    "case": "only these cases, by id or pattern, separated by blanks",
    "rules": "the rule set of the promotion cases, if not the backend's own",
    "seed": "the seed of random values (0)",
    "timeout": "the seconds a call may take (10)",
    "deviations": "a file of known deviations, with reasons",
    "cases": "a folder of frozen cases, from suanzi check --export",
}
_FLAGS = {
    "quick": "fewer values and dtypes",
    "minimal": "only the interfaces of the minimal set",
    "normative": "only what the standard requires, by its text or by an interpretation of it",
    "strict": "also fail for quality and extensions, which the standard does not require",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which can also be settings: suanzi_backend and so on."""
    group = parser.getgroup("suanzi", "conformance with T/AI 131.1-2025")
    for name, text in _OPTIONS.items():
        group.addoption(f"--suanzi-{name}", dest=f"suanzi_{name}", default=None, help=text)
        parser.addini(f"suanzi_{name}", text, default="")
    for name, text in _FLAGS.items():
        group.addoption(
            f"--suanzi-{name}", dest=f"suanzi_{name}", action="store_true", default=None, help=text
        )
        parser.addini(f"suanzi_{name}", text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """Collect the kit's test, if a backend is named."""
    suite = str(Path(__file__).with_name("suite.py"))
    named = [arg for arg in config.args if arg in (suite, "suanzi.conformance.suite")]
    asked = config.getoption("suanzi_backend") is not None
    others = config.args_source is pytest.Config.ArgsSource.ARGS and not asked
    if _setting(config, "backend") and not named and not others:
        config.args.append(suite)


def _setting(config: pytest.Config, name: str) -> Any:
    given = config.getoption(f"suanzi_{name}")
    return given if given is not None else config.getini(f"suanzi_{name}")


def _listed(config: pytest.Config, name: str) -> list[str]:
    return [one.strip() for one in str(_setting(config, name)).split(",") if one.strip()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give every test that takes a `suanzi_case` the selected cases."""
    if "suanzi_case" not in metafunc.fixturenames:
        return
    from suanzi.base.status import StatusError

    try:
        found = _cases(metafunc.config)
    except StatusError as error:
        # A wrong name or an empty selection: a traceback would not help.
        raise pytest.Collector.CollectError(f"suanzi: {error}") from None
    metafunc.parametrize("suanzi_case", found, ids=[case.id for case in found])


def _cases(config: pytest.Config) -> list[Case]:
    from suanzi.base.status import InvalidArgument
    from suanzi.conformance.check import cases_of_each, filters
    from suanzi.conformance.running.run import facts_of

    subject = _backend(config)
    _timeout(config)
    _own_deviations(config)
    settings = filters(
        ops=_listed(config, "op"),
        categories=_listed(config, "category"),
        dtypes=_listed(config, "dtype"),
        groups=_listed(config, "group"),
        only=str(_setting(config, "case")).split(),  # there are commas in ids
        minimal=bool(_setting(config, "minimal")),
        quick=bool(_setting(config, "quick")),
        normative=bool(_setting(config, "normative")),
        seed=_number(config, "seed", 0),
        folder=_setting(config, "cases") or None,
    )
    # Started even if its rules are given: if it cannot be, the error appears once.
    rules = facts_of(subject).rules
    rules = _named_rules(config) or settings["rules"] or rules
    found = [case for _, some in cases_of_each(settings, rules) for case in some]
    if not found:
        raise InvalidArgument("the options select no case.")
    return found


def _named_rules(config: pytest.Config) -> str | None:
    """Return the name of the rule set of the options; one from a file is registered."""
    from suanzi.promote.library import rules_or_file, text_for_others

    given = _setting(config, "rules")
    if not given:
        return None
    found = rules_or_file(given)
    text_for_others(found)
    return found.name


def _number(config: pytest.Config, name: str, default: _Number) -> _Number:
    from suanzi.base.status import InvalidArgument

    given = _setting(config, name)
    try:
        return type(default)(given) if given else default
    except ValueError:
        raise InvalidArgument(f"--suanzi-{name} is {given!r}, not a number.") from None


def _timeout(config: pytest.Config) -> float:
    from suanzi.base.status import InvalidArgument

    found = _number(config, "timeout", 10.0)
    if not found > 0:
        raise InvalidArgument(f"--suanzi-timeout is {found:g}; it must be a number above zero.")
    return found


def _own_deviations(config: pytest.Config) -> list[Deviation]:
    from suanzi.conformance.reports import deviations

    return [d for file in _listed(config, "deviations") for d in deviations.read(file)]


def _backend(config: pytest.Config) -> Backend:
    from suanzi.base.status import InvalidArgument
    from suanzi.conformance.running.backends import backend

    title = _setting(config, "backend")
    if not title:
        raise InvalidArgument(
            "no backend to test; give --suanzi-backend torch, ./libvendor.so or "
            "package.module:Adapter, or set suanzi_backend."
        )
    return backend(title, _setting(config, "python") or None)


@pytest.fixture(scope="session")
def suanzi_subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Give the backend, in a separate process that is restarted when it ends."""
    from suanzi.conformance.running.process import Subject

    with Subject(_backend(request.config), _timeout(request.config)) as subject:
        yield subject


@pytest.fixture(scope="session")
def suanzi_strict(request: pytest.FixtureRequest) -> bool:
    """Tell whether tests also fail for what the standard does not require."""
    return bool(_setting(request.config, "strict"))


@pytest.fixture(scope="session")
def suanzi_deviations(request: pytest.FixtureRequest, suanzi_subject: Subject) -> list[Deviation]:
    """Give the known deviations of the backend."""
    from suanzi.conformance.reports import deviations

    packaged = deviations.packaged(suanzi_subject.facts.name, device=suanzi_subject.facts.device)
    return [*packaged, *_own_deviations(request.config)]
