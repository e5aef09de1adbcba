"""The monitor checks the ledger: a gauge once it was checked, and an event when an invariant breaks."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from fakes.clock import FakeClock
from fakes.evaluations import make_trace, plan_free
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.monitor.ledger_jobs import LedgerChores
from ragsonde_schemas.ledger import Invariant
from services.stores import PostgresStores

pytestmark = pytest.mark.integration


def read_gauges(series):
    lines = series.render().body.decode().splitlines()
    return {
        line.split('"')[1]: float(line.split()[-1]) for line in lines if line.startswith("ragsonde_ledger_v")
    }


def test_the_gauge_comes_with_the_first_check_and_the_log_tells_once_what_breaks_and_holds_again(
    engine, caplog
):
    caplog.set_level(logging.INFO)
    stores = PostgresStores(FakeClock(datetime.now(UTC)), engine)
    series = Series(MONITOR_SERIES)
    assert read_gauges(series) == {}
    chores = LedgerChores(engine=engine, series=series, clock=stores.clock, kept_days=90)
    stores.traces.admit(make_trace(occurred_at=stores.clock.now()), (plan_free(),))
    (job,) = chores.build_jobs()
    job.run()
    assert read_gauges(series) == dict.fromkeys(Invariant, 0.0)

    with engine.begin() as connection:
        connection.execute(text("DELETE FROM score"))
        connection.execute(text("UPDATE evaluation SET scores_born = 0"))  # so that it breaks one alone
    job.run()
    job.run()
    assert read_gauges(series)[Invariant.SCORED_HAS_SCORE] == 1
    (told,) = [one for one in caplog.records if one.msg == "ledger_broken"]
    assert (told.invariant, told.violations, told.trace_ids) == ("scored_has_score", 1, ["t-1"])

    with engine.begin() as connection:
        connection.execute(text("UPDATE evaluation SET state = 'filtered'"))
    job.run()
    assert set(read_gauges(series).values()) == {0.0}

    with engine.begin() as connection:
        connection.execute(text("UPDATE evaluation SET state = 'scored'"))
    job.run()
    assert read_gauges(series)[Invariant.SCORED_HAS_SCORE] == 1
    assert [one.msg for one in caplog.records].count("ledger_holds_again") == 1
