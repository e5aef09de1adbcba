"""An evaluation for people: each scorer's mean, and what was demanded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.cli.evaluation_answers import count_usage, list_calls, tell_fallbacks, tell_usage
from ragsonde.cli.evaluation_ending import list_failures
from ragsonde.cli.program import name_command
from ragsonde.cli.scorer_cards import name_band
from ragsonde.cli.terminal import count_traces, is_narrow, list_causes, make_console, make_table, show
from ragsonde.scoring.student import METHOD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from ragsonde.api.report import ItemResult, Report, ScoreSummary
    from ragsonde.cli.checks import Check
    from ragsonde.ports import Judge
    from ragsonde.scoring.scorer import Scorer

_SHOWN_ERRORS = 3


class TablePrinter:
    """Prints one table at the end."""

    def __init__(self, *, scorers: Sequence[Scorer], judge: Judge) -> None:
        self._scorers = {scorer.instance: scorer for scorer in scorers}
        self._judge = judge

    def add(self, result: ItemResult) -> None:
        """Nothing: people read the whole."""

    def end(self, report: Report, *, checks: Sequence[Check], bad_count: int) -> None:
        """Prints the table, failed targets and the demands."""
        console = make_console()
        left_out = f", {bad_count} left out as no traces" if bad_count else ""
        judge = f"judge {report.judge} ({report.fingerprint[:6]}){tell_fallbacks(report)}"
        console.print(show(f"{count_traces(len(report.items))}, {judge}{left_out}", "bold"))
        usage = count_usage(list_calls(report))
        console.print(show(f"{tell_usage(usage)}\n" if usage.calls else ""))
        console.print(self._make_table(report, columns=console.width))
        console.print(show(f"\n{METHOD}. What the words mean, and what to try:", "dim"))
        console.print(show(name_command("list-scorers --explain"), "dim"))
        failed = [item for item in report.items if item.error is not None]
        for item in failed[:_SHOWN_ERRORS]:
            console.print(show(f"target failed at {item.place} ({item.trace.trace_id}): {item.error}", "red"))
        if len(failed) > _SHOWN_ERRORS:
            console.print(show(f"and {len(failed) - _SHOWN_ERRORS} more targets failed", "red"))
        for message in list_failures(report)[:_SHOWN_ERRORS]:
            console.print(show(message, "red"))
        for check in checks:
            console.print(show(str(check), "green" if check.is_met else "bold red"))

    def _make_table(self, report: Report, *, columns: int) -> Table:
        has_threshold = any(summary.threshold is not None for summary in report.scores.values())
        wrapped = ("not scored", "reads as")
        has_interval = not (has_threshold and is_narrow(columns))
        headings = ["scorer", "mean", *(["95 %"] if has_interval else []), "n", "not scored", "reads as"]
        table = make_table(
            *headings,
            *(["passed"] if has_threshold else []),
            right=("mean", "n"),
            wrapped=wrapped,
            gap=2 if is_narrow(columns) else 3,
        )
        for name, summary in report.scores.items():
            words = "" if summary.mean is None else name_band(self._scorers[name].formula, raw=summary.mean)
            cells = [name, _show_mean(summary), *([_show_interval(summary)] if has_interval else [])]
            cells += [str(summary.n), list_causes(summary.unscored, columns=columns), words]
            if has_threshold:
                cells.append(_show_passed(summary))
            table.add_row(*(show(cell) for cell in cells))
        return table


def _show_mean(summary: ScoreSummary) -> str:
    return "-" if summary.mean is None else f"{summary.mean:.3f}"


def _show_interval(summary: ScoreSummary) -> str:
    if summary.interval is None:
        return "too few" if summary.n else "-"
    return f"{summary.interval.lower:.3f} to {summary.interval.upper:.3f}"


def _show_passed(summary: ScoreSummary) -> str:
    return "" if summary.threshold is None else f"{summary.passed} of {summary.n} >= {summary.threshold:g}"
