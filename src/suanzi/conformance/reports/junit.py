"""A run as JUnit XML, for continuous integration: a suite per interface.

A wrong answer is a failure, a crash or a hang an error, and required cases that were not answered
are a failure, so that the file agrees with the exit status. A known deviation is skipped, with its
reason; so is a failure in quality or an extension, unless the run is strict. Cases that passed, and
cases without an answer, are one test for each group of an interface: a test each would make a file
of many megabytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from os import PathLike
from xml.etree import ElementTree as xml

from suanzi.base.files import write_file
from suanzi.base.text import clean
from suanzi.conformance.model.members import facts_of
from suanzi.conformance.model.results import Result, Run, by_basis
from suanzi.conformance.model.tallies import dtypes_had, tally
from suanzi.conformance.reports.readings import followed
from suanzi.conformance.reports.summary import problem_of

_REASONS = 5
"""How many reasons are given for cases of one group that have no answer."""


def to_xml(run: Run) -> str:
    """Return a run as JUnit XML."""
    root = xml.Element("testsuites", name=clean(f"suanzi check {run.subject.get('title', '')}"))
    strict = bool(run.settings.get("strict"))
    had = dtypes_had(run)
    suites = [_suite(root, op, results, strict, had) for op, results in run.by_operator().items()]
    _count(root, [case for suite in suites for case in suite.iter("testcase")])
    root.set("time", f"{run.seconds:.3f}")
    facts = [*run.subject.items(), *run.settings.items()]
    said = [(k, v) for k, v in facts if isinstance(v, str | int | float)]
    said += [(f"decision.{name}", value) for name, value in run.decision.to_dict().items()]
    said += [(name, f"{len(some)} cases") for name, some in by_basis(run.results).items() if some]
    said += [("reading", str(one)) for one in followed(run.results)]
    for suite in suites[:1]:  # the schema of JUnit allows none in the root
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
    write_file(path, to_xml(run))


def _suite(
    root: xml.Element, op: str, results: list[Result], strict: bool, had: Collection[str]
) -> xml.Element:
    facts = facts_of(op)
    category = facts.category.replace(" ", "_") if facts else "other"
    suite = xml.SubElement(root, "testsuite", name=clean(op))
    others: dict[tuple[str, str, bool], list[str]] = {}
    for result in results:
        if result.bad or result.unexpected:
            _outcome(_case(suite, category, op, result.id), result, strict)
        else:
            owed = tally([result], had).new > 0
            key = (result.group, result.outcome, owed)
            others.setdefault(key, []).append(result.problem or "")
    for (group, outcome, owed), reasons in others.items():
        required = "required, " if owed else ""
        case = _case(suite, category, op, f"{op}/{group}: {required}{outcome}")
        if outcome == "passed":
            xml.SubElement(case, "system-out").text = f"{len(reasons)} cases"
            continue
        some = Counter(reasons).most_common(_REASONS + 1)
        said = [f"{n}: {reason}" for reason, n in some[:_REASONS]]
        message = "; ".join([*said, *(["..."] if len(some) > _REASONS else [])])
        tag = "failure" if owed else "skipped"
        xml.SubElement(case, tag, message=clean(message), type=outcome)
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
    elif result.bad and not result.fatal and (not strict or result.basis == "tentative"):
        beyond = result.broken or "extension"
        message = clean(f"not required ({beyond}): {problem}")
        xml.SubElement(case, "skipped", message=message, type=beyond).text = _details(result)
    elif result.outcome == "failed":
        xml.SubElement(case, "failure", message=problem, type="failed").text = _details(result)
    elif result.bad:
        xml.SubElement(case, "error", message=problem, type=result.outcome).text = _details(result)
    else:
        xml.SubElement(case, "system-out").text = "unexpected pass: listed as a known deviation"


def _details(result: Result) -> str:
    lines = [problem_of(result) or result.outcome]
    if result.because:
        lines.append(f"required by {result.because}")
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
