"""The scores of the last day as a table that renews itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.table import Table

from ragsonde.cli.terminal import make_table, show
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.recent_scores import summarise_scores
from ragsonde_schemas.errors import DatabaseLostError

if TYPE_CHECKING:
    import threading

    from rich.console import Console, RenderableType
    from sqlalchemy import Engine

    from ragsonde.storage.recent_scores import ScoreSummary

SHOWN_PERIOD = timedelta(hours=24)
_RENEWED_SECONDS = 1.0
_PRINTED_SECONDS = 5.0
_BAR_CELLS = 20


def show_live(engine: Engine, console: Console, *, stopping: threading.Event) -> None:
    """Shows the table until `stopping` is set: renewed in place on a terminal, else printed when changed."""
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=False) as live:
            while not stopping.wait(_RENEWED_SECONDS):
                live.update(render_scores(engine), refresh=True)
        return
    printed = None
    while not stopping.wait(_PRINTED_SECONDS):
        with console.capture() as capture:
            console.print(render_scores(engine))
        if capture.get() != printed:
            printed = capture.get()
            console.print(printed, markup=False)


def render_scores(engine: Engine, *, now: datetime | None = None) -> RenderableType:
    """Where every trace of the last day went, and what the scorers say of them."""
    since = (now or datetime.now(UTC)) - SHOWN_PERIOD
    try:
        revisions = count_revisions(engine, since=since)
        states = count_states(engine, since=since)
        summaries = summarise_scores(engine, since=since)
    except DatabaseLostError as error:
        return show(str(error), "red")
    lines = [show(f"{revisions} traces in the last 24 hours")]
    for judge in sorted({judge for judge, _ in states}):
        counts = ", ".join(
            f"{n} {state.value.replace('_', ' ')}" for (name, state), n in states.items() if name == judge
        )
        lines.append(show(f"  judge {judge}: {counts}"))
    return Group(*lines, build_table(summaries))


def build_table(summaries: tuple[ScoreSummary, ...]) -> Table:
    """One row an app, judge and scorer."""
    table = make_table("app", "judge", "scorer", "mean", "", "scored", "not scored", right=("mean", "scored"))
    for summary in summaries:
        mean = summary.mean_raw
        table.add_row(
            show(summary.app or "default"),
            show(summary.judge),
            show(summary.scorer),
            "-" if mean is None else f"{mean:.2f}",
            "" if mean is None else "█" * round(mean * _BAR_CELLS),
            str(summary.n),
            ", ".join(f"{n} {cause}" for cause, n in summary.unscored.items()),
        )
    return table
