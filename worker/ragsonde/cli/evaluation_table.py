"""An evaluation for people: each scorer's mean, and what was demanded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.api.student import METHOD
from ragsonde.cli.terminal import make_console, make_table, show
from ragsonde.scoring.bands import find_band

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
        judge = f"judge {report.judge} ({report.fingerprint[:6]})"
        console.print(show(f"{len(report.items)} traces, {judge}{left_out}\n", "bold"))
        console.print(self._make_table(report))
        console.print(show(f"\n{METHOD}. What the words mean, and what to try:", "dim"))
        console.print(show("ragsonde list-scorers --explain", "dim"))
        failed = [item for item in report.items if item.error is not None]
        for item in failed[:_SHOWN_ERRORS]:
            console.print(show(f"target failed at {item.place} ({item.trace.trace_id}): {item.error}", "red"))
        if len(failed) > _SHOWN_ERRORS:
            console.print(show(f"and {len(failed) - _SHOWN_ERRORS} more targets failed", "red"))
        for check in checks:
            word, style = ("met", "green") if check.is_met else ("NOT MET", "bold red")
            console.print(show(f"{word}: {check.demand}; found {check.found}", style))

    def _make_table(self, report: Report) -> Table:
        has_threshold = any(summary.threshold is not None for summary in report.scores.values())
        wrapped = ("not scored", "reads as")
        headings = ["scorer", "mean", "95 %", "n", "not scored", "reads as"]
        table = make_table(
            *headings, *(["passed"] if has_threshold else []), right=("mean", "n"), wrapped=wrapped
        )
        for name, summary in report.scores.items():
            words = "" if summary.mean is None else _name_band(self._scorers[name], raw=summary.mean)
            cells = [name, _show_mean(summary), _show_interval(summary), str(summary.n)]
            cells += [_show_unscored(summary), words]
            if has_threshold:
                cells.append(_show_passed(summary))
            table.add_row(*(show(cell) for cell in cells))
        return table


def _name_band(scorer: Scorer, *, raw: float) -> str:
    """The band in a word or two; the rest of its words is for `list-scorers --explain`."""
    return find_band(scorer.formula.bands, raw=raw).words.partition(":")[0]


def _show_mean(summary: ScoreSummary) -> str:
    return "-" if summary.mean is None else f"{summary.mean:.3f}"


def _show_interval(summary: ScoreSummary) -> str:
    return f"{summary.interval.lower:.3f} to {summary.interval.upper:.3f}" if summary.interval else "-"


def _show_unscored(summary: ScoreSummary) -> str:
    return "\n".join(f"{count} {cause}" for cause, count in summary.unscored.items())


def _show_passed(summary: ScoreSummary) -> str:
    return "" if summary.threshold is None else f"{summary.passed} of {summary.n} >= {summary.threshold:g}"
