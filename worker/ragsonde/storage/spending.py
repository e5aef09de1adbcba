"""What judges with a budget have spent, read for people, series and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.reservations import begin_period
from ragsonde.storage.tables import JudgeSpendRow, JudgeStateRow
from ragsonde_schemas.spending import Period, Spent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Engine


def read_spent(engine: Engine, judge: str, *, period: Period, now: datetime) -> Spent:
    """What a judge has spent in the present period; all 0 before it has spent anything.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    row = JudgeSpendRow
    query = select(
        row.runs,
        row.spent_calls.label("calls"),
        row.spent_tokens.label("tokens"),
        row.spent_usd.label("usd"),
        row.reserved_calls,
        row.reserved_tokens,
        row.reserved_usd,
    ).where(row.judge == judge, row.period == period.value, row.starts_at == begin_period(period, now=now))
    with translating_losses(), engine.connect() as connection:
        found = connection.execute(query).mappings().one_or_none()
    return Spent() if found is None else Spent(**found)


def write_profile(engine: Engine, judge: str, fingerprint: str, *, shares: Sequence[float]) -> None:
    """Stores which share of a day comes in each hour, by which a day's budget is spread.

    Raises:
        DatabaseLostError: Postgres is away.
    """
    values = {"judge": judge, "fingerprint": fingerprint, "hour_shares": list(shares)}
    statement = insert(JudgeStateRow).values(**values)
    with translating_losses(), engine.begin() as connection:
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=["judge", "fingerprint"], set_={"hour_shares": statement.excluded.hour_shares}
            )
        )
