"""All that a request reads ends within one time, and says truly why it did not come."""

from __future__ import annotations

import time

import pytest
from sqlalchemy import text

from ragsonde.storage.engine import translating_losses
from ragsonde.storage.reading_time import bound_reads, reading_within
from ragsonde_schemas.errors import GivenUpError, LockedOutError

pytestmark = pytest.mark.integration


@pytest.fixture
def reads(engine):
    return bound_reads(engine)


def run(engine, statement: str):
    with translating_losses(), engine.connect() as connection:
        return connection.execute(text(statement)).scalar_one()


def test_a_statement_that_takes_too_long_is_given_up(reads):
    begun = time.monotonic()
    with reading_within(0.3), pytest.raises(GivenUpError):
        run(reads, "SELECT 1 FROM pg_sleep(8)")
    assert time.monotonic() - begun < 8


def test_what_somebody_keeps_locked_is_told_from_that(engine, reads):
    with engine.connect() as other:
        other.execute(text("LOCK TABLE suspect IN ACCESS EXCLUSIVE MODE"))
        with reading_within(0.5), pytest.raises(LockedOutError):
            run(reads, "SELECT count(*) FROM suspect")


def test_all_statements_together_have_the_time_and_after_it_none_is_begun(reads):
    with reading_within(0.6):
        run(reads, "SELECT 1 FROM pg_sleep(0.4)")
        with pytest.raises(GivenUpError, match="Postgres gave up"):
            run(reads, "SELECT 1 FROM pg_sleep(8)")
        with pytest.raises(GivenUpError, match="the time to read in is over"):
            run(reads, "SELECT 1")


def test_who_reads_in_no_time_and_other_readers_of_the_connections_are_not_bounded(engine, reads):
    with reading_within(0.5):
        assert run(reads, "SHOW statement_timeout").endswith("ms")
        assert run(engine, "SHOW statement_timeout") == "30s"
    assert run(reads, "SHOW statement_timeout") == "30s"
