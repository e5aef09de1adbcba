"""An alert names the worst traces of its own stream and time, and what was new within a day."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from sqlalchemy import event, text

from fakes.clock import NOON
from ragsonde.storage import alert_evidence
from ragsonde.storage.alert_circumstances import find_circumstances
from ragsonde.storage.alert_evidence import find_changes, find_worst_traces
from ragsonde.storage.alerts import FoundFall, open_alert
from ragsonde.storage.baselines import number_block
from ragsonde.storage.brief_reading import BriefReading
from ragsonde.storage.engine import pipelined_transaction
from ragsonde.storage.erasure import erase_within
from ragsonde.storage.score_blocks import name_streams
from services.block_ground import BlockGround, minutes
from services.waiting import wait_for

pytestmark = pytest.mark.integration
HOUR = timedelta(hours=1)
BLOCK = number_block(NOON)


@pytest.fixture
def ground(engine):
    ground = BlockGround(engine)
    ground.begin()
    return ground


def find_stream(ground, **wanted):
    columns = {"scorer": "context_precision", "app": "shop", **wanted}
    rows = ground.query("SELECT id FROM score_stream WHERE scorer = :scorer AND app = :app", **columns)
    with ground.engine.connect() as connection:
        return name_streams(connection, [rows[0][0]])[rows[0][0]]


def find_worst(ground, **times):
    with ground.engine.begin() as connection:
        found = find_worst_traces(BriefReading(connection=connection), find_stream(ground), **times)
    return [(one["trace_id"], one["raw"]) for one in found]


def test_the_ten_lowest_of_the_stream_since_then_the_lowest_first(ground):
    for number in range(12):
        ground.admit(f"t-{number}", raw=(12 - number) / 20, occurred_at=NOON + minutes(number))
    ground.admit("other-app", raw=0.0, app="elsewhere", occurred_at=NOON + minutes(1))
    ground.admit("before", raw=0.0, occurred_at=NOON - minutes(1))
    ground.admit("after", raw=0.0, occurred_at=NOON + HOUR)
    ground.count(minutes=90)
    expected = [(f"t-{number}", (12 - number) / 20) for number in range(11, 1, -1)]
    assert find_worst(ground, since=NOON, until=NOON + HOUR) == expected


def test_of_a_long_fall_the_last_day(ground):
    ground.admit("old", raw=0.0, occurred_at=NOON - timedelta(days=2))
    ground.admit("new", raw=0.5, occurred_at=NOON)
    ground.count(minutes=90)
    assert find_worst(ground, since=NOON - timedelta(days=5), until=NOON + HOUR) == [("new", 0.5)]


def test_who_forgets_waits_for_an_alert_that_is_written_and_takes_the_trace_out_of_it(ground):
    ground.admit("t-1", raw=0.1, occurred_at=NOON)
    ground.admit("t-2", raw=0.2, occurred_at=NOON)
    ground.count(minutes=90)
    stream = find_stream(ground)
    ((number,),) = ground.query(
        "SELECT id FROM score_stream WHERE scorer = 'context_precision' AND app = 'shop'"
    )
    forgetting = threading.Thread(target=lambda: ground.forget("t-1"))
    with ground.engine.begin() as connection:
        traces = find_worst_traces(BriefReading(connection=connection), stream, since=NOON, until=NOON + HOUR)
        assert [one["trace_id"] for one in traces] == ["t-1", "t-2"]
        forgetting.start()
        wait_for(
            lambda: ground.query(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() "
                "AND wait_event_type = 'Lock' AND query LIKE '%DELETE FROM trace %'"
            ),
            seconds=20,
        )
        fall = FoundFall(BLOCK, BLOCK, 1, {"drop": 0.1, "traces": traces})
        open_alert(connection, number, fall, kind="page", now=NOON)
    forgetting.join(30)
    assert not forgetting.is_alive()
    assert ground.query("SELECT trace_id FROM trace") == [("t-2",)]
    ((told,),) = ground.query("SELECT explanation FROM alert")
    assert [one["trace_id"] for one in told["traces"]] == ["t-2"]


def test_a_trace_that_is_being_forgotten_is_passed_over_and_nobody_waits(ground):
    ground.admit("t-1", raw=0.1, occurred_at=NOON)
    ground.admit("t-2", raw=0.2, occurred_at=NOON)
    ground.count(minutes=90)
    with pipelined_transaction(ground.engine) as erasing:
        erase_within(erasing, ["t-1"], app=None)
        assert find_worst(ground, since=NOON, until=NOON + HOUR) == [("t-2", 0.2)]


SLEEP = text("SELECT pg_sleep(5), CAST(:app AS text)")


def test_what_takes_too_long_is_left_out_and_the_transaction_goes_on(ground, monkeypatch):
    ground.admit("t-1", raw=0.5, occurred_at=NOON)
    ground.count(minutes=90)
    monkeypatch.setattr(alert_evidence, "_WORST", SLEEP)
    stream = find_stream(ground)
    with ground.engine.begin() as connection:
        reading = BriefReading(connection=connection, seconds_left=0.02)
        assert find_worst_traces(reading, stream, since=NOON, until=NOON + HOUR) == []
        assert connection.execute(text("SHOW statement_timeout")).scalar_one() == "30s"
        assert reading.take_left_out() == ("traces",)


def test_all_that_illustrates_alerts_shares_one_budget_of_time(ground, monkeypatch):
    ground.admit("t-1", raw=0.5, occurred_at=NOON)
    ground.admit("t-2", release="v2", occurred_at=NOON)
    ground.count(minutes=90)
    monkeypatch.setattr(alert_evidence, "_WORST", SLEEP)
    stream = find_stream(ground)
    with ground.engine.begin() as connection:
        reading = BriefReading(connection=connection, seconds_left=0.02)
        find_worst_traces(reading, stream, since=NOON, until=NOON + HOUR)
        assert find_changes(reading, stream, since=NOON) == []
        told = find_circumstances(reading, stream, since=NOON, until=NOON + HOUR, smallest_drop=0.02)
        assert told == {}
        left_out = {"traces", "releases", "streams", "contexts", "extraction", "answers", "check_set"}
        assert set(reading.take_left_out()) == left_out
        assert reading.take_left_out() == ()


def test_what_is_known_of_a_place_is_not_read_for_each_of_its_streams(ground):
    ground.admit("t-1", release="v2", occurred_at=NOON)
    ground.count(minutes=90)
    stream = find_stream(ground)
    other = stream.model_copy(update={"scorer": "another", "fingerprint": "other"})
    asked = []
    with ground.engine.begin() as connection:
        reading = BriefReading(connection=connection)
        event.listen(connection, "before_execute", lambda _, statement, *__: asked.append(statement))
        first = find_changes(reading, stream, since=NOON)
        assert [one for one in find_changes(reading, other, since=NOON) if one["kind"] == "release"] == [
            one for one in first if one["kind"] == "release"
        ]
        find_changes(reading, stream, since=NOON - HOUR)
    assert asked.count(alert_evidence._NEW_RELEASES) == 2
    assert asked.count(alert_evidence._NEW_STREAMS) == 3


def test_what_was_new_within_a_day_is_named(ground):
    ground.admit("t-1", release="v1", occurred_at=NOON - timedelta(hours=40))
    ground.admit("t-2", release="v2", occurred_at=NOON - HOUR)
    ground.admit("t-3", release="v1", occurred_at=NOON)
    ground.admit("t-4", release="v9", app="elsewhere", occurred_at=NOON)
    ground.count(minutes=90)
    with ground.engine.begin() as connection:
        connection.execute(
            text("UPDATE score_stream SET first_seen_at = :at"), {"at": NOON - timedelta(days=9)}
        )
        found = find_changes(BriefReading(connection=connection), find_stream(ground), since=NOON)
        assert [(one["kind"], one["name"], one["at"]) for one in found] == [("release", "v2", NOON - HOUR)]
        connection.execute(
            text("UPDATE score_stream SET first_seen_at = :at WHERE app = 'shop'"), {"at": NOON + HOUR}
        )
        found = find_changes(BriefReading(connection=connection), find_stream(ground), since=NOON)
    assert [one["kind"] for one in found] == ["release", "stream"]
    assert found[1]["name"].startswith("context_precision:answer by ")
