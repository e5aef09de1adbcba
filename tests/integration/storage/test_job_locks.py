from __future__ import annotations

import pytest
from sqlalchemy import text

from ragsonde.storage.locks import hash_job, try_job_lock
from ragsonde_schemas.errors import DatabaseLostError

pytestmark = pytest.mark.integration


def test_a_job_is_had_by_one_at_a_time(engine):
    with try_job_lock(engine, "sweeper") as first, try_job_lock(engine, "sweeper") as second:
        assert (first, second) == (True, False)
    with try_job_lock(engine, "sweeper") as again:
        assert again is True


def test_other_jobs_are_not_concerned(engine):
    with try_job_lock(engine, "sweeper") as first, try_job_lock(engine, "retention") as second:
        assert first is second is True


def test_the_lock_is_let_go_after_an_error(engine):
    with pytest.raises(ZeroDivisionError), try_job_lock(engine, "sweeper"):
        raise ZeroDivisionError
    with try_job_lock(engine, "sweeper") as again:
        assert again is True


def test_holding_it_holds_back_no_vacuum(engine):
    query = text(
        "SELECT backend_xmin, state FROM pg_stat_activity"
        " WHERE pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = :job)"
    )
    with try_job_lock(engine, "sweeper"), engine.connect() as connection:
        row = connection.execute(query, {"job": hash_job("sweeper") % 2**32}).one()
    assert tuple(row) == (None, "idle in transaction")


def test_a_lock_that_was_lost_with_its_connection_is_told(engine):
    kill = text("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = :job")
    with pytest.raises(DatabaseLostError), try_job_lock(engine, "sweeper"), engine.connect() as connection:
        connection.execute(kill, {"job": hash_job("sweeper") % 2**32})
    with try_job_lock(engine, "sweeper") as again:
        assert again is True
