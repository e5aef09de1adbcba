"""What the watch for regressions remembers comes back as it was, and forgets whom it must."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import text

from builders.score_counts import make_counts
from fakes.clock import NOON
from ragsonde.regression.alert_state import Level, StreamState
from ragsonde.regression.baseline import BaselineKind, fit_baseline, make_floor
from ragsonde.regression.evidence import grow_blocks
from ragsonde.storage.alerts import FoundFall, escalate_alert, open_alert, read_alerts, resolve_alert
from ragsonde.storage.baselines import (
    StoredBaseline,
    number_block,
    read_baselines,
    replace_baselines,
    write_baseline,
)
from ragsonde.storage.block_changes import list_changed, note_change, take_changes
from ragsonde.storage.regression_states import StoredState, read_states, tidy_states, write_states
from ragsonde_schemas.score_stream import block_at
from services.block_ground import FAR_AHEAD, BlockGround, minutes

pytestmark = pytest.mark.integration
BLOCK = number_block(NOON)


@pytest.fixture
def ground(engine):
    ground = BlockGround(engine)
    ground.begin()
    return ground


def list_changes(ground):
    return set(ground.query("SELECT stream_id, start FROM block_change"))


def list_streams(ground):
    return {row[0] for row in ground.query("SELECT id FROM score_stream")}


def make_state(block, *, stream=1, **fields):
    state = StreamState(np.array([-np.inf, *np.linspace(-3, 3, 11)]), np.linspace(0, 1 / 3, 12))
    return StoredState(stream, block, BLOCK - 100, 3, 5, state, **fields)


def add_stream(engine):
    with engine.begin() as connection:
        return connection.execute(
            text(
                "INSERT INTO score_stream (scorer, version, judge, fingerprint, judge_epoch, app, "
                "environment, first_seen_at) "
                "VALUES ('s', '1', 'j', 'f', 1, 'shop', 'prod', now()) RETURNING id"
            )
        ).scalar_one()


def test_changed_counts_are_noted_and_those_that_stay_are_not(ground):
    ground.admit("t-1", raw=0.3)
    ground.count(minutes=10)
    streams = list_streams(ground)
    assert list_changes(ground) == {(stream, NOON) for stream in streams}
    with ground.engine.begin() as connection:
        taken = take_changes(connection, streams, until=NOON + minutes(5), recent=NOON + minutes(1))
    assert taken == tuple((stream, BLOCK, None) for stream in sorted(streams))
    ground.restart()
    ground.count(minutes=1)
    assert list_changes(ground) == set()


def test_only_the_stream_that_changed_is_noted(ground):
    ground.admit("t-1", raw=0.3)
    ground.admit("t-2", raw=0.3, app="other")
    ground.count(minutes=10)
    with ground.engine.begin() as connection:
        take_changes(connection, list_streams(ground), until=FAR_AHEAD, recent=NOON)
    ground.admit("t-3", raw=0.5, app="other", occurred_at=NOON)
    ground.count(minutes=1)
    rows = ground.query("SELECT id FROM score_stream WHERE app = 'other'")
    assert list_changes(ground) == {(stream, NOON) for (stream,) in rows}
    assert rows


def test_counts_that_are_gone_are_changed(ground):
    ground.admit("t-1", raw=0.3)
    ground.count(minutes=10)
    with ground.engine.begin() as connection:
        take_changes(connection, list_streams(ground), until=FAR_AHEAD, recent=NOON)
    ground.forget("t-1")
    ground.count(minutes=1)
    assert ground.read() == []
    assert list_changes(ground) == {(stream, NOON) for stream in list_streams(ground)}


def test_changes_are_taken_by_stream_and_only_of_closed_blocks(engine):
    with engine.begin() as connection:
        for at in (0, 5, 10, 15):
            note_change(connection, NOON + minutes(at), streams={1, 2})
        assert list_changed(connection, until=NOON + minutes(15)) == {1: BLOCK, 2: BLOCK}
        taken = take_changes(connection, [1], until=NOON + minutes(15), recent=NOON + minutes(5))
        assert taken == ((1, BLOCK, BLOCK + 1),)
        assert list_changed(connection, until=FAR_AHEAD) == {1: BLOCK + 3, 2: BLOCK}


def test_a_baseline_judges_to_the_last_digit_as_it_did(engine):
    counts = make_counts(days=7, per_block=3, strata=("a", "b"), seed=3)
    fitted = fit_baseline(counts)
    given = [
        StoredBaseline(None, 1, 10, 20, 20, fitted, 0.25),
        StoredBaseline(
            None, 1, 10, 30, 30, replace(make_floor(0.7, counts), kind=BaselineKind.PINNED), 0.0, "by me"
        ),
    ]
    with engine.begin() as connection:
        written = [write_baseline(connection, one, now=NOON) for one in given]
        found = read_baselines(connection, [1, 2])[1]
        replace_baselines(connection, [1], now=NOON)
        left = read_baselines(connection, [1])[1]
    assert [one._replace(baseline=None) for one in found] == [one._replace(baseline=None) for one in written]
    for one, other in zip(given, found, strict=True):
        assert other.baseline.kind is one.baseline.kind
        expected, judged = (grow_blocks(counts, it.baseline)[1] for it in (one, other))
        assert np.array_equal(expected, judged)
        assert np.array_equal(one.baseline.known, other.baseline.known)
    assert [one.reason for one in left] == ["by me"]


def test_a_state_comes_back_as_it_was_and_replaces_what_was_later(engine):
    days = [make_state(BLOCK + 288 * day, hold="coverage") for day in range(3)]
    with engine.begin() as connection:
        write_states(connection, [*days, make_state(BLOCK, stream=2)])
        again = make_state(BLOCK + 289)
        write_states(connection, [again])
        found = read_states(connection, [1, 2, 3])
    assert [one.block for one in found[1]] == [BLOCK, BLOCK + 289]
    assert len(found[2]) == 1
    assert found[1][0].hold == "coverage"
    assert found[1][0]._replace(state=None) == days[0]._replace(state=None)
    assert np.array_equal(found[1][0].state.log_bets, days[0].state.log_bets)
    assert np.array_equal(found[1][0].state.log_recovery, days[0].state.log_recovery)
    assert found[1][0].state.level is Level.QUIET


def test_of_old_states_the_newest_stays(engine):
    with engine.begin() as connection:
        write_states(connection, [make_state(BLOCK + 288 * day) for day in range(5)])
        tidy_states(connection, oldest=(NOON + timedelta(days=3)).date())
        assert [one.block for one in read_states(connection, [1])[1]] == [BLOCK + 864, BLOCK + 1152]
        tidy_states(connection, oldest=(NOON + timedelta(days=30)).date())
        assert [one.block for one in read_states(connection, [1])[1]] == [BLOCK + 1152]


def test_an_alert_goes_from_warning_to_page_to_its_end(engine):
    stream = add_stream(engine)
    told = FoundFall(BLOCK, BLOCK - 9, 1, {"drop": 0.1, "traces": []})
    worse = FoundFall(BLOCK + 3, BLOCK - 8, 2, {"drop": 0.2, "traces": []})
    with engine.begin() as connection:
        number = open_alert(connection, stream, told, kind="warn", now=NOON)
        assert escalate_alert(connection, number, worse) is True
        assert escalate_alert(connection, number, told) is False
        (found,) = read_alerts(connection, [stream], since=NOON)[stream]
        assert (found.fall.opened, found.fall.paged, found.fall.closed) == (BLOCK, BLOCK + 3, None)
        assert found.drop == 0.2
        resolve_alert(connection, number, block=BLOCK + 9, explanation={"drop": 0.0})
        (found,) = read_alerts(connection, [stream], since=NOON)[stream]
        assert found.fall.closed == BLOCK + 9
        assert escalate_alert(connection, number, told) is False
        assert read_alerts(connection, [stream], since=block_at(BLOCK + 10)) == {}
        row = connection.execute(text("SELECT * FROM alert")).mappings().one()
    assert (row["app"], row["environment"], row["kind"]) == ("shop", "prod", "resolve")
    assert row["explanation"]["recovery"] == {"drop": 0.0}


def test_a_trace_that_is_forgotten_leaves_the_alerts_of_its_app(ground):
    stream = add_stream(ground.engine)
    traces = [{"trace_id": f"t-{number}", "raw": 0.1} for number in range(3)]
    with ground.engine.begin() as connection:
        fall = FoundFall(BLOCK, BLOCK, 1, {"drop": 0.1, "traces": traces})
        open_alert(connection, stream, fall, kind="warn", now=NOON)
    ground.forget("t-1")
    ((left,),) = ground.query("SELECT explanation FROM alert")
    assert left == {"drop": 0.1, "traces": [traces[0], traces[2]]}
