"""The monitor judges closed blocks to where a replay leads: late, cut, killed or by two; alerts latch."""

from __future__ import annotations

import logging
import re
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sqlalchemy import event, text

from builders.score_counts import join_counts, make_counts
from ragsonde.exposition.registry import Series
from ragsonde.exposition.series import MONITOR_SERIES
from ragsonde.regression.alert_state import Level
from ragsonde.regression.options import RegressionOptions
from ragsonde.regression.replay import replay
from ragsonde.storage.brief_reading import BriefReading
from ragsonde.storage.locks import MIGRATION_LOCK
from ragsonde.watching import look, telling
from ragsonde.watching.gauge_jobs import RegressionGaugeChores
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround

pytestmark = pytest.mark.integration
STRATA = ("a", "b")
DAY = 288
WELL = make_counts(days=9, per_block=4, strata=STRATA, seed=1)
FALL = join_counts(
    WELL,
    make_counts(days=1, per_block=4, mean=0.6, first_day=9, strata=STRATA, seed=2),
    make_counts(days=2, per_block=4, first_day=10, strata=STRATA, seed=3),
)
END = 12 * DAY


@pytest.fixture
def ground(engine):
    return RegressionGround(engine)


@pytest.fixture
def watched(ground):
    """A stream of nine good days, all judged."""
    stream = ground.add_stream()
    ground.count(stream, FALL.between(0, 9 * DAY))
    ground.judge(until=9 * DAY)
    return stream


def expect(ground, end, counts=FALL, **options):
    return replay(ground.shift(counts.between(0, end)), **options)


def assert_state(ground, stream, expected):
    found = ground.read_state(stream).state
    assert (found.level, found.opened) == (expected.level, expected.opened)
    assert np.allclose(found.log_bets, expected.log_bets, rtol=0, atol=1e-9)
    assert np.allclose(found.log_recovery, expected.log_recovery, rtol=0, atol=1e-9)
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-9)


def go_on(ground, stream, *, begin, end, step):
    for first in range(begin, end, step):
        until = min(first + step, end)
        ground.count(stream, FALL.between(first, until))
        ground.judge(until=until)


def test_a_fall_is_warned_of_paged_and_resolved_as_a_replay_says(ground, watched, caplog):
    caplog.set_level(logging.INFO)
    go_on(ground, watched, begin=9 * DAY, end=END, step=48)
    expected = expect(ground, END)
    assert_state(ground, watched, expected.state)
    warned, paged, resolved = expected.events
    (alert,) = ground.list_alerts()
    assert (alert["app"], alert["environment"], alert["kind"]) == ("shop", "prod", "resolve")
    assert alert["opened_at"] == block_at(warned.block + 1)
    assert alert["paged_at"] == block_at(paged.block + 1)
    assert alert["closed_at"] == block_at(resolved.block + 1)
    assert alert["since"] == block_at(paged.explanation.since)
    told = alert["explanation"]
    assert told["drop"] == pytest.approx(paged.explanation.drop)
    assert told["drop_lower"] == pytest.approx(paged.explanation.drop_lower)
    assert told["mean"] == pytest.approx(paged.explanation.mean)
    assert told["baseline_mean"] == pytest.approx(paged.baseline.mean)
    assert told["evidence_days"] == pytest.approx(paged.evidence_days)
    assert told["n"] == paged.explanation.traces
    assert [one["stratum"] for one in told["worst_strata"]] == [
        one.name for one in paged.explanation.worst_strata
    ]
    assert (told["traces"], told["changes"]) == ([], [])  # no trace is stored here
    assert told["recovery"]["drop"] == pytest.approx(resolved.explanation.drop)
    events = [one for one in caplog.records if one.message.startswith("regression_")]
    assert [one.message for one in events] == [
        "regression_warned",
        "regression_opened",
        "regression_resolved",
    ]
    assert (events[0].app, events[0].scorer, events[0].alert) == ("shop", "context_precision", alert["id"])


def test_an_alert_does_not_wait_for_what_illustrates_it_and_says_what_was_left_out(
    ground, watched, caplog, monkeypatch
):
    monkeypatch.setattr(telling, "BriefReading", partial(BriefReading, seconds_left=0.0))
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 96, step=96)
    (alert, *_) = ground.list_alerts()
    (told, *_) = [one for one in caplog.records if one.message == "regression_evidence_left_out"]
    assert (told.alert, told.app) == (alert["id"], "shop")
    assert {"traces", "releases", "contexts", "check_set"} < set(told.left_out)


def test_what_is_not_closed_is_not_judged(ground, watched):
    ground.count(watched, FALL.between(9 * DAY, 9 * DAY + 10))
    ground.judge(until=9 * DAY + 4)
    assert_state(ground, watched, expect(ground, 9 * DAY + 4).state)
    ground.judge(until=9 * DAY + 10)
    assert_state(ground, watched, expect(ground, 9 * DAY + 10).state)
    assert ground.query("SELECT count(*) FROM block_change") == [(0,)]


@pytest.mark.parametrize("first", [9 * DAY - 1, 8 * DAY + 5, 7 * DAY, 5 * DAY])
def test_what_comes_late_or_is_taken_away_leads_to_the_same(ground, first):
    gone = FALL.between(0, first), FALL.between(first + 40, 9 * DAY)
    stream = ground.add_stream()
    ground.count(stream, join_counts(*gone))
    ground.judge(until=9 * DAY)
    assert_state(ground, stream, expect(ground, 9 * DAY, join_counts(*gone)).state)
    ground.count(stream, FALL.between(first, min(first + 40, 9 * DAY)))
    ground.restart()
    ground.judge(until=9 * DAY)
    assert_state(ground, stream, expect(ground, 9 * DAY).state)


def test_in_the_first_week_what_comes_late_changes_the_baseline_too(ground):
    late = 3 * DAY - 100
    stream = ground.add_stream()
    ground.count(stream, join_counts(FALL.between(0, late), FALL.between(3 * DAY, 5 * DAY)))
    ground.judge(until=5 * DAY)
    ground.count(stream, FALL.between(late, 3 * DAY))
    ground.judge(until=5 * DAY)
    assert_state(ground, stream, expect(ground, 5 * DAY).state)


def test_days_in_any_order_and_twice_lead_to_the_same(ground):
    stream = ground.add_stream()
    order = np.random.default_rng(5).permutation(np.repeat(np.arange(18), 2)).tolist()
    for half in order:
        ground.count(stream, FALL.between(half * 144, (half + 1) * 144))
        ground.judge(until=9 * DAY)
    assert_state(ground, stream, expect(ground, 9 * DAY).state)


def test_a_new_stream_is_watched_provisionally_until_its_week_is_over(ground):
    counts = join_counts(
        make_counts(days=2, per_block=4, seed=1),
        make_counts(days=1, per_block=4, mean=0.6, first_day=2, seed=2),
    )
    stream = ground.add_stream()
    for end in (DAY, 2 * DAY, 2 * DAY + 100, 3 * DAY):
        ground.count(stream, counts.between(0, end))
        ground.judge(until=end)
        assert_state(ground, stream, expect(ground, end, counts).state)
    (alert,) = ground.list_alerts()
    assert (alert["kind"], alert["closed_at"], alert["paged_at"]) == ("warn", None, None)
    assert ground.query("SELECT DISTINCT kind FROM baseline") == [("provisional",)]


def test_a_floor_watches_what_has_too_few_traces(engine):
    ground = RegressionGround(engine, options=RegressionOptions(floors={"context_precision": 0.7}))
    thin = make_counts(days=2, per_block=1, seed=1).between(0, 400)
    stream, other = ground.add_stream(), ground.add_stream(scorer="other")
    for one in (stream, other):
        ground.count(one, thin)
    ground.judge(until=7 * DAY)
    assert_state(ground, stream, expect(ground, 7 * DAY, thin, floor=0.7).state)
    assert ground.read_state(other).baseline is None
    assert ground.query("SELECT DISTINCT stream_id, kind FROM baseline") == [(stream, "floor")]


def test_a_scorer_that_has_a_target_only_warns(engine):
    ground = RegressionGround(engine, targets=frozenset({"context_precision"}))
    stream = ground.add_stream()
    ground.count(stream, FALL.between(0, 10 * DAY))
    ground.judge(until=10 * DAY)
    assert [(one["kind"], one["paged_at"]) for one in ground.list_alerts()] == [("warn", None)]


def test_killed_before_it_is_written_it_is_done_again(ground, watched, monkeypatch):
    ground.count(watched, FALL.between(9 * DAY, 10 * DAY))
    before = ground.read_state(watched)

    def die(*_):
        raise RuntimeError("killed")

    for place in ("judge_blocks", "store_baselines", "store_states", "_list_held"):
        with monkeypatch.context() as patch:
            patch.setattr(look, place, lambda *_, **__: die())
            with pytest.raises(RuntimeError):
                ground.judge(until=10 * DAY)
        assert ground.read_state(watched).block == before.block
        assert ground.list_alerts() == []
    ground.restart()
    ground.judge(until=10 * DAY)
    assert_state(ground, watched, expect(ground, 10 * DAY).state)
    assert len(ground.list_alerts()) == 1


def test_two_monitors_at_once_do_no_harm(ground, watched):
    ground.count(watched, FALL.between(9 * DAY, 10 * DAY))
    ground.close(10 * DAY)
    monitors = [replace(ground.chores) for _ in range(3)]
    begin = threading.Barrier(len(monitors))
    failures = []

    def run(monitor):
        begin.wait()
        try:
            monitor.judge()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test tells it
            failures.append(error)

    threads = [threading.Thread(target=run, args=(one,)) for one in monitors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert_state(ground, watched, expect(ground, 10 * DAY).state)
    assert len(ground.list_alerts()) == 1


def test_an_alert_stays_when_late_scores_say_all_was_well(ground, watched):
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 96, step=48)
    (alert,) = ground.list_alerts()
    well = make_counts(days=12, per_block=4, strata=STRATA, seed=1)
    ground.count(watched, well.between(9 * DAY, 9 * DAY + 96))
    ground.judge(until=9 * DAY + 96)
    assert ground.list_alerts() == [alert]
    assert ground.read_state(watched).state.level is not Level.QUIET
    ground.count(watched, well.between(9 * DAY + 96, 12 * DAY))
    ground.judge(until=12 * DAY)
    (alert,) = ground.list_alerts()
    assert alert["closed_at"] is not None


def test_an_alert_that_a_person_closed_is_not_raised_again_at_once(ground, watched):
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 96, step=48)
    with ground.engine.begin() as connection:
        connection.execute(
            text("UPDATE alert SET closed_at = :now"), {"now": block_at(ground.first + 9 * DAY + 96)}
        )
    ground.count(watched, WELL.between(9 * DAY, 9 * DAY))
    ground.count(watched, FALL.between(9 * DAY + 96, 9 * DAY + 97))
    ground.judge(until=9 * DAY + 97)
    assert ground.read_state(watched).state.level is Level.QUIET
    assert len(ground.list_alerts()) == 1


def test_while_judgements_fail_the_verdict_is_held_and_the_reason_told(ground, watched, caplog):
    failed = dict.fromkeys(range(9 * DAY, 10 * DAY), 2)
    before = ground.read_state(watched)
    # blocks without failures before them dilute the first few
    ground.count(watched, FALL.between(9 * DAY, 10 * DAY), failed=failed)
    ground.judge(until=10 * DAY)
    state = ground.read_state(watched)
    assert (state.hold, ground.list_alerts()) == ("coverage", [])
    assert state.state.log_evidence < before.state.log_evidence + 6
    (held,) = [one for one in caplog.records if one.message == "regression_held"]
    assert (held.reason, held.app) == ("coverage", "shop")


def test_a_week_later_old_blocks_change_nothing(ground, watched):
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 10, step=10)
    before = ground.read_state(watched)
    ground.count(watched, make_counts(days=2, per_block=4, mean=0.1, strata=STRATA).between(0, DAY))
    ground.judge(until=9 * DAY + 10)
    assert ground.read_state(watched).block == before.block
    assert_state(ground, watched, before.state)
    assert ground.query("SELECT count(*) FROM block_change") == [(0,)]


def test_it_gives_way_to_a_migration_and_is_done_after_it(ground, watched):
    ground.count(watched, FALL.between(9 * DAY, 9 * DAY + 10))
    before = ground.read_state(watched).block
    with ground.engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        ground.judge(until=9 * DAY + 10)
        assert ground.read_state(watched).block == before
    ground.judge(until=9 * DAY + 10)
    assert ground.read_state(watched).block == before + 10


def test_many_streams_share_the_budget_of_false_pages(ground):
    streams = [ground.add_stream(app=f"app-{number}") for number in range(3)]
    for stream in streams:
        ground.count(stream, FALL.between(0, 10 * DAY))
    ground.judge(until=10 * DAY)
    expected = expect(ground, 10 * DAY, find_active=lambda _: 3)
    for stream in streams:
        assert_state(ground, stream, expected.state)
    assert len(ground.list_alerts()) == 3


def test_a_new_version_is_a_stream_of_its_own_and_the_old_one_runs_on(ground, watched):
    new = ground.add_stream(scorer="context_precision", app="elsewhere")
    ground.count(new, make_counts(days=10, per_block=4, strata=STRATA).between(9 * DAY, 9 * DAY + 50))
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 50, step=50)
    assert_state(ground, watched, expect(ground, 9 * DAY + 50, find_active=lambda _: 1).state)
    assert ground.read_state(new).baseline is None


def test_states_of_earlier_days_are_tidied(ground, watched):
    # of nine days that were there before the first run the last seven are judged
    first = block_at(ground.first + 2 * DAY).date()
    assert ground.query("SELECT min(day) FROM monitor_state") == [(first,)]
    go_on(ground, watched, begin=9 * DAY, end=12 * DAY, step=DAY)
    days = ground.query("SELECT count(*) FROM monitor_state")[0][0]
    assert 8 <= days <= 11


def scrape(ground, prefix="regression_"):
    series = Series(MONITOR_SERIES)
    RegressionGaugeChores(engine=ground.engine, series=series, clock=ground.clock).show()
    found = re.findall(
        rf"^ragsonde_{prefix}(\w*)\{{(.*)\}} (.*)$", series.render().body.decode(), re.MULTILINE
    )
    return {name: (labels, float(value)) for name, labels, value in found}


def test_the_gauges_show_a_quiet_stream_and_an_open_fall(ground, watched):
    quiet = scrape(ground)
    assert set(quiet) == {
        *("state", "page_threshold_days", "evidence_days", "baseline_mean", "overdispersion")
    }
    last = FALL.between(8 * DAY, 9 * DAY)
    lower, upper = (scrape(ground, f"score_mean_{side}")[""][1] for side in ("lower", "upper"))
    assert lower < last.count @ last.values / last.trace_count < upper < lower + 0.1
    assert quiet["state"] == (
        'app="shop",environment="prod",judge="lexical@f",scorer="context_precision"',
        0.0,
    )
    assert quiet["page_threshold_days"][1] == 365
    assert quiet["evidence_days"][1] < 30
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 96, step=48)
    (_, paged) = expect(ground, 9 * DAY + 96).events
    shown = {name: value for name, (_, value) in scrape(ground).items()}
    found = paged.explanation
    assert shown["state"] == 2
    assert shown["evidence_days"] > 365
    assert shown["drop"] == pytest.approx(found.drop)
    assert shown["drop_lower"] == pytest.approx(found.drop_lower)
    assert shown["drop_upper"] == pytest.approx(found.drop_upper)
    assert shown["mix_shift"] == pytest.approx(found.mix_shift)
    assert shown["since_timestamp_seconds"] == found.since * 300
    assert shown["baseline_mean"] == pytest.approx(paged.baseline.mean)
    assert shown["overdispersion"] == pytest.approx(paged.baseline.overdispersion)


@pytest.mark.usefixtures("watched")
def test_a_day_of_counts_is_read_once_a_minute(ground):
    series, asked = Series(MONITOR_SERIES), []
    chores = RegressionGaugeChores(engine=ground.engine, series=series, clock=ground.clock)
    event.listen(ground.engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    for _ in range(12):
        chores.show()
        assert "ragsonde_score_mean_lower{" in series.render().body.decode()
        ground.clock.advance(10)
    assert sum("sum(squares)" in statement for statement in asked) == 2


def test_of_streams_with_the_same_labels_the_worst_is_shown(ground, watched):
    go_on(ground, watched, begin=9 * DAY, end=9 * DAY + 96, step=48)
    other = ground.add_stream(version="2")
    ground.count(other, WELL)
    ground.judge(until=9 * DAY + 96)
    assert scrape(ground)["state"][1] == 2
