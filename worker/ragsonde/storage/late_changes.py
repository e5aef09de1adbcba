"""What late spans do to stored records beside adding revisions: they warn on the last one, or withdraw it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragsonde.storage.dirty_marks import mark_records
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.jsonb import clean_text
from ragsonde.storage.record_lock import hash_record
from ragsonde.storage.superseding import supersede_revisions
from ragsonde.storage.text_keeping import ALL_TEXTS, drop_own_texts
from ragsonde.storage.trace_rows import list_key_columns

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import Engine

    from ragsonde.storage.text_keeping import TextRule
    from ragsonde_schemas.trace import TraceKey

_AFTER_ALL = 32767
"""The greatest smallint: no revision has that number."""

_LOCK = "SELECT pg_advisory_xact_lock(%(lock)s)"

_WARN = """
UPDATE trace
SET extraction = jsonb_set(extraction, '{warnings}', (
    SELECT coalesce(jsonb_agg(warning ORDER BY place), '[]')
    FROM jsonb_array_elements_text(coalesce(extraction -> 'warnings', '[]'))
        WITH ORDINALITY AS old(warning, place)
    WHERE NOT starts_with(warning, %(beginning)s)) || to_jsonb(%(warning)s::text))
WHERE trace_id = %(trace_id)s AND app = %(app)s AND record_key = %(record_key)s AND day = %(day)s
  AND revision = %(revision)s
"""


def write_warning(engine: Engine, key: TraceKey, *, revision: int, subject: str, text: str) -> None:
    """Adds a warning to a stored revision, in place of an earlier one of the same subject.

    Raises:
        DatabaseLostError: it may be written or not; call again.
    """
    beginning = f"{subject}: "
    columns = {
        **list_key_columns(key, revision=revision),
        "beginning": beginning,
        "warning": clean_text(beginning + text),
    }
    with pipelined_transaction(engine) as connection:
        connection.execute(_WARN, columns)


def withdraw_record(
    engine: Engine, key: TraceKey, *, now: datetime, texts: TextRule = ALL_TEXTS
) -> int | None:
    """How many score rows a record had that count no more; None where nothing of it counted.

    All its evaluations become superseded, as by a newer revision.

    Raises:
        DatabaseLostError: it may be withdrawn or not; call again.
    """
    columns = {**list_key_columns(key, revision=_AFTER_ALL), "now": now}
    with pipelined_transaction(engine) as connection:
        connection.execute(_LOCK, {"lock": hash_record(key)})
        superseded = supersede_revisions(connection, columns)
        if superseded is not None:
            mark_records(connection, [key])
        drop_own_texts(connection, columns, texts)
    return superseded
