"""What becomes of a stream that took another one's place, given what was scored of the week before."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import text

from builders.score_counts import join_counts, make_counts
from fakes.judge import FakeJudge
from ragsonde.pipeline.assignments import Assignment
from ragsonde.regression.block_lengths import BLOCK_SECONDS
from ragsonde.regression.blocks import count_blocks
from ragsonde.regression.options import RegressionOptions
from ragsonde.scoring.table import build_scorers
from ragsonde.storage.armings import Way, begin_arming, list_armings, see_out
from ragsonde.storage.locks import hash_job
from ragsonde.storage.regression_states import JUDGING_LOCK
from ragsonde.storage.successors import find_successors
from ragsonde.watching import arming_jobs
from ragsonde.watching.arming_baselines import arm_stream
from ragsonde.watching.arming_jobs import MOST_SECONDS, ArmingChores
from ragsonde.watching.baseline_choosing import Names, pin_baselines
from ragsonde_schemas.score_stream import block_at
from services.regression_ground import RegressionGround
from services.waiting import wait_for

pytestmark = pytest.mark.integration
DAY = 288
LIVE = 8 * DAY
"""The block that the new stream is live from."""
OPEN_ALERT = text(
    """
INSERT INTO alert (
    stream_id, app, environment, kind, opened_at, since, told_at, baseline_id, explanation)
VALUES (:stream, 'shop', 'prod', :kind, :at, :at, :at, 1, '{"drop": 0.5}')
"""
)
ROLLING = {"baselines": {"context_precision": "rolling"}}
WANTED = [("lexical", "f", "context_precision", "2")]


@pytest.fixture
def ground(engine):
    return RegressionGround(engine)


def begin(ground, *, way=Way.BACKFILL):
    """The old stream of eight days, and the new one as it is found: with an hour of live traces."""
    old = ground.add_stream()
    ground.count(old, make_counts(days=8, per_block=4, seed=1))
    ground.judge(until=LIVE + 12)
    new = ground.add_stream(version="2")
    ground.count(new, make_counts(days=1 / 24, per_block=4, mean=0.6, first_day=8, seed=2))
    (one,) = find_successors(ground.engine, WANTED, now=ground.clock.now())
    assert (one.number, one.old_number) == (new, old)
    begin_arming(ground.engine, one, way=way, now=ground.clock.now())
    return old, new


def make_week(*, mean=0.6, first_day=1, days=7):
    return make_counts(days=days, per_block=4, mean=mean, first_day=first_day, seed=3)


def finish(ground, **options):
    (one,) = list_armings(ground.engine)
    given = RegressionOptions(**options)
    return arm_stream(ground.engine, one, told="done", options=given, now=ground.clock.now())


def read_baseline(ground, stream):
    return ground.query(
        """SELECT kind, since, until, judges_from, (fitted ->> 'variance')::float8, reason FROM baseline
        WHERE stream_id = :stream AND replaced_at IS NULL ORDER BY judges_from DESC LIMIT 1""",
        stream=stream,
    )


def open_alert(ground, stream, *, kind, block):
    with ground.engine.begin() as connection:
        columns = {"stream": stream, "kind": kind, "at": at(ground, block)}
        connection.execute(OPEN_ALERT, columns)


def at(ground, block):
    return block_at(ground.first + block)


def test_nothing_is_judged_until_it_is_armed_and_then_from_the_first_live_block(ground):
    _, new = begin(ground)
    ground.count(new, make_week())
    ground.judge(until=LIVE + 12)
    assert ground.query("SELECT * FROM monitor_state WHERE stream_id = :stream", stream=new) == []

    assert "traces" in finish(ground)
    ground.judge(until=LIVE + 12)
    ((kind, since, until, judges_from, _, reason),) = read_baseline(ground, new)
    assert (kind, since, until) == ("pinned", at(ground, DAY), at(ground, LIVE))
    assert judges_from == at(ground, LIVE)
    assert reason.startswith("done; ")
    found = ground.read_state(new)
    assert found.block == ground.first + LIVE + 11
    assert found.baseline is not None
    assert ground.list_alerts() == []


def test_a_fall_that_began_with_the_change_is_found(ground):
    _, new = begin(ground)
    ground.count(new, make_week(mean=0.9))
    finish(ground)
    ground.count(new, make_counts(days=1, per_block=4, mean=0.6, first_day=8, seed=4))
    ground.judge(until=9 * DAY)
    (alert,) = ground.list_alerts()
    assert (alert["stream_id"], alert["kind"]) == (new, "page")


def test_of_a_backfilled_week_nothing_is_told(ground):
    _, new = begin(ground)
    week = join_counts(make_week(days=4, mean=0.9), make_week(days=3, first_day=5, mean=0.6))
    ground.count(new, week)
    finish(ground)
    ground.judge(until=LIVE + 12)
    assert ground.list_alerts() == []


def judge_rolling(ground, *, until):
    ground.chores = replace(ground.chores, options=RegressionOptions(**ROLLING))
    ground.judge(until=until)


def test_nor_where_its_baseline_moves_along(ground):
    _, new = begin(ground)
    week = join_counts(make_week(days=3, mean=0.9), make_week(days=4, first_day=4, mean=0.4))
    ground.count(new, week)
    finish(ground, **ROLLING)
    judge_rolling(ground, until=LIVE + 12)
    assert ground.list_alerts() == []
    ((kind, since, *_),) = read_baseline(ground, new)
    assert (kind, since) == ("rolling", at(ground, DAY))
    assert ground.query("SELECT min(block) FROM monitor_state WHERE stream_id = :new", new=new) == [
        (ground.first + LIVE + 11,)
    ]


def test_nor_where_the_app_is_younger_than_a_week(ground):
    begin_young(ground, first_day=3)
    (one,) = list_armings(ground.engine)
    stored = join_counts(make_week(days=2, mean=0.9, first_day=3), make_week(days=3, mean=0.4, first_day=5))
    ground.count(one.number, stored)
    finish(ground)
    ground.judge(until=LIVE + 12)
    assert ground.list_alerts() == []
    ((kind, since, *_),) = read_baseline(ground, one.number)
    assert (kind, since) == ("provisional", at(ground, 3 * DAY))
    ground.count(one.number, stored.between(3 * DAY, 4 * DAY))  # once more, as they came late
    ground.judge(until=LIVE + 12)
    assert ground.list_alerts() == []


def test_falls_of_the_old_stream_are_left_out(ground):
    old, new = begin(ground)
    ground.count(new, join_counts(make_week(days=5), make_week(days=2, first_day=6, mean=0.1)))
    open_alert(ground, old, kind="page", block=6 * DAY)
    finish(ground)
    ((count,),) = ground.query(
        """SELECT sum(n) FROM baseline b, jsonb_array_elements_text(fitted -> 'traces') AS n(text),
        LATERAL (SELECT n.text::int AS n) AS of_cell WHERE stream_id = :new""",
        new=new,
    )
    assert count == 5 * DAY * 4


def test_too_few_wait_for_the_streams_own_first_days(ground):
    _, new = begin(ground)
    few = np.arange(DAY, LIVE, 10) * BLOCK_SECONDS + 1.0
    ground.count(new, count_blocks(few, np.full(few.size, 0.5)))
    assert "too few" in finish(ground)
    ground.judge(until=LIVE + 12)
    assert ground.read_state(new).begun == ground.first + LIVE
    ground.count(new, make_counts(days=8, per_block=4, mean=0.6, first_day=8, seed=5))
    ground.judge(until=16 * DAY)
    ((kind, since, until, *_),) = read_baseline(ground, new)
    assert (kind, since, until) == ("pinned", at(ground, LIVE), at(ground, LIVE + 7 * DAY))


def begin_young(ground, *, first_day):
    """As `begin`, of an app whose first trace came on that day."""
    old = ground.add_stream()
    ground.count(old, make_counts(days=8 - first_day, per_block=4, first_day=first_day, seed=1))
    ground.judge(until=LIVE + 12)
    new = ground.add_stream(version="2")
    ground.count(new, make_counts(days=1 / 24, per_block=4, mean=0.6, first_day=8, seed=2))
    (one,) = find_successors(ground.engine, WANTED, now=ground.clock.now())
    begin_arming(ground.engine, one, way=Way.RESCORE, now=ground.clock.now())
    return new


def test_an_app_younger_than_a_week_goes_on_from_its_first_trace(ground):
    new = begin_young(ground, first_day=5)
    ground.count(new, make_counts(days=3, per_block=4, mean=0.6, first_day=5, seed=6))
    finish(ground)
    ground.judge(until=LIVE + 12)
    ((kind, since, *_),) = read_baseline(ground, new)
    assert (kind, since) == ("provisional", at(ground, 5 * DAY))


def test_one_whose_baseline_moves_along_is_not_pinned(ground):
    _, new = begin(ground)
    ground.count(new, make_week())
    finish(ground, **ROLLING)
    assert read_baseline(ground, new) == []


def test_ending_it_twice_does_nothing(ground):
    _, new = begin(ground)
    ground.count(new, make_week())
    (one,) = list_armings(ground.engine)
    ends = [
        arm_stream(ground.engine, one, told="done", options=RegressionOptions(), now=ground.clock.now())
        for _ in range(2)
    ]
    assert [end is None for end in ends] == [False, True]
    assert ground.query("SELECT count(*) FROM baseline WHERE stream_id = :new", new=new) == [(1,)]


@pytest.mark.parametrize(
    "change",
    [{"scorer": "other"}, {"app": "other"}, {"version": "2:reference"}],
)
def test_another_scorer_app_or_basis_took_no_ones_place(ground, change):
    old = ground.add_stream(**{"version": "1", **change})
    ground.count(old, make_counts(days=8, per_block=1, seed=1))
    ground.judge(until=LIVE + 12)
    new = ground.add_stream(version="2")
    ground.count(new, make_counts(days=1 / 24, per_block=4, first_day=8, seed=2))
    assert find_successors(ground.engine, WANTED, now=ground.clock.now()) == ()


def test_one_that_the_settings_do_not_name_is_left_alone(ground):
    begin(ground)
    assert find_successors(ground.engine, [], now=ground.clock.now()) == ()


def test_the_old_one_is_seen_out_once_it_is_idle_and_the_new_one_is_watched(ground):
    old, new = begin(ground)
    open_alert(ground, old, kind="warn", block=LIVE - 2)

    def go(*, idle_days):
        now = ground.clock.now()
        return see_out(ground.engine, idle_since=now - timedelta(days=idle_days), now=now)

    ground.count(new, make_week())
    assert go(idle_days=0) == (), "the new one is not watched yet"
    finish(ground)
    ground.judge(until=LIVE + 12)
    assert go(idle_days=7) == ()
    assert go(idle_days=0) == (old,)
    assert go(idle_days=0) == ()
    (alert,) = ground.list_alerts()
    assert alert["closed_at"] == ground.clock.now()
    assert "another stream took its place" in alert["reason"]


def test_while_the_new_one_has_no_baseline_the_old_one_stays(ground):
    begin(ground, way=Way.LIVE)
    ground.judge(until=LIVE + 12)
    now = ground.clock.now()
    assert see_out(ground.engine, idle_since=now, now=now) == ()


def make_chores(ground, *, is_free=True, fingerprint="f", **options):
    """The job, where the settings name version 2 of the scorer and a judge of that fingerprint."""
    judge = FakeJudge(name="lexical", fingerprint=fingerprint, is_free=is_free)
    (scorer,) = build_scorers({"context_precision": {}})
    return ArmingChores(
        engine=ground.engine,
        assignments={"lexical": Assignment(judge=judge, scorers=(Versioned(scorer),))},
        options=RegressionOptions(**options),
        clock=ground.clock,
    )


class Versioned:
    """A scorer whose version is 2."""

    versions = ("2",)

    def __init__(self, scorer):
        self._scorer = scorer

    def __getattr__(self, name):
        return getattr(self._scorer, name)


def find(ground, chores, *, change):
    """How the baseline of a new stream comes to be that differs from the old one so, and why."""
    _, new = begin(ground)
    with ground.engine.begin() as connection:
        connection.execute(text("DELETE FROM stream_arming"))
        connection.execute(text(f"UPDATE score_stream SET {change} WHERE id = {new}"))  # noqa: S608
    chores.arm()
    return ground.query(
        "SELECT way, outcome, backfill_id FROM stream_arming WHERE stream_id = :new", new=new
    )[0]


def test_a_changed_version_is_scored_anew(ground):
    assert find(ground, make_chores(ground), change="version = '2'")[0] == "rescore"


@pytest.mark.parametrize(
    ("options", "change", "why"),
    [
        ({"arming": False}, "version = '2'", "regression.arming"),
        (
            {"arming_llm_traces": 0, "is_free": False, "fingerprint": "g"},
            "fingerprint = 'g'",
            "regression.arming_llm_traces",
        ),
    ],
)
def test_turned_off_it_waits_for_its_own_first_days(ground, options, change, why):
    way, outcome, backfill = find(ground, make_chores(ground, **options), change=change)
    assert (way, backfill) == ("live", None)
    assert why in outcome
    assert list_armings(ground.engine) == ()


def test_so_does_another_model_behind_the_same_name(ground):
    old, new = begin(ground)
    with ground.engine.begin() as connection:
        connection.execute(text("DELETE FROM stream_arming"))
        connection.execute(text(f"UPDATE score_stream SET judge_epoch = 2 WHERE id = {new}"))  # noqa: S608
        connection.execute(text(f"UPDATE score_stream SET version = '2' WHERE id = {old}"))  # noqa: S608
    make_chores(ground).arm()
    ((way, outcome),) = ground.query("SELECT way, outcome FROM stream_arming")
    assert way == "live"
    assert "another model" in outcome


@pytest.mark.parametrize(("is_free", "most"), [(True, None), (False, 700)])
def test_a_changed_judge_is_backfilled_within_its_means_and_once(ground, is_free, most):
    chores = make_chores(ground, is_free=is_free, fingerprint="g", arming_llm_traces=700, arming_per_second=3)
    way, _, backfill = find(ground, chores, change="fingerprint = 'g'")
    assert way == "backfill"
    started = """SELECT id, judge, fingerprint, app, environment, since, until, most_traces, rate_per_second
        FROM backfill"""
    first, last = at(ground, LIVE - 7 * DAY).date(), at(ground, LIVE).date()
    assert ground.query(started) == [(backfill, "lexical", "g", "shop", "prod", first, last, most, 3.0)]
    with ground.engine.begin() as connection:
        # the monitor was killed before it had noted which backfill it had started
        connection.execute(text("UPDATE stream_arming SET backfill_id = NULL"))
    replace(chores).arm()
    assert ground.query("SELECT backfill_id FROM stream_arming") == [(backfill,)]
    assert ground.query("SELECT count(*) FROM backfill") == [(1,)]


def test_after_three_days_what_is_there_is_taken(ground):
    chores = make_chores(ground, is_free=False, fingerprint="g")
    find(ground, chores, change="fingerprint = 'g'")
    chores.arm()
    assert len(list_armings(ground.engine)) == 1
    ground.clock.advance(3 * 86_400)
    chores.arm()
    assert list_armings(ground.engine) == ()


def test_a_baseline_that_a_person_pins_ends_it(ground):
    _, new = begin(ground)
    ground.count(new, make_week())
    (one,) = list_armings(ground.engine)
    pin_baselines(
        ground.engine,
        Names("shop"),
        since=at(ground, DAY),
        until=at(ground, LIVE),
        reason="a good week",
        options=RegressionOptions(),
        now=ground.clock.now(),
    )
    assert list_armings(ground.engine) == ()
    assert (
        arm_stream(ground.engine, one, told="done", options=RegressionOptions(), now=ground.clock.now())
        is None
    )
    ground.count(new, make_counts(days=1, per_block=4, mean=0.6, first_day=8, seed=4))
    ground.judge(until=LIVE + 24)
    assert [reason for *_, reason in read_baseline(ground, new)] == ["a good week"]
    assert ground.read_state(new).block == ground.first + LIVE + 23
    ((way, outcome),) = ground.query("SELECT way, outcome FROM stream_arming")
    assert (way, outcome) == ("backfill", "a person chose its baseline: a good week")


def test_the_old_one_is_seen_out_by_nobody_while_another_judges(ground):
    old, new = begin(ground)
    ground.count(new, make_week())
    finish(ground)
    ground.judge(until=LIVE + 12)
    now, done = ground.clock.now(), []
    seeing = threading.Thread(target=lambda: done.append(see_out(ground.engine, idle_since=now, now=now)))
    with ground.engine.begin() as judging:
        judging.execute(
            text("SELECT pg_advisory_xact_lock(1380011844, :job)"), {"job": hash_job(JUDGING_LOCK)}
        )
        seeing.start()
        wait_for(
            lambda: ground.query("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"),
            seconds=20,
        )
        assert done == []
    seeing.join(30)
    assert done == [(old,)]


class EndlessRescoring:
    """One that takes the time that it is given."""

    ended_at = None
    turns: tuple[str, ...] = ()

    def __init__(self, *, armings, **_):
        self._app = armings[0].stream.app

    def go_on(self, *, until, clock, **_):
        type(self).turns += (self._app,)
        clock.advance(until - clock.monotonic())
        return False


def test_rescorings_share_the_time_of_a_run_and_take_turns(ground, monkeypatch):
    begin(ground, way=Way.RESCORE)
    (one,) = list_armings(ground.engine)
    under_way = [
        one._replace(number=one.number + n, stream=one.stream.model_copy(update={"app": f"app{n}"}))
        for n in range(5)
    ]
    chores = make_chores(ground)
    monkeypatch.setattr(arming_jobs, "WeekRescoring", EndlessRescoring)
    monkeypatch.setattr(arming_jobs, "list_armings", lambda _: under_way)
    monkeypatch.setattr(EndlessRescoring, "turns", ())
    begun = ground.clock.monotonic()
    chores.arm()
    assert ground.clock.monotonic() - begun <= MOST_SECONDS + 1e-6
    chores.arm()
    first, second = EndlessRescoring.turns[:5], EndlessRescoring.turns[5:]
    assert sorted(first) == sorted(second) == [f"app{n}" for n in range(5)]
    assert first[0] != second[0]
    under_way[1:] = []
    chores.arm()
    assert len(chores._rescorings) == 1, "what has ended is let go"
