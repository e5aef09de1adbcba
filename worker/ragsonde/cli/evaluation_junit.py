"""An evaluation as JUnit XML: one test case for each trace and scorer, and one for each demand."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

from ragsonde.cli.evaluation_answers import (
    count_usage,
    describe_answerer,
    list_calls,
    name_answerer,
    tell_usage,
)
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ragsonde.api.report import ItemResult, Report
    from ragsonde.cli.checks import Check
    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.score import Outcome

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JunitPrinter:
    """Writes the XML at the end.

    A score below its threshold is a failure, skipped is skipped, an error of judge or target an error.
    """

    def __init__(self, *, scorers: Sequence[Scorer], judge: Judge) -> None:
        self._suite = ET.Element("testsuite", name=f"ragsonde {judge.name}")
        self._fingerprint = judge.fingerprint
        self._scorers = [scorer.instance for scorer in scorers]

    def add(self, result: ItemResult) -> None:
        """Adds the test cases of a trace."""
        trace_id = result.trace.trace_id
        answerer = describe_answerer(result, fingerprint=self._fingerprint)
        for outcome in result.outcomes:
            case = self._add_case(outcome.scorer, name=trace_id)
            if result.answered_model is not None:
                case.append(_make_properties(answerer.items()))
            self._add_outcome(outcome, case=case)
        if result.error is not None:
            for scorer in self._scorers:
                _blame(self._add_case(scorer, name=trace_id), "error", message=f"target: {result.error}")

    def end(self, report: Report, *, checks: Sequence[Check], bad_count: int) -> None:  # noqa: ARG002 - the printers' signature
        """Adds the demands and writes the document."""
        for check in checks:
            case = self._add_case("demands", name=check.demand)
            if not check.is_met:
                _blame(case, "failure", message=f"found {check.found}")
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            self._suite.set(attribute, str(len(self._suite.findall(f"testcase/{tag}"))))
        self._suite.set("tests", str(len(self._suite.findall("testcase"))))
        self._suite.insert(0, _make_properties(_tell_run(report)))
        root = ET.Element("testsuites")
        root.append(self._suite)
        ET.indent(root)
        sys.stdout.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
        )

    def _add_case(self, classname: str, *, name: str) -> ET.Element:
        return ET.SubElement(
            self._suite, "testcase", classname=_clean(classname), name=_clean(name), time="0"
        )

    def _add_outcome(self, outcome: Outcome, *, case: ET.Element) -> None:
        if isinstance(outcome, Score):
            if outcome.passed is False:
                _blame(case, "failure", message=f"{outcome.raw:.4f} is below the threshold: {outcome.reason}")
            return
        tag = "skipped" if outcome.status == "skipped" else "error"
        _blame(case, tag, message=f"{outcome.cause.value}: {outcome.reason}")


def _tell_run(report: Report) -> list[tuple[str, str]]:
    """The judge, who answered, and what was asked of providers where anything was."""
    told = [("judge", report.judge), ("fingerprint", report.fingerprint)]
    told += [("answered", f"{one.n} by {name_answerer(one)}") for one in report.answers if one.model]
    usage = count_usage(list_calls(report))
    return [*told, ("usage", tell_usage(usage))] if usage.calls else told


def _make_properties(pairs: Iterable[tuple[str, str]]) -> ET.Element:
    properties = ET.Element("properties")
    for name, value in pairs:
        ET.SubElement(properties, "property", name=name, value=_clean(value))
    return properties


def _blame(case: ET.Element, tag: str, *, message: str) -> None:
    ET.SubElement(case, tag, message=_clean(message))


def _clean(text: str) -> str:
    """Without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
