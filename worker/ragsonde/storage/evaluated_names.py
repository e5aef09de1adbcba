"""The names that stored evaluations hold: to tell a wrong name from an empty selection."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragsonde.storage.day_samples import SAMPLED, plan_samples
from ragsonde.storage.engine import pipelined_transaction, translating_losses
from ragsonde.storage.partitions import list_partitions

if TYPE_CHECKING:
    from sqlalchemy import Engine

MOST_DAYS = 30
MOST_BLOCKS = 256
"""Of each day: enough for every name that is not rare."""

_TABLE = "evaluation"
_READ = f"""
SELECT DISTINCT app, judge FROM evaluation {SAMPLED} WHERE day = %(day)s
"""  # noqa: S608  # constants


class Names(NamedTuple):
    """Apps (`` is the unknown one) and judges of which there are evaluations."""

    apps: frozenset[str]
    judges: frozenset[str]


def read_names(engine: Engine) -> Names:
    """Those of the newest days; of days with many evaluations, from a part of them.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    with translating_losses(), engine.connect() as connection:
        days = [one.day for one in list_partitions(connection) if one.table == _TABLE and one.is_attached]
    newest = sorted(days)[-MOST_DAYS:]
    pairs: set[tuple[str, str]] = set()
    with pipelined_transaction(engine) as connection:
        for sample in plan_samples(connection, _TABLE, newest, most_blocks=MOST_BLOCKS):
            if sample.blocks:
                columns = {"day": sample.day, "percent": sample.percent}
                pairs.update(connection.execute(_READ, columns).fetchall())
    return Names(frozenset(app for app, _ in pairs), frozenset(judge for _, judge in pairs))
