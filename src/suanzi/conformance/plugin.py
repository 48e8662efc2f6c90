"""The pytest plugin: the kit's cases as tests of a vendor's own suite, one test for each case.

One line in the ``conftest.py`` of the suite is enough::

    pytest_plugins = ["suanzi.conformance.plugin"]

with ``--suanzi-backend package.module:Adapter`` on the command line, or in the settings of pytest::

    [tool.pytest.ini_options]
    suanzi_backend = "package.module:Adapter"

or, without it, ``pytest -p suanzi.conformance.plugin --suanzi-backend torch``. The cases are
collected beside the tests there are, unless some of these are asked for by name.

It does not register itself: a plugin that does is imported by every run of pytest on the machine,
and its whole package is rewritten for its assertions.
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
    "backend": "the subject: suanzi, numpy, torch, ..., a C library, or package.module:Adapter",
    "python": "the interpreter that has the subject, if not this one",
    "op": "only these interfaces, by name, separated by commas",
    "category": "only these categories, separated by commas",
    "dtype": "only these dtypes, separated by commas",
    "group": "only these groups of cases, separated by commas",
    "case": "only these cases, by id or pattern, separated by blanks",
    "rules": "the rule set of the promotion cases, if not the subject's own",
    "seed": "the seed of random values (0)",
    "timeout": "the seconds a call may take (10)",
    "deviations": "a file of known deviations, with reasons",
    "cases": "a folder of frozen cases, from suanzi check --export",
}
_FLAGS = {
    "quick": "fewer values and dtypes",
    "minimal": "only the interfaces of the minimal set",
    "letter": "only what the standard demands, by its letter or by a reading of it",
    "strict": "fail for quality and extensions, too, which the standard does not ask for",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which can stand in the settings, too: suanzi_backend and the like."""
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
    """Add the kit's one test to what is collected, where a subject is named."""
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
    """Give every test that takes a `suanzi_case` the cases that are wanted."""
    if "suanzi_case" not in metafunc.fixturenames:
        return
    from suanzi.status import StatusError

    try:
        found = _cases(metafunc.config)
    except StatusError as error:
        # Not a fault of the tests, and no traceback helps: a name is wrong, or nothing is there.
        raise pytest.Collector.CollectError(f"suanzi: {error}") from None
    metafunc.parametrize("suanzi_case", found, ids=[case.id for case in found])


def _cases(config: pytest.Config) -> list[Case]:
    from suanzi.conformance.check import cases_of_each, filters
    from suanzi.conformance.running.run import facts_of
    from suanzi.status import InvalidArgument

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
        letter=bool(_setting(config, "letter")),
        seed=_number(config, "seed", 0),
        folder=_setting(config, "cases") or None,
    )
    # The subject is started though its rules may be known: it is told once if it cannot be.
    rules = facts_of(subject).rules
    rules = _named_rules(config) or settings["rules"] or rules
    found = [case for _, some in cases_of_each(settings, rules) for case in some]
    if not found:
        raise InvalidArgument("no case is left by the options.")
    return found


def _named_rules(config: pytest.Config) -> str | None:
    """Return the name of the rule set of the options, made known where it is a file."""
    from suanzi.promote.library import rules_or_file, text_for_others

    given = _setting(config, "rules")
    if not given:
        return None
    found = rules_or_file(given)
    text_for_others(found)
    return found.name


def _number(config: pytest.Config, name: str, default: _Number) -> _Number:
    from suanzi.status import InvalidArgument

    given = _setting(config, name)
    try:
        return type(default)(given) if given else default
    except ValueError:
        raise InvalidArgument(f"--suanzi-{name} is {given!r}, which is no number.") from None


def _timeout(config: pytest.Config) -> float:
    from suanzi.status import InvalidArgument

    found = _number(config, "timeout", 10.0)
    if not found > 0:
        raise InvalidArgument(f"--suanzi-timeout is {found:g}; it takes a number above zero.")
    return found


def _own_deviations(config: pytest.Config) -> list[Deviation]:
    from suanzi.conformance.reports import deviations

    return [d for file in _listed(config, "deviations") for d in deviations.read(file)]


def _backend(config: pytest.Config) -> Backend:
    from suanzi.conformance.running.backends import backend
    from suanzi.status import InvalidArgument

    title = _setting(config, "backend")
    if not title:
        raise InvalidArgument(
            "say which subject to hold against the standard: --suanzi-backend torch, "
            "./libvendor.so or package.module:Adapter, or suanzi_backend in the settings."
        )
    return backend(title, _setting(config, "python") or None)


@pytest.fixture(scope="session")
def suanzi_subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    """Give the subject, in a process of its own that is started again where it ends."""
    from suanzi.conformance.running.process import Subject

    with Subject(_backend(request.config), _timeout(request.config)) as subject:
        yield subject


@pytest.fixture(scope="session")
def suanzi_strict(request: pytest.FixtureRequest) -> bool:
    """Tell whether tests fail for what the standard does not ask for, too."""
    return bool(_setting(request.config, "strict"))


@pytest.fixture(scope="session")
def suanzi_deviations(request: pytest.FixtureRequest, suanzi_subject: Subject) -> list[Deviation]:
    """Give the known deviations of the subject."""
    from suanzi.conformance.reports import deviations

    packaged = deviations.packaged(suanzi_subject.facts.name)
    return [*packaged, *_own_deviations(request.config)]
