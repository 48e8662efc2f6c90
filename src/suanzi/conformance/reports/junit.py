"""A run as JUnit XML, which continuous integration reads: a suite per interface.

A wrong answer is a failure, a crash or a hang an error. A known deviation is skipped, or a run
would never be green: the reason says that it failed. So is what fails in quality or an extension,
which the standard does not ask for, unless the run is strict. Of what passed, and of what has no
answer, each group of an interface is one test, which says how many cases it stands for: all of them
would be a file of many megabytes that says nothing more.
"""

from __future__ import annotations

import re
from collections import Counter
from os import PathLike
from pathlib import Path
from xml.etree import ElementTree as xml

from suanzi.conformance.model.results import Result, Run, by_basis
from suanzi.conformance.reports.readings import followed
from suanzi.conformance.reports.summary import problem_of
from suanzi.standard import interfaces

_REASONS = 5
"""How many reasons are told why cases of one group have no answer."""
# What XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    r"""Return a text with what XML cannot hold written as Python would write it.

    >>> clean("a\x00b")
    'a\\x00b'
    """
    return _FORBIDDEN.sub(lambda found: found.group().encode("unicode_escape").decode(), text)


def to_xml(run: Run) -> str:
    """Return a run as JUnit XML."""
    root = xml.Element("testsuites", name=clean(f"suanzi check {run.subject.get('title', '')}"))
    strict = bool(run.settings.get("strict"))
    suites = [_suite(root, op, results, strict) for op, results in run.by_operator().items()]
    _count(root, [case for suite in suites for case in suite.iter("testcase")])
    root.set("time", f"{run.seconds:.3f}")
    facts = [*run.subject.items(), *run.settings.items()]
    said = [(k, v) for k, v in facts if isinstance(v, str | int | float)]
    said += [(name, f"{len(some)} cases") for name, some in by_basis(run.results).items() if some]
    said += [("reading", str(one)) for one in followed(run.results)]
    for suite in suites[:1]:  # the schema has no place for them in the root
        properties = xml.Element("properties")
        suite.insert(0, properties)
        for name, value in said:
            xml.SubElement(properties, "property", name=clean(name), value=clean(str(value)))
    xml.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(root, encoding="unicode") + "\n"
    )


def write(run: Run, path: str | PathLike[str]) -> None:
    """Write a run as JUnit XML."""
    Path(path).write_text(to_xml(run), "utf-8")


def _suite(root: xml.Element, op: str, results: list[Result], strict: bool) -> xml.Element:
    facts = interfaces().get(op)
    category = facts.category.replace(" ", "_") if facts else "other"
    suite = xml.SubElement(root, "testsuite", name=clean(op))
    others: dict[tuple[str, str], list[str]] = {}
    for result in results:
        if result.bad or result.unexpected:
            _outcome(_case(suite, category, op, result.id), result, strict)
        else:
            others.setdefault((result.group, result.outcome), []).append(result.problem or "")
    for (group, outcome), reasons in others.items():
        case = _case(suite, category, op, f"{op}/{group}: {outcome}")
        if outcome == "passed":
            xml.SubElement(case, "system-out").text = f"{len(reasons)} cases"
            continue
        some = Counter(reasons).most_common(_REASONS + 1)
        told = [f"{n}: {reason}" for reason, n in some[:_REASONS]]
        message = "; ".join([*told, *(["..."] if len(some) > _REASONS else [])])
        xml.SubElement(case, "skipped", message=clean(message), type=outcome)
    _count(suite, list(suite))
    suite.set("time", "0")
    return suite


def _case(suite: xml.Element, category: str, op: str, name: str) -> xml.Element:
    where = clean(f"suanzi.{category}.{op}")
    return xml.SubElement(suite, "testcase", classname=where, name=clean(name), time="0")


def _outcome(case: xml.Element, result: Result, strict: bool) -> None:
    problem = clean(problem_of(result))
    if result.bad and result.known is not None:
        message = clean(f"known deviation ({result.outcome}): {result.known}")
        xml.SubElement(case, "skipped", message=message, type="known-deviation").text = problem
    elif result.bad and not result.fatal and not strict:
        beyond = result.broken or "extension"
        message = clean(f"the standard does not ask for it ({beyond}): {problem}")
        xml.SubElement(case, "skipped", message=message, type=beyond).text = _details(result)
    elif result.outcome == "failed":
        xml.SubElement(case, "failure", message=problem, type="failed").text = _details(result)
    elif result.bad:
        xml.SubElement(case, "error", message=problem, type=result.outcome).text = _details(result)
    else:
        xml.SubElement(case, "system-out").text = "unexpected pass: a deviation says that it fails"


def _details(result: Result) -> str:
    lines = [problem_of(result) or result.outcome]
    if result.because:
        lines.append(f"demanded by {result.because}")
    if result.ulp is not None:
        bound = "" if result.bound is None else f", bound {result.bound:g}"
        lines.append(f"error {result.ulp:.4g} ULP{bound}")
    if result.reproduction:
        lines += ["", result.reproduction]
    return clean("\n".join(lines))


def _count(element: xml.Element, cases: list[xml.Element]) -> None:
    element.set("tests", str(len(cases)))
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(name, str(sum(case.find(tag) is not None for case in cases)))
