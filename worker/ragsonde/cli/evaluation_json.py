"""An evaluation as JSON lines: one object a trace, then the summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.cli.evaluation_answers import count_usage, describe_answerer, describe_answers, list_calls
from ragsonde.cli.terminal import write_json
from ragsonde.scoring.student import METHOD
from ragsonde_schemas.score import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragsonde.api.report import ItemResult, Report, ScoreSummary
    from ragsonde.cli.checks import Check
    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer
    from ragsonde_schemas.score import Outcome


class JsonPrinter:
    """Writes each trace as soon as it is done."""

    def __init__(self, *, scorers: Sequence[Scorer], judge: Judge) -> None:  # noqa: ARG002 - the printers' signature
        self._judge = judge

    def add(self, result: ItemResult) -> None:
        """Writes `{trace_id, judge, answered_model, answered_fingerprint, scores}`; `error` of the target."""
        line: dict[str, Any] = {
            "trace_id": result.trace.trace_id,
            "judge": self._judge.name,
            **describe_answerer(result, fingerprint=self._judge.fingerprint),
            "scores": [describe_outcome(outcome) for outcome in result.outcomes],
        }
        if result.error is not None:
            line["error"] = result.error
        write_json(line)

    def end(self, report: Report, *, checks: Sequence[Check], bad_count: int) -> None:
        """Writes `{"summary": ...}`."""
        write_json({"summary": describe_report(report, checks=checks, bad_count=bad_count)})


def describe_outcome(outcome: Outcome) -> dict[str, Any]:
    """A score or unscored with every key; those that it does not have are null."""
    return {
        "scorer": outcome.scorer,
        "version": outcome.version,
        "status": outcome.status,
        "cause": None if isinstance(outcome, Score) else outcome.cause.value,
        "raw": outcome.raw if isinstance(outcome, Score) else None,
        "value": outcome.value if isinstance(outcome, Score) else None,
        "band": outcome.band if isinstance(outcome, Score) else None,
        "passed": outcome.passed if isinstance(outcome, Score) else None,
        "reason": outcome.reason,
        "details": outcome.details,
    }


def describe_report(report: Report, *, checks: Sequence[Check], bad_count: int) -> dict[str, Any]:
    """The whole run as one JSON value."""
    return {
        "judge": report.judge,
        "fingerprint": report.fingerprint,
        "answered": describe_answers(report),
        "usage": count_usage(list_calls(report))._asdict(),
        "traces": len(report.items),
        "bad_messages": bad_count,
        "target_failed": sum(item.error is not None for item in report.items),
        "scores": {name: _describe_summary(summary) for name, summary in report.scores.items()},
        "interval_method": METHOD,
        "checks": [{"demand": check.demand, "found": check.found, "met": check.is_met} for check in checks],
    }


def _describe_summary(summary: ScoreSummary) -> dict[str, Any]:
    return {
        "mean": summary.mean,
        "interval": list(summary.interval) if summary.interval else None,
        "n": summary.n,
        "unscored": summary.unscored,
        "threshold": summary.threshold,
        "passed": summary.passed,
    }
