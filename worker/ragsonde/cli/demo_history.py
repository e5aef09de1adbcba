"""Loads the demo's past: stored, counted and closed before a monitor looks at it, which then judges it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from datetime import time as time_of_day
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import event

from ragsonde.cli.ledger import find_kept_days
from ragsonde.cli.terminal import show_progress, write_note
from ragsonde.demo.corpus import APP, ENVIRONMENT
from ragsonde.demo.history import DAYS, SCORED_AFTER, find_fault, list_history
from ragsonde.demo.verdicts import JUDGE, find_fingerprint
from ragsonde.monitor.upkeep import build_text_rule
from ragsonde.regression.block_closing import LEAST_GRACE, find_closed_until
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.block_counting import count_block
from ragsonde.storage.changed_blocks import ChangedBlocks
from ragsonde.storage.dirty_marks import delete_marks, list_dirty, tidy_marks
from ragsonde.storage.engine import build_engine
from ragsonde.storage.past_traces import PastTrace, has_judged, store_past
from ragsonde.storage.score_blocks import close_blocks, read_progress
from ragsonde_schemas.score_stream import begin_block

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from sqlalchemy import Engine
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

    from ragsonde.settings import Settings

_BATCH = 50
_COUNTERS = 2
"""Threads: while one waits for Postgres the other prepares its block."""
_PLACE = frozenset({(APP, ENVIRONMENT)})


class _StoppedError(Exception):
    """Somebody wants no more of it."""


def load_history(
    settings: Settings,
    *,
    database_url: str,
    now: datetime,
    stopping: threading.Event,
    has_fault: bool = True,
) -> None:
    """Loads two weeks of the shop's past, unless they are there; `stopping` ends it, and nothing is loaded.

    Raises:
        DatabaseLostError: nothing is loaded, or it is not known; the next start loads it.
    """
    kept_days = _find_block_days(settings)
    if kept_days < DAYS:
        write_note(
            f"the demo's past is left out: it is {DAYS} days long, and retention_days keeps {kept_days}; "
            "without it there is no alert to look at"
        )
        return
    engine = _build_engine(database_url)
    try:
        if has_judged(engine, app=APP, judge=JUDGE, fingerprint=find_fingerprint()):
            write_note("the demo's two weeks of history are there already")
            return
        begun = time.monotonic()
        number = _load(engine, settings, now=now, stopping=stopping, has_fault=has_fault, kept_days=kept_days)
        if number is None:
            write_note("another start is loading the demo's two weeks of history")
            return
        write_note(
            f"loaded two weeks of an invented shop's history in {time.monotonic() - begun:.0f} s: "
            f"{number:,} traces{_describe_fault(now) if has_fault else ''}"
        )
    except _StoppedError:
        return
    finally:
        engine.dispose()


def _build_engine(database_url: str) -> Engine:
    """One that does not wait for the disk: what a crash takes of the load, the next start loads or counts."""
    engine = build_engine(database_url, application_name="ragsonde-demo", pool_size=_COUNTERS)

    @event.listens_for(engine, "connect")
    def hurry(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        cursor.execute("SET synchronous_commit = off")
        cursor.close()
        connection.commit()

    return engine


def _describe_fault(now: datetime) -> str:
    return (
        f"; on {find_fault(now):%d %B at %H:%M} UTC its search index lost a third of its pages, "
        "and nobody told the monitor"
    )


def _load(
    engine: Engine,
    settings: Settings,
    *,
    now: datetime,
    stopping: threading.Event,
    has_fault: bool,
    kept_days: int,
) -> int | None:
    """How many traces; None while another does it."""
    scorers = build_scorers(None)
    history = [
        PastTrace(one.trace, one.planned, one.trace.occurred_at + SCORED_AFTER, one.case)
        for one in list_history(now=now, scorers=scorers, has_fault=has_fault)
    ]
    is_new = _begin_counting(engine, now=now, kept_days=kept_days)
    with show_progress("storing the demo's history", total=len(history)) as tell:
        is_stored = store_past(
            engine,
            history,
            texts=build_text_rule(settings, scorers=scorers),
            on_stored=_stopping_at(stopping, tell),
        )
    if not is_stored:
        return None
    blocks = len({begin_block(one.trace.occurred_at) for one in history})
    with show_progress("counting its scores", total=blocks) as tell:
        _count(engine, settings, now=now, tell=_stopping_at(stopping, tell))
    closed_until = find_closed_until(now, grace=LEAST_GRACE, queue_lag=timedelta())
    if is_new and closed_until is not None:
        close_blocks(engine, closed_until=closed_until)
    return len(history)


def _stopping_at(stopping: threading.Event, tell: Callable[[int], None]) -> Callable[[int], None]:
    def told(done: int) -> None:
        if stopping.is_set():
            raise _StoppedError
        tell(done)

    return told


def _begin_counting(engine: Engine, *, now: datetime, kept_days: int) -> bool:
    """True where nothing was ever counted: the first look of all would mark every block of two weeks."""
    if read_progress(engine) is not None:
        return False
    oldest = datetime.combine(now.date() - timedelta(days=kept_days - 1), time_of_day(), tzinfo=UTC)
    ChangedBlocks(engine).look(now=now, first_day=oldest.date())
    tidy_marks(engine, oldest=oldest)
    return True


def _count(engine: Engine, settings: Settings, *, now: datetime, tell: Callable[[int], None]) -> None:
    """Counts the blocks that have ended, as the monitor would, which then need not; it counts the others."""
    done = 0
    before: datetime | None = None
    ended_by = begin_block(now - LEAST_GRACE)
    count = partial(count_block, engine, tags=settings.stratum_tags, now=now)
    with ThreadPoolExecutor(_COUNTERS) as counters:
        while dirty := list_dirty(engine, ended_by=ended_by, before=before, most=_BATCH):
            before = dirty[-1].start
            ours = [block for block in dirty if block.places == _PLACE]
            for _ in counters.map(lambda block: count(block.start, places=block.places), ours):
                done += 1
                tell(done)
            delete_marks(engine, [mark for block in ours for mark in block.marks])


def _find_block_days(settings: Settings) -> int:
    days = settings.retention_days
    return min(find_kept_days(settings), days.assessment, days.score_block)
