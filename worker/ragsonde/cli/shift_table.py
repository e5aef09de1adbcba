"""Means before and after, for people and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragsonde.cli.terminal import make_table, show
from ragsonde_schemas.stream_labels import judge_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from ragsonde.api.moments import Shift, Summary
    from ragsonde_schemas.assessment import Assessment

INTERVAL_NOTE = (
    "+- is half the 95 % interval by Student's t, evaluations taken as independent; change: of all with both"
)


def name_stream(judge: str, fingerprint: str, assessment: Assessment | None) -> str:
    """The label of the stream that verdicts belong to: who answered, a fallback under its own fingerprint.

    Args:
        judge: its name.
        fingerprint: the judge's own.
        assessment: None where it gave no verdicts.
    """
    if assessment is None:
        return judge_label(judge, fingerprint)
    return judge_label(judge, assessment.answered_fingerprint or fingerprint, assessment.judge_epoch)


def count_evaluations(count: int) -> str:
    """`1 evaluation`, `2 evaluations`: of one trace there is one for each judge and record."""
    return f"{count} evaluation{'' if count == 1 else 's'}"


def print_shifts(shifts: Mapping[str, Shift], *, console: Console) -> None:
    """Prints a line a scorer: mean raw score before and after with intervals, and the paired change."""
    headings = ("scorer", "n", "before", "n after", "after", "change")
    table = make_table(*headings, right=("n", "n after"))
    for scorer, shift in shifts.items():
        before, after, change = (part.summarise() for part in (shift.before, shift.after, shift.change))
        table.add_row(
            *(
                show(cell)
                for cell in (
                    scorer,
                    str(before.n),
                    _show(before),
                    str(after.n),
                    _show(after),
                    _show(change, sign="+"),
                )
            )
        )
    console.print(table)
    console.print(show(INTERVAL_NOTE, "dim"))


def describe_shifts(shifts: Mapping[str, Shift]) -> dict[str, Any]:
    """`{scorer: {before, after, change}}`, each `{n, mean, reach}`; `reach` is half the 95 % interval."""
    return {
        scorer: {name: getattr(shift, name).summarise()._asdict() for name in ("before", "after", "change")}
        for scorer, shift in shifts.items()
    }


def _show(summary: Summary, *, sign: str = "") -> str:
    if summary.mean is None:
        return "-"
    reach = "" if summary.reach is None else f" +- {summary.reach:.3f}"
    return f"{summary.mean:{sign}.3f}{reach}"
