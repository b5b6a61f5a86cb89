"""JUnit's XML, as pytest and Jenkins write and read it: a suite a component, a case a criterion.

Points are properties of the suites: cases have none in that schema. Of several submissions, suites
and cases are named by the submission, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from autograder.reports.exports.format import Context, Format, lines_of, points
from autograder.reports.shown import Shown, ShownComponent
from autograder.results import SubmissionResult
from autograder.text import clean

_NAME = 100


def _write(results: Sequence[SubmissionResult], context: Context) -> str:
    root = Xml.Element("testsuites", name=context.assignment)
    for result in results:
        seen = context.shown(result)
        whose = f"{clean(seen.submission, _NAME)}." if len(results) > 1 else ""
        for name, component in seen.components.items():
            _suite(root, seen, whose, name, component)
        if not seen.components:
            _reason(root, seen, whose)
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{_inert(text)}\n'


def _suite(
    root: Xml.Element, seen: Shown, whose: str, name: str, component: ShownComponent
) -> None:
    lost = sum(not criterion.passed for criterion in component.criteria)
    suite = _empty_suite(root, f"{whose}{name}", len(component.criteria), lost, 0)
    about = {"score": points(component.score), "max_score": points(component.max_score)}
    about["status"] = component.status
    for number, criterion in enumerate(component.criteria, 1):
        about[f"case.{number}.score"] = points(criterion.score)
        about[f"case.{number}.max_score"] = points(criterion.max_score)
    if seen.withheld:
        about["withheld"] = seen.withheld
    _properties(suite, about)
    for criterion in component.criteria:
        place = f"{seen.assignment}.{whose}{name}"
        case = Xml.SubElement(suite, "testcase", name=criterion.title, classname=place)
        if not criterion.passed:
            said = lines_of(criterion)
            kind = criterion.outcome or "failed"
            first = said[0] if said else kind.replace("_", " ")
            Xml.SubElement(case, "failure", type=kind, message=first).text = "\n".join(said)


def _reason(root: Xml.Element, seen: Shown, whose: str) -> None:
    """Write the one case of a submission that has no components."""
    kind = "failure" if seen.score is not None else "error"
    name = f"{seen.assignment}.{whose}".rstrip(".")
    suite = _empty_suite(root, name, 1, kind == "failure", kind == "error")
    if seen.score is not None:
        about = {"score": points(seen.score), "max_score": points(seen.max_score)}
        _properties(suite, {**about, "status": seen.status})
    case = Xml.SubElement(suite, "testcase", name="submission", classname=name)
    Xml.SubElement(case, kind, type=seen.status, message=seen.message).text = seen.message


def _empty_suite(root: Xml.Element, name: str, tests: int, lost: int, errors: int) -> Xml.Element:
    counts = {"tests": tests, "failures": int(lost), "errors": int(errors), "skipped": 0}
    about = {"name": name, **{key: str(count) for key, count in counts.items()}}
    return Xml.SubElement(root, "testsuite", about)


def _properties(suite: Xml.Element, about: dict[str, str]) -> None:
    properties = Xml.SubElement(suite, "properties")
    for name, value in about.items():
        Xml.SubElement(properties, "property", name=name, value=value)


def _inert(text: str) -> str:
    """Write what GitHub would run, were this printed in a log, as references to characters."""
    text = text.replace("##[", "&#35;#[")
    return re.sub(r"(?m)^(\s*)::|(?<=>)::", lambda found: f"{found[1] or ''}&#58;:", text)


FORMAT = Format("junit", "JUnit's XML, for CI", "either", _write, needs_mark=False)
