"""What the monitor has made of an app's scores: streams, counts, baselines, states, alerts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import text

from ragsonde.storage.block_counting import STREAMS_LOCK
from ragsonde.storage.engine import translating_losses
from ragsonde.storage.locks import give_way_to_migrations, hold_job_lock
from ragsonde.storage.regression_states import JUDGING_LOCK

if TYPE_CHECKING:
    from sqlalchemy import Engine

_OF_STREAMS = ("score_block", "block_change", "monitor_state", "baseline", "stream_arming", "alert")
_STREAMS = "SELECT id FROM score_stream WHERE app = :app"
_MARKS = text("DELETE FROM dirty_mark WHERE app = :app")
_RULES = text("DELETE FROM extraction_block WHERE app = :app")
_NOTICES = text(
    f"DELETE FROM alert_notice WHERE alert_id IN (SELECT id FROM alert WHERE stream_id IN ({_STREAMS}))"  # noqa: S608  # constants
)
_STREAM_ROWS = text("DELETE FROM score_stream WHERE app = :app")


def drop_streams(engine: Engine, *, app: str) -> Counter[str]:
    """Rows by table that were deleted; while scores of the app are stored the monitor makes them anew.

    It takes turns with the monitor's judging, and waits for the blocks that are being counted. Call it when
    the app's traces are erased: what they were counted as is not looked at any more.

    Raises:
        DatabaseLostError: nothing was deleted, or it is not known; call again.
        GivenUpError: nothing was deleted: a migration is under way, or it took too long.
    """
    columns = {"app": app}
    deleted = Counter[str]()
    with translating_losses(), engine.begin() as connection:
        give_way_to_migrations(connection)
        hold_job_lock(connection, JUDGING_LOCK)
        hold_job_lock(connection, STREAMS_LOCK)
        deleted["dirty_mark"] = connection.execute(_MARKS, columns).rowcount
        deleted["alert_notice"] = connection.execute(_NOTICES, columns).rowcount
        for table in _OF_STREAMS:
            statement = text(f"DELETE FROM {table} WHERE stream_id IN ({_STREAMS})")  # noqa: S608  # constants
            deleted[table] = connection.execute(statement, columns).rowcount
        deleted["score_stream"] = connection.execute(_STREAM_ROWS, columns).rowcount
        deleted["extraction_block"] = connection.execute(_RULES, columns).rowcount
    return deleted
