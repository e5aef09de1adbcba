"""Whoever adds a table, or a text to a table that erasing leaves alone, must say how erasing reaches it."""

from __future__ import annotations

import pytest
from sqlalchemy import Text
from sqlalchemy.dialects.postgresql import BYTEA, JSONB
from sqlalchemy.types import LargeBinary

from ragsonde.storage.erasure_map import HOLDINGS, Reach
from ragsonde.storage.table_names import TRACE_TABLES
from ragsonde.storage.tables import Tables

TABLES = Tables.metadata.tables
ABLE_TO_HOLD_A_TEXT = (Text, JSONB, LargeBinary, BYTEA)
KEPT = [name for name, holding in HOLDINGS.items() if holding.reach is Reach.KEPT]
KEYS = {
    Reach.BY_RECORD: {"trace_id", "app", "day"},
    Reach.BY_COPY: {"trace_id", "app", "trace", "chosen_at"},
    Reach.BY_CHECK: {"check_id"},
    Reach.BY_TRACE: {"trace_id"},
    Reach.BY_BODY: {"body", "published_at", "received_at"},
    Reach.BY_MESSAGE: {"message_key"},
    Reach.BY_PLACE: {"place"},
    Reach.BY_LIST: {"app", "explanation"},
}


def test_every_table_is_named_and_no_other():
    assert set(HOLDINGS) == set(TABLES)


@pytest.mark.parametrize("name", HOLDINGS)
def test_what_is_reached_has_the_columns_that_it_is_reached_by(name):
    assert KEYS.get(HOLDINGS[name].reach, set()) <= set(TABLES[name].columns.keys())


@pytest.mark.parametrize("name", KEPT)
def test_of_a_table_that_is_kept_every_column_that_could_hold_a_text_is_declared(name):
    kinds = {column.name: getattr(column.type, "item_type", column.type) for column in TABLES[name].columns}
    able = {column for column, kind in kinds.items() if isinstance(kind, ABLE_TO_HOLD_A_TEXT)}
    assert able == set(HOLDINGS[name].texts)


@pytest.mark.parametrize("name", KEPT)
def test_a_table_that_is_kept_names_no_trace_user_or_session(name):
    assert set(TABLES[name].columns.keys()) & {"trace_id", "user_id", "session_id", "record_key"} == set()


def test_what_there_is_of_each_trace_is_reached_by_day():
    assert {HOLDINGS[name].reach for name in TRACE_TABLES} == {Reach.BY_RECORD}
