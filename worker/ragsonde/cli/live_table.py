"""The scores of the last day as a table that renews itself."""

from __future__ import annotations

import shlex
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.table import Table

from ragsonde.cli.program import name_command
from ragsonde.cli.scorer_cards import name_band
from ragsonde.cli.terminal import count_traces, is_narrow, list_causes, make_table, show
from ragsonde.scoring.table import FORMULAS
from ragsonde.storage.history import find_similar_ids
from ragsonde.storage.ledger import count_revisions, count_states
from ragsonde.storage.recent_scores import summarise_scores
from ragsonde_schemas.app_name import show_app
from ragsonde_schemas.errors import DatabaseLostError
from ragsonde_schemas.stream_labels import scorer_label

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Mapping

    from rich.console import Console, RenderableType
    from rich.text import Text
    from sqlalchemy import Engine

    from ragsonde.scoring.formula import Formula
    from ragsonde.storage.recent_scores import ScoreSummary
    from ragsonde_schemas.evaluation import EvaluationState

SHOWN_PERIOD = timedelta(hours=24)
_RENEWED_SECONDS = 1.0
_PRINTED_SECONDS = 5.0
_LEAST_PAUSE_RATIO = 10
"""The pause after a look, in durations of that look: a large day must not keep Postgres busy."""
_LONGEST_PAUSE_SECONDS = 30.0
"""A look that stood still with Postgres says nothing of the next one."""

WIDE = 160
_WITH_BAR = 120
_BAR_CELLS = 20
_HEADINGS = ("app", "judge", "scorer", "mean", "", "scored", "not scored", "reads as")
_WRAPPED = ("app", "judge", "not scored", "reads as")


def show_live(
    engine: Engine,
    console: Console,
    *,
    stopping: threading.Event,
    monotonic: Callable[[], float] = time.monotonic,
    tell_time: Callable[[], datetime] = lambda: datetime.now(UTC),
    formulas: Mapping[str, Formula] | None = None,
) -> None:
    """Shows the table until `stopping` is set: renewed in place on a terminal, else printed when changed.

    The next look is 1 s later (5 s where it is printed), or ten times as long as the last one took, 30 s at
    the most. Each says when it was taken: one that stands still is seen to be old.
    """
    looks = _look_again(
        # the width anew at each look: a window may be resized
        lambda: render_scores(engine, columns=console.width, formulas=formulas),
        stopping=stopping,
        monotonic=monotonic,
        tell_time=tell_time,
        is_terminal=console.is_terminal,
    )
    if console.is_terminal:
        with Live(console=console, auto_refresh=False, transient=False) as live:
            for taken_at, look in looks:
                live.update(Group(_say_when(taken_at), look), refresh=True)
        return
    printed = None
    for taken_at, look in looks:
        with console.capture() as capture:
            console.print(look)
        if capture.get() != printed:
            printed = capture.get()
            console.print(_say_when(taken_at))
            console.print(printed, markup=False)


def _look_again(
    render: Callable[[], RenderableType],
    *,
    stopping: threading.Event,
    monotonic: Callable[[], float],
    tell_time: Callable[[], datetime],
    is_terminal: bool,
) -> Iterator[tuple[datetime, RenderableType]]:
    shortest = _RENEWED_SECONDS if is_terminal else _PRINTED_SECONDS
    pause_seconds = shortest
    while not stopping.wait(pause_seconds):
        begun, taken_at = monotonic(), tell_time()
        look = render()
        took_seconds = monotonic() - begun
        pause_seconds = min(max(shortest, _LEAST_PAUSE_RATIO * took_seconds), _LONGEST_PAUSE_SECONDS)
        yield taken_at, look


def _say_when(taken_at: datetime) -> Text:
    return show(f"as of {taken_at:%H:%M:%S} UTC", "dim")


def render_scores(
    engine: Engine,
    *,
    now: datetime | None = None,
    columns: int = WIDE,
    formulas: Mapping[str, Formula] | None = None,
) -> RenderableType:
    """Where every trace of the last day went, and what the scorers say of them.

    Args:
        engine: of this process.
        now: the end of the day that is shown.
        columns: of the terminal.
        formulas: by scorer instance; None for instances named like their formulas.
    """
    since = (now or datetime.now(UTC)) - SHOWN_PERIOD
    try:
        revisions = count_revisions(engine, since=since)
        states = count_states(engine, since=since)
        summaries = summarise_scores(engine, since=since)
        newest_ids = find_similar_ids(engine, "", since=since.date(), limit=1)
    except DatabaseLostError as error:
        return show(str(error), "red")
    parts: list[RenderableType] = [show(f"{count_traces(revisions)} in the last 24 hours")]
    judges = sorted({judge for judge, _ in states} | {summary.judge for summary in summaries})
    for judge in judges:
        parts.append(show(f"  judge {judge}: {_count(states, judge=judge)}"))
        if is_narrow(columns):
            own = tuple(summary for summary in summaries if summary.judge == judge)
            parts.append(build_table(own, columns=columns, formulas=formulas))
    if not is_narrow(columns):
        parts.append(build_table(summaries, columns=columns, formulas=formulas))
    if newest_ids:
        parts.append(show(_say_where_to_read(newest_ids[0]), "dim"))
    return Group(*parts)


def build_table(
    summaries: tuple[ScoreSummary, ...],
    *,
    columns: int = WIDE,
    formulas: Mapping[str, Formula] | None = None,
) -> Table:
    """One row a place, judge and scorer by its basis; where it is narrow without the judge, told above.

    What the page tells apart is not averaged here either: environments, and precision by answer or by query.
    """
    known = {formula.id: formula for formula in FORMULAS} if formulas is None else formulas
    cells = [_describe(summary, known=known, columns=columns) for summary in summaries]
    hidden = set[str]()
    if is_narrow(columns):
        hidden |= {"judge", ""}
    elif columns < _WITH_BAR:
        hidden |= {""}
    headings = [heading for heading in _HEADINGS if heading not in hidden]
    table = make_table(
        *headings, right=("mean", "scored"), wrapped=_WRAPPED, gap=2 if is_narrow(columns) else 3
    )
    for row in cells:
        table.add_row(*(show(row[heading]) for heading in headings))
    return table


def _describe(summary: ScoreSummary, *, known: Mapping[str, Formula], columns: int) -> dict[str, str]:
    """A row's cells by heading."""
    mean, formula = summary.mean_raw, known.get(summary.scorer)
    return {
        "app": ", ".join(name for name in (show_app(summary.app), summary.environment) if name),
        "judge": summary.judge,
        "scorer": scorer_label(summary.scorer, summary.version),
        "mean": "-" if mean is None else f"{mean:.2f}",
        "": "" if mean is None else "█" * round(mean * _BAR_CELLS),
        "scored": str(summary.n),
        "not scored": list_causes(summary.unscored, columns=columns),
        "reads as": "" if mean is None or formula is None else name_band(formula, raw=mean),
    }


def _say_where_to_read(trace_id: str) -> str:
    explaining, telling = name_command("list-scorers --explain"), name_command(f"why {shlex.quote(trace_id)}")
    return f"what the words mean and what to try: {explaining}; one trace: {telling}"


def _count(states: Mapping[tuple[str, EvaluationState], int], *, judge: str) -> str:
    counts = [f"{n} {state.value.replace('_', ' ')}" for (name, state), n in states.items() if name == judge]
    # scores of backfills and of judges that are not configured any more have no new evaluation beside them
    return ", ".join(counts) or "scores of earlier evaluations alone"
